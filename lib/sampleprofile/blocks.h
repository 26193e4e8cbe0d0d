/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Code cut into basic blocks and these into lines; which lines of a block decide something in it. */
#ifndef SWLBR_SAMPLEPROFILE_BLOCKS_H
#define SWLBR_SAMPLEPROFILE_BLOCKS_H

#include <swlbr/dwarf.h>

#include "code.h"

struct block_piece {
	struct swlbr_dwarf_piece piece;
	bool decides; /* its line has a conditional jump or a conditional move in this block */
};

typedef struct swlbr_error *block_fn(void *context, const struct block_piece *pieces, size_t nr);

/**
 * Call @fn for each block of the code from @begin, where an instruction begins, up to @end, with its
 * pieces by address. An error of @fn ends it and is returned. @code has an arch.
 */
struct swlbr_error *blocks_of(struct code *code, struct swlbr_dwarf *dwarf, uint64_t begin,
			      uint64_t end, block_fn *fn, void *context);

#endif
