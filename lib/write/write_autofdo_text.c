// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * google/autofdo's text input (create_gcov --profiler=text; sample_reader.cc): how many ranges, the
 * ranges; how many addresses with samples, of which there are none; how many branches, the
 * branches. Addresses are offsets in the file, in hex.
 */
#include <inttypes.h>
#include <stdlib.h>

#include <swlbr/edge_writers.h>

#include "rows.h"

/* The offset in the file of @vaddr; false if it is in no segment's file part. */
static bool file_offset(const struct swlbr_elf *elf, uint64_t vaddr, uint64_t *ret)
{
	const struct swlbr_elf_segment *segments;
	size_t nr = swlbr_elf_segments(elf, &segments);

	for (size_t i = 0; i < nr; i++) {
		if (vaddr < segments[i].vaddr || vaddr - segments[i].vaddr >= segments[i].filesz)
			continue;
		*ret = vaddr - segments[i].vaddr + segments[i].offset;
		return true;
	}
	return false;
}

/* Make the addresses of @rows offsets; what has none is left out. Returns how many are left. */
static size_t to_offsets(const struct swlbr_elf *elf, struct row *rows, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		struct row row = rows[i];

		if (file_offset(elf, row.from, &row.from) && file_offset(elf, row.to, &row.to))
			rows[kept++] = row;
	}
	return kept;
}

static struct swlbr_error *write_rows(struct swlbr_outfile *file, const struct row *rows, size_t nr,
				      const char *separator)
{
	struct swlbr_error *error = write_format(file, "%zu\n", nr);

	for (size_t i = 0; !error && i < nr; i++)
		error = write_format(file, "%" PRIx64 "%s%" PRIx64 ":%" PRIu64 "\n", rows[i].from,
				     separator, rows[i].to, rows[i].nr);
	return error;
}

struct swlbr_error *swlbr_autofdo_text_write(struct swlbr_edge_profile *edges, uint32_t binary,
					     struct swlbr_elf *elf, const char *path)
{
	struct row *ranges = NULL, *branches = NULL;
	struct swlbr_outfile *file = NULL;
	size_t nr_ranges, nr_branches;
	struct swlbr_error *error;

	error = rows_of(edges, binary, SWLBR_EDGE_RANGE, &ranges, &nr_ranges);
	if (!error)
		error = rows_of(edges, binary, SWLBR_EDGE_BRANCH, &branches, &nr_branches);
	if (!error)
		error = swlbr_outfile_open(path, &file);
	if (!error)
		error = write_rows(file, ranges, to_offsets(elf, ranges, nr_ranges), "-");
	if (!error)
		error = write_format(file, "0\n");
	if (!error)
		error = write_rows(file, branches, to_offsets(elf, branches, nr_branches), "->");
	free(ranges);
	free(branches);
	if (error) {
		swlbr_outfile_discard(file);
		return error;
	}
	return swlbr_outfile_commit(file);
}
