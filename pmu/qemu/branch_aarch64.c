// SPDX-License-Identifier: GPL-2.0-only
/* Encodings: Arm Architecture Reference Manual, C4.1 "Branches, Exception Generating and System". */
#include "branch_kind.h"

/* The signed field of @bits bits at @shift, in words, as a distance in bytes. */
static uint64_t distance(uint32_t insn, unsigned int shift, unsigned int bits)
{
	uint64_t field = (uint64_t)insn >> shift << (64 - bits);

	return (uint64_t)((int64_t)field >> (64 - bits)) * 4;
}

/* BR, BLR, RET, ERET, and their forms that authenticate the pointer. */
static enum branch_kind indirect_kind(uint32_t insn)
{
	switch (insn >> 21 & 7) {
	case 0:
		return BRANCH_INDIRECT_JUMP;
	case 1:
		return BRANCH_INDIRECT_CALL;
	case 2:
		return BRANCH_RETURN;
	case 4:
		return BRANCH_EXCEPTION_RETURN;
	default: /* DRPS: a debugger's */
		return BRANCH_NONE;
	}
}

struct branch branch_decode_aarch64(const uint8_t *code, size_t size, uint64_t vaddr)
{
	struct branch branch = { .kind = BRANCH_NONE, .direct = true };
	uint32_t insn;

	if (size < 4) {
		branch.incomplete = true;
		return branch;
	}
	insn = (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
	       (uint32_t)code[3] << 24;
	if ((insn & 0x7c000000) == 0x14000000) { /* B, BL */
		branch.kind = insn >> 31 ? BRANCH_CALL : BRANCH_JUMP;
		branch.target = vaddr + distance(insn, 0, 26);
	} else if ((insn & 0xff000000) == 0x54000000) { /* B.cond, BC.cond */
		branch.kind = BRANCH_CONDITIONAL;
		branch.target = vaddr + distance(insn, 5, 19);
	} else if ((insn & 0x7e000000) == 0x34000000) { /* CBZ, CBNZ */
		branch.kind = BRANCH_CONDITIONAL;
		branch.target = vaddr + distance(insn, 5, 19);
	} else if ((insn & 0x7e000000) == 0x36000000) { /* TBZ, TBNZ */
		branch.kind = BRANCH_CONDITIONAL;
		branch.target = vaddr + distance(insn, 5, 14);
	} else {
		branch.direct = false;
		if ((insn & 0xfe1f0000) == 0xd61f0000)
			branch.kind = indirect_kind(insn);
	}
	return branch;
}
