// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>

#include <swlbr/flow.h>

struct swlbr_error *swlbr_flow_result_init(struct swlbr_flow_result *result,
					   const struct swlbr_branch_map *map)
{
	*result = (struct swlbr_flow_result){ 0 };
	result->edge = calloc(map->nr_edges + 1, sizeof(*result->edge));
	result->block = calloc(map->nr_blocks + 1, sizeof(*result->block));
	result->entry = calloc(map->nr_functions + 1, sizeof(*result->entry));
	result->outside = calloc(map->nr_functions + 1, sizeof(*result->outside));
	result->edge_exact = calloc(map->nr_edges + 1, sizeof(bool));
	result->block_exact = calloc(map->nr_blocks + 1, sizeof(bool));
	if (!result->edge || !result->block || !result->entry || !result->outside ||
	    !result->edge_exact || !result->block_exact)
		return swlbr_error_no_memory();
	return NULL;
}

void swlbr_flow_result_deinit(struct swlbr_flow_result *result)
{
	free(result->edge);
	free(result->block);
	free(result->entry);
	free(result->outside);
	free(result->edge_exact);
	free(result->block_exact);
	*result = (struct swlbr_flow_result){ 0 };
}

static void add(double *to, const double *from, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		to[i] += from[i];
}

void swlbr_flow_result_add(struct swlbr_flow_result *to, const struct swlbr_flow_result *from,
			   const struct swlbr_branch_map *map)
{
	add(to->edge, from->edge, map->nr_edges);
	add(to->block, from->block, map->nr_blocks);
	add(to->entry, from->entry, map->nr_functions);
	add(to->outside, from->outside, map->nr_functions);
}

static void scale(double *count, const double *whole, const double *sum, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (sum[i] > 0)
			count[i] *= whole[i] / sum[i];
	}
}

void swlbr_flow_result_scale(struct swlbr_flow_result *result,
			     const struct swlbr_flow_result *whole,
			     const struct swlbr_flow_result *sum,
			     const struct swlbr_branch_map *map)
{
	scale(result->edge, whole->edge, sum->edge, map->nr_edges);
	scale(result->block, whole->block, sum->block, map->nr_blocks);
	scale(result->entry, whole->entry, sum->entry, map->nr_functions);
	scale(result->outside, whole->outside, sum->outside, map->nr_functions);
}
