/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_CFG_EH_FRAME_H
#define SWLBR_CFG_EH_FRAME_H

#include "functions.h"

/** The sorted table in .eh_frame_hdr. */
struct eh_frame_table {
	uint64_t vaddr; /* of the section */
	uint32_t nr;	/* functions */
};

/** False if there is none, or none of the usual form. */
bool eh_frame_table(const struct swlbr_elf *elf, const struct memory_image *image,
		    struct eh_frame_table *ret);
/** Where the frame description entry of row @i is. */
uint64_t eh_frame_entry(const struct eh_frame_table *table, const struct memory_image *image,
			uint32_t i);

/**
 * Append the code ranges of .eh_frame to @ranges (unsorted), by way of the sorted table in
 * .eh_frame_hdr (Linux Standard Base 5.0, Core, 10.6). Binaries without that table add nothing.
 */
struct swlbr_error *eh_frame_ranges(const struct swlbr_elf *elf, const struct memory_image *image,
				    struct code_ranges *ranges);

#endif
