/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_SAMPLEPROFILE_DISCRIMINATOR_H
#define SWLBR_SAMPLEPROFILE_DISCRIMINATOR_H

#include <stdint.h>

/*
 * What a discriminator of clang's holds (llvm/include/llvm/IR/DebugInfoMetadata.h, class
 * DILocation): the base, which tells places on one line apart; how many times the code was
 * duplicated; a number for each copy. Each part takes 1 bit (empty), 7 or 14 bits, lowest first.
 */
static inline uint32_t discriminator_part(uint32_t bits)
{
	if (bits & 1)
		return 0;
	if (bits & 0x40)
		return (bits >> 1 & 0x1f) | (bits >> 7 & 0x7f) << 5;
	return bits >> 1 & 0x1f;
}

static inline uint32_t discriminator_base(uint32_t discriminator)
{
	/* With pseudo probes it is a probe's, which may hold a base (include/llvm/IR/PseudoProbe.h). */
	if ((discriminator & 7) == 7 && discriminator >> 3) {
		if (discriminator & 1U << 28)
			return discriminator >> 16 & 7;
		return discriminator >> 3 & 0xffff;
	}
	return discriminator_part(discriminator);
}

static inline uint32_t discriminator_duplication(uint32_t discriminator)
{
	unsigned int bits = discriminator & 1 ? 1 : discriminator & 0x40 ? 14 : 7;
	uint32_t factor = discriminator_part(discriminator >> bits);

	return factor ? factor : 1;
}

#endif
