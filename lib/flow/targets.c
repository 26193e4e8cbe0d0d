// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Whom the indirect calls have called. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <swlbr/flow.h>

#include "base/saturate.h"

/* A block with an indirect call or tail call, by its value site. */
struct site_block {
	uint32_t function, site, block;
};

static int by_site(const void *left, const void *right)
{
	const struct site_block *a = left, *b = right;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	return (a->block > b->block) - (a->block < b->block);
}

static int target_by_site(const void *left, const void *right)
{
	const struct swlbr_flow_target *a = left, *b = right;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	return (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

static int by_block(const void *left, const void *right)
{
	const struct swlbr_flow_call *a = left, *b = right;

	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return (a->function > b->function) - (a->function < b->function);
}

static struct swlbr_error *list_blocks(const struct swlbr_branch_map *map,
				       struct site_block **blocks_ret, size_t *nr_ret)
{
	struct site_block *blocks;
	size_t nr = 0;

	for (size_t i = 0; i < map->nr_blocks; i++)
		nr += map->blocks[i].value_function != SWLBR_NONE;
	blocks = calloc(nr + 1, sizeof(*blocks));
	if (!blocks)
		return swlbr_error_no_memory();
	nr = 0;
	for (uint32_t i = 0; i < map->nr_blocks; i++) {
		if (map->blocks[i].value_function != SWLBR_NONE &&
		    (map->blocks[i].end_kind == SWLBR_MAP_END_INDIRECT_CALL ||
		     (map->blocks[i].end_kind == SWLBR_MAP_END_INDIRECT_JUMP &&
		      !map->blocks[i].nr_edges)))
			blocks[nr++] = (struct site_block){ map->blocks[i].value_function,
							    map->blocks[i].value_site, i };
	}
	qsort(blocks, nr, sizeof(*blocks), by_site);
	*blocks_ret = blocks;
	*nr_ret = nr;
	return NULL;
}

/* The function with counters that begins at @vaddr, or SWLBR_NONE. */
static uint32_t function_at(const struct swlbr_branch_map *map, uint64_t vaddr)
{
	uint32_t block = swlbr_branch_map_block_at(map, vaddr), function;

	if (block == SWLBR_NONE)
		return SWLBR_NONE;
	function = map->blocks[block].function;
	return map->functions[function].start == vaddr && map->functions[function].instrumented
		       ? function
		       : SWLBR_NONE;
}

static struct swlbr_error *add_call(struct swlbr_flow_result *result, size_t *max,
				    const struct swlbr_flow_call *call)
{
	if (result->nr_calls == *max) {
		struct swlbr_flow_call *grown;

		*max = *max ? 2 * *max : 64;
		grown = reallocarray(result->calls, *max, sizeof(*grown));
		if (!grown)
			return swlbr_error_no_memory();
		result->calls = grown;
	}
	result->calls[result->nr_calls++] = *call;
	return NULL;
}

/* What is known for an indirect call does not come from outside. */
static void take_from_outside(struct swlbr_flow_result *result)
{
	for (size_t i = 0; i < result->nr_calls; i++) {
		double *outside = &result->outside[result->calls[i].function];

		*outside -= result->calls[i].nr;
		if (*outside < 0.5)
			*outside = 0;
	}
}

/* The targets of one site, @nr_targets, over the blocks that have it. */
static struct swlbr_error *set_site(const struct swlbr_branch_map *map,
				    const struct site_block *blocks, size_t nr_blocks,
				    const struct swlbr_flow_target *targets, size_t nr_targets,
				    struct swlbr_flow_result *result, size_t *max)
{
	double ran = 0, seen = 0;

	for (size_t i = 0; i < nr_blocks; i++)
		ran += result->block[blocks[i].block];
	for (size_t i = 0; i < nr_targets; i++)
		seen += (double)targets[i].nr;
	if (!(ran > 0) || !(seen > 0))
		return NULL;
	for (size_t i = 0; i < nr_targets; i++) {
		uint32_t function = function_at(map, targets[i].vaddr);
		/* Threads lose updates of one and the other: never more calls than the block ran. */
		double nr = (double)targets[i].nr * (seen > ran ? ran / seen : 1);

		for (size_t b = 0; function != SWLBR_NONE && b < nr_blocks; b++) {
			struct swlbr_flow_call call = {
				.block = blocks[b].block,
				.function = function,
				.nr = nr * result->block[blocks[b].block] / ran,
				.exact = nr_blocks == 1 && seen <= ran,
			};
			struct swlbr_error *error = call.nr >= 0.5 ? add_call(result, max, &call)
								   : NULL;

			if (error)
				return error;
		}
	}
	return NULL;
}

/* Processes may each have told of the same target. Returns how many are left. */
static size_t merge_targets(struct swlbr_flow_target *targets, size_t nr)
{
	size_t kept = 0;

	if (nr)
		qsort(targets, nr, sizeof(*targets), target_by_site);
	for (size_t i = 0; i < nr; i++) {
		struct swlbr_flow_target *last = kept ? &targets[kept - 1] : NULL;

		if (!last || target_by_site(last, &targets[i]))
			targets[kept++] = targets[i];
		else
			add_saturating(&last->nr, targets[i].nr);
	}
	return kept;
}

struct swlbr_error *swlbr_flow_set_targets(const struct swlbr_branch_map *map,
					   struct swlbr_flow_target *targets, size_t nr,
					   struct swlbr_flow_result *result)
{
	struct site_block *blocks;
	size_t nr_blocks, max = 0, t = 0, end;
	struct swlbr_error *error = list_blocks(map, &blocks, &nr_blocks);

	if (error)
		return error;
	nr = merge_targets(targets, nr);
	for (size_t b = 0; !error && b < nr_blocks; b = end) {
		size_t first;

		for (end = b; end < nr_blocks && blocks[end].function == blocks[b].function &&
			      blocks[end].site == blocks[b].site;
		     end++)
			;
		while (t < nr && (targets[t].function < blocks[b].function ||
				  (targets[t].function == blocks[b].function &&
				   targets[t].site < blocks[b].site)))
			t++;
		first = t;
		while (t < nr && targets[t].function == blocks[b].function &&
		       targets[t].site == blocks[b].site)
			t++;
		error = set_site(map, &blocks[b], end - b, &targets[first], t - first, result,
				 &max);
	}
	free(blocks);
	take_from_outside(result);
	if (result->nr_calls)
		qsort(result->calls, result->nr_calls, sizeof(*result->calls), by_block);
	return error;
}

/* Make the calls of each function, or from each block, add up to what @want says (0: leave them). */
static void fit(struct swlbr_flow_result *result, bool by_function, const double *want, double *sum,
		size_t nr)
{
	memset(sum, 0, nr * sizeof(*sum));
	for (size_t i = 0; i < result->nr_calls; i++)
		sum[by_function ? result->calls[i].function : result->calls[i].block] +=
			result->calls[i].nr;
	for (size_t i = 0; i < result->nr_calls; i++) {
		uint32_t at = by_function ? result->calls[i].function : result->calls[i].block;

		if (sum[at] > 0)
			result->calls[i].nr *= want[at] / sum[at];
	}
}

/* What each function and each block should have, in proportion to what @whole has. */
static void find_wanted(const struct swlbr_branch_map *map, const struct swlbr_flow_result *whole,
			const struct swlbr_flow_result *result, double *functions, double *blocks)
{
	for (size_t i = 0; i < whole->nr_calls; i++) {
		functions[whole->calls[i].function] += whole->calls[i].nr;
		blocks[whole->calls[i].block] += whole->calls[i].nr;
	}
	for (size_t i = 0; i < map->nr_functions; i++) {
		if (functions[i] > 0)
			functions[i] *= result->outside[i] / (functions[i] + whole->outside[i]);
	}
	for (size_t i = 0; i < map->nr_blocks; i++) {
		if (blocks[i] > 0)
			blocks[i] *= result->block[i] / fmax(blocks[i], whole->block[i]);
	}
}

#define FIT_ROUNDS 6

struct swlbr_error *swlbr_flow_share_calls(const struct swlbr_branch_map *map,
					   const struct swlbr_flow_result *whole,
					   struct swlbr_flow_result *result)
{
	size_t nr = map->nr_functions > map->nr_blocks ? map->nr_functions : map->nr_blocks;
	double *functions = calloc(map->nr_functions + 1, sizeof(*functions));
	double *blocks = calloc(map->nr_blocks + 1, sizeof(*blocks));
	double *sum = calloc(nr + 1, sizeof(*sum));
	struct swlbr_error *error = NULL;
	size_t max = 0;

	if (!functions || !blocks || !sum)
		error = swlbr_error_no_memory();
	for (size_t i = 0; !error && i < whole->nr_calls; i++) {
		struct swlbr_flow_call call = whole->calls[i];

		call.exact = false;
		error = add_call(result, &max, &call);
	}
	if (!error)
		find_wanted(map, whole, result, functions, blocks);
	for (unsigned int i = 0; !error && i < FIT_ROUNDS; i++) {
		fit(result, false, blocks, sum, map->nr_blocks);
		fit(result, true, functions, sum, map->nr_functions);
	}
	if (!error)
		take_from_outside(result);
	free(functions);
	free(blocks);
	free(sum);
	return error;
}
