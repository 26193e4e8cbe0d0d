// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A stack is a walk of as many taken branches as it is deep. Walks begin at branches picked evenly
 * from all that were taken. At a fork each way gains its share of the visit and the one with the
 * most to its credit is taken, which takes every way as often as its share says to within one (the
 * rotor-router of J. Propp does the like). A return goes back to the call that the walk has seen;
 * before that, to a caller by how often each calls.
 */
#include <math.h>
#include <stdlib.h>

#include <swlbr/walk.h>

#include "transparent.h"

#define MAX_DEPTH 1024
#define MAX_CALLS 1024 /* calls that a walk remembers */
/* Blocks passed without a taken branch, and tail calls on the way to a caller: loops of neither. */
#define MAX_BLOCKS 100000
#define MAX_TAILS  16

/* Who may be returned to from a function. */
struct caller {
	uint32_t block; /* that calls it, or tail-calls it by edge */
	uint32_t edge;	/* SWLBR_NONE: a call */
};

struct swlbr_walker {
	const struct swlbr_branch_map *map;
	struct caller *callers; /* by function */
	uint32_t *caller_start; /* nr_functions + 1 */
	double *caller_credit, *outside_credit; /* per caller; per function: code without counters */
	double *edge_credit, *leave_credit;	/* per edge; per block */
	double *enter_credit;			/* per function: entered from code without counters */
	const struct swlbr_flow_result *flow;
	double entries; /* calls from code without counters, of all functions */
};

static bool is_counted(const struct swlbr_branch_map *map, uint32_t function)
{
	return map->functions[function].instrumented;
}

static bool is_call(const struct swlbr_branch_map *map, uint32_t block)
{
	return map->blocks[block].end_kind == SWLBR_MAP_END_CALL &&
	       !is_passed_over(map, &map->blocks[block]);
}

static uint32_t after_call(const struct swlbr_branch_map *map, uint32_t block)
{
	const struct swlbr_map_block *b = &map->blocks[block];

	for (uint32_t i = 0; i < b->nr_edges; i++) {
		if (map->edges[b->first_edge + i].kind == SWLBR_MAP_AFTER_CALL)
			return map->edges[b->first_edge + i].to;
	}
	return SWLBR_NONE;
}

/* Counts, or with @fill stores, the callers of each function. */
static void list_callers(struct swlbr_walker *walker, bool fill)
{
	const struct swlbr_branch_map *map = walker->map;
	uint32_t *start = walker->caller_start;

	for (uint32_t b = 0; b < map->nr_blocks; b++) {
		const struct swlbr_map_block *block = &map->blocks[b];

		if (!is_counted(map, block->function))
			continue;
		if (is_call(map, b) && !fill)
			start[block->callee + 2]++;
		else if (is_call(map, b))
			walker->callers[start[block->callee + 1]++] =
				(struct caller){ b, SWLBR_NONE };
		for (uint32_t i = 0; i < block->nr_edges; i++) {
			uint32_t edge = block->first_edge + i;
			uint32_t to = map->blocks[map->edges[edge].to].function;

			if (map->edges[edge].kind != SWLBR_MAP_TAIL)
				continue;
			if (fill)
				walker->callers[start[to + 1]++] = (struct caller){ b, edge };
			else
				start[to + 2]++;
		}
	}
}

static struct swlbr_error *make(struct swlbr_walker *walker)
{
	const struct swlbr_branch_map *map = walker->map;

	walker->caller_start = calloc(map->nr_functions + 3, sizeof(*walker->caller_start));
	walker->outside_credit = calloc(map->nr_functions + 1, sizeof(double));
	walker->enter_credit = calloc(map->nr_functions + 1, sizeof(double));
	walker->edge_credit = calloc(map->nr_edges + 1, sizeof(double));
	walker->leave_credit = calloc(map->nr_blocks + 1, sizeof(double));
	if (!walker->caller_start || !walker->outside_credit || !walker->enter_credit ||
	    !walker->edge_credit || !walker->leave_credit)
		return swlbr_error_no_memory();
	list_callers(walker, false);
	for (size_t i = 2; i < map->nr_functions + 2; i++)
		walker->caller_start[i] += walker->caller_start[i - 1];
	walker->callers = calloc(walker->caller_start[map->nr_functions + 1] + 1,
				 sizeof(*walker->callers));
	walker->caller_credit = calloc(walker->caller_start[map->nr_functions + 1] + 1,
				       sizeof(double));
	if (!walker->callers || !walker->caller_credit)
		return swlbr_error_no_memory();
	list_callers(walker, true);
	return NULL;
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
	free(walker->callers);
	free(walker->caller_start);
	free(walker->caller_credit);
	free(walker->outside_credit);
	free(walker->enter_credit);
	free(walker->edge_credit);
	free(walker->leave_credit);
	free(walker);
}

/* A choice in the making: the way with the most credit so far. */
struct choice {
	double *credit; /* of that way; NULL: no way has any share */
	uint32_t way;
	double most;
};

static void offer(struct choice *choice, double *credit, double share, uint32_t way)
{
	if (!(share > 0))
		return;
	*credit += share;
	if (!choice->credit || *credit > choice->most)
		*choice = (struct choice){ credit, way, *credit };
}

static bool choose(struct choice *choice)
{
	if (!choice->credit)
		return false;
	*choice->credit -= 1;
	return true;
}

/* The edge by which the walk leaves @block; SWLBR_NONE: it leaves the map. */
static uint32_t choose_edge(struct swlbr_walker *walker, uint32_t block)
{
	const struct swlbr_map_block *b = &walker->map->blocks[block];
	const double *count = walker->flow->edge;
	struct choice choice = { 0 };
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

/* Where a return from @function goes to; SWLBR_NONE: to code without counters. */
static uint32_t choose_caller(struct swlbr_walker *walker, uint32_t function)
{
	const struct swlbr_flow_result *flow = walker->flow;

	for (unsigned int tails = 0; tails < MAX_TAILS; tails++) {
		uint32_t start = walker->caller_start[function];
		uint32_t end = walker->caller_start[function + 1];
		double all = flow->outside[function];
		struct choice choice = { 0 };
		const struct caller *caller;

		for (uint32_t i = start; i < end; i++) {
			caller = &walker->callers[i];
			all += caller->edge == SWLBR_NONE ? flow->block[caller->block]
							  : flow->edge[caller->edge];
		}
		if (!(all > 0))
			return SWLBR_NONE;
		for (uint32_t i = start; i < end; i++) {
			caller = &walker->callers[i];
			offer(&choice, &walker->caller_credit[i],
			      (caller->edge == SWLBR_NONE ? flow->block[caller->block]
							  : flow->edge[caller->edge]) /
				      all,
			      i);
		}
		offer(&choice, &walker->outside_credit[function], flow->outside[function] / all,
		      SWLBR_NONE);
		if (!choose(&choice) || choice.way == SWLBR_NONE)
			return SWLBR_NONE;
		caller = &walker->callers[choice.way];
		if (caller->edge == SWLBR_NONE)
			return after_call(walker->map, caller->block);
		function = walker->map->blocks[caller->block].function;
	}
	return SWLBR_NONE;
}

/* A function that code without counters calls; SWLBR_NONE if there is none. */
static uint32_t choose_entry(struct swlbr_walker *walker)
{
	struct choice choice = { 0 };

	for (uint32_t i = 0; walker->entries > 0 && i < walker->map->nr_functions; i++)
		offer(&choice, &walker->enter_credit[i],
		      walker->flow->outside[i] / walker->entries, i);
	return choose(&choice) ? choice.way : SWLBR_NONE;
}

/* A walk under way. */
struct walk {
	uint32_t block; /* where it is: at its begin; SWLBR_NONE: in code without counters */
	uint32_t call[MAX_CALLS]; /* blocks to return to */
	size_t nr_calls, forgotten;
	struct swlbr_walk_branch branch[MAX_DEPTH]; /* oldest first */
	unsigned int nr;
	bool ended;
};

static uint64_t address_of(const struct swlbr_branch_map *map, uint32_t block)
{
	return block == SWLBR_NONE ? 0 : map->blocks[block].start;
}

static void take(struct walk *walk, const struct swlbr_branch_map *map, uint64_t from, uint32_t to)
{
	walk->branch[walk->nr++] = (struct swlbr_walk_branch){ from, address_of(map, to) };
	walk->block = to;
}

static void push_call(struct walk *walk, uint32_t block)
{
	if (walk->nr_calls < MAX_CALLS)
		walk->call[walk->nr_calls++] = block;
	else
		walk->forgotten++;
}

static uint32_t pop_call(struct swlbr_walker *walker, struct walk *walk, uint32_t function)
{
	if (walk->forgotten) {
		walk->forgotten--;
		return choose_caller(walker, function);
	}
	return walk->nr_calls ? walk->call[--walk->nr_calls] : choose_caller(walker, function);
}

/* The branch, taken or not, at the end of the block where the walk is. */
static void end_block(struct swlbr_walker *walker, struct walk *walk)
{
	const struct swlbr_branch_map *map = walker->map;
	uint32_t number = walk->block, edge;
	const struct swlbr_map_block *block = &map->blocks[number];

	if (is_call(map, number)) {
		push_call(walk, after_call(map, number));
		take(walk, map, block->last, map->functions[block->callee].first_block);
		return;
	}
	if (block->end_kind == SWLBR_MAP_END_RETURN) {
		take(walk, map, block->last, pop_call(walker, walk, block->function));
		return;
	}
	edge = choose_edge(walker, number);
	if (edge == SWLBR_NONE) {
		/* A tail call of other code returns to our caller; else the program ends here. */
		if (block->end_kind == SWLBR_MAP_END_JUMP ||
		    block->end_kind == SWLBR_MAP_END_INDIRECT_JUMP ||
		    block->end_kind == SWLBR_MAP_END_COND)
			take(walk, map, block->last, SWLBR_NONE);
		else
			walk->ended = true;
		if (!walk->ended && walk->nr_calls)
			walk->block = SWLBR_NONE;
		return;
	}
	if (continues_range(map, &map->edges[edge]))
		walk->block = map->edges[edge].to;
	else
		take(walk, map, block->last, map->edges[edge].to);
}

/* Back from code without counters: to the call that is open, or into a function that it calls. */
static void come_back(struct swlbr_walker *walker, struct walk *walk)
{
	uint32_t function;

	if (walk->nr_calls && !walk->forgotten) {
		take(walk, walker->map, 0, walk->call[--walk->nr_calls]);
		if (walk->block == SWLBR_NONE)
			walk->ended = true;
		return;
	}
	function = choose_entry(walker);
	if (function == SWLBR_NONE)
		walk->ended = true;
	else
		take(walk, walker->map, 0, walker->map->functions[function].first_block);
}

static void run(struct swlbr_walker *walker, struct walk *walk, unsigned int depth)
{
	unsigned int blocks = 0;

	while (walk->nr < depth && !walk->ended && blocks++ < MAX_BLOCKS) {
		if (walk->block == SWLBR_NONE)
			come_back(walker, walk);
		else
			end_block(walker, walk);
	}
}

/* What is picked from: one way of taking a branch, and how often it was. */
enum event_kind { EVENT_EDGE, EVENT_CALL, EVENT_RETURN, EVENT_ENTRY };

struct events {
	struct swlbr_walker *walker;
	double until; /* branches up to and with the event */
	enum event_kind kind;
	size_t next; /* item of @kind after this one */
	uint32_t item;
};

/* The count of item @i of @kind; negative past the last. */
static double event_count(const struct swlbr_walker *walker, const struct swlbr_flow_result *flow,
			  enum event_kind kind, size_t i)
{
	const struct swlbr_branch_map *map = walker->map;

	switch (kind) {
	case EVENT_EDGE:
		if (i >= map->nr_edges)
			return -1;
		return map->edges[i].kind == SWLBR_MAP_AFTER_CALL ||
				       continues_range(map, &map->edges[i])
			       ? 0
			       : flow->edge[i];
	case EVENT_CALL:
		if (i >= map->nr_blocks)
			return -1;
		return is_call(map, (uint32_t)i) ? flow->block[i] : 0;
	case EVENT_RETURN:
		if (i >= map->nr_blocks)
			return -1;
		return map->blocks[i].end_kind == SWLBR_MAP_END_RETURN ? flow->block[i] : 0;
	default:
		return i >= map->nr_functions ? -1 : flow->outside[i];
	}
}

double swlbr_walker_branches(const struct swlbr_walker *walker,
			     const struct swlbr_flow_result *flow)
{
	double sum = 0;

	for (enum event_kind kind = EVENT_EDGE; kind <= EVENT_ENTRY; kind++) {
		double count;

		for (size_t i = 0; (count = event_count(walker, flow, kind, i)) >= 0; i++)
			sum += count;
	}
	return sum;
}

/* Go on to the event that has branch number @at. */
static bool seek(struct events *events, double at)
{
	while (events->until <= at) {
		double count = event_count(events->walker, events->walker->flow, events->kind,
					   events->next);

		if (count < 0) {
			if (events->kind == EVENT_ENTRY)
				return false;
			events->kind++;
			events->next = 0;
			continue;
		}
		events->item = (uint32_t)events->next++;
		events->until += count;
	}
	return true;
}

/* The walk's first branch. */
static void begin(struct swlbr_walker *walker, struct walk *walk, const struct events *events)
{
	const struct swlbr_branch_map *map = walker->map;
	const struct swlbr_map_edge *edge = &map->edges[events->item];

	walk->nr = 0;
	walk->nr_calls = walk->forgotten = 0;
	walk->ended = false;
	switch (events->kind) {
	case EVENT_EDGE:
		take(walk, map, map->blocks[edge->from].last, edge->to);
		break;
	case EVENT_ENTRY:
		take(walk, map, 0, map->functions[events->item].first_block);
		break;
	default:
		walk->block = events->item;
		end_block(walker, walk);
	}
}

static struct swlbr_error *
walk_all(struct swlbr_walker *walker, struct walk *walk, uint64_t nr, unsigned int depth,
	 double branches,
	 struct swlbr_error *(*emit)(void *context, size_t nr,
				     const struct swlbr_walk_branch *branches),
	 void *context)
{
	struct events events = { .walker = walker };
	struct swlbr_walk_branch newest_first[MAX_DEPTH];
	struct swlbr_error *error = NULL;

	for (uint64_t i = 0; !error && i < nr; i++) {
		if (!seek(&events, ((double)i + 0.5) * branches / (double)nr))
			break;
		begin(walker, walk, &events);
		run(walker, walk, depth);
		for (unsigned int k = 0; k < walk->nr; k++)
			newest_first[k] = walk->branch[walk->nr - 1 - k];
		if (walk->nr)
			error = emit(context, walk->nr, newest_first);
	}
	return error;
}

struct swlbr_error *swlbr_walk(struct swlbr_walker *walker, const struct swlbr_flow_result *flow,
			       uint64_t nr, unsigned int depth,
			       struct swlbr_error *(*emit)(void *context, size_t nr,
							   const struct swlbr_walk_branch *branches),
			       void *context)
{
	double branches = swlbr_walker_branches(walker, flow);
	struct swlbr_error *error;
	struct walk *walk;

	if (!(branches > 0) || !nr)
		return NULL;
	walk = malloc(sizeof(*walk));
	if (!walk)
		return swlbr_error_no_memory();
	walker->flow = flow;
	walker->entries = 0;
	for (size_t i = 0; i < walker->map->nr_functions; i++)
		walker->entries += flow->outside[i];
	error = walk_all(walker, walk, nr, depth < MAX_DEPTH ? depth : MAX_DEPTH, branches, emit,
			 context);
	free(walk);
	return error;
}
