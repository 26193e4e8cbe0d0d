/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A copy of a counter area. Blocks that are all zero take no memory: most of a large program's
 * counters stay zero.
 */
#ifndef SWLBR_USER_COUNTER_COPY_H
#define SWLBR_USER_COUNTER_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <swlbr/error.h>

#define COUNTERS_PER_BLOCK 512ULL

struct counter_copy {
	uint64_t nr; /* counters */
	size_t nr_blocks;
	uint64_t **block; /* COUNTERS_PER_BLOCK each; NULL: all zero */
};

struct swlbr_error *counter_copy_init(struct counter_copy *copy, uint64_t nr);
void counter_copy_deinit(struct counter_copy *copy);

/* Store @nr values (at most a block's) from counter @block * COUNTERS_PER_BLOCK on. */
struct swlbr_error *counter_copy_store(struct counter_copy *copy, size_t block,
				       const uint64_t *values, size_t nr);

/* The values of @block, never NULL. */
const uint64_t *counter_copy_block(const struct counter_copy *copy, size_t block);

struct swlbr_error *counter_copy_assign(struct counter_copy *to, const struct counter_copy *from);

#endif
