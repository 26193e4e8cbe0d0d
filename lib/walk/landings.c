// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>

#include "landings.h"

static struct swlbr_error *list_pads(struct landings *landings, const struct swlbr_branch_map *map,
				     bool *is_pad)
{
	for (size_t i = 0; i < map->nr_blocks; i++)
		if (map->blocks[i].landing)
			is_pad[map->blocks[i].landing - 1] = true;
	for (size_t i = 0; i < map->nr_blocks; i++)
		landings->nr += is_pad[i];
	landings->pad = calloc(landings->nr + 1, sizeof(*landings->pad));
	landings->first = calloc(landings->nr + 3, sizeof(*landings->first));
	if (!landings->pad || !landings->first)
		return swlbr_error_no_memory();
	landings->nr = 0;
	for (uint32_t i = 0; i < map->nr_blocks; i++)
		if (is_pad[i])
			landings->pad[landings->nr++] = i;
	return NULL;
}

static struct swlbr_error *list_edges(struct landings *landings, const struct swlbr_branch_map *map,
				      const bool *is_pad)
{
	uint32_t *first = landings->first;

	for (size_t i = 0; i < map->nr_edges; i++)
		if (is_pad[map->edges[i].to])
			first[landings_index(landings, map->edges[i].to) + 2]++;
	for (size_t i = 2; i < landings->nr + 2; i++)
		first[i] += first[i - 1];
	landings->edge = calloc((size_t)first[landings->nr + 1] + 1, sizeof(*landings->edge));
	if (!landings->edge)
		return swlbr_error_no_memory();
	for (uint32_t i = 0; i < map->nr_edges; i++)
		if (is_pad[map->edges[i].to])
			landings->edge[first[landings_index(landings, map->edges[i].to) + 1]++] = i;
	return NULL;
}

struct swlbr_error *landings_init(struct landings *landings, const struct swlbr_branch_map *map)
{
	bool *is_pad = calloc(map->nr_blocks + 1, sizeof(*is_pad));
	struct swlbr_error *error;

	*landings = (struct landings){ 0 };
	if (!is_pad)
		return swlbr_error_no_memory();
	error = list_pads(landings, map, is_pad);
	if (!error)
		error = list_edges(landings, map, is_pad);
	free(is_pad);
	return error;
}

void landings_deinit(struct landings *landings)
{
	free(landings->pad);
	free(landings->first);
	free(landings->edge);
}

size_t landings_index(const struct landings *landings, uint32_t block)
{
	size_t low = 0, high = landings->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (landings->pad[middle] < block)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

double landings_count(const struct landings *landings, const struct swlbr_flow_result *flow,
		      size_t i)
{
	double count = flow->block[landings->pad[i]];

	for (uint32_t k = landings->first[i]; k < landings->first[i + 1]; k++)
		count -= flow->edge[landings->edge[k]];
	return count >= 0.5 ? count : 0;
}

double block_thrown(const struct swlbr_branch_map *map, const struct swlbr_flow_result *flow,
		    uint32_t block)
{
	const struct swlbr_map_block *b = &map->blocks[block];
	double count = flow->block[block];

	for (uint32_t i = 0; i < b->nr_edges; i++)
		if (map->edges[b->first_edge + i].kind == SWLBR_MAP_AFTER_CALL)
			count -= flow->edge[b->first_edge + i];
	return count >= 0.5 ? count : 0;
}
