// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parts of maps: the functions asked for under new numbers, with what leads from one to another of
 * them and nothing that leads out; and the flow through what ran is that through the whole.
 */
#include <string.h>

#include "check.h"
#include "hand_map.h"

static struct hand_map hand;

/*
 * main (blocks 0 to 3) calls f or tail-calls g; f (4, 5) throws to main's block 3; g (6 to 8) loops;
 * unused (9, 10) calls g.
 */
static void prepare(void)
{
	hand_function(&hand, true, true);
	hand_block(&hand, SWLBR_MAP_END_COND, 0);
	hand_edge(&hand, SWLBR_MAP_FALLTHROUGH, 1);
	hand_edge(&hand, SWLBR_MAP_TAIL, 6);
	hand_block(&hand, SWLBR_MAP_END_CALL, -1);
	hand.blocks[1].callee = 1;
	hand.blocks[1].landing = 4;
	hand_edge(&hand, SWLBR_MAP_AFTER_CALL, 2);
	hand_block(&hand, SWLBR_MAP_END_RETURN, 1);
	hand_block(&hand, SWLBR_MAP_END_RETURN, 2);
	hand_function(&hand, true, false);
	hand_block(&hand, SWLBR_MAP_END_NONE, 3);
	hand_edge(&hand, SWLBR_MAP_FALLTHROUGH, 5);
	hand_block(&hand, SWLBR_MAP_END_RETURN, -1);
	hand_function(&hand, true, false);
	hand_block(&hand, SWLBR_MAP_END_NONE, -1);
	hand_edge(&hand, SWLBR_MAP_FALLTHROUGH, 7);
	hand_block(&hand, SWLBR_MAP_END_COND, 4);
	hand_edge(&hand, SWLBR_MAP_TAKEN, 7);
	hand_edge(&hand, SWLBR_MAP_FALLTHROUGH, 8);
	hand_block(&hand, SWLBR_MAP_END_RETURN, 5);
	hand_function(&hand, true, false);
	hand_block(&hand, SWLBR_MAP_END_CALL, 6);
	hand.blocks[9].callee = 2;
	hand_edge(&hand, SWLBR_MAP_AFTER_CALL, 10);
	hand_block(&hand, SWLBR_MAP_END_RETURN, -1);
}

static struct swlbr_branch_map *part_of(bool a, bool b, bool c, bool d)
{
	const bool keep[] = { a, b, c, d };
	struct swlbr_branch_map *part = NULL;

	return fine(swlbr_branch_map_part(&hand.map, keep, &part)) ? part : NULL;
}

/* Each block's count in @part is that in the whole. */
static void check_flow(const struct swlbr_branch_map *part)
{
	static const uint64_t counters[] = { 100, 70, 0, 70, 900, 30, 0 };
	struct swlbr_flow_result whole = { 0 }, result = { 0 };
	struct swlbr_flow *flow = NULL;
	struct swlbr_error *error;
	size_t same = 0;

	if (!hand_solve(&hand, counters, &whole)) {
		check(false, "a flow");
		return;
	}
	error = swlbr_flow_create(part, &flow);
	if (!error)
		error = swlbr_flow_solve(flow, counters, NULL, &result);
	check(fine(error), "the flow through a part");
	for (size_t i = 0; !error && i < part->nr_blocks; i++)
		same += result.block[i] == whole.block[swlbr_branch_map_block_at(
						   &hand.map, part->blocks[i].start)] &&
			result.block_exact[i];
	check(same == part->nr_blocks && result.block[0] == 100 && result.block[6] == 30,
	      "it is that through the whole: %zu of %zu blocks", same, part->nr_blocks);
	swlbr_flow_destroy(flow);
	swlbr_flow_result_deinit(&result);
	swlbr_flow_result_deinit(&whole);
}

int main(void)
{
	struct swlbr_branch_map *part;

	prepare();
	part = part_of(true, true, true, true);
	check(part && part->nr_functions == 4 &&
		      !memcmp(part->blocks, hand.blocks, sizeof(*part->blocks) * 11) &&
		      !memcmp(part->edges, hand.edges, sizeof(*part->edges) * hand.map.nr_edges) &&
		      !memcmp(part->sites, hand.sites, sizeof(*part->sites) * hand.map.nr_sites) &&
		      part->nr_edges == hand.map.nr_edges && part->nr_sites == hand.map.nr_sites &&
		      part->nr_counters == hand.map.nr_counters,
	      "all of it is the same");
	swlbr_branch_map_destroy(part);

	part = part_of(true, false, true, false);
	check(part && part->nr_functions == 2 && part->nr_blocks == 7 &&
		      part->functions[1].first_block == 4 && part->functions[1].nr_blocks == 3,
	      "two functions, their blocks one after the other");
	check(part && part->blocks[0].nr_edges == 2 &&
		      part->edges[part->blocks[0].first_edge + 1].to == 4 &&
		      part->edges[part->blocks[0].first_edge + 1].kind == SWLBR_MAP_TAIL,
	      "a tail call among them");
	check(part && part->blocks[1].callee == SWLBR_NONE && part->blocks[1].landing == 4 &&
		      part->blocks[1].nr_edges == 1,
	      "a call of what is not there calls nothing known");
	check(part && part->blocks[6].nr_sites == 1 &&
		      part->sites[part->blocks[6].first_site].counter == 5 &&
		      part->sites[part->blocks[6].first_site].block == 6,
	      "sites have their counters, and the new blocks");
	swlbr_branch_map_destroy(part);

	part = part_of(true, false, false, false);
	check(part && part->blocks[0].nr_edges == 1 &&
		      part->edges[part->blocks[0].first_edge].kind == SWLBR_MAP_FALLTHROUGH &&
		      part->edges[part->blocks[1].first_edge].to == 2,
	      "an edge to what is not there is gone");
	swlbr_branch_map_destroy(part);

	part = part_of(false, false, false, false);
	check(part && !part->nr_functions && !part->nr_blocks && !part->nr_edges &&
		      !part->nr_sites && part->nr_counters == 7,
	      "nothing");
	swlbr_branch_map_destroy(part);

	part = part_of(true, true, true, false);
	if (part)
		check_flow(part);
	swlbr_branch_map_destroy(part);
	return failures != 0;
}
