// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Blocks that end in no return are counted as others are. From them it goes up from callee to
 * caller, by direct calls, as long as what does not return is not little beside what does. It ends
 * at functions that call setjmp, and at those that may be gone on in: of handlers that take some
 * exceptions and not others.
 */
#include <stdlib.h>

#include "leaks.h"

/* Less of a function's calls is no matter, nor is the one time that a program ends. */
#define MIN_PART 1e-3
/* Callers of callers of... that are followed. */
#define MAX_ROUNDS 64

struct finder {
	const struct flow_state *state;
	const struct swlbr_branch_map *map;
	double *left;  /* per function: how often it was left without a return */
	bool *goes_on; /* per function: it may be come to again, so it is not known how often */
	double *part;  /* per function: the result */
};

static double block_value(const struct finder *finder, uint32_t block)
{
	uint32_t var = finder->state->system->first_block + block;

	return finder->state->known[var] ? finder->state->value[var] : 0;
}

static double left_in(const struct finder *finder, uint32_t b)
{
	const struct swlbr_map_block *block = &finder->map->blocks[b];
	double count = block_value(finder, b), left = 0;

	if (block_stops(block))
		return count;
	if (finder->map->functions[block->function].calls_setjmp)
		return 0;
	if (block->end_kind == SWLBR_MAP_END_CALL && block->callee != SWLBR_NONE && !block->landing)
		return count * finder->part[block->callee];
	for (uint32_t i = block->first_edge; i < block->first_edge + block->nr_edges; i++) {
		const struct swlbr_map_edge *edge = &finder->map->edges[i];

		if (edge->kind == SWLBR_MAP_TAIL && finder->state->known[i])
			left += finder->state->value[i] *
				finder->part[finder->map->blocks[edge->to].function];
	}
	return left;
}

static bool find_more(struct finder *finder)
{
	const struct swlbr_branch_map *map = finder->map;
	bool found = false;

	for (size_t f = 0; f < map->nr_functions; f++)
		finder->left[f] = 0;
	for (uint32_t b = 0; b < map->nr_blocks; b++)
		finder->left[map->blocks[b].function] += left_in(finder, b);
	for (size_t f = 0; f < map->nr_functions; f++) {
		const struct swlbr_map_function *function = &map->functions[f];
		double came;

		if (!(finder->left[f] > 0) || !function->instrumented || function->never_returns ||
		    finder->goes_on[f])
			continue;
		came = block_value(finder, function->first_block);
		if (finder->left[f] <= 1 || finder->left[f] < came * MIN_PART)
			continue;
		found |= !(finder->part[f] > 0);
		finder->part[f] = finder->left[f] < came ? finder->left[f] / came : 1;
	}
	return found;
}

/* Landing pads are come to by what calls of the function have thrown: that is known. */
static void find_going_on(struct finder *finder, bool *pad)
{
	const struct swlbr_branch_map *map = finder->map;

	for (size_t b = 0; b < map->nr_blocks; b++)
		if (map->blocks[b].landing && map->blocks[b].lands)
			pad[map->blocks[b].landing - 1] = true;
	for (size_t b = 0; b < map->nr_blocks; b++) {
		const struct swlbr_map_block *block = &map->blocks[b];

		if ((block->entered && !pad[b] && !block->jumped_to) ||
		    (block->landing && !block->lands))
			finder->goes_on[block->function] = true;
	}
}

/* True if longjmp was called, and setjmp is called anywhere. */
static bool jumps(const struct finder *finder)
{
	const struct swlbr_branch_map *map = finder->map;
	bool from = false, to = false;

	for (uint32_t b = 0; b < map->nr_blocks; b++) {
		from |= map->blocks[b].jumps_away && block_value(finder, b) > 0;
		to |= map->blocks[b].jumped_to;
	}
	return from && to;
}

struct swlbr_error *leaks_find(const struct flow_state *state, double *ret, bool *found_ret)
{
	const struct swlbr_branch_map *map = state->map;
	struct finder finder = { .state = state, .map = map, .part = ret };
	bool *pad = calloc(map->nr_blocks + 1, sizeof(*pad));
	struct swlbr_error *error = NULL;

	*found_ret = false;
	finder.left = calloc(map->nr_functions + 1, sizeof(*finder.left));
	finder.goes_on = calloc(map->nr_functions + 1, sizeof(*finder.goes_on));
	if (finder.left && finder.goes_on && pad) {
		find_going_on(&finder, pad);
		for (unsigned int round = 0; round < MAX_ROUNDS && find_more(&finder); round++)
			*found_ret = true;
		*found_ret |= jumps(&finder);
	} else {
		error = swlbr_error_no_memory();
	}
	free(pad);
	free(finder.left);
	free(finder.goes_on);
	return error;
}
