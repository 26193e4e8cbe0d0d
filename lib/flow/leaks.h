/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Calls that do not return, since what is called, or what that calls, has thrown or jumped away. */
#ifndef SWLBR_FLOW_LEAKS_H
#define SWLBR_FLOW_LEAKS_H

#include "solver.h"

/* True if a run of @block ends its function's without a return: a call of exit, longjmp, a throw. */
static inline bool block_stops(const struct swlbr_map_block *block)
{
	bool calls = block->end_kind == SWLBR_MAP_END_CALL ||
		     block->end_kind == SWLBR_MAP_END_INDIRECT_CALL;

	return (block->end_kind == SWLBR_MAP_END_STOP || (calls && !block->nr_edges)) &&
	       !block->landing;
}

/*
 * What part of the calls of each function has not returned, by what was decided as if all had, and
 * 0 where it is little, or may have ended in the function itself: @ret, one for each function, all 0
 * before. False if none leaks.
 */
struct swlbr_error *leaks_find(const struct flow_state *state, double *ret, bool *found_ret);

#endif
