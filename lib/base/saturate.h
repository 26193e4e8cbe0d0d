/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Counts come from any file: what does not fit is the largest number, never a small one. */
#ifndef SWLBR_BASE_SATURATE_H
#define SWLBR_BASE_SATURATE_H

#include <stdint.h>

static inline void add_saturating(uint64_t *sum, uint64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = UINT64_MAX;
}

static inline uint64_t multiply_saturating(uint64_t count, uint64_t factor)
{
	return __builtin_mul_overflow(count, factor, &count) ? UINT64_MAX : count;
}

#endif
