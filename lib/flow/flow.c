// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* From counters to counts of edges: propagate, limit, guess a start for the rest, balance. */
#include <stdlib.h>
#include <string.h>

#include "leaks.h"
#include "loops.h"

struct swlbr_flow {
	const struct swlbr_branch_map *map;
	struct flow_system system;
	struct flow_system leaking; /* where functions leak, of the last solution */
	struct flow_bound *bounds;
	size_t nr_bounds;
	uint16_t *depth; /* of loops, per block */
};

struct swlbr_error *swlbr_flow_create(const struct swlbr_branch_map *map, struct swlbr_flow **ret)
{
	struct swlbr_flow *flow = calloc(1, sizeof(*flow));
	struct swlbr_error *error;

	if (!flow)
		return swlbr_error_no_memory();
	flow->map = map;
	error = flow_system_init(&flow->system, map, NULL);
	if (!error)
		error = unrolled_find(map, &flow->bounds, &flow->nr_bounds);
	if (!error)
		error = loops_find(map, &flow->depth);
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
	flow_system_deinit(&flow->leaking);
	free(flow->bounds);
	free(flow->depth);
	free(flow);
}

static void take(const struct swlbr_flow *flow, const struct flow_state *state, const bool *exact,
		 struct swlbr_flow_result *result)
{
	const struct swlbr_branch_map *map = flow->map;
	const struct flow_system *system = state->system;

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

/* Where rows disagree, some calls did not return: another try without taking that for granted. */
#define MAX_TRIES 4

/* @disagrees: per function, what is known and what is found. */
static struct swlbr_error *propagate_all(const struct flow_system *system,
					 const struct swlbr_branch_map *map,
					 const uint64_t *counters, bool *disagrees,
					 struct flow_state *state)
{
	struct swlbr_error *error = NULL;
	bool again = true;

	for (unsigned int try = 0; !error && again && try < MAX_TRIES; try++) {
		flow_state_deinit(state);
		error = flow_state_init(state, system, map, counters, disagrees);
		if (!error)
			error = flow_propagate(state);
		again = false;
		for (size_t i = 0; !error && i < map->nr_functions; i++) {
			again |= state->disagrees[i] && !disagrees[i];
			disagrees[i] |= state->disagrees[i];
		}
	}
	return error;
}

/* Equations with the leaks of @state, if there are any: *@found_ret. */
static struct swlbr_error *make_leaking(struct swlbr_flow *flow, const struct flow_state *state,
					bool *found_ret)
{
	double *leak = calloc(flow->map->nr_functions + 1, sizeof(*leak));
	struct swlbr_error *error;

	if (!leak)
		return swlbr_error_no_memory();
	error = leaks_find(state, leak, found_ret);
	if (error || !*found_ret) {
		free(leak);
		return error;
	}
	flow_system_deinit(&flow->leaking);
	return flow_system_init(&flow->leaking, flow->map, leak);
}

static struct swlbr_error *decide(struct swlbr_flow *flow, const uint64_t *counters,
				  struct flow_state *state)
{
	size_t nr = flow->map->nr_functions;
	bool *disagrees = calloc(nr + 1, sizeof(*disagrees));
	bool leaks = false;
	struct swlbr_error *error;

	*state = (struct flow_state){ 0 };
	if (!disagrees)
		return swlbr_error_no_memory();
	error = propagate_all(&flow->system, flow->map, counters, disagrees, state);
	if (!error)
		error = make_leaking(flow, state, &leaks);
	if (!error && leaks) {
		memset(disagrees, 0, nr * sizeof(*disagrees));
		error = propagate_all(&flow->leaking, flow->map, counters, disagrees, state);
	}
	free(disagrees);
	state->bounds = flow->bounds;
	state->nr_bounds = flow->nr_bounds;
	return error;
}

struct swlbr_error *swlbr_flow_solve(struct swlbr_flow *flow, const uint64_t *counters,
				     const struct swlbr_flow_result *prior,
				     struct swlbr_flow_result *result)
{
	struct flow_state state;
	struct swlbr_error *error;

	*result = (struct swlbr_flow_result){ 0 };
	error = decide(flow, counters, &state);
	if (!error)
		error = flow_limit(&state);
	if (!error)
		error = flow_propagate(&state);
	if (!error)
		error = flow_start(&state, flow->map, flow->depth, prior);
	if (!error)
		error = flow_balance(&state, prior != NULL);
	if (!error)
		error = swlbr_flow_result_init(result, flow->map);
	if (!error)
		take(flow, &state, state.known, result);
	flow_state_deinit(&state);
	if (error)
		swlbr_flow_result_deinit(result);
	return error;
}
