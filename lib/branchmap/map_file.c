// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "map_file.h"

#define MAGIC "swlbrmap"
/* Goes up with every change of what a map of the same binary holds, or how it is stored. */
#define REVISION 12

struct header {
	char magic[8];
	uint32_t revision;
	uint32_t size; /* of this; tells the byte order too */
	uint32_t crc;  /* of the header, with 0 for this, and of all that follows */
	uint32_t machine;
	uint8_t build_id[SWLBR_BUILD_ID_SIZE];
	uint32_t build_id_size;
	uint64_t nr_counters, nr_functions, nr_blocks, nr_edges, nr_sites, names_size;
};

/* The arrays, in the order of the file. */
struct part {
	const void *data;
	size_t nr, size; /* items, bytes of one */
};

#define NR_PARTS 5

static void list_parts(const struct swlbr_branch_map *map, struct part parts[NR_PARTS])
{
	parts[0] = (struct part){ map->functions, map->nr_functions, sizeof(*map->functions) };
	parts[1] = (struct part){ map->blocks, map->nr_blocks, sizeof(*map->blocks) };
	parts[2] = (struct part){ map->edges, map->nr_edges, sizeof(*map->edges) };
	parts[3] = (struct part){ map->sites, map->nr_sites, sizeof(*map->sites) };
	parts[4] = (struct part){ map->names, map->names_size, 1 };
}

static uLong crc_of(uLong crc, const void *data, size_t size)
{
	return crc32_z(crc, data, size);
}

struct swlbr_error *map_file_write(const struct swlbr_branch_map *map, struct swlbr_outfile *file)
{
	struct header header = {
		.magic = MAGIC,
		.revision = REVISION,
		.size = sizeof(header),
		.machine = map->machine,
		.build_id_size = map->build_id.size,
		.nr_counters = map->nr_counters,
		.nr_functions = map->nr_functions,
		.nr_blocks = map->nr_blocks,
		.nr_edges = map->nr_edges,
		.nr_sites = map->nr_sites,
		.names_size = map->names_size,
	};
	struct part parts[NR_PARTS];
	uLong crc = crc32(0, Z_NULL, 0);
	struct swlbr_error *error;

	memcpy(header.build_id, map->build_id.bytes, sizeof(header.build_id));
	list_parts(map, parts);
	crc = crc_of(crc, &header, sizeof(header));
	for (size_t i = 0; i < NR_PARTS; i++) {
		if (parts[i].nr)
			crc = crc_of(crc, parts[i].data, parts[i].nr * parts[i].size);
	}
	header.crc = (uint32_t)crc;
	error = swlbr_outfile_write(file, &header, sizeof(header));
	for (size_t i = 0; !error && i < NR_PARTS; i++) {
		if (parts[i].nr)
			error = swlbr_outfile_write(file, parts[i].data,
						    parts[i].nr * parts[i].size);
	}
	return error;
}

static bool crc_fits(const struct header *header, const uint8_t *rest, size_t size)
{
	struct header copy = *header;

	copy.crc = 0;
	return header->crc ==
	       (uint32_t)crc_of(crc_of(crc32(0, Z_NULL, 0), &copy, sizeof(copy)), rest, size);
}

/* Copy the next @nr items of @size bytes out of [*data, end); false if they are not all there. */
static bool copy_part(const uint8_t **data, const uint8_t *end, uint64_t nr, size_t size, void *ret)
{
	void **array = ret;

	if (nr > (size_t)(end - *data) / size)
		return false;
	*array = malloc(nr * size + 1);
	if (!*array)
		return false;
	memcpy(*array, *data, nr * size);
	*data += nr * size;
	return true;
}

static bool stretch_fits(uint64_t first, uint64_t nr, uint64_t all)
{
	return first <= all && nr <= all - first;
}

static bool functions_fit(const struct swlbr_branch_map *map)
{
	for (size_t i = 0; i < map->nr_functions; i++) {
		const struct swlbr_map_function *function = &map->functions[i];

		if (!function->nr_blocks || function->end < function->start ||
		    !stretch_fits(function->first_block, function->nr_blocks, map->nr_blocks) ||
		    (function->name != SWLBR_NONE && function->name >= map->names_size))
			return false;
	}
	return true;
}

static bool blocks_fit(const struct swlbr_branch_map *map)
{
	uint64_t end = 0;

	for (size_t i = 0; i < map->nr_blocks; i++) {
		const struct swlbr_map_block *block = &map->blocks[i];

		if (block->start < end || block->last < block->start || block->end <= block->last ||
		    block->function >= map->nr_functions || block->end_kind > SWLBR_MAP_END_STOP ||
		    !stretch_fits(block->first_edge, block->nr_edges, map->nr_edges) ||
		    !stretch_fits(block->first_site, block->nr_sites, map->nr_sites) ||
		    (block->callee != SWLBR_NONE && block->callee >= map->nr_functions) ||
		    block->landing > map->nr_blocks)
			return false;
		end = block->end;
	}
	return true;
}

static bool edges_and_sites_fit(const struct swlbr_branch_map *map)
{
	for (size_t i = 0; i < map->nr_edges; i++) {
		const struct swlbr_map_edge *edge = &map->edges[i];

		if (edge->from >= map->nr_blocks || edge->to >= map->nr_blocks ||
		    edge->kind > SWLBR_MAP_AFTER_CALL)
			return false;
	}
	for (size_t i = 0; i < map->nr_sites; i++) {
		const struct swlbr_map_site *site = &map->sites[i];

		if (site->block >= map->nr_blocks || site->counter >= map->nr_counters ||
		    site->kind > SWLBR_MAP_SITE_SUM)
			return false;
	}
	return !map->names_size || !map->names[map->names_size - 1];
}

static bool copy_parts(struct swlbr_branch_map *map, const uint8_t *data, const uint8_t *end)
{
	return copy_part(&data, end, map->nr_functions, sizeof(*map->functions), &map->functions) &&
	       copy_part(&data, end, map->nr_blocks, sizeof(*map->blocks), &map->blocks) &&
	       copy_part(&data, end, map->nr_edges, sizeof(*map->edges), &map->edges) &&
	       copy_part(&data, end, map->nr_sites, sizeof(*map->sites), &map->sites) &&
	       copy_part(&data, end, map->names_size, 1, &map->names) && data == end;
}

struct swlbr_branch_map *map_file_decode(const void *data, size_t size,
					 const struct swlbr_build_id *build_id)
{
	const uint8_t *bytes = data;
	struct swlbr_branch_map *map;
	struct header header;

	if (size < sizeof(header))
		return NULL;
	memcpy(&header, bytes, sizeof(header));
	if (memcmp(header.magic, MAGIC, sizeof(header.magic)) || header.revision != REVISION ||
	    header.size != sizeof(header) || header.build_id_size != build_id->size ||
	    memcmp(header.build_id, build_id->bytes, sizeof(header.build_id)) ||
	    !crc_fits(&header, bytes + sizeof(header), size - sizeof(header)))
		return NULL;
	map = calloc(1, sizeof(*map));
	if (!map)
		return NULL;
	map->build_id = *build_id;
	map->machine = header.machine;
	map->nr_counters = header.nr_counters;
	map->nr_functions = header.nr_functions;
	map->nr_blocks = header.nr_blocks;
	map->nr_edges = header.nr_edges;
	map->nr_sites = header.nr_sites;
	map->names_size = header.names_size;
	if (copy_parts(map, bytes + sizeof(header), bytes + size) && functions_fit(map) &&
	    blocks_fit(map) && edges_and_sites_fit(map))
		return map;
	swlbr_branch_map_destroy(map);
	return NULL;
}
