/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_WALK_TRANSPARENT_H
#define SWLBR_WALK_TRANSPARENT_H

#include <swlbr/branch_map.h>

/**
 * True if @block ends in a call of code without counters: another binary, the profile runtime.
 * What that does is not known, so the call is passed over as if nothing was taken, and a range goes
 * on behind it.
 */
static inline bool is_passed_over(const struct swlbr_branch_map *map,
				  const struct swlbr_map_block *block)
{
	if (block->end_kind == SWLBR_MAP_END_INDIRECT_CALL)
		return true; /* the callee is not known */
	return block->end_kind == SWLBR_MAP_END_CALL &&
	       (block->callee == SWLBR_NONE || !map->functions[block->callee].instrumented);
}

/** True if @edge continues a range: nothing is taken. */
static inline bool continues_range(const struct swlbr_branch_map *map,
				   const struct swlbr_map_edge *edge)
{
	return edge->kind == SWLBR_MAP_FALLTHROUGH ||
	       (edge->kind == SWLBR_MAP_AFTER_CALL &&
		is_passed_over(map, &map->blocks[edge->from]));
}

#endif
