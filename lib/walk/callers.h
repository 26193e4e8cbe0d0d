/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_WALK_CALLERS_H
#define SWLBR_WALK_CALLERS_H

#include <swlbr/flow.h>

/** Who may be returned to from a function. */
struct caller {
	uint32_t block; /* that calls it, or tail-calls it by @edge */
	uint32_t edge;	/* SWLBR_NONE: a call */
	uint32_t back;	/* the edge behind the call; SWLBR_NONE: it never returns, or is none */
};

/** The callers of all functions, those of function f being caller[start[f] … start[f + 1]). */
struct callers {
	struct caller *caller;
	uint32_t *start;
};

struct swlbr_error *callers_init(struct callers *callers, const struct swlbr_branch_map *map);
void callers_deinit(struct callers *callers);

/** How often @caller was returned to: not where it threw. A tail call is taken to have been. */
static inline double caller_count(const struct caller *caller, const struct swlbr_flow_result *flow)
{
	if (caller->edge != SWLBR_NONE)
		return flow->edge[caller->edge];
	return caller->back == SWLBR_NONE ? 0 : flow->edge[caller->back];
}

/** True if @block ends in a call. */
bool block_calls(const struct swlbr_branch_map *map, uint32_t block);
/** True if it ends in a jump to where a register says, of which no table is known: a tail call. */
bool block_calls_by_jump(const struct swlbr_branch_map *map, uint32_t block);
/** True if it calls a function with counters. */
bool block_calls_inside(const struct swlbr_branch_map *map, uint32_t block);
/** The block behind the call at the end of @block, SWLBR_NONE if it never returns. */
uint32_t block_after_call(const struct swlbr_branch_map *map, uint32_t block);

#endif
