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

#include "walker.h"

#define MAX_DEPTH 1024
#define MAX_CALLS 1024 /* calls that a walk remembers */
/* Blocks passed without a taken branch: not a loop of them. */
#define MAX_BLOCKS 100000

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
		return walker_choose_caller(walker, function);
	}
	if (!walk->nr_calls)
		return walker_choose_caller(walker, function);
	return block_after_call(walker->map, walk->call[--walk->nr_calls]);
}

/* The branch, taken or not, at the end of the block where the walk is. */
static void end_block(struct swlbr_walker *walker, struct walk *walk)
{
	const struct swlbr_branch_map *map = walker->map;
	uint32_t number = walk->block, edge;
	const struct swlbr_map_block *block = &map->blocks[number];

	if (block_calls(map, number)) {
		uint32_t callee = walker_choose_callee(walker, number);

		push_call(walk, number);
		take(walker, walk, walker_call_event(map, number), block->last,
		     callee == SWLBR_NONE ? SWLBR_NONE : map->functions[callee].first_block);
		return;
	}
	if (block->end_kind == SWLBR_MAP_END_RETURN) {
		take(walker, walk, walker_return_event(map, number), block->last,
		     pop_call(walker, walk, block->function));
		return;
	}
	if (block_calls_by_jump(map, number)) {
		uint32_t callee = walker_choose_callee(walker, number);

		take(walker, walk, walker_call_event(map, number), block->last,
		     callee == SWLBR_NONE ? SWLBR_NONE : map->functions[callee].first_block);
		return;
	}
	edge = walker_choose_edge(walker, number);
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

/* What was thrown goes on at a landing pad of the calls that are open, else at any. */
static void land(struct swlbr_walker *walker, struct walk *walk)
{
	uint32_t pad;

	while (walk->nr_calls && !walk->forgotten) {
		uint32_t call = walk->call[--walk->nr_calls];

		if (walker->map->blocks[call].landing &&
		    block_thrown(walker->map, walker->flow, call) > 0) {
			pad = walker->map->blocks[call].landing - 1;
			take(walker, walk, walker_landing_event(walker, pad), 0, pad);
			return;
		}
	}
	pad = walker_choose_landing(walker);
	if (pad != SWLBR_NONE)
		take(walker, walk, walker_landing_event(walker, pad), 0, pad);
	else
		walk->ended = true; /* it never returns */
}

/* Back from code without counters: to the call that is open, or into a function that it calls. */
static void come_back(struct swlbr_walker *walker, struct walk *walk)
{
	uint32_t function;

	if (walk->nr_calls && !walk->forgotten) {
		uint32_t call = walk->call[--walk->nr_calls];
		uint32_t next = walker_choose_way_back(walker, call);

		if (next == SWLBR_NONE)
			land(walker, walk);
		else if (next + 1 == walker->map->blocks[call].landing)
			take(walker, walk, walker_landing_event(walker, next), 0, next);
		else
			take(walker, walk, walker_back_event(walker->map, call), 0, next);
		return;
	}
	function = walker_choose_entry(walker);
	if (function == SWLBR_NONE)
		walk->ended = true;
	else
		take(walker, walk, walker_entry_event(walker->map, function), 0,
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
	if (item < map->nr_blocks) {
		take(walker, walk, event, 0, block_after_call(map, (uint32_t)item));
		return;
	}
	item -= map->nr_blocks;
	if (item < map->nr_functions)
		take(walker, walk, event, 0, map->functions[item].first_block);
	else
		take(walker, walk, event, 0, walker->landings.pad[item - map->nr_functions]);
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

/* What is owed of active event @i, 0 where too much was given. */
static double owed(const struct swlbr_walker *walker, size_t i)
{
	double value = walker->owed[walker->event[i]];

	return value > 0 ? value : 0;
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
	error = walker_index_calls(walker);
	if (!error)
		error = walker_find_active(walker);
	if (!error)
		error = walk_all(walker, walk, nr, depth < MAX_DEPTH ? depth : MAX_DEPTH, branches,
				 &sink);
	free(walk);
	return error;
}
