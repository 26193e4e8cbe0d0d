// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>

#include "loops.h"

/* Steps of marking loop bodies per block of a function; what is beyond stays unmarked. */
#define STEPS_PER_BLOCK 200

struct loops {
	const struct swlbr_branch_map *map;
	uint16_t *depth;
	uint8_t *color;		      /* 0 new, 1 on the path, 2 done */
	uint32_t *path, *next;	      /* depth-first search: block, its next edge */
	uint32_t *in_start, *in_edge; /* edges into each block */
	uint32_t *seen;		      /* per block: number of the loop that it was marked for */
	uint32_t loop;
	struct {
		uint32_t latch, header;
	} * back;
	size_t nr_back;
};

static struct swlbr_error *allocate(struct loops *loops)
{
	const struct swlbr_branch_map *map = loops->map;

	loops->depth = calloc(map->nr_blocks + 1, sizeof(*loops->depth));
	loops->color = calloc(map->nr_blocks + 1, sizeof(*loops->color));
	loops->path = calloc(map->nr_blocks + 1, sizeof(*loops->path));
	loops->next = calloc(map->nr_blocks + 1, sizeof(*loops->next));
	loops->seen = calloc(map->nr_blocks + 1, sizeof(*loops->seen));
	loops->in_start = calloc(map->nr_blocks + 2, sizeof(*loops->in_start));
	loops->in_edge = calloc(map->nr_edges + 1, sizeof(*loops->in_edge));
	loops->back = calloc(map->nr_edges + 1, sizeof(*loops->back));
	if (!loops->depth || !loops->color || !loops->path || !loops->next || !loops->seen ||
	    !loops->in_start || !loops->in_edge || !loops->back)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < map->nr_edges; i++)
		loops->in_start[map->edges[i].to + 2]++;
	for (size_t i = 2; i < map->nr_blocks + 2; i++)
		loops->in_start[i] += loops->in_start[i - 1];
	for (size_t i = 0; i < map->nr_edges; i++)
		loops->in_edge[loops->in_start[map->edges[i].to + 1]++] = (uint32_t)i;
	return NULL;
}

/* Edges to a block on the path are back edges. */
static void search_from(struct loops *loops, uint32_t first)
{
	const struct swlbr_branch_map *map = loops->map;
	size_t nr = 0;

	if (loops->color[first])
		return;
	loops->path[nr++] = first;
	loops->next[first] = 0;
	loops->color[first] = 1;
	while (nr) {
		uint32_t at = loops->path[nr - 1], to;
		const struct swlbr_map_block *block = &map->blocks[at];

		if (loops->next[at] == block->nr_edges) {
			loops->color[at] = 2;
			nr--;
			continue;
		}
		to = map->edges[block->first_edge + loops->next[at]++].to;
		if (map->blocks[to].function != block->function)
			continue;
		if (loops->color[to] == 1) {
			loops->back[loops->nr_back].latch = at;
			loops->back[loops->nr_back++].header = to;
		} else if (!loops->color[to]) {
			loops->color[to] = 1;
			loops->next[to] = 0;
			loops->path[nr++] = to;
		}
	}
}

static int by_header(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return (a[1] > b[1]) - (a[1] < b[1]);
}

/* What reaches @latch without passing the header is in the loop. */
static void mark_body(struct loops *loops, uint32_t latch, uint32_t function, size_t *steps)
{
	const struct swlbr_branch_map *map = loops->map;
	size_t nr = 0;

	if (loops->seen[latch] == loops->loop)
		return;
	loops->seen[latch] = loops->loop;
	loops->depth[latch]++;
	loops->path[nr++] = latch;
	while (nr) {
		uint32_t at = loops->path[--nr];

		for (uint32_t i = loops->in_start[at]; i < loops->in_start[at + 1]; i++) {
			uint32_t from = map->edges[loops->in_edge[i]].from;

			if (!*steps)
				return;
			(*steps)--;
			if (loops->seen[from] == loops->loop ||
			    map->blocks[from].function != function)
				continue;
			loops->seen[from] = loops->loop;
			loops->depth[from]++;
			loops->path[nr++] = from;
		}
	}
}

static void mark_function(struct loops *loops, uint32_t f)
{
	const struct swlbr_map_function *function = &loops->map->functions[f];
	size_t steps = (size_t)function->nr_blocks * STEPS_PER_BLOCK;
	uint32_t header = SWLBR_NONE;

	loops->nr_back = 0;
	for (uint32_t i = 0; i < function->nr_blocks; i++)
		search_from(loops, function->first_block + i);
	if (!loops->nr_back)
		return;
	qsort(loops->back, loops->nr_back, sizeof(*loops->back), by_header);
	for (size_t i = 0; i < loops->nr_back; i++) {
		if (loops->back[i].header != header) {
			header = loops->back[i].header;
			loops->loop++;
			loops->seen[header] = loops->loop;
			loops->depth[header]++;
		}
		mark_body(loops, loops->back[i].latch, f, &steps);
	}
}

struct swlbr_error *loops_find(const struct swlbr_branch_map *map, uint16_t **depth_ret)
{
	struct loops loops = { .map = map };
	struct swlbr_error *error = allocate(&loops);

	for (uint32_t i = 0; !error && i < map->nr_functions; i++)
		mark_function(&loops, i);
	free(loops.color);
	free(loops.path);
	free(loops.next);
	free(loops.seen);
	free(loops.in_start);
	free(loops.in_edge);
	free(loops.back);
	if (error)
		free(loops.depth);
	else
		*depth_ret = loops.depth;
	return error;
}
