// SPDX-License-Identifier: GPL-2.0-only
/* The bytes of a basic block address map, and the layout of blocks that all ran. */
#include <stdlib.h>

#include "base/cursor.h"
#include "binary/bb_addr_map.h"
#include "write/propeller.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_SIZE (64 << 10)

/* A range over each block, and a branch from each to the one before. */
static struct swlbr_error *add_all(const struct bb_addr_map *map, struct swlbr_edge_profile *edges,
				   uint32_t binary)
{
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < map->nr_blocks; i++) {
		const struct bb_block *block = &map->blocks[i];
		struct swlbr_edge edge = { .from = block->start,
					   .to = block->start + (block->size ? block->size - 1 : 0),
					   .from_binary = binary,
					   .to_binary = binary,
					   .kind = SWLBR_EDGE_RANGE,
					   .nr = i + 1 };

		error = swlbr_edge_profile_add(edges, &edge);
		edge.kind = SWLBR_EDGE_BRANCH;
		edge.from = edge.to;
		edge.to = i ? block[-1].start : block->start;
		if (!error)
			error = swlbr_edge_profile_add(edges, &edge);
	}
	return error;
}

static struct swlbr_error *count(const struct bb_addr_map *map)
{
	struct swlbr_edge_binary binary = { .path = "program" };
	struct swlbr_edge_profile *edges;
	struct block_counts counts;
	struct swlbr_error *error;
	uint32_t index;

	error = swlbr_edge_profile_create(&edges);
	if (error)
		return error;
	error = swlbr_edge_profile_binary(edges, &binary, &index);
	if (!error)
		error = add_all(map, edges, index);
	if (!error)
		error = block_counts_of(edges, index, map, &counts);
	if (!error) {
		/* Jumps stay within their function, which the writer relies on. */
		for (size_t i = 0; i < counts.nr_jumps; i++)
			if (map->blocks[counts.jumps[i].from].function !=
			    map->blocks[counts.jumps[i].to].function)
				abort();
		block_counts_free(&counts);
	}
	swlbr_edge_profile_destroy(edges);
	return error;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor cursor = { .file = "fuzz", .data = data, .size = size };
	struct bb_addr_map map = { 0 };
	struct swlbr_error *error;

	if (size > MAX_SIZE)
		return 0;
	error = bb_addr_map_parse(&map, &cursor, true);
	if (!error)
		error = count(&map);
	swlbr_error_destroy(error);
	bb_addr_map_free(&map);
	return 0;
}
