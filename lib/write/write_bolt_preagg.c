// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * perf2bolt's pre-aggregated profile (-pa), as LLVM 19 reads it (bolt/lib/Profile/DataAggregator.cpp):
 *	B from to count mispredicted	a taken branch
 *	F from to count			code that ran straight on
 *	f from to count			the same, come to by a return from elsewhere
 * Addresses are those of the ELF file; X:0 is one in another file.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <swlbr/edge_writers.h>

#include "bolt.h"
#include "rows.h"

static struct swlbr_error *write_branch(struct swlbr_outfile *file, const struct swlbr_edge *edge,
					uint32_t binary)
{
	char from[24] = "X:0", to[24] = "X:0";

	if (edge->from_binary == binary)
		snprintf(from, sizeof(from), "%" PRIx64, edge->from);
	if (edge->to_binary == binary)
		snprintf(to, sizeof(to), "%" PRIx64, edge->to);
	return write_format(file, "B %s %s %" PRIu64 " %" PRIu64 "\n", from, to, edge->nr,
			    edge->mispredicted);
}

/* Rows of the same branch from several sources are summed by the reader. */
static struct swlbr_error *write_branches(struct swlbr_outfile *file,
					  struct swlbr_edge_profile *edges, uint32_t binary)
{
	const struct swlbr_edge *all;
	size_t nr = swlbr_edge_profile_edges(edges, &all);
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < nr; i++)
		if (all[i].kind == SWLBR_EDGE_BRANCH &&
		    (all[i].from_binary == binary || all[i].to_binary == binary))
			error = write_branch(file, &all[i], binary);
	return error;
}

/* Stubs of the procedure linkage table have no blocks in BOLT: code in them would not match. */
static bool in_stubs(const struct swlbr_elf *elf, uint64_t address)
{
	const struct swlbr_elf_section *sections;
	size_t nr = swlbr_elf_sections(elf, &sections);

	for (size_t i = 0; i < nr; i++)
		if (!strncmp(sections[i].name, ".plt", 4) && address >= sections[i].vaddr &&
		    address - sections[i].vaddr < sections[i].size)
			return true;
	return false;
}

static struct swlbr_error *write_ranges(struct swlbr_outfile *file, const struct swlbr_elf *elf,
					const struct swlbr_branch_map *map, const struct row *rows,
					size_t nr)
{
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < nr; i++)
		if (rows[i].from <= rows[i].to && !in_stubs(elf, rows[i].from))
			error = write_format(file, "%c %" PRIx64 " %" PRIx64 " %" PRIu64 "\n",
					     bolt_call_before(map, rows[i].from) ? 'f' : 'F',
					     rows[i].from, rows[i].to, rows[i].nr);
	return error;
}

struct swlbr_error *swlbr_bolt_preagg_write(struct swlbr_edge_profile *edges, uint32_t binary,
					    struct swlbr_elf *elf, const char *path)
{
	struct swlbr_branch_map *map = NULL;
	struct swlbr_outfile *file = NULL;
	struct row *ranges = NULL;
	struct swlbr_error *error;
	size_t nr;

	error = swlbr_branch_map_load(elf, NULL, &map);
	if (!error)
		error = rows_of(edges, binary, SWLBR_EDGE_RANGE, &ranges, &nr);
	if (!error)
		error = swlbr_outfile_open(path, &file);
	if (!error)
		error = write_branches(file, edges, binary);
	if (!error)
		error = write_ranges(file, elf, map, ranges, nr);
	free(ranges);
	swlbr_branch_map_destroy(map);
	if (error) {
		swlbr_outfile_discard(file);
		return error;
	}
	return swlbr_outfile_commit(file);
}
