/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* How often the basic blocks of a binary ran, and control went from one to another. */
#ifndef SWLBR_WRITE_PROPELLER_H
#define SWLBR_WRITE_PROPELLER_H

#include <swlbr/edge_profile.h>

#include "binary/bb_addr_map.h"
#include "layout/call_clusters.h"
#include "layout/ext_tsp.h"

/** Control going on within a function; blocks are indices into the map's. */
struct block_jump {
	uint32_t from, to;
	uint64_t nr;
};

struct block_counts {
	uint64_t *executions;	  /* of each block of the map; at least 1 if something of it ran */
	struct block_jump *jumps; /* by from, to; each once */
	size_t nr_jumps;
	struct layout_call *calls; /* of functions of the map, by from, to; each once */
	size_t nr_calls;
	uint64_t counted,
		left_out; /* executions of ranges that are, and are not, within a function */
};

/**
 * Count what the edges of @binary, a number in @edges, say of the blocks of @map. Work and memory
 * grow with the edges and the blocks.
 */
struct swlbr_error *block_counts_of(struct swlbr_edge_profile *edges, uint32_t binary,
				    const struct bb_addr_map *map, struct block_counts *ret);
void block_counts_free(struct block_counts *counts);

#endif
