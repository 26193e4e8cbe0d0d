/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers by chance that are the same each time. */
#ifndef SWLBR_TESTS_RANDOM_H
#define SWLBR_TESTS_RANDOM_H

#include <stdint.h>

/* Below @limit. */
static inline uint32_t random_number(uint32_t limit)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % limit;
}

#endif
