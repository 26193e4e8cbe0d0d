/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_BASE_ARRAY_H
#define SWLBR_BASE_ARRAY_H

#include <stddef.h>
#include <stdlib.h>

/**
 * Room for one more than the @nr elements of @array, which has room for *@max, of @size bytes each.
 * Where the array is then; NULL if there is no memory, and the old one stays as it was.
 */
static inline void *array_grow(void *array, size_t nr, size_t *max, size_t size)
{
	size_t wanted = *max ? 2 * *max : 8;
	void *grown;

	if (nr < *max)
		return array;
	grown = reallocarray(array, wanted, size);
	if (grown)
		*max = wanted;
	return grown;
}

#endif
