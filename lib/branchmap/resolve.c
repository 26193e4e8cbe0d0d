// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Targets of edges become blocks. */
#include <stdlib.h>
#include <string.h>

#include "builder.h"

uint32_t swlbr_branch_map_block_at(const struct swlbr_branch_map *map, uint64_t vaddr)
{
	size_t low = 0, high = map->nr_blocks;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->blocks[middle].end <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < map->nr_blocks && map->blocks[low].start <= vaddr ? (uint32_t)low : SWLBR_NONE;
}

static int by_address(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Addresses inside of blocks that other functions jump to, sorted, each once. */
static struct swlbr_error *find_splits(const struct builder *builder, uint64_t **splits_ret,
				       size_t *nr_ret)
{
	uint64_t *splits = NULL;
	size_t nr = 0, max = 0, kept = 0;

	for (size_t i = 0; i < builder->nr_pending; i++) {
		uint64_t target = builder->pending[i].target;
		uint32_t block = swlbr_branch_map_block_at(builder->map, target);
		struct swlbr_error *error;

		if (block == SWLBR_NONE || builder->map->blocks[block].start == target)
			continue;
		error = builder_grow(&splits, &max, nr, sizeof(*splits));
		if (error) {
			free(splits);
			return error;
		}
		splits[nr++] = target;
	}
	if (nr)
		qsort(splits, nr, sizeof(*splits), by_address);
	for (size_t i = 0; i < nr; i++) {
		if (!kept || splits[kept - 1] != splits[i])
			splits[kept++] = splits[i];
	}
	*splits_ret = splits;
	*nr_ret = kept;
	return NULL;
}

/* The instruction of the block [start, end) that ends at @split, or 0 if none does. */
static uint64_t insn_before(const struct builder *builder, uint64_t start, uint64_t split)
{
	struct arch_insn insn;
	uint64_t last = 0;

	while (start < split) {
		const uint8_t *code = memory_image_at(&builder->image, start, 1);
		size_t size;

		code = memory_image_from(&builder->image, start, &size);
		if (!code || !builder->context.arch->decode(code, size, start, &insn))
			return 0;
		last = start;
		start += insn.size;
	}
	return start == split ? last : 0;
}

/* Cut blocks in two at @splits. Block numbers in pending edges and sites follow. */
static struct swlbr_error *split_blocks(struct builder *builder, const uint64_t *splits, size_t nr)
{
	struct swlbr_branch_map *map = builder->map;
	struct swlbr_map_block *blocks = calloc(map->nr_blocks + nr + 1, sizeof(*blocks));
	uint64_t *callee = calloc(map->nr_blocks + nr + 1, sizeof(*callee));
	uint32_t *last_part = calloc(map->nr_blocks + 1, sizeof(*last_part));
	uint32_t *first_part = calloc(map->nr_blocks + 1, sizeof(*first_part));
	size_t to = 0, at = 0;

	if (!blocks || !callee || !last_part || !first_part) {
		free(blocks);
		free(callee);
		free(last_part);
		free(first_part);
		return swlbr_error_no_memory();
	}
	for (size_t i = 0; i < map->nr_blocks; i++) {
		struct swlbr_map_block block = map->blocks[i];

		first_part[i] = (uint32_t)to;
		for (; at < nr && splits[at] < block.end; at++) {
			uint64_t last = splits[at] > block.start
						? insn_before(builder, block.start, splits[at])
						: 0;

			if (!last)
				continue;
			blocks[to] = block;
			blocks[to].last = last;
			blocks[to].end = splits[at];
			blocks[to].end_kind = SWLBR_MAP_END_NONE;
			blocks[to].leaves = false;
			to++;
			block.start = splits[at];
			block.entered = false;
		}
		last_part[i] = (uint32_t)to;
		callee[to] = builder->callee[i];
		blocks[to++] = block;
	}
	for (size_t i = 0; i < builder->nr_pending; i++)
		builder->pending[i].from = last_part[builder->pending[i].from];
	for (size_t i = 0; i < map->nr_sites; i++) {
		uint32_t part = first_part[map->sites[i].block];

		while (map->sites[i].vaddr >= blocks[part].end)
			part++;
		map->sites[i].block = part;
	}
	for (size_t i = 0; i < map->nr_functions; i++) {
		struct swlbr_map_function *function = &map->functions[i];
		uint32_t end = function->first_block + function->nr_blocks;

		function->nr_blocks = (end < map->nr_blocks ? first_part[end] : (uint32_t)to) -
				      first_part[function->first_block];
		function->first_block = first_part[function->first_block];
	}
	free(map->blocks);
	free(builder->callee);
	free(first_part);
	free(last_part);
	map->blocks = blocks;
	builder->callee = callee;
	map->nr_blocks = to;
	builder->max_blocks = builder->max_callees = 0; /* nothing is appended any more */
	return NULL;
}

/* The parts of split blocks fall through to each other. */
static struct swlbr_error *add_split_edges(struct builder *builder, const uint64_t *splits,
					   size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint32_t block = swlbr_branch_map_block_at(builder->map, splits[i]);
		struct swlbr_error *error;

		if (block == SWLBR_NONE || !block || builder->map->blocks[block].start != splits[i])
			continue;
		error = builder_grow(&builder->pending, &builder->max_pending, builder->nr_pending,
				     sizeof(*builder->pending));
		if (error)
			return error;
		builder->pending[builder->nr_pending++] =
			(struct pending_edge){ block - 1, SWLBR_MAP_FALLTHROUGH, splits[i] };
	}
	return NULL;
}

static int by_block(const void *left, const void *right)
{
	const struct swlbr_map_edge *a = left, *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return (int)a->kind - (int)b->kind;
}

/* A jump to another function's first block is a tail call; one to its middle is a jump. */
static void add_edge(struct builder *builder, const struct pending_edge *pending)
{
	struct swlbr_branch_map *map = builder->map;
	struct swlbr_map_block *from = &map->blocks[pending->from];
	uint32_t to = swlbr_branch_map_block_at(map, pending->target);
	struct swlbr_map_edge edge = {
		.from = pending->from, .to = to, .kind = (uint16_t)pending->kind, .entries = 1
	};

	if (to == SWLBR_NONE || map->blocks[to].start != pending->target) {
		/* Past a call that does not return there may be nothing. */
		if (pending->kind != SWLBR_MAP_AFTER_CALL)
			from->leaves = true;
		return;
	}
	if (edge.kind == SWLBR_MAP_FALLTHROUGH || edge.kind == SWLBR_MAP_AFTER_CALL) {
		if (map->blocks[to].function != from->function)
			return; /* the function's end, after a call that does not return */
	} else if (map->blocks[to].function != from->function &&
		   map->functions[map->blocks[to].function].first_block == to) {
		edge.kind = SWLBR_MAP_TAIL;
	}
	map->edges[map->nr_edges++] = edge;
}

static struct swlbr_error *make_edges(struct builder *builder)
{
	struct swlbr_branch_map *map = builder->map;
	size_t kept = 0;

	map->edges = calloc(builder->nr_pending + 1, sizeof(*map->edges));
	if (!map->edges)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < builder->nr_pending; i++)
		add_edge(builder, &builder->pending[i]);
	qsort(map->edges, map->nr_edges, sizeof(*map->edges), by_block);
	/* A table has the same target in many entries. */
	for (size_t i = 0; i < map->nr_edges; i++) {
		if (!kept || by_block(&map->edges[kept - 1], &map->edges[i]))
			map->edges[kept++] = map->edges[i];
		else if (map->edges[kept - 1].entries < UINT16_MAX)
			map->edges[kept - 1].entries++;
	}
	map->nr_edges = kept;
	for (size_t i = kept; i-- > 0;) {
		struct swlbr_map_block *block = &map->blocks[map->edges[i].from];

		block->first_edge = (uint32_t)i;
		block->nr_edges++;
	}
	return NULL;
}

static void resolve_callees(struct builder *builder)
{
	struct swlbr_branch_map *map = builder->map;

	for (size_t i = 0; i < map->nr_blocks; i++) {
		struct swlbr_map_block *block = &map->blocks[i];
		uint32_t to;

		if (!builder->callee[i])
			continue;
		to = swlbr_branch_map_block_at(map, builder->callee[i]);
		if (to != SWLBR_NONE &&
		    map->functions[map->blocks[to].function].start == builder->callee[i])
			block->callee = map->blocks[to].function;
	}
}

struct swlbr_error *builder_resolve(struct builder *builder)
{
	struct swlbr_error *error;
	uint64_t *splits;
	size_t nr;

	error = find_splits(builder, &splits, &nr);
	if (error)
		return error;
	if (nr)
		error = split_blocks(builder, splits, nr);
	if (!error)
		error = add_split_edges(builder, splits, nr);
	free(splits);
	if (!error)
		error = make_edges(builder);
	if (error)
		return error;
	resolve_callees(builder);
	builder_index_sites(builder->map);
	return NULL;
}
