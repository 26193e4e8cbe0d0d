// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "counter_copy.h"

static const uint64_t zeroes[COUNTERS_PER_BLOCK];

struct swlbr_error *counter_copy_init(struct counter_copy *copy, uint64_t nr)
{
	copy->nr = nr;
	copy->nr_blocks = (nr + COUNTERS_PER_BLOCK - 1) / COUNTERS_PER_BLOCK;
	copy->block = calloc(copy->nr_blocks ? copy->nr_blocks : 1, sizeof(*copy->block));
	return copy->block ? NULL : swlbr_error_no_memory();
}

void counter_copy_deinit(struct counter_copy *copy)
{
	for (size_t i = 0; copy->block && i < copy->nr_blocks; i++)
		free(copy->block[i]);
	free(copy->block);
	*copy = (struct counter_copy){ 0 };
}

struct swlbr_error *counter_copy_store(struct counter_copy *copy, size_t block,
				       const uint64_t *values, size_t nr)
{
	uint64_t **slot = &copy->block[block];

	if (!*slot) {
		if (!memcmp(values, zeroes, nr * sizeof(*values)))
			return NULL;
		*slot = calloc(COUNTERS_PER_BLOCK, sizeof(**slot));
		if (!*slot)
			return swlbr_error_no_memory();
	}
	memcpy(*slot, values, nr * sizeof(*values));
	return NULL;
}

const uint64_t *counter_copy_block(const struct counter_copy *copy, size_t block)
{
	return copy->block[block] ? copy->block[block] : zeroes;
}

struct swlbr_error *counter_copy_assign(struct counter_copy *to, const struct counter_copy *from)
{
	for (size_t i = 0; i < from->nr_blocks; i++) {
		struct swlbr_error *error =
			counter_copy_store(to, i, counter_copy_block(from, i), COUNTERS_PER_BLOCK);

		if (error)
			return error;
	}
	return NULL;
}
