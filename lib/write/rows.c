// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/saturate.h"
#include "rows.h"

struct swlbr_error *rows_of(struct swlbr_edge_profile *edges, uint32_t binary,
			    enum swlbr_edge_kind kind, struct row **ret, size_t *nr_ret)
{
	const struct swlbr_edge *all;
	size_t nr = swlbr_edge_profile_edges(edges, &all), kept = 0;
	struct row *rows = reallocarray(NULL, nr + 1, sizeof(*rows));

	if (!rows)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < nr; i++) { /* sorted by from, to, and then source */
		const struct swlbr_edge *edge = &all[i];
		struct row *last = kept ? &rows[kept - 1] : NULL;

		if (edge->kind != kind || edge->from_binary != binary || edge->to_binary != binary)
			continue;
		if (last && last->from == edge->from && last->to == edge->to) {
			add_saturating(&last->nr, edge->nr);
			add_saturating(&last->mispredicted, edge->mispredicted);
		} else {
			rows[kept++] =
				(struct row){ edge->from, edge->to, edge->nr, edge->mispredicted };
		}
	}
	*ret = rows;
	*nr_ret = kept;
	return NULL;
}

struct swlbr_error *write_format(struct swlbr_outfile *file, const char *format, ...)
{
	char text[512];
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return swlbr_outfile_write(file, text, (size_t)size);
}
