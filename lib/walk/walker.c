// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What a walker keeps: credits, the events that a flow has, and what is owed of them. */
#include <stdlib.h>

#include "walker.h"

static struct swlbr_error *make(struct swlbr_walker *walker)
{
	const struct swlbr_branch_map *map = walker->map;
	struct swlbr_error *error;

	walker->outside_credit = calloc(map->nr_functions + 1, sizeof(double));
	walker->enter_credit = calloc(map->nr_functions + 1, sizeof(double));
	walker->edge_credit = calloc(map->nr_edges + 1, sizeof(double));
	walker->leave_credit = calloc(map->nr_blocks + 1, sizeof(double));
	walker->back_credit = calloc(map->nr_blocks + 1, sizeof(double));
	walker->throw_credit = calloc(map->nr_blocks + 1, sizeof(double));
	error = landings_init(&walker->landings, map);
	if (error)
		return error;
	walker->land_credit = calloc(walker->landings.nr + 1, sizeof(double));
	walker->owed = calloc(walker_nr_events(walker) + 1, sizeof(double));
	walker->given = calloc(walker_nr_events(walker) + 1, sizeof(double));
	walker->random = 88172645463325252ULL;
	if (!walker->outside_credit || !walker->enter_credit || !walker->edge_credit ||
	    !walker->leave_credit || !walker->back_credit || !walker->throw_credit ||
	    !walker->land_credit || !walker->owed || !walker->given)
		return swlbr_error_no_memory();
	error = callers_init(&walker->callers, map);
	if (error)
		return error;
	walker->caller_credit =
		calloc(walker->callers.start[map->nr_functions] + 1, sizeof(double));
	return walker->caller_credit ? NULL : swlbr_error_no_memory();
}

struct swlbr_error *swlbr_walker_create(const struct swlbr_branch_map *map,
					struct swlbr_walker **ret)
{
	struct swlbr_walker *walker = calloc(1, sizeof(*walker));
	struct swlbr_error *error;

	if (!walker)
		return swlbr_error_no_memory();
	walker->map = map;
	error = make(walker);
	if (error) {
		swlbr_walker_destroy(walker);
		return error;
	}
	*ret = walker;
	return NULL;
}

void swlbr_walker_destroy(struct swlbr_walker *walker)
{
	if (!walker)
		return;
	callers_deinit(&walker->callers);
	free(walker->caller_credit);
	free(walker->outside_credit);
	free(walker->enter_credit);
	free(walker->edge_credit);
	free(walker->leave_credit);
	free(walker->back_credit);
	free(walker->throw_credit);
	free(walker->land_credit);
	landings_deinit(&walker->landings);
	free(walker->owed);
	free(walker->given);
	free(walker->call_credit);
	free(walker->return_credit);
	free(walker->call_of);
	free(walker->event);
	free(walker->count);
	free(walker);
}

/* The first of the flow's indirect calls from @block on. */
size_t walker_first_call(const struct swlbr_flow_result *flow, uint32_t block)
{
	size_t low = 0, high = flow->nr_calls;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (flow->calls[middle].block < block)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* How often the call of @block has called code without counters that returned. */
static double back_count(const struct swlbr_branch_map *map, const struct swlbr_flow_result *flow,
			 uint32_t block)
{
	double count = flow->block[block];

	if (!block_calls(map, block) || block_calls_inside(map, block) ||
	    block_after_call(map, block) == SWLBR_NONE)
		return 0;
	if (map->blocks[block].landing)
		count -= block_thrown(map, flow, block);
	if (map->blocks[block].end_kind != SWLBR_MAP_END_INDIRECT_CALL)
		return count;
	for (size_t i = walker_first_call(flow, block);
	     i < flow->nr_calls && flow->calls[i].block == block; i++)
		count -= flow->calls[i].nr;
	return count > 0 ? count : 0;
}

static double event_count(const struct swlbr_walker *walker, const struct swlbr_flow_result *flow,
			  size_t event)
{
	const struct swlbr_branch_map *map = walker->map;
	size_t item = event;

	if (item < map->nr_edges)
		return map->edges[item].kind == SWLBR_MAP_AFTER_CALL ||
				       map->edges[item].kind == SWLBR_MAP_FALLTHROUGH
			       ? 0
			       : flow->edge[item];
	item -= map->nr_edges;
	if (item < map->nr_blocks)
		return block_calls(map, (uint32_t)item) || block_calls_by_jump(map, (uint32_t)item)
			       ? flow->block[item]
			       : 0;
	item -= map->nr_blocks;
	if (item < map->nr_blocks)
		return map->blocks[item].end_kind == SWLBR_MAP_END_RETURN ? flow->block[item] : 0;
	item -= map->nr_blocks;
	if (item < map->nr_blocks)
		return back_count(map, flow, (uint32_t)item);
	item -= map->nr_blocks;
	if (item < map->nr_functions)
		return flow->outside[item];
	return landings_count(&walker->landings, flow, item - map->nr_functions);
}

double swlbr_walker_branches(const struct swlbr_walker *walker,
			     const struct swlbr_flow_result *flow)
{
	double sum = 0;

	for (size_t i = 0; i < walker_nr_events(walker); i++)
		sum += event_count(walker, flow, i);
	return sum;
}

struct swlbr_error *walker_find_active(struct swlbr_walker *walker)
{
	size_t nr = walker_nr_events(walker);

	if (!walker->event) {
		walker->event = calloc(nr + 1, sizeof(*walker->event));
		walker->count = calloc(nr + 1, sizeof(*walker->count));
		if (!walker->event || !walker->count)
			return swlbr_error_no_memory();
	}
	walker->nr_active = 0;
	for (size_t i = 0; i < nr; i++) {
		double count = event_count(walker, walker->flow, i);

		if (!(count > 0))
			continue;
		walker->event[walker->nr_active] = (uint32_t)i;
		walker->count[walker->nr_active++] = count;
	}
	return NULL;
}

static int by_function(const void *left, const void *right, void *context)
{
	const uint32_t *a = left, *b = right;
	const struct swlbr_flow_call *calls = context;

	if (calls[*a].function != calls[*b].function)
		return calls[*a].function < calls[*b].function ? -1 : 1;
	return (*a > *b) - (*a < *b);
}

/* The flow's indirect calls by function; credits go on as long as there are as many. */
struct swlbr_error *walker_index_calls(struct swlbr_walker *walker)
{
	size_t nr = walker->flow->nr_calls;

	if (nr != walker->nr_calls || !walker->call_of) {
		free(walker->call_credit);
		free(walker->return_credit);
		free(walker->call_of);
		walker->call_credit = calloc(nr + 1, sizeof(double));
		walker->return_credit = calloc(nr + 1, sizeof(double));
		walker->call_of = calloc(nr + 1, sizeof(*walker->call_of));
		walker->nr_calls = nr;
		if (!walker->call_credit || !walker->return_credit || !walker->call_of)
			return swlbr_error_no_memory();
	}
	for (size_t i = 0; i < nr; i++)
		walker->call_of[i] = (uint32_t)i;
	if (nr)
		qsort_r(walker->call_of, nr, sizeof(*walker->call_of), by_function,
			walker->flow->calls);
	return NULL;
}

void swlbr_walker_settle(struct swlbr_walker *walker, const struct swlbr_flow_result *whole)
{
	size_t nr = walker_nr_events(walker);
	double branches, given = 0;

	walker->flow = whole;
	branches = swlbr_walker_branches(walker, whole);
	for (size_t i = 0; i < nr; i++)
		given += walker->given[i];
	for (size_t i = 0; i < nr; i++) {
		walker->owed[i] = branches > 0 ? event_count(walker, whole, i) * given / branches -
							 walker->given[i]
					       : 0;
		walker->given[i] = 0;
	}
}
