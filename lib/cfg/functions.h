/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_CFG_FUNCTIONS_H
#define SWLBR_CFG_FUNCTIONS_H

#include <swlbr/elf.h>

#include "memory_image.h"

/** Code that one symbol or one entry of .eh_frame covers. */
struct code_range {
	uint64_t start, end;
	const char *name; /* lives as long as the ELF image; NULL: only .eh_frame knows it */
};

struct code_ranges {
	struct code_range *ranges; /* sorted, not overlapping, inside executable segments */
	size_t nr;
};

/**
 * The functions of @elf: from its symbols, and from .eh_frame what no symbol covers (stripped
 * binaries, static functions of others). Freed by code_ranges_deinit(), also after an error.
 */
struct swlbr_error *code_ranges_find(struct swlbr_elf *elf, const struct memory_image *image,
				     struct code_ranges *ret);
void code_ranges_deinit(struct code_ranges *ranges);

#endif
