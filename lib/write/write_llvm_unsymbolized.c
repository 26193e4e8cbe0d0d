// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* llvm-profgen's unsymbolized profile. */
#include <inttypes.h>
#include <stdlib.h>

#include <swlbr/edge_writers.h>

#include "rows.h"

/* llvm-profgen takes segments to begin at pages of this size, whatever the machine's are. */
#define PAGE_SIZE 0x1000ULL

static struct swlbr_error *text_base(const struct swlbr_elf *elf, uint64_t *ret)
{
	const struct swlbr_elf_segment *segments;
	size_t nr = swlbr_elf_segments(elf, &segments);

	for (size_t i = 0; i < nr; i++) {
		if (segments[i].flags & 1) { /* PF_X */
			*ret = segments[i].vaddr & ~(PAGE_SIZE - 1);
			return NULL;
		}
	}
	return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: no executable segment",
				  swlbr_elf_path(elf));
}

static struct swlbr_error *write_rows(struct swlbr_outfile *file, const struct row *rows, size_t nr,
				      uint64_t base, const char *separator)
{
	struct swlbr_error *error;
	size_t fit = 0;

	for (size_t i = 0; i < nr; i++)
		fit += rows[i].from >= base && rows[i].to >= base;
	error = write_format(file, "%zu\n", fit);
	for (size_t i = 0; !error && i < nr; i++)
		if (rows[i].from >= base && rows[i].to >= base)
			error = write_format(file, "%" PRIX64 "%s%" PRIX64 ":%" PRIu64 "\n",
					     rows[i].from - base, separator, rows[i].to - base,
					     rows[i].nr);
	return error;
}

struct swlbr_error *swlbr_llvm_unsymbolized_write(struct swlbr_edge_profile *edges, uint32_t binary,
						  struct swlbr_elf *elf, const char *path)
{
	struct row *ranges = NULL, *branches = NULL;
	struct swlbr_outfile *file = NULL;
	size_t nr_ranges, nr_branches;
	struct swlbr_error *error;
	uint64_t base;

	error = text_base(elf, &base);
	if (!error)
		error = rows_of(edges, binary, SWLBR_EDGE_RANGE, &ranges, &nr_ranges);
	if (!error)
		error = rows_of(edges, binary, SWLBR_EDGE_BRANCH, &branches, &nr_branches);
	if (!error)
		error = swlbr_outfile_open(path, &file);
	if (!error)
		error = write_rows(file, ranges, nr_ranges, base, "-");
	if (!error)
		error = write_rows(file, branches, nr_branches, base, "->");
	free(ranges);
	free(branches);
	if (error) {
		swlbr_outfile_discard(file);
		return error;
	}
	return swlbr_outfile_commit(file);
}
