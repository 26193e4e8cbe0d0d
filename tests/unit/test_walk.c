// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branch stacks drawn from a flow: what is between two entries is straight-line code, calls and
 * returns are paired, and all stacks together have each branch as often as the flow has it.
 */
#include <math.h>
#include <string.h>

#include <swlbr/walk.h>

#include "check.h"
#include "hand_map.h"

#define DEPTH 32

/*
 * main, called from outside: block 0 calls f, 1 calls code without counters, 2 jumps back to 0 or
 * returns in 3. f: block 4 goes to 5 or 6, 5 jumps to 6, which returns.
 */
static struct hand_map hand;
static struct swlbr_flow_result result;

static bool prepare(void)
{
	static const uint64_t counters[] = { 1000000, 250000, 1000 };

	hand_function(&hand, true, true);
	hand_block(&hand, SWLBR_MAP_END_CALL, 0);
	hand.blocks[0].callee = 1;
	hand_edge(&hand, SWLBR_MAP_AFTER_CALL, 1);
	hand_block(&hand, SWLBR_MAP_END_CALL, -1);
	hand_edge(&hand, SWLBR_MAP_AFTER_CALL, 2);
	hand_block(&hand, SWLBR_MAP_END_COND, -1);
	hand_edge(&hand, SWLBR_MAP_TAKEN, 0);
	hand_edge(&hand, SWLBR_MAP_FALLTHROUGH, 3);
	hand_block(&hand, SWLBR_MAP_END_RETURN, 2);
	hand_function(&hand, true, false);
	hand_block(&hand, SWLBR_MAP_END_COND, -1);
	hand_edge(&hand, SWLBR_MAP_FALLTHROUGH, 5);
	hand_edge(&hand, SWLBR_MAP_TAKEN, 6);
	hand_block(&hand, SWLBR_MAP_END_JUMP, 1);
	hand_edge(&hand, SWLBR_MAP_TAKEN, 6);
	hand_block(&hand, SWLBR_MAP_END_RETURN, -1);
	return hand_solve(&hand, counters, &result);
}

static uint32_t block_of(uint64_t vaddr)
{
	return swlbr_branch_map_block_at(&hand.map, vaddr);
}

struct seen {
	/* By block of the branch, and of its target; HAND_MAX: outside. */
	double branch[HAND_MAX + 1][HAND_MAX + 1], all;
	size_t stacks, shortest, longest;
	bool straight, ends_known, paired;
};

/* From @to on, which is a block's begin, blocks fall through until the one that @from ends. */
static bool is_straight(uint64_t to, uint64_t from)
{
	uint32_t block = block_of(to);

	if (block == SWLBR_NONE || hand.blocks[block].start != to)
		return false;
	while (hand.blocks[block].last != from) {
		const struct swlbr_map_edge *edge = &hand.edges[hand.blocks[block].first_edge];
		uint32_t i = 0;

		while (i < hand.blocks[block].nr_edges && edge[i].kind != SWLBR_MAP_FALLTHROUGH)
			i++;
		if (i == hand.blocks[block].nr_edges)
			return false;
		block = edge[i].to;
	}
	return true;
}

static struct swlbr_error *look(void *context, size_t nr, const struct swlbr_walk_branch *stack)
{
	struct seen *seen = context;
	uint32_t open = SWLBR_NONE;

	seen->stacks++;
	seen->shortest = nr < seen->shortest ? nr : seen->shortest;
	seen->longest = nr > seen->longest ? nr : seen->longest;
	for (size_t i = nr; i-- > 0;) { /* oldest first */
		uint32_t from = stack[i].from ? block_of(stack[i].from) : HAND_MAX;
		uint32_t to = stack[i].to ? block_of(stack[i].to) : HAND_MAX;

		if (from > HAND_MAX || to > HAND_MAX) {
			seen->ends_known = false;
			continue;
		}
		seen->branch[from][to]++;
		seen->all++;
		if (i + 1 < nr && !(stack[i + 1].to ? is_straight(stack[i + 1].to, stack[i].from)
						    : !stack[i].from))
			seen->straight = false;
		/* Back to behind the call that was seen, of f or of code without counters. */
		if (from == 0 || from == 1)
			open = from;
		else if ((from == 6 || from == HAND_MAX) && open != SWLBR_NONE && to != open + 1)
			seen->paired = false;
		if (from == 6 || from == HAND_MAX)
			open = SWLBR_NONE;
	}
	return NULL;
}

static bool draw(struct seen *seen, uint64_t nr, unsigned int depth)
{
	struct swlbr_walker *walker;
	struct swlbr_error *error = swlbr_walker_create(&hand.map, &walker);

	*seen = (struct seen){
		.shortest = SIZE_MAX, .straight = true, .ends_known = true, .paired = true
	};
	if (!error) {
		error = swlbr_walk(walker, &result, nr, depth, look, seen);
		swlbr_walker_destroy(walker);
	}
	swlbr_error_destroy(error);
	return !error;
}

/* Share of branches that both have. */
static double overlap(const struct seen *seen)
{
	static const struct {
		uint32_t from, to;
		double nr;
	} want[] = {
		{ 0, 4, 1e6 },	  { 1, HAND_MAX, 1e6 },	 { HAND_MAX, 2, 1e6 },
		{ 2, 0, 999000 }, { 4, 6, 750000 },	 { 5, 6, 250000 },
		{ 6, 1, 1e6 },	  { 3, HAND_MAX, 1000 }, { HAND_MAX, 0, 1000 },
	};
	double all = 0, both = 0;

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		all += want[i].nr;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		both += fmin(want[i].nr / all, seen->branch[want[i].from][want[i].to] / seen->all);
	return both;
}

static struct swlbr_error *refuse(void *context, size_t nr, const struct swlbr_walk_branch *stack)
{
	*(size_t *)context += nr != 0 && stack != NULL;
	return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED, "no more");
}

struct arc_sums {
	double branch, range_bytes, from_outside, longest;
};

static struct swlbr_error *sum_arc(void *context, const struct swlbr_flow_arc *arc)
{
	struct arc_sums *sums = context;

	if (arc->from_outside)
		sums->from_outside += (double)arc->nr;
	else if (arc->kind == SWLBR_EDGE_BRANCH)
		sums->branch += (double)arc->nr;
	else
		sums->range_bytes += (double)arc->nr * (double)(arc->to + 4 - arc->from);
	if (arc->kind == SWLBR_EDGE_RANGE && arc->from == hand.blocks[4].start &&
	    arc->to == hand.blocks[5].last)
		sums->longest += (double)arc->nr;
	return NULL;
}

static void test_arcs(void)
{
	struct arc_sums sums = { 0 };
	struct swlbr_error *error = swlbr_flow_arcs(&hand.map, &result, sum_arc, &sums);
	double blocks = 0;

	for (size_t i = 0; i < hand.map.nr_blocks; i++)
		blocks += result.block[i];
	check(!error && sums.range_bytes == blocks * HAND_BLOCK,
	      "ranges have each block as often as it ran");
	check(sums.longest == 250000, "and are as long as can be");
	/* All but the calls of code without counters, its ways back, and main's return. */
	check(sums.branch == 1e6 + 999000 + 750000 + 250000 + 1e6 && sums.from_outside == 1000,
	      "branches of the arcs");
	swlbr_error_destroy(error);
}

int main(void)
{
	struct seen seen;
	struct swlbr_walker *walker = NULL;
	struct swlbr_error *error;
	size_t calls = 0;

	check(prepare() && result.block[4] == 1e6 && result.unknown == 0, "a flow");
	check(draw(&seen, 5000, DEPTH) && seen.stacks == 5000, "as many stacks as asked for");
	check(seen.longest == DEPTH && seen.shortest == DEPTH, "full ones: %zu to %zu",
	      seen.shortest, seen.longest);
	check(seen.straight, "ranges between entries are straight-line code");
	check(seen.ends_known, "ends are blocks, or 0 for code without counters");
	check(seen.paired, "returns go back to their calls");
	check(overlap(&seen) > 0.995, "stacks have branches as the flow: %.2f %%",
	      100 * overlap(&seen));
	check(draw(&seen, 100, 8) && seen.longest == 8 && seen.stacks == 100, "another depth");
	check(draw(&seen, 3, 100000) && seen.longest == 1024, "the greatest depth");
	check(draw(&seen, 0, DEPTH) && !seen.stacks, "none");
	error = swlbr_walker_create(&hand.map, &walker);
	if (!error)
		error = swlbr_walk(walker, &result, 10, DEPTH, refuse, &calls);
	check(error && error->code == SWLBR_ERROR_UNSUPPORTED && calls == 1,
	      "what the taker of stacks says ends it");
	swlbr_error_destroy(error);
	swlbr_walker_destroy(walker);
	test_arcs();
	swlbr_flow_result_deinit(&result);
	return failures != 0;
}
