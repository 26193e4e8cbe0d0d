/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_FLOW_UNROLLED_H
#define SWLBR_FLOW_UNROLLED_H

#include <swlbr/branch_map.h>

/** The count of edge @less is at most that of edge @more. */
struct flow_bound {
	uint32_t less, more;
};

/**
 * Loops that were unrolled have their body twice: in the main loop, and for the iterations that
 * are left over. An execution that skips one of the two must run the other, since such a loop runs
 * at least once. So what skips the second is no more than what ran the first. Both are known by
 * having sites of the same counters. @bounds_ret is the caller's to free().
 */
struct swlbr_error *unrolled_find(const struct swlbr_branch_map *map,
				  struct flow_bound **bounds_ret, size_t *nr_ret);

#endif
