// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What branches usually do, where counters do not tell: a loop that is come to runs; it goes round
 * some times before it ends; the check before a jump table passes; entries of a table are equally
 * likely. (T. Ball and J. Larus, "Branch prediction for free", 1993, measured the like.) The limits
 * hold always.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver.h"

/* Odds against one. */
#define ENTERS_LOOP   30
#define STAYS_IN_LOOP 8
#define DIFFERS	      3	 /* two values that are compared */
#define PAST_TABLE    16 /* entries that being out of a jump table's range is worth */
#define SWEEPS	      12
#define LITTLE	      0.01 /* scaling cannot bring back what is 0 */

struct starter {
	struct flow_state *state;
	const struct swlbr_branch_map *map;
	const uint16_t *depth;
	const struct swlbr_flow_result *prior;
	bool *before_loop; /* per block: an unrolled loop follows */
	double *in;	   /* per block */
};

/* The depth of the loop that @block leads into without a choice, or its own. */
static unsigned int depth_ahead(const struct starter *starter, uint32_t block)
{
	unsigned int depth = starter->depth[block];

	for (unsigned int i = 0; i < 3; i++) {
		if (starter->depth[block] > depth)
			depth = starter->depth[block];
		if (starter->before_loop[block])
			return depth + 1;
		if (starter->map->blocks[block].nr_edges != 1)
			break;
		block = starter->map->edges[starter->map->blocks[block].first_edge].to;
	}
	return depth;
}

static double entries_of(const struct starter *starter, uint32_t block)
{
	const struct swlbr_map_block *b = &starter->map->blocks[block];
	double entries = 0;

	if (b->end_kind != SWLBR_MAP_END_INDIRECT_JUMP)
		return 0;
	for (uint32_t i = 0; i < b->nr_edges; i++)
		entries += starter->map->edges[b->first_edge + i].entries;
	return entries;
}

static double loop_odds(const struct starter *starter, const struct swlbr_map_block *block,
			const struct swlbr_map_edge *edge)
{
	unsigned int here = starter->depth[edge->from], there = starter->depth[edge->to];

	if (depth_ahead(starter, edge->to) > here)
		return ENTERS_LOOP;
	for (uint32_t i = 0; i < block->nr_edges; i++) {
		uint32_t other = starter->map->edges[block->first_edge + i].to;

		if (other != edge->to && starter->depth[other] < here && there >= here)
			return STAYS_IN_LOOP;
	}
	return 1;
}

static double weight_of(const struct starter *starter, const struct swlbr_map_block *block,
			uint32_t edge)
{
	const struct swlbr_map_edge *e = &starter->map->edges[edge];
	double table, odds;

	if (starter->prior)
		return starter->prior->edge[edge] + LITTLE;
	if (e->kind == SWLBR_MAP_INDIRECT)
		return e->entries;
	if (block->end_kind != SWLBR_MAP_END_COND)
		return 1;
	table = entries_of(starter, e->to);
	if (table > 1)
		return table / PAST_TABLE;
	odds = loop_odds(starter, block, e);
	if (block->condition == (e->kind == SWLBR_MAP_FALLTHROUGH ? SWLBR_MAP_CONDITION_EQUAL
								  : SWLBR_MAP_CONDITION_NOT_EQUAL))
		odds *= DIFFERS;
	return odds;
}

static void set_edge(struct starter *starter, uint32_t edge, double value)
{
	double *old = &starter->state->value[edge];

	if (value < LITTLE)
		value = LITTLE;
	starter->in[starter->map->edges[edge].to] += value - *old;
	*old = value;
}

/* Share @rest by weight, none getting more than its limit. */
static void share(struct starter *starter, const struct swlbr_map_block *block, double rest)
{
	const struct flow_state *state = starter->state;
	double weights = 0, share_of_one;
	bool again = true;

	for (uint32_t i = 0; i < block->nr_edges; i++) {
		if (!state->known[block->first_edge + i])
			weights += weight_of(starter, block, block->first_edge + i);
	}
	share_of_one = weights > 0 ? rest / weights : 0;
	/* Those at their limit leave more for the others; a few rounds do. */
	for (unsigned int round = 0; again && round < 4; round++) {
		double open_weights = 0, taken = 0;
		uint32_t full = 0;

		for (uint32_t i = 0; i < block->nr_edges; i++) {
			uint32_t edge = block->first_edge + i;
			double weight;

			if (state->known[edge])
				continue;
			weight = weight_of(starter, block, edge);
			if (share_of_one * weight >= state->limit[edge]) {
				taken += state->limit[edge];
				full++;
			} else {
				open_weights += weight;
			}
		}
		again = full && open_weights > 0 &&
			fabs((rest - taken) / open_weights - share_of_one) > 1e-9 * share_of_one;
		if (open_weights > 0)
			share_of_one = rest > taken ? (rest - taken) / open_weights : 0;
	}
	for (uint32_t i = 0; i < block->nr_edges; i++) {
		uint32_t edge = block->first_edge + i;
		double value;

		if (state->known[edge])
			continue;
		value = share_of_one * weight_of(starter, block, edge);
		set_edge(starter, edge, value < state->limit[edge] ? value : state->limit[edge]);
	}
}

static void start_block(struct starter *starter, uint32_t b)
{
	const struct swlbr_map_block *block = &starter->map->blocks[b];
	struct flow_state *state = starter->state;
	uint32_t var = state->system->first_block + b;
	double rest;
	bool open = false;

	if (!state->known[var]) {
		double in = starter->in[b];

		if (starter->map->functions[block->function].first_block == b)
			in += state->value[state->system->first_entry + block->function];
		if (in > state->limit[var])
			in = state->limit[var];
		state->value[var] = in > LITTLE ? in : LITTLE;
	}
	rest = state->value[var];
	for (uint32_t i = 0; i < block->nr_edges; i++) {
		if (state->known[block->first_edge + i])
			rest -= state->value[block->first_edge + i];
		else
			open = true;
	}
	if (open)
		share(starter, block, rest > 0 ? rest : 0);
}

static void start_var(struct flow_state *state, uint32_t var, double value)
{
	if (state->known[var])
		return;
	if (value > state->limit[var])
		value = state->limit[var];
	if (value > state->value[var])
		state->value[var] = value;
}

/* Callers of a function that leaks share what did not return by how often they call it. */
static void start_leaks(struct starter *starter)
{
	struct flow_state *state = starter->state;
	const struct flow_system *system = state->system;

	for (size_t b = 0; system->leak && b < starter->map->nr_blocks; b++) {
		uint32_t var = system->thrown[b], callee = starter->map->blocks[b].callee;
		double value = state->value[system->first_block + b];

		/* All leave by a return. */
		if (var != SWLBR_NONE && system->unreturned[b] == SWLBR_NONE)
			start_var(state, var, value);
		else if (var != SWLBR_NONE && callee != SWLBR_NONE)
			start_var(state, var, system->leak[callee] * value);
	}
	for (size_t i = 0; i < system->nr_parts; i++) {
		const struct flow_part *part = &system->parts[i];
		double whole = state->value[part->whole], leak = system->leak[part->function];

		start_var(state, part->var, leak * whole);
		start_var(state, part->rest, (1 - leak) * whole);
	}
}

struct swlbr_error *flow_start(struct flow_state *state, const struct swlbr_branch_map *map,
			       const uint16_t *depth, const struct swlbr_flow_result *prior)
{
	struct starter starter = { .state = state, .map = map, .depth = depth, .prior = prior };

	starter.in = calloc(map->nr_blocks + 1, sizeof(*starter.in));
	starter.before_loop = calloc(map->nr_blocks + 1, sizeof(bool));
	if (!starter.in || !starter.before_loop) {
		free(starter.in);
		free(starter.before_loop);
		return swlbr_error_no_memory();
	}
	for (size_t i = 0; i < state->nr_bounds; i++)
		starter.before_loop[map->edges[state->bounds[i].more].from] = true;
	for (size_t i = 0; i < state->system->nr_vars; i++) {
		if (!state->known[i])
			state->value[i] = state->limit[i] < 1 ? state->limit[i] : 1;
	}
	for (size_t b = 0; b < map->nr_blocks; b++) {
		uint32_t var = state->system->unreturned[b];

		if (var != SWLBR_NONE && !state->known[var])
			state->value[var] = LITTLE;
	}
	for (size_t i = 0; i < map->nr_edges; i++)
		starter.in[map->edges[i].to] += state->value[i];
	for (unsigned int sweep = 0; sweep < SWEEPS; sweep++) {
		for (uint32_t b = 0; b < map->nr_blocks; b++)
			start_block(&starter, b);
	}
	start_leaks(&starter);
	free(starter.in);
	free(starter.before_loop);
	return NULL;
}
