/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_SAMPLEPROFILE_INDEX_H
#define SWLBR_SAMPLEPROFILE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <swlbr/error.h>

/**
 * struct index - a hash table of the elements of an array, by their indices
 *
 * Open addressing, linear probing, at most half full. The array is its user's.
 */
struct index {
	uint32_t *slots; /* 1 + index of an element, 0: free */
	unsigned int log2;
	size_t nr;
};

/** What an array is: @hash of its element @at, and whether that is @key. */
struct index_class {
	uint64_t (*hash)(const void *array, uint32_t at);
	bool (*same)(const void *array, uint32_t at, const void *key);
};

/** Make room for one more element. */
struct swlbr_error *index_reserve(struct index *index, const struct index_class *class,
				  const void *array);

/** The slot of the element that is @key, whose hash is @hash, or the free one where it belongs. */
uint32_t *index_slot(const struct index *index, const struct index_class *class, const void *array,
		     uint64_t hash, const void *key);

/** Mix @value into a hash. */
static inline uint64_t index_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

#endif
