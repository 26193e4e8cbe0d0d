// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>

#include "index.h"

uint32_t *index_slot(const struct index *index, const struct index_class *class, const void *array,
		     uint64_t hash, const void *key)
{
	size_t mask = ((size_t)1 << index->log2) - 1;
	size_t at = hash & mask;

	while (index->slots[at] && !class->same(array, index->slots[at] - 1, key))
		at = (at + 1) & mask;
	return &index->slots[at];
}

struct swlbr_error *index_reserve(struct index *index, const struct index_class *class,
				  const void *array)
{
	unsigned int log2 = index->slots ? index->log2 + 1 : 8;
	size_t mask = ((size_t)1 << log2) - 1;
	uint32_t *slots;

	if (index->slots && index->nr < ((size_t)1 << index->log2) / 2)
		return NULL;
	if (log2 > 32)
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "a profile of more than 2 billion entries");
	slots = calloc((size_t)1 << log2, sizeof(*slots));
	if (!slots)
		return swlbr_error_no_memory();
	for (uint32_t i = 0; i < index->nr; i++) {
		size_t at = class->hash(array, i) & mask;

		while (slots[at])
			at = (at + 1) & mask;
		slots[at] = i + 1;
	}
	free(index->slots);
	index->slots = slots;
	index->log2 = log2;
	return NULL;
}
