/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Which lines of a basic block decide something.
 *
 * `if (a) b;` on one line is two blocks for a compiler, and in the code may be one: b merged with
 * like code elsewhere, or a conditional move. A profile that has one count for a line then says of b
 * what is true of the decision. Where another line of the block tells how often it ran, that of the
 * decision is better left unsaid.
 */
#ifndef SWLBR_SAMPLEPROFILE_BLOCKS_H
#define SWLBR_SAMPLEPROFILE_BLOCKS_H

#include <swlbr/dwarf.h>

#include "code.h"

struct block_piece {
	struct swlbr_dwarf_piece piece;
	bool decides; /* its line does, and another line of its scope is in the block that does not */
	bool repeats; /* its line was there before in this block */
};

typedef struct swlbr_error *block_piece_fn(void *context, const struct block_piece *piece);

/**
 * Cut the code from @begin, where an instruction begins, up to @end into pieces, and call @fn for
 * each, by address. An error of @fn ends it and is returned. @code has an arch.
 */
struct swlbr_error *blocks_pieces(struct code *code, struct swlbr_dwarf *dwarf, uint64_t begin,
				  uint64_t end, block_piece_fn *fn, void *context);

#endif
