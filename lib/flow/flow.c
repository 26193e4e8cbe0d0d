// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* From counters to counts of edges: propagate, guess a start for the rest, balance. */
#include <stdlib.h>
#include <string.h>

#include "solver.h"

struct swlbr_flow {
	const struct swlbr_branch_map *map;
	struct flow_system system;
};

struct swlbr_error *swlbr_flow_create(const struct swlbr_branch_map *map, struct swlbr_flow **ret)
{
	struct swlbr_flow *flow = calloc(1, sizeof(*flow));
	struct swlbr_error *error;

	if (!flow)
		return swlbr_error_no_memory();
	flow->map = map;
	error = flow_system_init(&flow->system, map);
	if (error) {
		swlbr_flow_destroy(flow);
		return error;
	}
	*ret = flow;
	return NULL;
}

void swlbr_flow_destroy(struct swlbr_flow *flow)
{
	if (!flow)
		return;
	flow_system_deinit(&flow->system);
	free(flow);
}

/* Start values for what is open: the flow that comes in, shared out evenly, a few times over. */
#define START_SWEEPS 8

static void spread(const struct swlbr_flow *flow, struct flow_state *state, double *in)
{
	const struct swlbr_branch_map *map = flow->map;
	const struct flow_system *system = &flow->system;

	memset(in, 0, map->nr_blocks * sizeof(*in));
	for (size_t i = 0; i < map->nr_edges; i++)
		in[map->edges[i].to] += state->value[i];
	for (uint32_t b = 0; b < map->nr_blocks; b++) {
		const struct swlbr_map_block *block = &map->blocks[b];
		uint32_t var = system->first_block + b, open = 0;
		double rest, entry = 0;

		if (map->functions[block->function].first_block == b)
			entry = state->value[system->first_entry + block->function];
		if (!state->known[var] && in[b] + entry > 0)
			state->value[var] = in[b] + entry;
		rest = state->value[var];
		for (uint32_t i = 0; i < block->nr_edges; i++) {
			if (state->known[block->first_edge + i])
				rest -= state->value[block->first_edge + i];
			else
				open++;
		}
		for (uint32_t i = 0; open && i < block->nr_edges; i++) {
			uint32_t edge = block->first_edge + i;

			if (state->known[edge])
				continue;
			in[map->edges[edge].to] -= state->value[edge];
			state->value[edge] = rest > 0 ? rest / open : 0.01;
			in[map->edges[edge].to] += state->value[edge];
		}
	}
}

static struct swlbr_error *guess_start(const struct swlbr_flow *flow, struct flow_state *state)
{
	double *in = calloc(flow->map->nr_blocks + 1, sizeof(*in));

	if (!in)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < flow->system.nr_vars; i++) {
		if (!state->known[i])
			state->value[i] = 1;
	}
	for (unsigned int i = 0; i < START_SWEEPS; i++)
		spread(flow, state, in);
	free(in);
	return NULL;
}

static struct swlbr_error *allocate(const struct swlbr_branch_map *map,
				    struct swlbr_flow_result *result)
{
	result->edge = calloc(map->nr_edges + 1, sizeof(*result->edge));
	result->block = calloc(map->nr_blocks + 1, sizeof(*result->block));
	result->entry = calloc(map->nr_functions + 1, sizeof(*result->entry));
	result->outside = calloc(map->nr_functions + 1, sizeof(*result->outside));
	result->edge_exact = calloc(map->nr_edges + 1, sizeof(bool));
	result->block_exact = calloc(map->nr_blocks + 1, sizeof(bool));
	if (!result->edge || !result->block || !result->entry || !result->outside ||
	    !result->edge_exact || !result->block_exact)
		return swlbr_error_no_memory();
	return NULL;
}

static void take(const struct swlbr_flow *flow, const struct flow_state *state, const bool *exact,
		 struct swlbr_flow_result *result)
{
	const struct swlbr_branch_map *map = flow->map;
	const struct flow_system *system = &flow->system;

	for (size_t i = 0; i < map->nr_edges; i++) {
		result->edge[i] = state->value[i];
		result->edge_exact[i] = exact[i];
		result->unknown += !exact[i] && state->value[i] >= 0.5;
	}
	for (size_t i = 0; i < map->nr_blocks; i++) {
		result->block[i] = state->value[system->first_block + i];
		result->block_exact[i] = exact[system->first_block + i];
		result->total += result->block[i];
		result->unknown += !result->block_exact[i] && result->block[i] >= 0.5;
	}
	for (size_t i = 0; i < map->nr_functions; i++) {
		result->entry[i] = state->value[system->first_entry + i];
		if (system->outside[i] != SWLBR_NONE)
			result->outside[i] = state->value[system->outside[i]];
	}
	result->moved = state->moved;
}

struct swlbr_error *swlbr_flow_solve(struct swlbr_flow *flow, const uint64_t *counters,
				     const struct swlbr_flow_result *prior,
				     struct swlbr_flow_result *result)
{
	struct flow_state state;
	struct swlbr_error *error;

	(void)prior;
	*result = (struct swlbr_flow_result){ 0 };
	error = flow_state_init(&state, &flow->system, counters);
	if (!error)
		error = flow_propagate(&state);
	if (!error)
		error = guess_start(flow, &state);
	if (!error)
		error = flow_balance(&state);
	if (!error)
		error = allocate(flow->map, result);
	if (!error)
		take(flow, &state, state.known, result);
	flow_state_deinit(&state);
	if (error)
		swlbr_flow_result_deinit(result);
	return error;
}

void swlbr_flow_result_deinit(struct swlbr_flow_result *result)
{
	free(result->edge);
	free(result->block);
	free(result->entry);
	free(result->outside);
	free(result->edge_exact);
	free(result->block_exact);
	*result = (struct swlbr_flow_result){ 0 };
}
