// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "unrolled.h"

#define MAX_REGION   24 /* blocks */
#define MAX_COUNTERS 64
#define MAX_CHAIN    4 /* blocks between the two tests */

/* The counters of a piece of code. */
struct region {
	uint64_t counter[MAX_COUNTERS]; /* sorted */
	uint32_t sites[MAX_COUNTERS];	/* of each */
	size_t nr_counters;
	bool reaches_end;
};

static bool region_add_block(struct region *region, const struct swlbr_branch_map *map, uint32_t b)
{
	const struct swlbr_map_block *block = &map->blocks[b];

	for (uint32_t i = 0; i < block->nr_sites; i++) {
		uint64_t counter = map->sites[block->first_site + i].counter;
		size_t at = 0;

		while (at < region->nr_counters && region->counter[at] < counter)
			at++;
		if (at < region->nr_counters && region->counter[at] == counter) {
			region->sites[at]++;
			continue;
		}
		if (region->nr_counters == MAX_COUNTERS)
			return false;
		memmove(&region->counter[at + 1], &region->counter[at],
			(region->nr_counters - at) * sizeof(region->counter[0]));
		memmove(&region->sites[at + 1], &region->sites[at],
			(region->nr_counters - at) * sizeof(region->sites[0]));
		region->counter[at] = counter;
		region->sites[at] = 1;
		region->nr_counters++;
	}
	return true;
}

/* Blocks that follow each other without a choice and without counting. */
struct chain {
	uint32_t block[MAX_CHAIN];
	size_t nr;
};

static void chain_find(const struct swlbr_branch_map *map, uint32_t block, struct chain *chain)
{
	chain->nr = 0;
	while (chain->nr < MAX_CHAIN) {
		chain->block[chain->nr++] = block;
		if (map->blocks[block].nr_edges != 1 || map->blocks[block].nr_sites)
			return;
		block = map->edges[map->blocks[block].first_edge].to;
	}
}

static bool chain_has(const struct chain *chain, uint32_t block)
{
	for (size_t i = 0; i < chain->nr; i++) {
		if (chain->block[i] == block)
			return true;
	}
	return false;
}

/* What can run from @first on before @end is come to; false if that is not a small piece. */
static bool region_find(const struct swlbr_branch_map *map, uint32_t first, const struct chain *end,
			struct region *region)
{
	uint32_t blocks[MAX_REGION];
	size_t nr = 0;

	region->nr_counters = 0;
	region->reaches_end = false;
	if (chain_has(end, first))
		return false;
	blocks[nr++] = first;
	for (size_t at = 0; at < nr; at++) {
		const struct swlbr_map_block *block = &map->blocks[blocks[at]];

		if (!region_add_block(region, map, blocks[at]))
			return false;
		for (uint32_t i = 0; i < block->nr_edges; i++) {
			uint32_t to = map->edges[block->first_edge + i].to;
			size_t known = 0;

			if (chain_has(end, to)) {
				region->reaches_end = true;
				continue;
			}
			while (known < nr && blocks[known] != to)
				known++;
			if (known < nr)
				continue;
			if (nr == MAX_REGION || map->blocks[to].function != block->function)
				return false;
			blocks[nr++] = to;
		}
	}
	return region->reaches_end;
}

/*
 * The same counters, and each with the same multiple of sites: the unrolled body has several copies
 * of the other. Two equal pieces of code can be anything, as a function inlined twice.
 */
static bool is_unrolled(const struct region *a, const struct region *b)
{
	const struct region *more = a->sites[0] > b->sites[0] ? a : b, *less = more == a ? b : a;
	uint32_t copies;

	if (!a->nr_counters || a->nr_counters != b->nr_counters ||
	    memcmp(a->counter, b->counter, a->nr_counters * sizeof(a->counter[0])))
		return false;
	copies = more->sites[0] / less->sites[0];
	if (copies < 2)
		return false;
	for (size_t i = 0; i < a->nr_counters; i++) {
		if (more->sites[i] != copies * less->sites[i])
			return false;
	}
	return true;
}

static bool is_test(const struct swlbr_branch_map *map, uint32_t block)
{
	return map->blocks[block].end_kind == SWLBR_MAP_END_COND &&
	       map->blocks[block].nr_edges == 2;
}

/* The code with counters that one side of the test runs and the other, @skip_ret, does not. */
static bool optional_body(const struct swlbr_branch_map *map, uint32_t test, uint32_t side,
			  struct region *body, struct chain *skip)
{
	uint32_t first = map->blocks[test].first_edge;

	chain_find(map, map->edges[first + !side].to, skip);
	return region_find(map, map->edges[first + side].to, skip, body) && body->nr_counters;
}

/* The edge out of the test at the end of @join that skips code with the counters of @body. */
static uint32_t skipping_edge(const struct swlbr_branch_map *map, const struct chain *join,
			      const struct region *body)
{
	uint32_t test = join->block[join->nr - 1];

	for (uint32_t side = 0; is_test(map, test) && side < 2; side++) {
		struct region other;
		struct chain skip;

		if (optional_body(map, test, side, &other, &skip) && is_unrolled(body, &other))
			return map->blocks[test].first_edge + !side;
	}
	return SWLBR_NONE;
}

static bool look_at(const struct swlbr_branch_map *map, uint32_t test, struct flow_bound *bound)
{
	for (uint32_t side = 0; side < 2; side++) {
		struct region body;
		struct chain join;
		uint32_t less;

		if (!optional_body(map, test, side, &body, &join))
			continue;
		less = skipping_edge(map, &join, &body);
		if (less == SWLBR_NONE)
			continue;
		*bound = (struct flow_bound){ .less = less,
					      .more = map->blocks[test].first_edge + side };
		return true;
	}
	return false;
}

struct swlbr_error *unrolled_find(const struct swlbr_branch_map *map,
				  struct flow_bound **bounds_ret, size_t *nr_ret)
{
	struct flow_bound *bounds = NULL, bound;
	size_t nr = 0, max = 0;

	for (uint32_t b = 0; b < map->nr_blocks; b++) {
		const struct swlbr_map_block *block = &map->blocks[b];

		if (!is_test(map, b) || !map->functions[block->function].instrumented ||
		    !look_at(map, b, &bound))
			continue;
		if (nr == max) {
			struct flow_bound *grown;

			max = max ? 2 * max : 64;
			grown = reallocarray(bounds, max, sizeof(*grown));
			if (!grown) {
				free(bounds);
				return swlbr_error_no_memory();
			}
			bounds = grown;
		}
		bounds[nr++] = bound;
	}
	*bounds_ret = bounds;
	*nr_ret = nr;
	return NULL;
}
