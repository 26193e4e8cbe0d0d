/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_CFG_EH_FRAME_H
#define SWLBR_CFG_EH_FRAME_H

#include "functions.h"

/**
 * Append the code ranges of .eh_frame to @ranges (unsorted), by way of the sorted table in
 * .eh_frame_hdr (Linux Standard Base 5.0, Core, 10.6). Binaries without that table add nothing.
 */
struct swlbr_error *eh_frame_ranges(const struct swlbr_elf *elf, const struct memory_image *image,
				    struct code_ranges *ranges);

#endif
