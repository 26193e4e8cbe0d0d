// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A flow as taken branches and maximal fall-through ranges. Which range goes how far is not in a
 * flow; the sums over ranges are. What came to a chain of blocks last leaves it first, which makes
 * at most as many ranges as the chain has ways in and out.
 */
#include <math.h>
#include <stdlib.h>

#include <swlbr/walk.h>

#include "callers.h"

/* What has entered a chain of blocks by taken branches and not left it yet. */
struct entrance {
	uint64_t vaddr;
	uint64_t nr;
	bool exact;
};

struct arcs {
	const struct swlbr_branch_map *map;
	const struct swlbr_flow_result *flow;
	struct swlbr_error *(*add)(void *context, const struct swlbr_flow_arc *arc);
	void *context;
	uint64_t *block;   /* executions, whole numbers */
	uint64_t *through; /* per block: what it gives to the next one without a branch */
	struct entrance *stack;
	size_t nr_stack;
	struct callers callers;
	double *indirect; /* per function: indirect calls of it */
};

static struct swlbr_error *give(struct arcs *arcs, enum swlbr_edge_kind kind, uint64_t from,
				uint64_t to, uint64_t nr, bool exact)
{
	struct swlbr_flow_arc arc = {
		.kind = kind, .from = from, .to = to, .nr = nr, .exact = exact
	};

	return nr ? arcs->add(arcs->context, &arc) : NULL;
}

static uint64_t whole(double count)
{
	return count < 0.5 ? 0 : count > 9e18 ? (uint64_t)9e18 : (uint64_t)llround(count);
}

static struct swlbr_error *give_edges(struct arcs *arcs)
{
	const struct swlbr_branch_map *map = arcs->map;

	for (size_t i = 0; i < map->nr_edges; i++) {
		const struct swlbr_map_edge *edge = &map->edges[i];
		uint64_t nr = whole(arcs->flow->edge[i]);
		struct swlbr_error *error;

		if (edge->kind == SWLBR_MAP_FALLTHROUGH) {
			arcs->through[edge->from] += nr;
			continue;
		}
		if (edge->kind == SWLBR_MAP_AFTER_CALL)
			continue; /* the return */
		error = give(arcs, SWLBR_EDGE_BRANCH, map->blocks[edge->from].last,
			     map->blocks[edge->to].start, nr, arcs->flow->edge_exact[i]);
		if (error)
			return error;
	}
	return NULL;
}

static struct swlbr_error *give_calls(struct arcs *arcs)
{
	const struct swlbr_branch_map *map = arcs->map;

	for (size_t i = 0; i < map->nr_blocks; i++) {
		const struct swlbr_map_block *block = &map->blocks[i];
		struct swlbr_error *error;

		if (!block_calls_inside(map, (uint32_t)i))
			continue;
		error = give(arcs, SWLBR_EDGE_BRANCH, block->last,
			     map->functions[block->callee].start, arcs->block[i],
			     arcs->flow->block_exact[i]);
		if (error)
			return error;
	}
	for (size_t i = 0; i < arcs->flow->nr_calls; i++) {
		const struct swlbr_flow_call *call = &arcs->flow->calls[i];
		struct swlbr_error *error =
			give(arcs, SWLBR_EDGE_BRANCH, map->blocks[call->block].last,
			     map->functions[call->function].start, whole(call->nr), call->exact);

		if (error)
			return error;
	}
	for (size_t i = 0; i < map->nr_functions; i++) {
		struct swlbr_flow_arc arc = {
			.kind = SWLBR_EDGE_BRANCH,
			.to = map->functions[i].start,
			.nr = whole(arcs->flow->outside[i]),
			.from_outside = true,
		};
		struct swlbr_error *error = arc.nr ? arcs->add(arcs->context, &arc) : NULL;

		if (error)
			return error;
	}
	return NULL;
}

/* Tail calls between a return and the call that it goes back to, at most. */
#define MAX_TAILS 8

/*
 * @nr returns at @from, of @function, go back to its callers by how often each has called; which
 * went where is a guess but where there is one. What came by a tail call goes back to the callers
 * of that function.
 */
static struct swlbr_error *give_returns(struct arcs *arcs, uint64_t from, uint32_t function,
					double nr, bool exact, unsigned int tails)
{
	uint32_t start = arcs->callers.start[function], end = arcs->callers.start[function + 1];
	double all = arcs->flow->outside[function];
	struct swlbr_error *error = NULL;

	if (nr < 0.5 || tails > MAX_TAILS)
		return NULL;
	for (uint32_t i = start; i < end; i++)
		all += caller_count(&arcs->callers.caller[i], arcs->flow);
	all += arcs->indirect[function];
	for (size_t i = 0; !error && arcs->indirect[function] > 0 && i < arcs->flow->nr_calls;
	     i++) {
		const struct swlbr_flow_call *call = &arcs->flow->calls[i];
		uint32_t to = block_after_call(arcs->map, call->block);

		if (call->function == function && to != SWLBR_NONE)
			error = give(arcs, SWLBR_EDGE_BRANCH, from, arcs->map->blocks[to].start,
				     whole(nr * call->nr / all), exact && call->nr == all);
	}
	for (uint32_t i = start; !error && i < end; i++) {
		const struct caller *caller = &arcs->callers.caller[i];
		double count = caller_count(caller, arcs->flow), some = nr * count / all;
		uint32_t to = block_after_call(arcs->map, caller->block);
		bool sure = exact && count == all;

		if (!(some >= 0.5))
			continue;
		if (caller->edge != SWLBR_NONE)
			error = give_returns(arcs, from, arcs->map->blocks[caller->block].function,
					     some, sure, tails + 1);
		else if (to != SWLBR_NONE)
			error = give(arcs, SWLBR_EDGE_BRANCH, from, arcs->map->blocks[to].start,
				     whole(some), sure);
	}
	return error;
}

static struct swlbr_error *give_all_returns(struct arcs *arcs)
{
	const struct swlbr_branch_map *map = arcs->map;
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < map->nr_blocks; i++) {
		if (map->blocks[i].end_kind == SWLBR_MAP_END_RETURN)
			error = give_returns(arcs, map->blocks[i].last, map->blocks[i].function,
					     arcs->flow->block[i], arcs->flow->block_exact[i], 0);
	}
	return error;
}

/* @leave of what is on the stack has its range end at @last. */
static struct swlbr_error *end_ranges(struct arcs *arcs, uint64_t last, uint64_t leave)
{
	while (leave && arcs->nr_stack) {
		struct entrance *top = &arcs->stack[arcs->nr_stack - 1];
		uint64_t nr = top->nr < leave ? top->nr : leave;
		struct swlbr_error *error =
			give(arcs, SWLBR_EDGE_RANGE, top->vaddr, last, nr, top->exact);

		if (error)
			return error;
		leave -= nr;
		top->nr -= nr;
		if (!top->nr)
			arcs->nr_stack--;
	}
	return NULL;
}

static struct swlbr_error *give_ranges(struct arcs *arcs)
{
	const struct swlbr_branch_map *map = arcs->map;
	uint64_t in = 0; /* what the block before gave */

	for (size_t i = 0; i < map->nr_blocks; i++) {
		const struct swlbr_map_block *block = &map->blocks[i];
		uint64_t count = arcs->block[i];
		struct swlbr_error *error;

		/* Rounding, and what the equations disagreed by. */
		if (in > count && i) {
			error = end_ranges(arcs, map->blocks[i - 1].last, in - count);
			if (error)
				return error;
			in = count;
		}
		if (count > in)
			arcs->stack[arcs->nr_stack++] =
				(struct entrance){ block->start, count - in,
						   arcs->flow->block_exact[i] };
		in = arcs->through[i];
		if (in > count)
			in = count;
		if (i + 1 == map->nr_blocks || map->blocks[i + 1].start != block->end)
			in = 0;
		error = end_ranges(arcs, block->last, count - in);
		if (error)
			return error;
	}
	return NULL;
}

struct swlbr_error *swlbr_flow_arcs(
	const struct swlbr_branch_map *map, const struct swlbr_flow_result *flow,
	struct swlbr_error *(*add)(void *context, const struct swlbr_flow_arc *arc), void *context)
{
	struct arcs arcs = { .map = map, .flow = flow, .add = add, .context = context };
	struct swlbr_error *error;

	arcs.block = calloc(map->nr_blocks + 1, sizeof(*arcs.block));
	arcs.through = calloc(map->nr_blocks + 1, sizeof(*arcs.through));
	arcs.stack = calloc(map->nr_blocks + 1, sizeof(*arcs.stack));
	arcs.indirect = calloc(map->nr_functions + 1, sizeof(*arcs.indirect));
	if (!arcs.block || !arcs.through || !arcs.stack || !arcs.indirect) {
		error = swlbr_error_no_memory();
	} else {
		for (size_t i = 0; i < map->nr_blocks; i++)
			arcs.block[i] = whole(flow->block[i]);
		for (size_t i = 0; i < flow->nr_calls; i++)
			arcs.indirect[flow->calls[i].function] += flow->calls[i].nr;
		error = callers_init(&arcs.callers, map);
		if (!error)
			error = give_edges(&arcs);
		if (!error)
			error = give_all_returns(&arcs);
		if (!error)
			error = give_calls(&arcs);
		if (!error)
			error = give_ranges(&arcs);
	}
	callers_deinit(&arcs.callers);
	free(arcs.block);
	free(arcs.through);
	free(arcs.stack);
	free(arcs.indirect);
	return error;
}

struct edge_sink {
	struct swlbr_edge_profile *edges;
	struct swlbr_flow_share *share;
	uint32_t binary, outside;
};

static struct swlbr_error *add_edge(void *context, const struct swlbr_flow_arc *arc)
{
	const struct edge_sink *sink = context;
	struct swlbr_edge edge = {
		.kind = arc->kind,
		.from = arc->from,
		.to = arc->to,
		.from_binary = arc->from_outside ? sink->outside : sink->binary,
		.to_binary = sink->binary,
		.source = SWLBR_SOURCE_SW,
		.nr = arc->nr,
	};

	if (arc->kind == SWLBR_EDGE_BRANCH && !arc->from_outside) {
		sink->share->branches += arc->nr;
		sink->share->exact += arc->exact ? arc->nr : 0;
	}
	return swlbr_edge_profile_add(sink->edges, &edge);
}

struct swlbr_error *swlbr_flow_edges(const struct swlbr_branch_map *map,
				     const struct swlbr_flow_result *flow, const char *path,
				     struct swlbr_edge_profile *edges,
				     struct swlbr_flow_share *share)
{
	struct swlbr_edge_binary binary = { .build_id = map->build_id, .path = path };
	struct swlbr_edge_binary outside = { .path = "[outside]" };
	struct edge_sink sink = { .edges = edges, .share = share };
	struct swlbr_error *error;

	error = swlbr_edge_profile_binary(edges, &binary, &sink.binary);
	if (!error)
		error = swlbr_edge_profile_binary(edges, &outside, &sink.outside);
	return error ? error : swlbr_flow_arcs(map, flow, add_edge, &sink);
}
