/* SPDX-License-Identifier: GPL-2.0-only */
/* Branch maps made by hand, for tests of what is made of them. */
#ifndef SWLBR_TESTS_HAND_MAP_H
#define SWLBR_TESTS_HAND_MAP_H

#include <swlbr/branch_map.h>
#include <swlbr/flow.h>

#include "check.h"

#define HAND_MAX   256
#define HAND_BLOCK 16 /* bytes of a block; its last instruction is at 12 */

struct hand_map {
	struct swlbr_branch_map map;
	struct swlbr_map_function functions[HAND_MAX];
	struct swlbr_map_block blocks[HAND_MAX];
	struct swlbr_map_edge edges[HAND_MAX];
	struct swlbr_map_site sites[HAND_MAX];
};

/* A function that anybody may call; blocks that follow are its. */
static inline void hand_function(struct hand_map *hand, bool instrumented, bool address_taken)
{
	struct swlbr_branch_map *map = &hand->map;

	map->functions = hand->functions;
	map->blocks = hand->blocks;
	map->edges = hand->edges;
	map->sites = hand->sites;
	hand->functions[map->nr_functions++] = (struct swlbr_map_function){
		.start = 0x1000 + HAND_BLOCK * map->nr_blocks,
		.end = 0x1000 + HAND_BLOCK * map->nr_blocks,
		.name = SWLBR_NONE,
		.first_block = (uint32_t)map->nr_blocks,
		.instrumented = instrumented,
		.address_taken = address_taken,
	};
}

/* The next block, which ends so; with a counter that it increments, or -1. Returns its number. */
static inline uint32_t hand_block(struct hand_map *hand, enum swlbr_map_end end, int counter)
{
	struct swlbr_branch_map *map = &hand->map;
	uint32_t number = (uint32_t)map->nr_blocks++;
	uint64_t start = 0x1000 + HAND_BLOCK * (uint64_t)number;

	hand->blocks[number] = (struct swlbr_map_block){
		.start = start,
		.last = start + 12,
		.end = start + HAND_BLOCK,
		.function = (uint32_t)map->nr_functions - 1,
		.first_edge = (uint32_t)map->nr_edges,
		.first_site = (uint32_t)map->nr_sites,
		.value_function = SWLBR_NONE,
		.value_site = SWLBR_NONE,
		.callee = SWLBR_NONE,
		.end_kind = (uint8_t)end,
	};
	hand->functions[map->nr_functions - 1].nr_blocks++;
	hand->functions[map->nr_functions - 1].end = start + HAND_BLOCK;
	if (counter < 0)
		return number;
	hand->blocks[number].nr_sites = 1;
	hand->sites[map->nr_sites++] = (struct swlbr_map_site){
		.vaddr = start, .counter = (uint64_t)counter, .added = 1, .block = number
	};
	if (map->nr_counters <= (uint64_t)counter)
		map->nr_counters = (uint64_t)counter + 1;
	return number;
}

/* An edge of the last block to block @to. Returns its number. */
static inline uint32_t hand_edge(struct hand_map *hand, enum swlbr_map_edge_kind kind, uint32_t to)
{
	struct swlbr_branch_map *map = &hand->map;
	uint32_t from = (uint32_t)map->nr_blocks - 1;

	hand->blocks[from].nr_edges++;
	hand->edges[map->nr_edges] = (struct swlbr_map_edge){
		.from = from, .to = to, .kind = (uint16_t)kind, .entries = 1
	};
	return (uint32_t)map->nr_edges++;
}

/* The flow of these counters through the map, into @result in place of what it held. */
static inline bool hand_solve(struct hand_map *hand, const uint64_t *counters,
			      struct swlbr_flow_result *result)
{
	struct swlbr_flow *flow = NULL;
	struct swlbr_error *error = swlbr_flow_create(&hand->map, &flow);

	swlbr_flow_result_deinit(result);
	if (!error)
		error = swlbr_flow_solve(flow, counters, NULL, result);
	swlbr_flow_destroy(flow);
	return fine(error);
}

#endif
