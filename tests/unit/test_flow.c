// SPDX-License-Identifier: GPL-2.0-only
/* From counters to edges, on maps made by hand: what is exact, and what is nearest where it is not. */
#include <math.h>
#include <string.h>

#include <swlbr/flow.h>

#include "check.h"
#include "hand_map.h"

#define COND  SWLBR_MAP_END_COND
#define NONE  SWLBR_MAP_END_NONE
#define JUMP  SWLBR_MAP_END_JUMP
#define CALL  SWLBR_MAP_END_CALL
#define RET   SWLBR_MAP_END_RETURN
#define FALL  SWLBR_MAP_FALLTHROUGH
#define TAKEN SWLBR_MAP_TAKEN

static struct hand_map hand;
static struct swlbr_flow_result result;

static void begin(void)
{
	hand = (struct hand_map){ 0 };
	hand_function(&hand, true, true);
}

static bool solve(const uint64_t *counters)
{
	return hand_solve(&hand, counters, &result);
}

static bool near(double got, double want)
{
	return fabs(got - want) <= 0.01 * want + 0.5;
}

static void print_result(void)
{
	for (size_t i = 0; i < hand.map.nr_blocks; i++)
		printf("# block %zu: %g%s\n", i, result.block[i],
		       result.block_exact[i] ? "" : " ~");
	for (size_t i = 0; i < hand.map.nr_edges; i++)
		printf("# edge %zu: %g%s\n", i, result.edge[i], result.edge_exact[i] ? "" : " ~");
	printf("# moved %g\n", result.moved);
}

static void verdict(bool good, const char *text)
{
	check(good, "%s", text);
	if (!good)
		print_result();
}

/* if (a) b; else c; d: counted in a and b. */
static void make_diamond(uint32_t edge[4])
{
	begin();
	hand_block(&hand, COND, 0);
	edge[0] = hand_edge(&hand, FALL, 1);
	edge[1] = hand_edge(&hand, TAKEN, 2);
	hand_block(&hand, JUMP, 1);
	edge[2] = hand_edge(&hand, TAKEN, 3);
	hand_block(&hand, NONE, -1);
	edge[3] = hand_edge(&hand, FALL, 3);
	hand_block(&hand, RET, -1);
}

static void test_diamond(void)
{
	const uint64_t counters[] = { 1000, 300 }, lost[] = { 250, 300 }, none[] = { 0, 0 };
	uint32_t edge[4];
	bool good;

	make_diamond(edge);
	good = solve(counters) && result.edge[edge[0]] == 300 && result.edge[edge[1]] == 700 &&
	       result.edge[edge[2]] == 300 && result.edge[edge[3]] == 700 &&
	       result.block[3] == 1000 && result.entry[0] == 1000 && result.outside[0] == 1000;
	for (unsigned int i = 0; good && i < 4; i++)
		good = result.edge_exact[i] && result.block_exact[i];
	verdict(good && result.unknown == 0 && result.moved == 0, "diamond: all exact");
	good = solve(lost) && result.edge[edge[1]] == 0 && result.moved == 50 &&
	       !swlbr_flow_disagrees(&result);
	verdict(good, "diamond with lost updates: none negative, and 50 were moved, once");
	verdict(solve(none) && result.total == 0 && result.moved == 0, "nothing ran");
}

static void test_loop(void)
{
	const uint64_t counters[] = { 7, 7000 };
	uint32_t back, out;

	begin();
	hand_block(&hand, NONE, 0);
	hand_edge(&hand, FALL, 1);
	hand_block(&hand, COND, 1);
	out = hand_edge(&hand, FALL, 2);
	back = hand_edge(&hand, TAKEN, 1);
	hand_block(&hand, RET, -1);
	verdict(solve(counters) && result.edge[back] == 6993 && result.edge[out] == 7 &&
			result.edge_exact[back] && result.block[2] == 7,
		"loop: the way back is what the body ran more than it was entered");
}

/* One counter in two copies of a piece of code, behind a test that no counter tells. */
static void test_copies(void)
{
	const uint64_t counters[] = { 1000, 1000 };
	bool good;

	begin();
	hand_block(&hand, COND, 0);
	hand_edge(&hand, FALL, 1);
	hand_edge(&hand, TAKEN, 2);
	hand_block(&hand, JUMP, 1);
	hand_edge(&hand, TAKEN, 3);
	hand_block(&hand, NONE, 1);
	hand_edge(&hand, FALL, 3);
	hand_block(&hand, RET, -1);
	good = solve(counters) && result.block[1] > 200 && result.block[2] > 200 &&
	       near(result.block[1] + result.block[2], 1000);
	verdict(good && !result.block_exact[1] && !result.block_exact[2] && result.unknown > 0 &&
			result.moved == 0,
		"copies: none gets all, and they are marked as inferred");
}

/* Inlined twice in functions that ran 900 and 100 times: in proportion to those. */
static void test_inlined(void)
{
	const uint64_t counters[] = { 900, 100, 500 };
	bool good;

	hand = (struct hand_map){ 0 };
	for (int f = 0; f < 2; f++) {
		uint32_t first = (uint32_t)hand.map.nr_blocks;

		hand_function(&hand, true, true);
		hand_block(&hand, COND, f);
		hand_edge(&hand, FALL, first + 1);
		hand_edge(&hand, TAKEN, first + 2);
		hand_block(&hand, NONE, 2);
		hand_edge(&hand, FALL, first + 2);
		hand_block(&hand, RET, -1);
	}
	good = solve(counters) && near(result.block[1], 450) && near(result.block[4], 50);
	verdict(good, "a counter inlined in two functions: shared in proportion to what came by");
}

/* The body twice in the main loop and once for what is left over. */
static void test_unrolled(void)
{
	const uint64_t counters[] = { 10000, 1000000 };
	bool good;

	begin();
	hand_block(&hand, COND, 0); /* 0: is one pair left? */
	hand_edge(&hand, FALL, 1);
	hand_edge(&hand, TAKEN, 3);
	hand_block(&hand, NONE, 1); /* 1, 2: two copies */
	hand_edge(&hand, FALL, 2);
	hand_block(&hand, COND, 1);
	hand_edge(&hand, FALL, 3);
	hand_edge(&hand, TAKEN, 1);
	hand_block(&hand, COND, -1); /* 3: is one left over? */
	hand_edge(&hand, FALL, 4);
	hand_edge(&hand, TAKEN, 5);
	hand_block(&hand, NONE, 1);
	hand_edge(&hand, FALL, 5);
	hand_block(&hand, RET, -1);
	good = solve(counters) && near(result.block[1] + result.block[2] + result.block[4], 1e6) &&
	       near(result.block[1], result.block[2]) && result.block[4] <= 10001 &&
	       near(result.block[3], 10000) && result.moved == 0;
	verdict(good, "unrolled loop: the rest runs at most once an entry");
	verdict(solve((const uint64_t[]){ 10000, 10000 }) && near(result.block[4], 10000) &&
			result.block[1] < 200,
		"unrolled loop: what skips the rest has run the main loop");
}

/* f calls g 100 times and runs on 60 times after that: g has thrown 40 times. */
static void test_unreturned(void)
{
	const uint64_t counters[] = { 100, 60, 100 };
	bool good;

	begin();
	hand_block(&hand, CALL, 0);
	hand.blocks[0].callee = 1;
	hand_edge(&hand, SWLBR_MAP_AFTER_CALL, 1);
	hand_block(&hand, RET, 1);
	hand_function(&hand, true, false);
	hand_block(&hand, RET, 2);
	good = solve(counters) && result.block[0] == 100 && result.block[1] == 60 &&
	       result.edge[0] == 60 && result.entry[1] == 100 && result.outside[1] == 0;
	verdict(good, "calls that do not return are no contradiction of counts");
}

/* A function that calls function @callee and returns. */
static uint32_t make_caller(int counter, uint32_t callee)
{
	uint32_t call;

	hand_function(&hand, true, hand.map.nr_functions == 0);
	call = hand_block(&hand, CALL, counter);
	hand.blocks[call].callee = callee;
	hand_edge(&hand, SWLBR_MAP_AFTER_CALL, call + 1);
	hand_block(&hand, RET, -1);
	return call + 1;
}

/* if (a) throw; */
static void make_thrower(int counter)
{
	uint32_t first;

	hand_function(&hand, true, false);
	first = hand_block(&hand, COND, counter);
	hand_edge(&hand, FALL, first + 1);
	hand_edge(&hand, TAKEN, first + 2);
	hand_block(&hand, SWLBR_MAP_END_STOP, counter + 1);
	hand_block(&hand, RET, -1);
}

/* What throws is counted: callers, and theirs, are gone on in as often as it has not. */
static void test_leak(void)
{
	uint32_t after[2];
	bool good;

	hand = (struct hand_map){ 0 };
	after[0] = make_caller(0, 1);
	after[1] = make_caller(1, 2);
	make_thrower(2);
	good = solve((const uint64_t[]){ 100, 100, 100, 40 });
	for (int i = 0; good && i < 2; i++)
		good = result.block[after[i]] == 60 && result.block_exact[after[i]];
	verdict(good && result.moved == 0 && result.unknown == 0,
		"a throw through two callers: all exact");
	verdict(solve((const uint64_t[]){ 100, 100, 100, 0 }) && result.block[after[0]] == 100 &&
			result.block_exact[after[0]],
		"none thrown: all calls return");
	hand.functions[2].address_taken = true;
	good = solve((const uint64_t[]){ 100, 100, 120, 40 }) && result.block[after[0]] > 62 &&
	       result.block[after[0]] < 78 && !result.block_exact[after[0]];
	verdict(good, "a throw that may also have gone elsewhere: inferred");
}

static void test_shared_leak(void)
{
	uint32_t after[2];
	bool good;

	hand = (struct hand_map){ 0 };
	after[0] = make_caller(0, 2);
	after[1] = make_caller(1, 2);
	hand.functions[1].address_taken = true;
	make_thrower(2);
	good = solve((const uint64_t[]){ 300, 100, 400, 40 }) &&
	       near(result.block[after[0]] + result.block[after[1]], 360) &&
	       fabs(result.block[after[0]] - 270) < 5 && !result.block_exact[after[0]] &&
	       !result.block_exact[after[1]];
	verdict(good, "a throw through one of two callers: in proportion, and inferred");
}

/* for (;;) { if (!setjmp()) thrower(); else n++; }, as often as the loop's counter says */
static void test_setjmp(void)
{
	bool good;

	hand = (struct hand_map){ 0 };
	hand_function(&hand, true, true);
	hand.functions[0].calls_setjmp = true;
	hand_block(&hand, NONE, 0);
	hand_edge(&hand, FALL, 1);
	hand_block(&hand, CALL, -1); /* setjmp */
	hand_edge(&hand, SWLBR_MAP_AFTER_CALL, 2);
	hand_block(&hand, COND, -1);
	hand.blocks[2].entered = hand.blocks[2].jumped_to = true;
	hand_edge(&hand, FALL, 3);
	hand_edge(&hand, TAKEN, 4);
	hand_block(&hand, CALL, 1);
	hand.blocks[3].callee = 1;
	hand_edge(&hand, SWLBR_MAP_AFTER_CALL, 5);
	hand_block(&hand, NONE, 2);
	hand_edge(&hand, FALL, 5);
	hand_block(&hand, COND, -1);
	hand_edge(&hand, FALL, 6);
	hand_edge(&hand, TAKEN, 1);
	hand_block(&hand, RET, -1);
	make_thrower(3);
	hand.blocks[8].jumps_away = true;
	good = solve((const uint64_t[]){ 1, 300, 100, 300, 100 }) && result.block[1] == 300 &&
	       result.block[2] == 400 && result.block[5] == 300 && result.block[6] == 1;
	for (unsigned int i = 0; good && i < 7; i++)
		good = result.block_exact[i];
	verdict(good && result.moved == 0, "longjmp comes to setjmp, and calls between end: exact");
}

/* Two counters of one straight piece say 1000 and 900. */
static void test_conflict(void)
{
	const uint64_t counters[] = { 1000, 900 };

	begin();
	hand_block(&hand, NONE, 0);
	hand_edge(&hand, FALL, 1);
	hand_block(&hand, NONE, -1);
	hand_edge(&hand, FALL, 2);
	hand_block(&hand, RET, 1);
	verdict(solve(counters) && result.moved == 100 && result.block[1] >= 899 &&
			result.block[1] <= 1001,
		"counters that contradict each other: a flow between them, 100 moved, once");
}

static void test_targets(void)
{
	const uint64_t counters[] = { 100, 90 };
	struct swlbr_flow_target targets[] = {
		{ .function = 5, .site = 0, .vaddr = 0, .nr = 10 },
		{ .function = 5, .site = 0, .vaddr = 0x9999, .nr = 10 },
		{ .function = 5, .site = 0, .vaddr = 0, .nr = 70 },
	};
	struct swlbr_flow_result interval;
	struct swlbr_error *error;
	bool good;

	begin();
	hand_block(&hand, SWLBR_MAP_END_INDIRECT_CALL, 0);
	hand.blocks[0].value_function = 5;
	hand.blocks[0].value_site = 0;
	hand_edge(&hand, SWLBR_MAP_AFTER_CALL, 1);
	hand_block(&hand, RET, -1);
	hand_function(&hand, true, true);
	hand_block(&hand, RET, 1);
	targets[0].vaddr = targets[2].vaddr = hand.functions[1].start;
	good = solve(counters) && result.outside[1] == 90;
	error = swlbr_flow_set_targets(&hand.map, targets, 3, &result);
	good = good && !error && result.nr_calls == 1 && result.calls[0].nr == 80 &&
	       result.calls[0].function == 1 && result.calls[0].exact && result.outside[1] == 10;
	verdict(good,
		"targets of an indirect call are calls, two tellings summed; not from outside");
	swlbr_error_destroy(error);
	interval = result;
	result = (struct swlbr_flow_result){ 0 };
	good = solve((const uint64_t[]){ 50, 45 });
	error = swlbr_flow_share_calls(&hand.map, &interval, &result);
	good = good && !error && result.nr_calls == 1 && near(result.calls[0].nr, 40) &&
	       near(result.outside[1], 5);
	verdict(good, "and in an interval in proportion");
	swlbr_error_destroy(error);
	swlbr_flow_result_deinit(&interval);
}

int main(void)
{
	test_diamond();
	test_loop();
	test_copies();
	test_inlined();
	test_unrolled();
	test_unreturned();
	test_leak();
	test_shared_leak();
	test_setjmp();
	test_conflict();
	test_targets();
	swlbr_flow_result_deinit(&result);
	return failures != 0;
}
