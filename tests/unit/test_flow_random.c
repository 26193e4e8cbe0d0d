// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks on maps made by chance, of which some blocks are counted: what is found satisfies the
 * counters and the code, also where counts span many orders of magnitude, and also where some
 * counters were read a little earlier than others.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <swlbr/flow.h>

#include "check.h"
#include "flow/unrolled.h"
#include "hand_map.h"
#include "random.h"

#define MAPS	   400
#define SCALE	   10000 /* of counters: long runs are not walked */
#define STEPS	   300000
#define MAX_BLOCKS 120

static struct hand_map hand;
static struct swlbr_flow_result result;
static uint64_t counters[MAX_BLOCKS];

/* One to go on at: any that follows, or one before it that is counted, as every cycle has to be. */
static uint32_t target_of(uint32_t block, uint32_t nr)
{
	uint32_t to = 1 + random_number(nr - 1);

	while (to <= block && !hand.blocks[to].nr_sites)
		to++;
	return to;
}

/* Blocks with one way on or two, a return at the end; a third of them, and the first, counted. */
static uint32_t make_blocks(void)
{
	uint32_t nr = 4 + random_number(MAX_BLOCKS - 4);
	int nr_counters = 1;

	hand = (struct hand_map){ 0 };
	hand_function(&hand, true, true);
	hand_block(&hand, SWLBR_MAP_END_NONE, 0);
	hand_edge(&hand, SWLBR_MAP_FALLTHROUGH, 1);
	for (uint32_t i = 1; i < nr - 1; i++) {
		bool fork = random_number(4);
		int counter = random_number(3) ? -1 : nr_counters;

		/* Copies of a loop's body share a counter. */
		if (counter > 1 && !random_number(4))
			counter = 1 + (int)random_number((uint32_t)counter);
		nr_counters += counter == nr_counters;
		hand_block(&hand, fork ? SWLBR_MAP_END_COND : SWLBR_MAP_END_NONE, counter);
		hand_edge(&hand, SWLBR_MAP_FALLTHROUGH, i + 1);
		if (fork)
			hand_edge(&hand, SWLBR_MAP_TAKEN, target_of(i, nr));
	}
	hand_block(&hand, SWLBR_MAP_END_RETURN, -1);
	return nr;
}

/* None where what shares counters is taken for an unrolled loop, which this is not. */
static uint32_t make_map(void)
{
	struct flow_bound *bounds = NULL;
	size_t nr_bounds = 1;
	uint32_t nr = 0;

	while (nr_bounds) {
		nr = make_blocks();
		if (!fine(unrolled_find(&hand.map, &bounds, &nr_bounds)))
			return 0;
		free(bounds);
	}
	return nr;
}

/* Calls of the function, until STEPS blocks have run; forks go one way nearly always, or less so. */
static void walk(uint32_t nr)
{
	uint32_t odds[MAX_BLOCKS], at = 0;

	memset(counters, 0, sizeof(counters));
	for (uint32_t i = 0; i < nr; i++)
		odds[i] = 1 + random_number(1 << random_number(11));
	for (uint32_t step = 0; step < STEPS || at; step++) {
		const struct swlbr_map_block *block = &hand.blocks[at];
		uint32_t way = block->nr_edges == 2 && !random_number(1 + odds[at]);

		if (block->nr_sites)
			counters[hand.sites[block->first_site].counter] += SCALE;
		if (step >= STEPS) /* home */
			way = 0;
		at = block->nr_edges ? hand.edges[block->first_edge + way].to : 0;
	}
}

/* By how much blocks and edges are off from each other and from the counters. */
static double off(uint32_t nr)
{
	double in[MAX_BLOCKS] = { result.entry[0] }, counted[MAX_BLOCKS] = { 0 }, sum = 0;

	for (size_t i = 0; i < hand.map.nr_edges; i++)
		in[hand.edges[i].to] += result.edge[i];
	for (uint32_t i = 0; i < nr; i++) {
		const struct swlbr_map_block *block = &hand.blocks[i];
		double out = 0;

		for (uint32_t k = 0; k < block->nr_edges; k++)
			out += result.edge[block->first_edge + k];
		sum += fabs(in[i] - result.block[i]);
		sum += block->nr_edges ? fabs(out - result.block[i]) : 0;
		if (block->nr_sites)
			counted[hand.sites[block->first_site].counter] += result.block[i];
	}
	for (uint64_t i = 0; i < hand.map.nr_counters; i++)
		sum += fabs(counted[i] - (double)counters[i]);
	return sum;
}

static void test_maps(const char *name, uint32_t torn)
{
	unsigned int good = 0, solved = 0;
	double worst = 0;

	for (unsigned int i = 0; i < MAPS; i++) {
		uint32_t nr = make_map();
		double wrong = 0, is_off;

		walk(nr);
		for (uint64_t k = 0; torn && k < hand.map.nr_counters; k++) {
			uint64_t less = random_number(torn) * (uint64_t)SCALE;

			less = less < counters[k] ? less : 0;
			counters[k] -= less;
			wrong += (double)less;
		}
		if (!hand_solve(&hand, counters, &result))
			continue;
		solved++;
		is_off = off(nr);
		good += is_off <= 4 * wrong + 1e-4 * SCALE * STEPS;
		if (is_off / (SCALE + wrong) > worst)
			worst = is_off / (SCALE + wrong);
	}
	check(solved == MAPS && good == MAPS,
	      "%s: %u of %u maps, at worst off by %.3g of what its counters are", name, good, MAPS,
	      worst);
}

int main(void)
{
	test_maps("counters of one moment", 0);
	test_maps("counters of some moments", 20);
	test_maps("lost updates", 2000);
	swlbr_flow_result_deinit(&result);
	return failures != 0;
}
