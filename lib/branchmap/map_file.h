/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_BRANCHMAP_MAP_FILE_H
#define SWLBR_BRANCHMAP_MAP_FILE_H

#include <swlbr/branch_map.h>

#include "base/outfile.h"

/** Write @map as map_file_decode() reads it: the arrays as they are in memory. */
struct swlbr_error *map_file_write(const struct swlbr_branch_map *map, struct swlbr_outfile *file);

/**
 * The map in the @size bytes at @data; NULL if they are not one of @build_id, made by this very
 * revision, undamaged, with every number in it in range. Freed by swlbr_branch_map_destroy().
 */
struct swlbr_branch_map *map_file_decode(const void *data, size_t size,
					 const struct swlbr_build_id *build_id);

#endif
