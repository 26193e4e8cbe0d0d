// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Where a walk goes on. Each way gains its share of the visit; one that has credit is taken, by chance
 * in proportion to it.
 */
#include "walker.h"

/* Tail calls on the way to a caller: not a loop of them. */
#define MAX_TAILS 16

/* Between 0 and 1 (G. Marsaglia, "Xorshift RNGs", 2003). */
static double chance(struct swlbr_walker *walker)
{
	walker->random ^= walker->random << 13;
	walker->random ^= walker->random >> 7;
	walker->random ^= walker->random << 17;
	return (double)(walker->random >> 11) / 9007199254740992.0;
}

/* A choice in the making: reservoir sampling of the ways, by credit. */
struct choice {
	struct swlbr_walker *walker;
	double *credit; /* of the way taken so far; NULL: none has any */
	uint32_t way;
	double all; /* credits so far */
};

static void offer(struct choice *choice, double *credit, double share, uint32_t way)
{
	if (!(share > 0))
		return;
	*credit += share;
	if (!(*credit > 0))
		return;
	choice->all += *credit;
	if (!choice->credit || chance(choice->walker) * choice->all < *credit) {
		choice->credit = credit;
		choice->way = way;
	}
}

static bool choose(struct choice *choice)
{
	if (!choice->credit)
		return false;
	*choice->credit -= 1;
	return true;
}

/* The edge by which the walk leaves @block; SWLBR_NONE: it leaves the map. */
uint32_t walker_choose_edge(struct swlbr_walker *walker, uint32_t block)
{
	const struct swlbr_map_block *b = &walker->map->blocks[block];
	const double *count = walker->flow->edge;
	struct choice choice = { .walker = walker };
	double out = 0, all;

	if (b->nr_edges == 1 && !b->leaves)
		return b->first_edge;
	for (uint32_t i = 0; i < b->nr_edges; i++)
		out += count[b->first_edge + i];
	all = b->leaves && walker->flow->block[block] > out ? walker->flow->block[block] : out;
	if (!(all > 0))
		return SWLBR_NONE;
	for (uint32_t i = 0; i < b->nr_edges; i++)
		offer(&choice, &walker->edge_credit[b->first_edge + i],
		      count[b->first_edge + i] / all, b->first_edge + i);
	if (all > out)
		offer(&choice, &walker->leave_credit[block], (all - out) / all, SWLBR_NONE);
	return choose(&choice) ? choice.way : SWLBR_NONE;
}

/* The function that the indirect call of @block calls; SWLBR_NONE: code without counters. */
uint32_t walker_choose_callee(struct swlbr_walker *walker, uint32_t block)
{
	const struct swlbr_flow_result *flow = walker->flow;
	struct choice choice = { .walker = walker };
	double all = flow->block[block], inside = 0;

	if (block_calls_inside(walker->map, block))
		return walker->map->blocks[block].callee;
	if (walker->map->blocks[block].end_kind != SWLBR_MAP_END_INDIRECT_CALL &&
	    !block_calls_by_jump(walker->map, block))
		return SWLBR_NONE;
	for (size_t i = walker_first_call(flow, block);
	     i < flow->nr_calls && flow->calls[i].block == block; i++)
		inside += flow->calls[i].nr;
	if (!(inside > 0))
		return SWLBR_NONE;
	if (all < inside)
		all = inside;
	for (size_t i = walker_first_call(flow, block);
	     i < flow->nr_calls && flow->calls[i].block == block; i++)
		offer(&choice, &walker->call_credit[i], flow->calls[i].nr / all,
		      flow->calls[i].function);
	offer(&choice, &walker->leave_credit[block], (all - inside) / all, SWLBR_NONE);
	return choose(&choice) ? choice.way : SWLBR_NONE;
}

/* The indirect calls of @function, in walker->call_of. */
static size_t first_call_of(const struct swlbr_walker *walker, uint32_t function)
{
	size_t low = 0, high = walker->flow->nr_calls;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (walker->flow->calls[walker->call_of[middle]].function < function)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#define INDIRECT_WAY 0x80000000U /* a way back to an indirect call, not to a caller of the map */

/* Where a return from @function goes to; SWLBR_NONE: to code without counters. */
uint32_t walker_choose_caller(struct swlbr_walker *walker, uint32_t function)
{
	const struct swlbr_flow_result *flow = walker->flow;

	for (unsigned int tails = 0; tails < MAX_TAILS; tails++) {
		uint32_t start = walker->callers.start[function];
		uint32_t end = walker->callers.start[function + 1];
		size_t first = first_call_of(walker, function), last = first;
		double all = flow->outside[function];
		struct choice choice = { .walker = walker };
		const struct caller *caller;

		for (uint32_t i = start; i < end; i++)
			all += caller_count(&walker->callers.caller[i], flow);
		for (; last < flow->nr_calls &&
		       flow->calls[walker->call_of[last]].function == function;
		     last++)
			all += flow->calls[walker->call_of[last]].nr;
		if (!(all > 0))
			return SWLBR_NONE;
		for (uint32_t i = start; i < end; i++)
			offer(&choice, &walker->caller_credit[i],
			      caller_count(&walker->callers.caller[i], flow) / all, i);
		for (size_t i = first; i < last; i++)
			offer(&choice, &walker->return_credit[walker->call_of[i]],
			      flow->calls[walker->call_of[i]].nr / all,
			      INDIRECT_WAY | walker->call_of[i]);
		offer(&choice, &walker->outside_credit[function], flow->outside[function] / all,
		      SWLBR_NONE);
		if (!choose(&choice) || choice.way == SWLBR_NONE)
			return SWLBR_NONE;
		if (choice.way & INDIRECT_WAY) {
			uint32_t call = flow->calls[choice.way & ~INDIRECT_WAY].block;

			if (!block_calls_by_jump(walker->map, call))
				return block_after_call(walker->map, call);
			function = walker->map->blocks[call].function;
			continue;
		}
		caller = &walker->callers.caller[choice.way];
		if (caller->edge == SWLBR_NONE)
			return block_after_call(walker->map, caller->block);
		function = walker->map->blocks[caller->block].function;
	}
	return SWLBR_NONE;
}

/* A function that code without counters calls; SWLBR_NONE if there is none. */
uint32_t walker_choose_entry(struct swlbr_walker *walker)
{
	struct choice choice = { .walker = walker };

	for (uint32_t i = 0; walker->entries > 0 && i < walker->map->nr_functions; i++)
		offer(&choice, &walker->enter_credit[i], walker->flow->outside[i] / walker->entries,
		      i);
	return choose(&choice) ? choice.way : SWLBR_NONE;
}

/* The call of @block is over: where it goes on. SWLBR_NONE: it threw what lands further up. */
uint32_t walker_choose_way_back(struct swlbr_walker *walker, uint32_t block)
{
	const struct swlbr_map_block *b = &walker->map->blocks[block];
	uint32_t next = block_after_call(walker->map, block);
	double all = walker->flow->block[block];
	struct choice choice = { .walker = walker };
	double thrown;

	if (!b->landing)
		return next;
	if (next == SWLBR_NONE)
		return b->landing - 1;
	thrown = block_thrown(walker->map, walker->flow, block);
	if (!(thrown > 0))
		return next;
	offer(&choice, &walker->throw_credit[block], thrown / all, b->landing - 1);
	offer(&choice, &walker->back_credit[block], (all - thrown) / all, next);
	return choose(&choice) ? choice.way : next;
}

/* A landing pad that what was thrown goes on at; SWLBR_NONE if there is none. */
uint32_t walker_choose_landing(struct swlbr_walker *walker)
{
	struct choice choice = { .walker = walker };
	double all = 0;

	for (size_t i = 0; i < walker->landings.nr; i++)
		all += landings_count(&walker->landings, walker->flow, i);
	for (uint32_t i = 0; all > 0 && i < walker->landings.nr; i++)
		offer(&choice, &walker->land_credit[i],
		      landings_count(&walker->landings, walker->flow, i) / all,
		      walker->landings.pad[i]);
	return choose(&choice) ? choice.way : SWLBR_NONE;
}
