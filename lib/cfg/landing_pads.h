/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where exceptions go on: the landing pads of calls, from the tables that .eh_frame leads to
 * (language-specific data areas, as GCC and LLVM write them for C++, Rust and others; LSB 5.0, Core,
 * 10.6, tells how .eh_frame names them, and "Exception Handling ABI for Itanium", level II, what
 * they say).
 */
#ifndef SWLBR_CFG_LANDING_PADS_H
#define SWLBR_CFG_LANDING_PADS_H

#include <swlbr/elf.h>

#include "memory_image.h"

/* What is thrown by calls in [start, end) goes on at @pad. ELF virtual addresses. */
struct landing_site {
	uint64_t start, end, pad;
};

struct landing_pads {
	struct landing_site *sites; /* sorted by start */
	size_t nr, max;
};

/*
 * Binaries without .eh_frame_hdr have none; tables that cannot be read are passed over. Freed by
 * landing_pads_deinit(), also after an error.
 */
struct swlbr_error *landing_pads_find(const struct swlbr_elf *elf, const struct memory_image *image,
				      struct landing_pads *pads);
void landing_pads_deinit(struct landing_pads *pads);

/* The landing pad of the call at @vaddr; 0: none, what it throws leaves the function. */
uint64_t landing_pads_of(const struct landing_pads *pads, uint64_t vaddr);

#endif
