// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A flow as taken branches and maximal fall-through ranges. Which range goes how far is not in a
 * flow; the sums over ranges are. What came to a chain of blocks last leaves it first, which makes
 * at most as many ranges as the chain has ways in and out.
 */
#include <math.h>
#include <stdlib.h>

#include <swlbr/walk.h>

#include "base/saturate.h"
#include "landings.h"
#include "returns.h"

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
	struct returns returns;
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

/* Calls from code without counters, and exceptions, which its unwinder brings. */
static struct swlbr_error *give_entry(struct arcs *arcs, uint64_t to, double nr)
{
	struct swlbr_flow_arc arc = {
		.kind = SWLBR_EDGE_BRANCH, .to = to, .nr = whole(nr), .from_outside = true
	};

	return arc.nr ? arcs->add(arcs->context, &arc) : NULL;
}

static struct swlbr_error *give_entries(struct arcs *arcs)
{
	const struct swlbr_branch_map *map = arcs->map;
	struct landings landings;
	struct swlbr_error *error = landings_init(&landings, map);

	for (size_t i = 0; !error && i < map->nr_functions; i++)
		error = give_entry(arcs, map->functions[i].start, arcs->flow->outside[i]);
	for (size_t i = 0; !error && i < landings.nr; i++)
		error = give_entry(arcs, map->blocks[landings.pad[i]].start,
				   landings_count(&landings, arcs->flow, i));
	landings_deinit(&landings);
	return error;
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
	return give_entries(arcs);
}

/* Which return went where is a guess but where there is one way. */
static struct swlbr_error *give_returns(struct arcs *arcs, uint32_t block)
{
	const struct swlbr_branch_map *map = arcs->map;
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < arcs->returns.nr_sites; i++) {
		const struct return_site *site = &arcs->returns.sites[i];

		error = give(arcs, SWLBR_EDGE_BRANCH, map->blocks[block].last,
			     map->blocks[site->block].start,
			     whole(arcs->flow->block[block] * site->share),
			     arcs->flow->block_exact[block] && site->share == 1);
	}
	return error;
}

/* How often a function has returned. */
static double returned(const struct arcs *arcs, const struct swlbr_map_function *function)
{
	double sum = 0;

	for (uint32_t i = 0; i < function->nr_blocks; i++) {
		uint32_t block = function->first_block + i;

		if (arcs->map->blocks[block].end_kind == SWLBR_MAP_END_RETURN)
			sum += arcs->flow->block[block];
	}
	return sum;
}

static struct swlbr_error *give_all_returns(struct arcs *arcs)
{
	const struct swlbr_branch_map *map = arcs->map;
	struct swlbr_error *error = NULL;
	uint32_t function = SWLBR_NONE;

	for (uint32_t i = 0; !error && i < map->nr_blocks; i++) {
		if (map->blocks[i].end_kind != SWLBR_MAP_END_RETURN || !arcs->block[i])
			continue;
		if (map->blocks[i].function != function) {
			function = map->blocks[i].function;
			returns_of(&arcs->returns, function,
				   returned(arcs, &map->functions[function]));
		}
		error = give_returns(arcs, i);
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
	if (!arcs.block || !arcs.through || !arcs.stack) {
		error = swlbr_error_no_memory();
	} else {
		for (size_t i = 0; i < map->nr_blocks; i++)
			arcs.block[i] = whole(flow->block[i]);
		error = returns_init(&arcs.returns, map, flow);
		if (!error)
			error = give_edges(&arcs);
		if (!error)
			error = give_all_returns(&arcs);
		if (!error)
			error = give_calls(&arcs);
		if (!error)
			error = give_ranges(&arcs);
	}
	returns_deinit(&arcs.returns);
	free(arcs.block);
	free(arcs.through);
	free(arcs.stack);
	return error;
}

struct swlbr_arc_row swlbr_flow_arc_row(const struct swlbr_flow_arc *arc)
{
	return (struct swlbr_arc_row){
		.kind = arc->from_outside		 ? SWLBR_ARC_CALL
			: arc->kind == SWLBR_EDGE_BRANCH ? SWLBR_ARC_BRANCH
							 : SWLBR_ARC_RANGE,
		.from = arc->from,
		.to = arc->to,
		.nr = arc->nr,
		.exact = arc->exact,
	};
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
		add_saturating(&sink->share->branches, arc->nr);
		add_saturating(&sink->share->exact, arc->exact ? arc->nr : 0);
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
