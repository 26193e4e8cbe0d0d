// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * BOLT's profile (fdata), as perf2bolt writes it (bolt/lib/Profile/DataReader.h): a line for each
 * branch, "1 FUNCTION OFFSET 1 FUNCTION OFFSET MISPREDICTED COUNT", with "0 [unknown] 0" for an end
 * in no function. Straight-line code is there as branches too: from the last instruction of a
 * block, to the next block. Returns are not.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <swlbr/edge_writers.h>

#include "base/array.h"
#include "base/saturate.h"
#include "bolt.h"
#include "rows.h"

struct branch {
	uint64_t from, to;
	bool from_known, to_known; /* else in another binary */
	uint64_t nr, mispredicted;
};

struct fdata {
	struct swlbr_branch_map *map;
	struct bolt_functions functions;
	bool *is_target; /* of blocks: jumps of the function lead there */
	struct branch *branches;
	size_t nr, max;
};

static struct swlbr_error *add_branch(struct fdata *fdata, const struct branch *branch)
{
	struct branch *grown = array_grow(fdata->branches, fdata->nr, &fdata->max, sizeof(*grown));

	if (!grown)
		return swlbr_error_no_memory();
	fdata->branches = grown;
	fdata->branches[fdata->nr++] = *branch;
	return NULL;
}

static bool is_return(const struct fdata *fdata, uint64_t address)
{
	uint32_t block = swlbr_branch_map_block_at(fdata->map, address);

	return block != SWLBR_NONE && fdata->map->blocks[block].last == address &&
	       fdata->map->blocks[block].end_kind == SWLBR_MAP_END_RETURN;
}

/* A jump that was taken shows where a block begins. */
static void mark_target(struct fdata *fdata, const struct branch *branch)
{
	const struct swlbr_map_block *blocks = fdata->map->blocks;
	uint32_t from, to;

	if (!branch->from_known || !branch->to_known)
		return;
	from = swlbr_branch_map_block_at(fdata->map, branch->from);
	to = swlbr_branch_map_block_at(fdata->map, branch->to);
	if (from != SWLBR_NONE && to != SWLBR_NONE && blocks[to].start == branch->to &&
	    blocks[from].function == blocks[to].function)
		fdata->is_target[to] = true;
}

static struct swlbr_error *add_branches(struct fdata *fdata, struct swlbr_edge_profile *edges,
					uint32_t binary)
{
	const struct swlbr_edge *all;
	size_t nr = swlbr_edge_profile_edges(edges, &all);
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < nr; i++) {
		struct branch branch = { all[i].from,
					 all[i].to,
					 all[i].from_binary == binary,
					 all[i].to_binary == binary,
					 all[i].nr,
					 all[i].mispredicted };

		if (all[i].kind != SWLBR_EDGE_BRANCH || (!branch.from_known && !branch.to_known) ||
		    (branch.from_known && is_return(fdata, branch.from)))
			continue;
		mark_target(fdata, &branch);
		error = add_branch(fdata, &branch);
	}
	return error;
}

/* A block that is nothing but a jump to another block of the function. */
static bool is_lone_jump(const struct fdata *fdata, const struct swlbr_map_block *block)
{
	return block->end_kind == SWLBR_MAP_END_JUMP && block->start == block->last &&
	       block->nr_edges == 1 && fdata->map->edges[block->first_edge].kind == SWLBR_MAP_TAKEN;
}

/*
 * True if BOLT begins a block there. Calls alone do not end one, and a jump right after a
 * conditional jump is of the same block.
 */
static bool begins_block(const struct fdata *fdata, uint32_t before, uint32_t next)
{
	if (fdata->is_target[next])
		return true;
	return fdata->map->blocks[before].end_kind == SWLBR_MAP_END_COND &&
	       !is_lone_jump(fdata, &fdata->map->blocks[next]);
}

/* From one block into the next, where both are of one function and touch. */
static struct swlbr_error *add_fallthrough(struct fdata *fdata, uint32_t block, uint64_t nr)
{
	const struct swlbr_map_block *from = &fdata->map->blocks[block], *to = from + 1;
	struct branch branch = { from->last, from->end, true, true, nr, 0 };

	if (block + 1 >= fdata->map->nr_blocks || to->start != from->end ||
	    to->function != from->function || !begins_block(fdata, block, block + 1))
		return NULL;
	return add_branch(fdata, &branch);
}

static struct swlbr_error *add_range(struct fdata *fdata, const struct row *row)
{
	const struct swlbr_branch_map *map = fdata->map;
	uint32_t block = swlbr_branch_map_block_at(map, row->from);
	struct swlbr_error *error = NULL;

	if (block == SWLBR_NONE || row->from > row->to)
		return NULL;
	/* Come to by a return: the block of the call went on. */
	if (block && map->blocks[block].start == row->from && bolt_call_before(map, row->from))
		error = add_fallthrough(fdata, block - 1, row->nr);
	for (; !error && block + 1 < map->nr_blocks && map->blocks[block + 1].start <= row->to &&
	       map->blocks[block + 1].start == map->blocks[block].end;
	     block++)
		error = add_fallthrough(fdata, block, row->nr);
	return error;
}

static struct swlbr_error *add_ranges(struct fdata *fdata, struct swlbr_edge_profile *edges,
				      uint32_t binary)
{
	struct swlbr_error *error;
	struct row *rows;
	size_t nr;

	error = rows_of(edges, binary, SWLBR_EDGE_RANGE, &rows, &nr);
	if (error)
		return error;
	for (size_t i = 0; !error && i < nr; i++)
		error = add_range(fdata, &rows[i]);
	free(rows);
	return error;
}

static int by_place(const void *left, const void *right)
{
	const struct branch *a = left, *b = right;

	if (a->from_known != b->from_known)
		return a->from_known ? -1 : 1;
	if (a->from_known && a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->to_known != b->to_known)
		return a->to_known ? -1 : 1;
	if (a->to_known && a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return 0;
}

static void sum_same(struct fdata *fdata)
{
	size_t kept = 0;

	if (fdata->nr)
		qsort(fdata->branches, fdata->nr, sizeof(*fdata->branches), by_place);
	for (size_t i = 0; i < fdata->nr; i++) {
		struct branch *last = kept ? &fdata->branches[kept - 1] : NULL;

		if (last && !by_place(last, &fdata->branches[i])) {
			add_saturating(&last->nr, fdata->branches[i].nr);
			add_saturating(&last->mispredicted, fdata->branches[i].mispredicted);
		} else {
			fdata->branches[kept++] = fdata->branches[i];
		}
	}
	fdata->nr = kept;
}

static struct swlbr_error *write_end(struct swlbr_outfile *file,
				     const struct bolt_function *function, uint64_t address)
{
	struct swlbr_error *error;

	if (!function)
		return write_format(file, "0 [unknown] 0 ");
	error = write_format(file, "1 ");
	if (!error)
		error = swlbr_outfile_write(file, function->name, strlen(function->name));
	return error ? error : write_format(file, " %" PRIx64 " ", address - function->start);
}

static struct swlbr_error *write_branch(const struct fdata *fdata, struct swlbr_outfile *file,
					const struct branch *branch)
{
	const struct bolt_function *from = NULL, *to = NULL;
	struct swlbr_error *error;

	if (branch->from_known)
		from = bolt_function_at(&fdata->functions, branch->from);
	if (branch->to_known)
		to = bolt_function_at(&fdata->functions, branch->to);
	if (!from && !to)
		return NULL;
	error = write_end(file, from, branch->from);
	if (!error)
		error = write_end(file, to, branch->to);
	if (!error)
		error = write_format(file, "%" PRIu64 " %" PRIu64 "\n", branch->mispredicted,
				     branch->nr);
	return error;
}

static struct swlbr_error *write_file(const struct fdata *fdata, const char *path)
{
	struct swlbr_outfile *file;
	struct swlbr_error *error = swlbr_outfile_open(path, &file);

	if (error)
		return error;
	for (size_t i = 0; !error && i < fdata->nr; i++)
		error = write_branch(fdata, file, &fdata->branches[i]);
	if (error) {
		swlbr_outfile_discard(file);
		return error;
	}
	return swlbr_outfile_commit(file);
}

/*
 * Direct jumps alone: a jump table of which the map has too much would have BOLT drop the function
 * for not matching, where one target too few costs a count. Those that were jumped to are known.
 */
static struct swlbr_error *mark_targets(struct fdata *fdata)
{
	fdata->is_target = calloc(fdata->map->nr_blocks + 1, sizeof(bool));
	if (!fdata->is_target)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < fdata->map->nr_edges; i++) {
		const struct swlbr_map_edge *edge = &fdata->map->edges[i];

		if (edge->kind == SWLBR_MAP_TAKEN && fdata->map->blocks[edge->from].function ==
							     fdata->map->blocks[edge->to].function)
			fdata->is_target[edge->to] = true;
	}
	return NULL;
}

struct swlbr_error *swlbr_bolt_fdata_write(struct swlbr_edge_profile *edges, uint32_t binary,
					   struct swlbr_elf *elf, const char *path)
{
	struct fdata fdata = { 0 };
	struct swlbr_error *error;

	error = swlbr_branch_map_load(elf, NULL, &fdata.map);
	if (!error)
		error = bolt_functions_read(elf, &fdata.functions);
	if (!error)
		error = mark_targets(&fdata);
	if (!error)
		error = add_branches(&fdata, edges, binary);
	if (!error)
		error = add_ranges(&fdata, edges, binary);
	if (!error) {
		sum_same(&fdata);
		error = write_file(&fdata, path);
	}
	free(fdata.branches);
	free(fdata.is_target);
	bolt_functions_free(&fdata.functions);
	swlbr_branch_map_destroy(fdata.map);
	return error;
}
