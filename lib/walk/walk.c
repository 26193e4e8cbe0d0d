// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A stack is a walk of as many taken branches as it is deep. At a fork each way gains its share of
 * the visit, and one of those that are owed something is taken, by chance in proportion to what it
 * is owed: so each way is taken as often as its share says, give or take a few, and loops do not
 * fall into step with each other as they would if the most owed was always taken. A return goes
 * back to the call that the walk has seen; before that, to a caller by how often each calls.
 *
 * Walks begin at branches picked evenly from what is owed: what flow and walk disagree on (code whose
 * callers are not known) would else add up. Chance is a sequence that is always the same.
 */
#include <stdlib.h>

#include <swlbr/walk.h>

#include "callers.h"

#define MAX_DEPTH 1024
#define MAX_CALLS 1024 /* calls that a walk remembers */
/* Blocks passed without a taken branch, and tail calls on the way to a caller: loops of neither. */
#define MAX_BLOCKS 100000
#define MAX_TAILS  16

struct swlbr_walker {
	const struct swlbr_branch_map *map;
	struct callers callers;
	double *caller_credit,
		*outside_credit;	    /* per caller; per function: code without counters */
	double *edge_credit, *leave_credit; /* per edge; per block */
	double *enter_credit;		    /* per function: entered from code without counters */
	/* Per indirect call of the flow: as a way on, and as one back. */
	double *call_credit, *return_credit;
	size_t nr_calls;
	uint32_t *call_of; /* the flow's indirect calls by function */
	const struct swlbr_flow_result *flow;
	double entries; /* calls from code without counters, of all functions */
	/* Per event: how often it should have been in stacks by now, less how often it was. */
	double *owed;
	double *given; /* how often it was, since the last settlement */
	uint64_t random;
	/* The events that the flow has, and how often. */
	uint32_t *event;
	double *count;
	size_t nr_active;
};

/*
 * A way of taking a branch: an edge, the call or the return of a block, the entry of a function from
 * code without counters, the way back from there behind a call.
 */
static size_t nr_events(const struct swlbr_branch_map *map)
{
	return map->nr_edges + 3 * map->nr_blocks + map->nr_functions;
}

static size_t call_event(const struct swlbr_branch_map *map, uint32_t block)
{
	return map->nr_edges + block;
}

static size_t return_event(const struct swlbr_branch_map *map, uint32_t block)
{
	return map->nr_edges + map->nr_blocks + block;
}

static size_t back_event(const struct swlbr_branch_map *map, uint32_t block)
{
	return map->nr_edges + 2 * map->nr_blocks + block;
}

static size_t entry_event(const struct swlbr_branch_map *map, uint32_t function)
{
	return map->nr_edges + 3 * map->nr_blocks + function;
}

static struct swlbr_error *make(struct swlbr_walker *walker)
{
	const struct swlbr_branch_map *map = walker->map;
	struct swlbr_error *error;

	walker->outside_credit = calloc(map->nr_functions + 1, sizeof(double));
	walker->enter_credit = calloc(map->nr_functions + 1, sizeof(double));
	walker->edge_credit = calloc(map->nr_edges + 1, sizeof(double));
	walker->leave_credit = calloc(map->nr_blocks + 1, sizeof(double));
	walker->owed = calloc(nr_events(map) + 1, sizeof(double));
	walker->given = calloc(nr_events(map) + 1, sizeof(double));
	walker->random = 88172645463325252ULL;
	if (!walker->outside_credit || !walker->enter_credit || !walker->edge_credit ||
	    !walker->leave_credit || !walker->owed || !walker->given)
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
	free(walker->owed);
	free(walker->given);
	free(walker->call_credit);
	free(walker->return_credit);
	free(walker->call_of);
	free(walker->event);
	free(walker->count);
	free(walker);
}

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
static uint32_t choose_edge(struct swlbr_walker *walker, uint32_t block)
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

/* The first of the flow's indirect calls from @block on. */
static size_t first_call(const struct swlbr_flow_result *flow, uint32_t block)
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

/* The function that the indirect call of @block calls; SWLBR_NONE: code without counters. */
static uint32_t choose_callee(struct swlbr_walker *walker, uint32_t block)
{
	const struct swlbr_flow_result *flow = walker->flow;
	struct choice choice = { .walker = walker };
	double all = flow->block[block], inside = 0;

	if (block_calls_inside(walker->map, block))
		return walker->map->blocks[block].callee;
	if (walker->map->blocks[block].end_kind != SWLBR_MAP_END_INDIRECT_CALL &&
	    !block_calls_by_jump(walker->map, block))
		return SWLBR_NONE;
	for (size_t i = first_call(flow, block);
	     i < flow->nr_calls && flow->calls[i].block == block; i++)
		inside += flow->calls[i].nr;
	if (!(inside > 0))
		return SWLBR_NONE;
	if (all < inside)
		all = inside;
	for (size_t i = first_call(flow, block);
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
static uint32_t choose_caller(struct swlbr_walker *walker, uint32_t function)
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
static uint32_t choose_entry(struct swlbr_walker *walker)
{
	struct choice choice = { .walker = walker };

	for (uint32_t i = 0; walker->entries > 0 && i < walker->map->nr_functions; i++)
		offer(&choice, &walker->enter_credit[i], walker->flow->outside[i] / walker->entries,
		      i);
	return choose(&choice) ? choice.way : SWLBR_NONE;
}

/* A walk under way. */
struct walk {
	uint32_t block; /* where it is: at its begin; SWLBR_NONE: in code without counters */
	uint32_t call[MAX_CALLS]; /* blocks with a call that is open */
	size_t nr_calls, forgotten;
	struct swlbr_walk_branch branch[MAX_DEPTH]; /* oldest first */
	unsigned int nr;
	bool ended;
};

static uint64_t address_of(const struct swlbr_branch_map *map, uint32_t block)
{
	return block == SWLBR_NONE ? 0 : map->blocks[block].start;
}

#define NO_EVENT SIZE_MAX

static void take(struct swlbr_walker *walker, struct walk *walk, size_t event, uint64_t from,
		 uint32_t to)
{
	const struct swlbr_branch_map *map = walker->map;

	if (event != NO_EVENT) {
		walker->owed[event] -= 1;
		walker->given[event] += 1;
	}
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
	if (!walk->nr_calls)
		return choose_caller(walker, function);
	return block_after_call(walker->map, walk->call[--walk->nr_calls]);
}

/* The branch, taken or not, at the end of the block where the walk is. */
static void end_block(struct swlbr_walker *walker, struct walk *walk)
{
	const struct swlbr_branch_map *map = walker->map;
	uint32_t number = walk->block, edge;
	const struct swlbr_map_block *block = &map->blocks[number];

	if (block_calls(map, number)) {
		uint32_t callee = choose_callee(walker, number);

		push_call(walk, number);
		take(walker, walk, call_event(map, number), block->last,
		     callee == SWLBR_NONE ? SWLBR_NONE : map->functions[callee].first_block);
		return;
	}
	if (block->end_kind == SWLBR_MAP_END_RETURN) {
		take(walker, walk, return_event(map, number), block->last,
		     pop_call(walker, walk, block->function));
		return;
	}
	if (block_calls_by_jump(map, number)) {
		uint32_t callee = choose_callee(walker, number);

		take(walker, walk, call_event(map, number), block->last,
		     callee == SWLBR_NONE ? SWLBR_NONE : map->functions[callee].first_block);
		return;
	}
	edge = choose_edge(walker, number);
	if (edge == SWLBR_NONE) {
		/* A tail call of other code returns to our caller; else the program ends here. */
		if (block->end_kind == SWLBR_MAP_END_JUMP ||
		    block->end_kind == SWLBR_MAP_END_INDIRECT_JUMP ||
		    block->end_kind == SWLBR_MAP_END_COND)
			take(walker, walk, NO_EVENT, block->last, SWLBR_NONE);
		else
			walk->ended = true;
		if (!walk->ended && walk->nr_calls)
			walk->block = SWLBR_NONE;
		return;
	}
	if (map->edges[edge].kind == SWLBR_MAP_FALLTHROUGH)
		walk->block = map->edges[edge].to;
	else
		take(walker, walk, edge, block->last, map->edges[edge].to);
}

/* Back from code without counters: to the call that is open, or into a function that it calls. */
static void come_back(struct swlbr_walker *walker, struct walk *walk)
{
	uint32_t function;

	if (walk->nr_calls && !walk->forgotten) {
		uint32_t call = walk->call[--walk->nr_calls];
		uint32_t next = block_after_call(walker->map, call);

		if (next == SWLBR_NONE)
			walk->ended = true; /* it never returns */
		else
			take(walker, walk, back_event(walker->map, call), 0, next);
		return;
	}
	function = choose_entry(walker);
	if (function == SWLBR_NONE)
		walk->ended = true;
	else
		take(walker, walk, entry_event(walker->map, function), 0,
		     walker->map->functions[function].first_block);
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

/* How often the call of @block has called code without counters that returned. */
static double back_count(const struct swlbr_branch_map *map, const struct swlbr_flow_result *flow,
			 uint32_t block)
{
	double count = flow->block[block];

	if (!block_calls(map, block) || block_calls_inside(map, block) ||
	    block_after_call(map, block) == SWLBR_NONE)
		return 0;
	if (map->blocks[block].end_kind != SWLBR_MAP_END_INDIRECT_CALL)
		return count;
	for (size_t i = first_call(flow, block);
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
	return flow->outside[item - map->nr_blocks];
}

double swlbr_walker_branches(const struct swlbr_walker *walker,
			     const struct swlbr_flow_result *flow)
{
	double sum = 0;

	for (size_t i = 0; i < nr_events(walker->map); i++)
		sum += event_count(walker, flow, i);
	return sum;
}

/* The walk's first branch. */
static void begin(struct swlbr_walker *walker, struct walk *walk, size_t event)
{
	const struct swlbr_branch_map *map = walker->map;
	size_t item = event;

	walk->nr = 0;
	walk->nr_calls = walk->forgotten = 0;
	walk->ended = false;
	if (item < map->nr_edges) {
		take(walker, walk, event, map->blocks[map->edges[item].from].last,
		     map->edges[item].to);
		return;
	}
	item -= map->nr_edges;
	if (item < 2 * map->nr_blocks) {
		walk->block = (uint32_t)(item % map->nr_blocks);
		end_block(walker, walk);
		return;
	}
	item -= 2 * map->nr_blocks;
	if (item < map->nr_blocks)
		take(walker, walk, event, 0, block_after_call(map, (uint32_t)item));
	else
		take(walker, walk, event, 0, map->functions[item - map->nr_blocks].first_block);
}

static struct swlbr_error *find_active(struct swlbr_walker *walker)
{
	size_t nr = nr_events(walker->map);

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
static struct swlbr_error *index_calls(struct swlbr_walker *walker)
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

/* What is owed of active event @i, 0 where too much was given. */
static double owed(const struct swlbr_walker *walker, size_t i)
{
	double value = walker->owed[walker->event[i]];

	return value > 0 ? value : 0;
}

void swlbr_walker_settle(struct swlbr_walker *walker, const struct swlbr_flow_result *whole)
{
	size_t nr = nr_events(walker->map);
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

struct sink {
	struct swlbr_error *(*emit)(void *context, size_t nr,
				    const struct swlbr_walk_branch *branches);
	void *context;
};

static struct swlbr_error *emit_walk(const struct walk *walk, const struct sink *sink)
{
	struct swlbr_walk_branch newest_first[MAX_DEPTH];

	for (unsigned int i = 0; i < walk->nr; i++)
		newest_first[i] = walk->branch[walk->nr - 1 - i];
	return walk->nr ? sink->emit(sink->context, walk->nr, newest_first) : NULL;
}

/* @nr walks from branches picked evenly from what is owed. */
static struct swlbr_error *walk_some(struct swlbr_walker *walker, struct walk *walk, uint64_t nr,
				     unsigned int depth, uint32_t *starts, const struct sink *sink)
{
	double all = 0, until = 0;
	struct swlbr_error *error = NULL;
	uint64_t found = 0;

	for (size_t i = 0; i < walker->nr_active; i++)
		all += owed(walker, i);
	/* Picked before the first walk: walking changes what is owed. */
	for (size_t i = 0; i < walker->nr_active; i++) {
		until += owed(walker, i);
		while (found < nr && until > ((double)found + 0.5) * all / (double)nr)
			starts[found++] = walker->event[i];
	}
	for (uint64_t i = 0; !error && i < found; i++) {
		begin(walker, walk, starts[i]);
		run(walker, walk, depth);
		error = emit_walk(walk, sink);
	}
	return error;
}

/* Stacks drawn before what is owed is looked at again. */
#define CHUNK 512

static struct swlbr_error *walk_all(struct swlbr_walker *walker, struct walk *walk, uint64_t nr,
				    unsigned int depth, double branches, const struct sink *sink)
{
	struct swlbr_error *error = NULL;
	uint32_t starts[CHUNK];

	for (uint64_t done = 0; !error && done < nr;) {
		uint64_t some = nr - done < CHUNK ? nr - done : CHUNK;
		double per_branch = (double)some * depth / branches;

		for (size_t i = 0; i < walker->nr_active; i++)
			walker->owed[walker->event[i]] += walker->count[i] * per_branch;
		error = walk_some(walker, walk, some, depth, starts, sink);
		done += some;
	}
	return error;
}

struct swlbr_error *swlbr_walk(
	struct swlbr_walker *walker, const struct swlbr_flow_result *flow, uint64_t nr,
	unsigned int depth,
	struct swlbr_error *(*emit)(void *context, size_t nr,
				    const struct swlbr_walk_branch *branches),
	void *context)
{
	const struct sink sink = { .emit = emit, .context = context };
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
	error = index_calls(walker);
	if (!error)
		error = find_active(walker);
	if (!error)
		error = walk_all(walker, walk, nr, depth < MAX_DEPTH ? depth : MAX_DEPTH, branches,
				 &sink);
	free(walk);
	return error;
}
