// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/saturate.h"
#include "propeller.h"
#include "rows.h"

/* Bytes: more than compilers align blocks to. */
#define MAX_PADDING 256

/* A block in the order of addresses. */
struct placed {
	uint32_t block;
	uint32_t run; /* in one run each block can go on to the next, and all are of one function */
	__int128 change;  /* of how many ranges go on to the next block, from block to block */
	uint64_t returns; /* to the start of the block, from what the block before has called */
	bool touched;	  /* something of it ran, however it was come to */
};

struct counting {
	const struct bb_addr_map *map;
	struct placed *places;
	size_t nr_places;
	struct block_counts *counts;
	size_t max_jumps, max_calls;
};

/* qsort has no context: what is compared goes along. */
struct sorted {
	uint64_t start;
	uint32_t block;
};

static int by_start(const void *left, const void *right)
{
	const struct sorted *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->block > b->block) - (a->block < b->block);
}

/* Between two blocks there may be padding, which is executed where the first goes on. */
static bool goes_on(const struct bb_block *block, const struct bb_block *next)
{
	uint64_t end = block->start + block->size;

	return block->function == next->function && (block->flags & BB_CAN_FALL_THROUGH) &&
	       next == block + 1 && next->start >= end && next->start - end <= MAX_PADDING;
}

static struct swlbr_error *place_blocks(struct counting *counting)
{
	const struct bb_addr_map *map = counting->map;
	struct sorted *sorted = calloc(map->nr_blocks + 1, sizeof(*sorted));
	size_t nr = 0;
	uint32_t run = 0;

	counting->places = calloc(map->nr_blocks + 1, sizeof(*counting->places));
	if (!sorted || !counting->places) {
		free(sorted);
		return swlbr_error_no_memory();
	}
	for (size_t i = 0; i < map->nr_functions; i++) {
		const struct bb_function *function = &map->functions[i];

		for (size_t j = 0; j < function->nr_blocks; j++, nr++)
			sorted[nr] = (struct sorted){ map->blocks[function->first_block + j].start,
						      (uint32_t)(function->first_block + j) };
	}
	qsort(sorted, nr, sizeof(*sorted), by_start);
	for (size_t i = 0; i < nr; i++) {
		if (i && !goes_on(&map->blocks[sorted[i - 1].block], &map->blocks[sorted[i].block]))
			run++;
		counting->places[i].block = sorted[i].block;
		counting->places[i].run = run;
	}
	counting->nr_places = nr;
	free(sorted);
	return NULL;
}

static const struct bb_block *block_of(const struct counting *counting, size_t place)
{
	return &counting->map->blocks[counting->places[place].block];
}

/* The place of the block that @address is in; false if it is in none. */
static bool find(const struct counting *counting, uint64_t address, size_t *ret)
{
	size_t low = 0, high = counting->nr_places;
	const struct bb_block *block;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (block_of(counting, middle)->start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	block = block_of(counting, low - 1);
	*ret = low - 1;
	return address - block->start < block->size;
}

/* Of blocks without code at the start of this one, the first: whoever jumps there may mean it. */
static size_t first_at(const struct counting *counting, size_t place)
{
	while (place && counting->places[place - 1].run == counting->places[place].run &&
	       block_of(counting, place - 1)->start == block_of(counting, place)->start)
		place--;
	return place;
}

static struct swlbr_error *add_jump(struct counting *counting, uint32_t from, uint32_t to,
				    uint64_t nr)
{
	struct block_counts *counts = counting->counts;
	struct block_jump *grown =
		array_grow(counts->jumps, counts->nr_jumps, &counting->max_jumps, sizeof(*grown));

	if (!grown)
		return swlbr_error_no_memory();
	counts->jumps = grown;
	counts->jumps[counts->nr_jumps++] = (struct block_jump){ from, to, nr };
	return NULL;
}

static struct swlbr_error *add_call(struct counting *counting, uint32_t from, uint32_t to,
				    uint64_t nr)
{
	struct block_counts *counts = counting->counts;
	struct layout_call *grown =
		array_grow(counts->calls, counts->nr_calls, &counting->max_calls, sizeof(*grown));

	if (!grown)
		return swlbr_error_no_memory();
	counts->calls = grown;
	counts->calls[counts->nr_calls++] = (struct layout_call){ from, to, nr };
	return NULL;
}

static void count_range(struct counting *counting, const struct row *row)
{
	struct block_counts *counts = counting->counts;
	size_t from, to;

	if (row->from > row->to || !find(counting, row->from, &from) ||
	    !find(counting, row->to, &to) ||
	    counting->places[from].run != counting->places[to].run) {
		add_saturating(&counts->left_out, row->nr);
		return;
	}
	add_saturating(&counts->counted, row->nr);
	counting->places[from].touched = counting->places[to].touched = true;
	counting->places[from].change += row->nr;
	counting->places[to].change -= row->nr;
}

static struct swlbr_error *count_ranges(struct counting *counting, struct swlbr_edge_profile *edges,
					uint32_t binary)
{
	struct swlbr_error *error;
	struct row *rows;
	size_t nr;

	error = rows_of(edges, binary, SWLBR_EDGE_RANGE, &rows, &nr);
	if (error)
		return error;
	for (size_t i = 0; i < nr; i++)
		count_range(counting, &rows[i]);
	free(rows);
	return NULL;
}

static bool is_entry(const struct counting *counting, const struct bb_block *block)
{
	return counting->map->functions[block->function].entry == block->start;
}

/* A branch to the start of the block at @place, from @from of the same binary's code, or NULL. */
static struct swlbr_error *count_arrival(struct counting *counting, const struct bb_block *from,
					 size_t place, uint64_t nr)
{
	const struct bb_block *to = block_of(counting, place);
	bool same = from && from->function == to->function;

	if (is_entry(counting, to)) {
		add_saturating(&counting->counts->executions[counting->places[place].block], nr);
		return from ? add_call(counting, from->function, to->function, nr) : NULL;
	}
	if (same && !(from->flags & BB_HAS_RETURN))
		return add_jump(counting, (uint32_t)(from - counting->map->blocks),
				counting->places[first_at(counting, place)].block, nr);
	if (!(to->flags & BB_IS_LANDING_PAD))
		add_saturating(&counting->places[place].returns, nr);
	return NULL;
}

static struct swlbr_error *count_branches(struct counting *counting,
					  struct swlbr_edge_profile *edges, uint32_t binary)
{
	const struct swlbr_edge *all;
	size_t nr = swlbr_edge_profile_edges(edges, &all), from, to;
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < nr; i++) {
		const struct bb_block *source = NULL;

		if (all[i].kind != SWLBR_EDGE_BRANCH)
			continue;
		if (all[i].from_binary == binary && find(counting, all[i].from, &from)) {
			source = block_of(counting, from);
			counting->places[from].touched = true;
		}
		if (all[i].to_binary == binary && find(counting, all[i].to, &to) &&
		    block_of(counting, to)->start == all[i].to)
			error = count_arrival(counting, source, to, all[i].nr);
	}
	return error;
}

/* From each block of a run to the next: the ranges that cover both, and calls that came back. */
static struct swlbr_error *count_fallthroughs(struct counting *counting)
{
	struct swlbr_error *error = NULL;
	__int128 covering = 0;

	for (size_t i = 0; !error && i + 1 < counting->nr_places; i++) {
		const struct placed *place = &counting->places[i], *next = place + 1;
		uint64_t nr;

		covering += place->change;
		if (place->run != next->run)
			continue;
		nr = covering > UINT64_MAX ? UINT64_MAX : (uint64_t)covering;
		add_saturating(&nr, next->returns);
		if (nr)
			error = add_jump(counting, place->block, next->block, nr);
	}
	return error;
}

static int by_jump(const void *left, const void *right)
{
	const struct block_jump *a = left, *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

static int by_call(const void *left, const void *right)
{
	const struct layout_call *a = left, *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

static void sum_same(struct block_counts *counts)
{
	size_t kept = 0;

	if (counts->nr_jumps)
		qsort(counts->jumps, counts->nr_jumps, sizeof(*counts->jumps), by_jump);
	for (size_t i = 0; i < counts->nr_jumps; i++) {
		if (kept && !by_jump(&counts->jumps[kept - 1], &counts->jumps[i]))
			add_saturating(&counts->jumps[kept - 1].nr, counts->jumps[i].nr);
		else
			counts->jumps[kept++] = counts->jumps[i];
	}
	counts->nr_jumps = kept;
	kept = 0;
	if (counts->nr_calls)
		qsort(counts->calls, counts->nr_calls, sizeof(*counts->calls), by_call);
	for (size_t i = 0; i < counts->nr_calls; i++) {
		if (kept && !by_call(&counts->calls[kept - 1], &counts->calls[i]))
			add_saturating(&counts->calls[kept - 1].count, counts->calls[i].count);
		else
			counts->calls[kept++] = counts->calls[i];
	}
	counts->nr_calls = kept;
}

/* The larger of how often a block was come to and gone from: either may be known in part. */
static struct swlbr_error *count_executions(const struct counting *counting)
{
	struct block_counts *counts = counting->counts;
	uint64_t *gone = calloc(counting->map->nr_blocks + 1, sizeof(*gone));

	if (!gone)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < counts->nr_jumps; i++) {
		add_saturating(&counts->executions[counts->jumps[i].to], counts->jumps[i].nr);
		add_saturating(&gone[counts->jumps[i].from], counts->jumps[i].nr);
	}
	for (size_t i = 0; i < counting->map->nr_blocks; i++)
		if (counts->executions[i] < gone[i])
			counts->executions[i] = gone[i];
	for (size_t i = 0; i < counting->nr_places; i++)
		if (counting->places[i].touched && !counts->executions[counting->places[i].block])
			counts->executions[counting->places[i].block] = 1;
	free(gone);
	return NULL;
}

struct swlbr_error *block_counts_of(struct swlbr_edge_profile *edges, uint32_t binary,
				    const struct bb_addr_map *map, struct block_counts *ret)
{
	struct counting counting = { .map = map, .counts = ret };
	struct swlbr_error *error;

	*ret = (struct block_counts){ 0 };
	ret->executions = calloc(map->nr_blocks + 1, sizeof(*ret->executions));
	error = ret->executions ? place_blocks(&counting) : swlbr_error_no_memory();
	if (!error)
		error = count_ranges(&counting, edges, binary);
	if (!error)
		error = count_branches(&counting, edges, binary);
	if (!error)
		error = count_fallthroughs(&counting);
	if (!error) {
		sum_same(ret);
		error = count_executions(&counting);
	}
	free(counting.places);
	if (error)
		block_counts_free(ret);
	return error;
}

void block_counts_free(struct block_counts *counts)
{
	free(counts->executions);
	free(counts->jumps);
	free(counts->calls);
	*counts = (struct block_counts){ 0 };
}
