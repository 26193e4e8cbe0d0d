// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "spans.h"

struct swlbr_error *spans_add(struct spans *spans, uint64_t begin, uint64_t end, uint64_t count)
{
	struct span *grown;

	if (begin >= end)
		return NULL;
	grown = array_grow(spans->entries, spans->nr, &spans->max, sizeof(*grown));
	if (!grown)
		return swlbr_error_no_memory();
	spans->entries = grown;
	spans->entries[spans->nr++] = (struct span){ begin, end, count };
	return NULL;
}

void spans_free(struct spans *spans)
{
	free(spans->entries);
	*spans = (struct spans){ 0 };
}

/* Where spans begin or end. Sums do not saturate: what is added is subtracted again. */
struct edge {
	uint64_t address;
	unsigned __int128 count;
	bool end;
};

static int by_address(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

struct swlbr_error *spans_sum(struct spans *spans)
{
	struct edge *edges = reallocarray(NULL, 2 * spans->nr + 1, sizeof(*edges));
	struct spans sums = { 0 };
	unsigned __int128 count = 0;
	struct swlbr_error *error = NULL;
	size_t depth = 0, nr = 2 * spans->nr;

	if (!edges)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < spans->nr; i++) {
		const struct span *span = &spans->entries[i];

		edges[2 * i] = (struct edge){ span->begin, span->count, false };
		edges[2 * i + 1] = (struct edge){ span->end, span->count, true };
	}
	if (nr)
		qsort(edges, nr, sizeof(*edges), by_address);
	for (size_t i = 0; !error && i < nr; i++) {
		if (depth && edges[i].address > edges[i - 1].address)
			error = spans_add(&sums, edges[i - 1].address, edges[i].address,
					  count > UINT64_MAX ? UINT64_MAX : (uint64_t)count);
		if (edges[i].end) {
			count -= edges[i].count;
			depth--;
		} else {
			count += edges[i].count;
			depth++;
		}
	}
	free(edges);
	if (error) {
		spans_free(&sums);
		return error;
	}
	free(spans->entries);
	*spans = sums;
	return NULL;
}
