/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_LAYOUT_EXT_TSP_H
#define SWLBR_LAYOUT_EXT_TSP_H

#include <stdint.h>

#include <swlbr/error.h>

struct layout_block {
	uint64_t size;	/* bytes */
	uint64_t count; /* executions */
};

/** Control going from one block to another, by a jump or by falling through. */
struct layout_jump {
	uint32_t from, to;
	uint64_t count;
};

/**
 * An order of a function's blocks, of which number 0 is the entry and comes first: the indices into
 * @order. It makes ext_tsp_score() large, by merging chains of blocks as in A. Newell and
 * S. Pupyrev, "Improved Basic Block Reordering" (IEEE Transactions on Computers, 2020;
 * arXiv:1809.04676). The work is at most proportional to @nr_blocks + @nr_jumps, but for sorting:
 * what is left of a large function when it is spent is laid out by its heaviest jumps alone.
 */
struct swlbr_error *ext_tsp_order(const struct layout_block *blocks, uint32_t nr_blocks,
				  const struct layout_jump *jumps, uint32_t nr_jumps,
				  uint32_t *order);

/**
 * The objective of that paper, with its constants: a jump counts in full where it falls through,
 * and for up to 0.1 where it goes forward less than 1024 or backward less than 640 bytes.
 */
double ext_tsp_score(const struct layout_block *blocks, uint32_t nr_blocks,
		     const struct layout_jump *jumps, uint32_t nr_jumps, const uint32_t *order);

#endif
