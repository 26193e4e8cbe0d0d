// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Functions that never return. After a call of one the next bytes belong to something else: an edge
 * to there would carry counts that nobody counted.
 */
#include <stdlib.h>
#include <string.h>

#include "builder.h"

/* A call has this edge alone; squeezed out at the end. */
static struct swlbr_error *drop_after_call(struct builder *builder, size_t number)
{
	struct swlbr_map_block *block = &builder->map->blocks[number];
	struct swlbr_error *error;

	if (!block->nr_edges || builder->map->edges[block->first_edge].kind != SWLBR_MAP_AFTER_CALL)
		return NULL;
	block->nr_edges = 0;
	builder->affected[block->function] = true;
	error = builder_grow(&builder->noreturn, &builder->max_noreturn, builder->nr_noreturn,
			     sizeof(*builder->noreturn));
	if (!error)
		builder->noreturn[builder->nr_noreturn++] = builder->callee[number];
	return error;
}

/* Walks the function from its entry; false if that comes to a return or leaves the map. */
static bool never_returns(const struct swlbr_branch_map *map, uint32_t function, bool *seen,
			  uint32_t *stack)
{
	size_t nr = 0;
	uint32_t first = map->functions[function].first_block;
	bool returns = false;

	/* @seen is per block of the function, but for parts that are in other ranges. */
	stack[nr++] = first;
	seen[first] = true;
	for (size_t at = 0; at < nr && !returns; at++) {
		const struct swlbr_map_block *block = &map->blocks[stack[at]];

		returns = block->end_kind == SWLBR_MAP_END_RETURN || block->leaves;
		for (uint32_t i = 0; i < block->nr_edges && !returns; i++) {
			const struct swlbr_map_edge *edge = &map->edges[block->first_edge + i];

			if (edge->kind == SWLBR_MAP_TAIL) {
				returns = !map->functions[map->blocks[edge->to].function]
						   .never_returns;
			} else if (!seen[edge->to]) {
				seen[edge->to] = true;
				stack[nr++] = edge->to;
			}
		}
	}
	for (size_t i = 0; i < nr; i++)
		seen[stack[i]] = false;
	return !returns;
}

static void squeeze(struct swlbr_branch_map *map)
{
	size_t kept = 0;

	for (size_t i = 0; i < map->nr_blocks; i++) {
		struct swlbr_map_block *block = &map->blocks[i];
		uint32_t first = block->first_edge;

		block->first_edge = (uint32_t)kept;
		memmove(&map->edges[kept], &map->edges[first],
			block->nr_edges * sizeof(*map->edges));
		kept += block->nr_edges;
	}
	map->nr_edges = kept;
}

/* longjmp goes on behind a call of setjmp. */
static void mark_jumped_to(struct swlbr_branch_map *map, const struct swlbr_map_block *block)
{
	if (!block->nr_edges || map->edges[block->first_edge].kind != SWLBR_MAP_AFTER_CALL)
		return;
	map->blocks[map->edges[block->first_edge].to].jumped_to = true;
	map->functions[block->function].calls_setjmp = true;
}

static struct swlbr_error *note_library_calls(struct builder *builder)
{
	struct swlbr_branch_map *map = builder->map;
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < map->nr_blocks; i++) {
		enum library_call call = builder_calls_library(builder, i);

		map->blocks[i].jumps_away = call == LIBRARY_LONGJMP;
		if (call == LIBRARY_SETJMP)
			mark_jumped_to(map, &map->blocks[i]);
		else if (call != LIBRARY_OTHER)
			error = drop_after_call(builder, i);
	}
	return error;
}

static struct swlbr_error *drop_calls(struct builder *builder)
{
	struct swlbr_branch_map *map = builder->map;
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < map->nr_blocks; i++) {
		if (map->blocks[i].callee != SWLBR_NONE &&
		    map->functions[map->blocks[i].callee].never_returns)
			error = drop_after_call(builder, i);
	}
	return error;
}

/* One that does not return calls another, and so on. */
#define MAX_ROUNDS 100

static struct swlbr_error *find_all(struct builder *builder, bool *seen, uint32_t *stack)
{
	struct swlbr_branch_map *map = builder->map;
	struct swlbr_error *error = note_library_calls(builder);
	bool changed = true;

	for (unsigned int round = 0; !error && changed && round < MAX_ROUNDS; round++) {
		changed = false;
		for (uint32_t i = 0; i < map->nr_functions; i++) {
			if (map->functions[i].never_returns || !map->functions[i].nr_blocks ||
			    !never_returns(map, i, seen, stack))
				continue;
			map->functions[i].never_returns = true;
			changed = true;
		}
		if (changed)
			error = drop_calls(builder);
	}
	return error;
}

struct swlbr_error *builder_find_noreturn(struct builder *builder)
{
	struct swlbr_branch_map *map = builder->map;
	bool *seen = calloc(map->nr_blocks + 1, sizeof(*seen));
	uint32_t *stack = calloc(map->nr_blocks + 1, sizeof(*stack));
	struct swlbr_error *error;

	builder->affected = calloc(map->nr_functions + 1, sizeof(*builder->affected));
	error = seen && stack && builder->affected ? find_all(builder, seen, stack)
						   : swlbr_error_no_memory();
	free(seen);
	free(stack);
	if (!error)
		squeeze(map);
	return error;
}
