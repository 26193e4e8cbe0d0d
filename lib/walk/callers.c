// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>

#include "callers.h"

static bool is_counted(const struct swlbr_branch_map *map, uint32_t function)
{
	return map->functions[function].instrumented;
}

bool block_calls(const struct swlbr_branch_map *map, uint32_t block)
{
	return map->blocks[block].end_kind == SWLBR_MAP_END_CALL ||
	       map->blocks[block].end_kind == SWLBR_MAP_END_INDIRECT_CALL;
}

bool block_calls_by_jump(const struct swlbr_branch_map *map, uint32_t block)
{
	return map->blocks[block].end_kind == SWLBR_MAP_END_INDIRECT_JUMP &&
	       !map->blocks[block].nr_edges;
}

bool block_calls_inside(const struct swlbr_branch_map *map, uint32_t block)
{
	const struct swlbr_map_block *b = &map->blocks[block];

	return b->end_kind == SWLBR_MAP_END_CALL && b->callee != SWLBR_NONE &&
	       is_counted(map, b->callee);
}

static uint32_t edge_after_call(const struct swlbr_branch_map *map, uint32_t block)
{
	const struct swlbr_map_block *b = &map->blocks[block];

	for (uint32_t i = 0; i < b->nr_edges; i++) {
		if (map->edges[b->first_edge + i].kind == SWLBR_MAP_AFTER_CALL)
			return b->first_edge + i;
	}
	return SWLBR_NONE;
}

uint32_t block_after_call(const struct swlbr_branch_map *map, uint32_t block)
{
	uint32_t edge = edge_after_call(map, block);

	return edge == SWLBR_NONE ? SWLBR_NONE : map->edges[edge].to;
}

/* Counts the callers of each function into start[f + 2], or stores them at start[f + 1]. */
static void list_callers(struct callers *callers, const struct swlbr_branch_map *map, bool store)
{
	for (uint32_t b = 0; b < map->nr_blocks; b++) {
		const struct swlbr_map_block *block = &map->blocks[b];

		if (!is_counted(map, block->function))
			continue;
		if (block_calls_inside(map, b) && !store)
			callers->start[block->callee + 2]++;
		else if (block_calls_inside(map, b))
			callers->caller[callers->start[block->callee + 1]++] =
				(struct caller){ b, SWLBR_NONE, edge_after_call(map, b) };
		for (uint32_t i = 0; i < block->nr_edges; i++) {
			uint32_t edge = block->first_edge + i;
			uint32_t to = map->blocks[map->edges[edge].to].function;

			if (map->edges[edge].kind != SWLBR_MAP_TAIL)
				continue;
			if (store)
				callers->caller[callers->start[to + 1]++] =
					(struct caller){ b, edge, SWLBR_NONE };
			else
				callers->start[to + 2]++;
		}
	}
}

struct swlbr_error *callers_init(struct callers *callers, const struct swlbr_branch_map *map)
{
	*callers = (struct callers){ 0 };
	callers->start = calloc(map->nr_functions + 3, sizeof(*callers->start));
	if (!callers->start)
		return swlbr_error_no_memory();
	list_callers(callers, map, false);
	for (size_t i = 2; i < map->nr_functions + 2; i++)
		callers->start[i] += callers->start[i - 1];
	callers->caller =
		calloc(callers->start[map->nr_functions + 1] + 1, sizeof(*callers->caller));
	if (!callers->caller)
		return swlbr_error_no_memory();
	list_callers(callers, map, true);
	return NULL;
}

void callers_deinit(struct callers *callers)
{
	free(callers->caller);
	free(callers->start);
}
