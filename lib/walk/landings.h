/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_WALK_LANDINGS_H
#define SWLBR_WALK_LANDINGS_H

#include <swlbr/flow.h>

/** The landing pads of a map, each once. */
struct landings {
	uint32_t *pad; /* blocks, sorted */
	size_t nr;
	/* The edges to pad i, come to otherwise than by exceptions: edge[first[i] … first[i + 1]). */
	uint32_t *first, *edge;
};

struct swlbr_error *landings_init(struct landings *landings, const struct swlbr_branch_map *map);
void landings_deinit(struct landings *landings);

/** The number of the pad that is @block. */
size_t landings_index(const struct landings *landings, uint32_t block);

/** How often exceptions went on at pad @i. */
double landings_count(const struct landings *landings, const struct swlbr_flow_result *flow,
		      size_t i);

/** How often the call of @block did not return. */
double block_thrown(const struct swlbr_branch_map *map, const struct swlbr_flow_result *flow,
		    uint32_t block);

#endif
