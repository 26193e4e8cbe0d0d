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
	bool sure; /* whatever is thrown: it catches all, or cleans up */
};

struct landing_pads {
	struct landing_site *sites; /* sorted by start */
	size_t nr, max;
	size_t looked_at; /* entries and call sites read so far */
};

/*
 * Binaries without .eh_frame_hdr have none; tables that cannot be read are passed over. Freed by
 * landing_pads_deinit(), also after an error.
 */
struct swlbr_error *landing_pads_find(const struct swlbr_elf *elf, const struct memory_image *image,
				      struct landing_pads *pads);
void landing_pads_deinit(struct landing_pads *pads);

/* The site that the call at @vaddr is in; NULL: none, what it throws leaves the function. */
const struct landing_site *landing_pads_site(const struct landing_pads *pads, uint64_t vaddr);

/* Its landing pad, or 0. */
static inline uint64_t landing_pads_of(const struct landing_pads *pads, uint64_t vaddr)
{
	const struct landing_site *site = landing_pads_site(pads, vaddr);

	return site ? site->pad : 0;
}

#endif
