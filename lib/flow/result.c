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
	free(result->calls);
	*result = (struct swlbr_flow_result){ 0 };
}
