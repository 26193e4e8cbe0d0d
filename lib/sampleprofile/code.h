/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_SAMPLEPROFILE_CODE_H
#define SWLBR_SAMPLEPROFILE_CODE_H

#include <swlbr/elf.h>

#include "arch/arch.h"

#define CODE_SIZE (64 * 1024)

/** A binary's instructions, read in stretches. */
struct code {
	struct swlbr_elf *elf;
	const struct arch *arch; /* NULL: only how long instructions are is known */
	unsigned int fixed_size; /* of all instructions; 0: they differ */
	uint64_t vaddr;
	size_t size;
	uint8_t bytes[CODE_SIZE];
};

/** SWLBR_ERROR_UNSUPPORTED if nothing is known of the machine's instructions. */
struct swlbr_error *code_open(struct swlbr_elf *elf, struct code **ret);

/** The size of the instruction at @address; 0 if there is none. */
struct swlbr_error *code_insn_size(struct code *code, uint64_t address, unsigned int *ret);

/** The instruction at @address; its size is 0 if there is none. Only where there is an @arch. */
struct swlbr_error *code_insn(struct code *code, uint64_t address, struct arch_insn *ret);

#endif
