// SPDX-License-Identifier: GPL-2.0-only
/* From an edge profile to counts of basic blocks, and from these to the order of code. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "layout/call_clusters.h"
#include "layout/ext_tsp.h"
#include "random.h"
#include "write/propeller.h"

static void must(struct swlbr_error *error)
{
	if (!error)
		return;
	printf("FAIL %s\n", error->message);
	exit(1);
}

/*
 * The function at 0x100: entry, a loop of two blocks with padding before it, one that is jumped to,
 * and a cold one elsewhere. The one at 0x200 is called, from the end of a block and from a middle.
 */
enum { ENTRY, LOOP, LATCH, EXIT, COLD, CALLEE, CALLEE_END, NR_BLOCKS };
static struct bb_block blocks[NR_BLOCKS] = {
	{ 0x100, 0x10, 0, 0, BB_CAN_FALL_THROUGH }, { 0x114, 0x0c, 1, 0, BB_CAN_FALL_THROUGH },
	{ 0x120, 0x10, 2, 0, BB_CAN_FALL_THROUGH }, { 0x130, 0x08, 3, 0, BB_HAS_RETURN },
	{ 0x300, 0x08, 4, 0, BB_HAS_RETURN },	    { 0x200, 0x08, 0, 1, BB_CAN_FALL_THROUGH },
	{ 0x208, 0x08, 1, 1, BB_HAS_RETURN },
};
static struct bb_function functions[] = { { 0x100, ENTRY, 5 }, { 0x200, CALLEE, 2 } };
static const struct bb_addr_map map = {
	.functions = functions, .nr_functions = 2, .blocks = blocks, .nr_blocks = NR_BLOCKS
};

static struct swlbr_edge_profile *edges;
static uint32_t binary, library;

static void add(enum swlbr_edge_kind kind, uint64_t from, uint64_t to, uint64_t nr)
{
	struct swlbr_edge edge = { .from = from,
				   .to = to,
				   .from_binary = from < 0x1000 ? binary : library,
				   .to_binary = to < 0x1000 ? binary : library,
				   .kind = kind,
				   .nr = nr };

	must(swlbr_edge_profile_add(edges, &edge));
}

static uint64_t jump_count(const struct block_counts *counts, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < counts->nr_jumps; i++)
		if (counts->jumps[i].from == from && counts->jumps[i].to == to)
			return counts->jumps[i].nr;
	return 0;
}

static void begin_edges(void)
{
	struct swlbr_edge_binary one = { .path = "/program" }, other = { .path = "/library" };

	must(swlbr_edge_profile_create(&edges));
	must(swlbr_edge_profile_binary(edges, &one, &binary));
	must(swlbr_edge_profile_binary(edges, &other, &library));
}

static void test_counts(void)
{
	struct block_counts counts;

	begin_edges();
	/* Called once by the library; the loop runs ten times, LOOP calls at its end, LATCH within. */
	add(SWLBR_EDGE_BRANCH, 0x5000, 0x100, 1);
	add(SWLBR_EDGE_RANGE, 0x100, 0x11b, 1);
	add(SWLBR_EDGE_BRANCH, 0x11b, 0x200, 10);
	add(SWLBR_EDGE_RANGE, 0x200, 0x20f, 18);
	add(SWLBR_EDGE_BRANCH, 0x20f, 0x120, 8);
	add(SWLBR_EDGE_BRANCH, 0x5100, 0x120, 2);
	add(SWLBR_EDGE_RANGE, 0x120, 0x124, 10);
	add(SWLBR_EDGE_BRANCH, 0x124, 0x200, 10);
	add(SWLBR_EDGE_BRANCH, 0x20f, 0x129, 10);
	add(SWLBR_EDGE_RANGE, 0x129, 0x12f, 9);
	add(SWLBR_EDGE_BRANCH, 0x12f, 0x114, 9);
	add(SWLBR_EDGE_RANGE, 0x114, 0x11b, 9);
	add(SWLBR_EDGE_RANGE, 0x129, 0x137, 1);
	/* Nonsense: over a return, to another function, outside of all, backwards. */
	add(SWLBR_EDGE_RANGE, 0x130, 0x302, 100);
	add(SWLBR_EDGE_RANGE, 0x120, 0x207, 100);
	add(SWLBR_EDGE_RANGE, 0x10, 0x20, 100);
	add(SWLBR_EDGE_RANGE, 0x12f, 0x120, 100);
	must(block_counts_of(edges, binary, &map, &counts));
	check(counts.left_out == 400 && counts.counted == 48,
	      "ranges that fit no function: %llu of", (unsigned long long)counts.left_out);
	check(jump_count(&counts, ENTRY, LOOP) == 1, "over padding");
	check(jump_count(&counts, LOOP, LATCH) == 10, "returns to where a block ends with a call");
	check(jump_count(&counts, LATCH, LOOP) == 9, "a jump back");
	check(jump_count(&counts, LATCH, EXIT) == 1, "out of the loop");
	check(jump_count(&counts, CALLEE, CALLEE_END) == 18, "within the callee");
	check(counts.nr_jumps == 5, "no other: %zu", counts.nr_jumps);
	check(counts.executions[ENTRY] == 1 && counts.executions[LOOP] == 10 &&
		      counts.executions[LATCH] == 10 && counts.executions[EXIT] == 1 &&
		      !counts.executions[COLD] && counts.executions[CALLEE] == 20,
	      "executions");
	check(counts.nr_calls == 1 && counts.calls[0].from == 0 && counts.calls[0].to == 1 &&
		      counts.calls[0].count == 20,
	      "calls");
	block_counts_free(&counts);
	swlbr_edge_profile_destroy(edges);
}

/* A block without code where another begins: who jumps there may mean either. */
static void test_empty_block(void)
{
	struct bb_block three[] = { { 0x100, 8, 0, 0, BB_CAN_FALL_THROUGH },
				    { 0x108, 0, 1, 0, BB_CAN_FALL_THROUGH },
				    { 0x108, 8, 2, 0, BB_HAS_RETURN } };
	struct bb_function one = { 0x100, 0, 3 };
	struct bb_addr_map small = {
		.functions = &one, .nr_functions = 1, .blocks = three, .nr_blocks = 3
	};
	struct block_counts counts;

	begin_edges();
	add(SWLBR_EDGE_RANGE, 0x100, 0x10f, 3);
	add(SWLBR_EDGE_BRANCH, 0x104, 0x108, UINT64_MAX);
	must(block_counts_of(edges, binary, &small, &counts));
	check(jump_count(&counts, 0, 1) == UINT64_MAX && jump_count(&counts, 1, 2) == 3,
	      "a block without code is on the way; sums stay at the largest number");
	block_counts_free(&counts);
	swlbr_edge_profile_destroy(edges);
}

#define MAX_SMALL 7

struct graph {
	struct layout_block blocks[MAX_SMALL];
	struct layout_jump jumps[3 * MAX_SMALL];
	uint32_t nr_blocks, nr_jumps;
};

static double best_score(const struct graph *graph, uint32_t *order, uint32_t placed)
{
	double best = 0;

	if (placed == graph->nr_blocks)
		return ext_tsp_score(graph->blocks, graph->nr_blocks, graph->jumps, graph->nr_jumps,
				     order);
	for (uint32_t i = placed; i < graph->nr_blocks; i++) {
		uint32_t other = order[placed];
		double score;

		order[placed] = order[i];
		order[i] = other;
		score = best_score(graph, order, placed + 1);
		best = score > best ? score : best;
		order[i] = order[placed];
		order[placed] = other;
	}
	return best;
}

static struct graph random_graph(void)
{
	struct graph graph = { .nr_blocks = 3 + random_number(MAX_SMALL - 2) };

	for (uint32_t i = 0; i < graph.nr_blocks; i++)
		graph.blocks[i] = (struct layout_block){ random_number(200), random_number(1000) };
	graph.nr_jumps = graph.nr_blocks + random_number(2 * MAX_SMALL);
	for (uint32_t i = 0; i < graph.nr_jumps; i++)
		graph.jumps[i] = (struct layout_jump){ random_number(graph.nr_blocks),
						       random_number(graph.nr_blocks),
						       1 + random_number(1000) };
	return graph;
}

static bool is_order(const uint32_t *order, uint32_t nr)
{
	bool *seen = calloc(nr, sizeof(*seen)), sound = !order[0];

	for (uint32_t i = 0; i < nr; i++) {
		sound = sound && order[i] < nr && !seen[order[i]];
		if (order[i] < nr)
			seen[order[i]] = true;
	}
	free(seen);
	return sound;
}

/* Against all orders there are. The paper has 0.9927 of the best on functions of its benchmarks. */
static void test_near_best(void)
{
	uint32_t order[MAX_SMALL], all[MAX_SMALL], sound = 0, best = 0;
	double share = 0, worst = 1;

	for (int i = 0; i < 400; i++) {
		struct graph graph = random_graph();
		double most, got;

		must(ext_tsp_order(graph.blocks, graph.nr_blocks, graph.jumps, graph.nr_jumps,
				   order));
		sound += is_order(order, graph.nr_blocks);
		for (uint32_t j = 0; j < graph.nr_blocks; j++)
			all[j] = j;
		most = best_score(&graph, all, 1);
		got = ext_tsp_score(graph.blocks, graph.nr_blocks, graph.jumps, graph.nr_jumps,
				    order);
		got = most > 0 ? got / most : 1;
		share += got / 400;
		best += got > 0.999999;
		worst = got < worst ? got : worst;
	}
	check(sound == 400, "each block once, the entry first");
	check(share > 0.994 && best >= 340,
	      "random graphs: %.4f of the best score on average, at worst %.4f, %u of 400 the best",
	      share, worst, best);
}

static void test_score(void)
{
	static const struct layout_block three[] = { { 100, 1 }, { 512, 1 }, { 10, 1 } };
	static const struct layout_jump jumps[] = { { 0, 1, 10 }, { 0, 2, 100 }, { 2, 2, 1000 } };
	static const uint32_t order[] = { 0, 1, 2 };

	/* 0 falls through; 512 of 1024 bytes forward; back over its own 10 of 640. */
	check(ext_tsp_score(three, 3, jumps, 3, order) ==
		      10 + 0.1 * 100 * 0.5 + 0.1 * 1000 * (1 - 10.0 / 640),
	      "the objective's constants");
}

/* A function whose hot way is broken by a cold block: that goes last, and the rest falls through. */
static void test_hot_way(void)
{
	static const struct layout_block four[] = {
		{ 16, 100 }, { 16, 1 }, { 16, 100 }, { 16, 100 }
	};
	static const struct layout_jump jumps[] = {
		{ 0, 1, 1 }, { 0, 2, 99 }, { 1, 2, 1 }, { 2, 3, 100 }
	};
	static const uint32_t want[] = { 0, 2, 3, 1 };
	uint32_t order[4];

	must(ext_tsp_order(four, 4, jumps, 4, order));
	check(!memcmp(order, want, sizeof(want)), "the hot way is straight");
}

/* Tens of thousands of blocks, of shapes that would be quadratic: the work is bounded. */
static void test_large(const char *name, uint32_t nr, bool hub)
{
	struct layout_block *large = calloc(nr, sizeof(*large));
	struct layout_jump *jumps = calloc(3 * (size_t)nr, sizeof(*jumps));
	uint32_t *order = calloc(nr, sizeof(*order)), nr_jumps = 0, falls = 0, *place;
	clock_t start = clock();
	double seconds;

	for (uint32_t i = 0; i < nr; i++)
		large[i] = (struct layout_block){ 8, 10 };
	for (uint32_t i = 1; i < nr; i++) {
		if (!hub) { /* a line, from its end to its start, with exits */
			jumps[nr_jumps++] = (struct layout_jump){ i == nr - 1 ? 0 : i + 1, i, 9 };
			jumps[nr_jumps++] =
				(struct layout_jump){ random_number(nr), random_number(nr), 1 };
			continue;
		}
		jumps[nr_jumps++] = (struct layout_jump){ 1, i, 1 + i % 7 };
		jumps[nr_jumps++] = (struct layout_jump){ i, 1, 1 + i % 5 };
		jumps[nr_jumps++] = (struct layout_jump){ i, i / 2, 2 };
	}
	must(ext_tsp_order(large, nr, jumps, nr_jumps, order));
	seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
	check(is_order(order, nr), "%s: each block once, the entry first", name);
	place = calloc(nr, sizeof(*place));
	for (uint32_t i = 0; i < nr; i++)
		place[order[i]] = i;
	for (uint32_t i = 0; i < nr_jumps; i++)
		falls += jumps[i].count == 9 && place[jumps[i].from] + 1 == place[jumps[i].to];
	check(hub || falls > nr / 10 * 9, "%s: %u of %u fall through", name, falls, nr);
	check(seconds < 20, "%s: %u blocks in %.1f s", name, nr, seconds);
	free(large);
	free(jumps);
	free(order);
	free(place);
}

static void test_call_clusters(void)
{
	/* 0 calls 1 and 2, mostly 2, which calls 3; 4 is hot and alone; 5 is large. */
	static const struct layout_function six[] = { { 100, 1000 }, { 100, 500 },
						      { 100, 4000 }, { 100, 3000 },
						      { 100, 9000 }, { 2000000, 4000 } };
	static const struct layout_call calls[] = { { 0, 1, 10 }, { 0, 2, 90 }, { 1, 2, 20 },
						    { 2, 3, 50 }, { 3, 3, 99 }, { 5, 4, 5 },
						    { 0, 5, 100 } };
	static const uint32_t want[] = { 4, 0, 2, 3, 1, 5 };
	uint32_t order[6];

	must(call_clusters_order(six, 6, calls, 7, order));
	check(!memcmp(order, want, sizeof(want)), "callees follow their callers: %u %u %u %u %u %u",
	      order[0], order[1], order[2], order[3], order[4], order[5]);
}

int main(void)
{
	alarm(600); /* work without bounds does not end */
	test_counts();
	test_empty_block();
	test_score();
	test_hot_way();
	test_near_best();
	test_large("a line with exits", 40000, false);
	test_large("a hub", 40000, true);
	test_call_clusters();
	return failures != 0;
}
