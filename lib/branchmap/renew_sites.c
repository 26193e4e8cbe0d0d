// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "builder.h"

void builder_index_sites(struct swlbr_branch_map *map)
{
	for (size_t i = 0; i < map->nr_blocks; i++)
		map->blocks[i].nr_sites = 0;
	for (size_t i = map->nr_sites; i-- > 0;) {
		struct swlbr_map_block *block = &map->blocks[map->sites[i].block];

		block->first_site = (uint32_t)i;
		block->nr_sites++;
	}
}

static int by_address(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Append the old sites of function @f, which are of blocks in its own range. */
static struct swlbr_error *keep_sites(struct builder *builder, const struct swlbr_map_site *old,
				      const struct swlbr_map_function *function)
{
	struct swlbr_branch_map *map = builder->map;

	for (uint32_t b = 0; b < function->nr_blocks; b++) {
		const struct swlbr_map_block *block = &map->blocks[function->first_block + b];

		for (uint32_t i = 0; i < block->nr_sites; i++) {
			struct swlbr_error *error = builder_grow(&map->sites, &builder->max_sites,
								 map->nr_sites,
								 sizeof(*map->sites));

			if (error)
				return error;
			map->sites[map->nr_sites++] = old[block->first_site + i];
		}
	}
	return NULL;
}

static struct swlbr_error *find_sites(struct builder *builder, struct swlbr_map_function *function)
{
	struct swlbr_branch_map *map = builder->map;
	const struct code_range range = { .start = function->start, .end = function->end };
	struct swlbr_error *error =
		function_graph_build(&builder->graph, &builder->context, &range);

	for (uint32_t i = 0; !error && i < builder->graph.nr_sites; i++)
		error = builder_add_site(builder, &builder->graph.sites[i],
					 swlbr_branch_map_block_at(map,
								   builder->graph.sites[i].vaddr));
	for (uint32_t i = 0; !error && i < builder->graph.nr_blocks; i++) {
		const struct local_block *local = &builder->graph.blocks[i];
		uint32_t block = swlbr_branch_map_block_at(
			map, function_graph_last_insn(&builder->graph, local)->vaddr);

		if (block != SWLBR_NONE && local->value_function != UINT32_MAX) {
			map->blocks[block].value_function = local->value_function;
			map->blocks[block].value_site = local->value_site;
		}
	}
	function->instrumented = builder->graph.nr_sites != 0;
	return error;
}

struct swlbr_error *builder_renew_sites(struct builder *builder)
{
	struct swlbr_branch_map *map = builder->map;
	struct swlbr_map_site *old = map->sites;
	struct swlbr_error *error = NULL;

	if (!builder->nr_noreturn || !old)
		return NULL;
	qsort(builder->noreturn, builder->nr_noreturn, sizeof(*builder->noreturn), by_address);
	builder->context.noreturn = builder->noreturn;
	builder->context.nr_noreturn = builder->nr_noreturn;
	map->sites = NULL;
	map->nr_sites = builder->max_sites = 0;
	for (size_t i = 0; !error && i < map->nr_functions; i++) {
		struct swlbr_map_function *function = &map->functions[i];

		error = builder->affected[i] ? find_sites(builder, function)
					     : keep_sites(builder, old, function);
	}
	free(old);
	if (!error)
		builder_index_sites(map);
	return error;
}
