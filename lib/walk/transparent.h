/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_WALK_TRANSPARENT_H
#define SWLBR_WALK_TRANSPARENT_H

#include <swlbr/branch_map.h>

/**
 * True if @block ends in a call of code without counters: another binary, the profile runtime. What
 * that does is not known: a stack has a branch to nowhere and one from there behind the call.
 */
static inline bool calls_outside(const struct swlbr_branch_map *map,
				 const struct swlbr_map_block *block)
{
	if (block->end_kind == SWLBR_MAP_END_INDIRECT_CALL)
		return true; /* the callee is not known */
	return block->end_kind == SWLBR_MAP_END_CALL &&
	       (block->callee == SWLBR_NONE || !map->functions[block->callee].instrumented);
}

#endif
