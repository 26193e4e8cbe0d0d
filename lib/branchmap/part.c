// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The part of a map that a flow needs: what never ran costs each solution as much as what did. */
#include <stdlib.h>
#include <string.h>

#include <swlbr/branch_map.h>

/* Numbers of the whole to numbers of the part, SWLBR_NONE for what is not in it. */
struct numbers {
	uint32_t *function, *block;
};

static uint32_t number_of(const uint32_t *numbers, uint32_t old)
{
	return old == SWLBR_NONE ? SWLBR_NONE : numbers[old];
}

static void give_numbers(const struct swlbr_branch_map *map, const bool *keep,
			 struct numbers *numbers, struct swlbr_branch_map *part)
{
	for (size_t i = 0; i < map->nr_functions; i++)
		numbers->function[i] = keep[i] ? (uint32_t)part->nr_functions++ : SWLBR_NONE;
	for (size_t i = 0; i < map->nr_blocks; i++)
		numbers->block[i] = keep[map->blocks[i].function] ? (uint32_t)part->nr_blocks++
								  : SWLBR_NONE;
}

static void copy_edges(const struct swlbr_branch_map *map, const struct numbers *numbers,
		       uint32_t old, struct swlbr_branch_map *part, struct swlbr_map_block *block)
{
	const struct swlbr_map_block *whole = &map->blocks[old];

	block->first_edge = (uint32_t)part->nr_edges;
	for (uint32_t i = 0; i < whole->nr_edges; i++) {
		struct swlbr_map_edge edge = map->edges[whole->first_edge + i];

		edge.from = number_of(numbers->block, edge.from);
		edge.to = number_of(numbers->block, edge.to);
		if (edge.to != SWLBR_NONE)
			part->edges[part->nr_edges++] = edge;
	}
	block->nr_edges = (uint32_t)part->nr_edges - block->first_edge;
}

static void copy_sites(const struct swlbr_branch_map *map, uint32_t old, uint32_t number,
		       struct swlbr_branch_map *part, struct swlbr_map_block *block)
{
	const struct swlbr_map_block *whole = &map->blocks[old];

	block->first_site = (uint32_t)part->nr_sites;
	for (uint32_t i = 0; i < whole->nr_sites; i++) {
		part->sites[part->nr_sites] = map->sites[whole->first_site + i];
		part->sites[part->nr_sites++].block = number;
	}
}

static void copy_blocks(const struct swlbr_branch_map *map, const struct numbers *numbers,
			struct swlbr_branch_map *part)
{
	for (uint32_t i = 0; i < map->nr_blocks; i++) {
		uint32_t number = numbers->block[i], landing = map->blocks[i].landing;
		struct swlbr_map_block *block = &part->blocks[number];

		if (number == SWLBR_NONE)
			continue;
		*block = map->blocks[i];
		block->function = numbers->function[block->function];
		block->callee = number_of(numbers->function, block->callee);
		landing = landing ? numbers->block[landing - 1] : SWLBR_NONE;
		block->landing = landing == SWLBR_NONE ? 0 : landing + 1;
		copy_edges(map, numbers, i, part, block);
		copy_sites(map, i, number, part, block);
	}
}

/* A function's blocks are one after the other. */
static void copy_functions(const struct swlbr_branch_map *map, const struct numbers *numbers,
			   struct swlbr_branch_map *part)
{
	for (size_t i = 0; i < map->nr_functions; i++) {
		uint32_t number = numbers->function[i], first = map->functions[i].first_block;

		if (number == SWLBR_NONE)
			continue;
		part->functions[number] = map->functions[i];
		part->functions[number].first_block =
			map->functions[i].nr_blocks ? numbers->block[first] : 0;
	}
}

static bool allocate(const struct swlbr_branch_map *map, struct swlbr_branch_map *part)
{
	part->functions = calloc(part->nr_functions + 1, sizeof(*part->functions));
	part->blocks = calloc(part->nr_blocks + 1, sizeof(*part->blocks));
	part->edges = calloc(map->nr_edges + 1, sizeof(*part->edges));
	part->sites = calloc(map->nr_sites + 1, sizeof(*part->sites));
	part->names = malloc(map->names_size + 1);
	return part->functions && part->blocks && part->edges && part->sites && part->names;
}

struct swlbr_error *swlbr_branch_map_part(const struct swlbr_branch_map *map, const bool *keep,
					  struct swlbr_branch_map **ret)
{
	struct swlbr_branch_map *part = calloc(1, sizeof(*part));
	struct numbers numbers = {
		.function = calloc(map->nr_functions + 1, sizeof(*numbers.function)),
		.block = calloc(map->nr_blocks + 1, sizeof(*numbers.block)),
	};
	struct swlbr_error *error = NULL;

	if (part && numbers.function && numbers.block)
		give_numbers(map, keep, &numbers, part);
	if (!part || !numbers.function || !numbers.block || !allocate(map, part)) {
		error = swlbr_error_no_memory();
		swlbr_branch_map_destroy(part);
	} else {
		part->build_id = map->build_id;
		part->machine = map->machine;
		part->nr_counters = map->nr_counters;
		part->names_size = map->names_size;
		if (map->names_size)
			memcpy(part->names, map->names, map->names_size);
		copy_functions(map, &numbers, part);
		copy_blocks(map, &numbers, part);
		*ret = part;
	}
	free(numbers.function);
	free(numbers.block);
	return error;
}
