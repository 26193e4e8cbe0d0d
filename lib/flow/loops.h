/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_FLOW_LOOPS_H
#define SWLBR_FLOW_LOOPS_H

#include <swlbr/branch_map.h>

/**
 * How many loops each block of @map is in: natural loops of the back edges that a depth-first
 * search of each function finds. @depth_ret is the caller's to free().
 */
struct swlbr_error *loops_find(const struct swlbr_branch_map *map, uint16_t **depth_ret);

#endif
