/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SWLBR_QEMU_BRANCH_KIND_H
#define SWLBR_QEMU_BRANCH_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum branch_kind {
	BRANCH_NONE,
	BRANCH_REPEAT, /* no branch, though the emulator goes to it again: rep movs and the like */
	BRANCH_CONDITIONAL,
	BRANCH_JUMP,
	BRANCH_CALL,
	BRANCH_INDIRECT_JUMP,
	BRANCH_INDIRECT_CALL,
	BRANCH_RETURN,
	BRANCH_EXCEPTION_RETURN, /* to what an exception or a system call interrupted: iret, eret */
	BRANCH_KINDS,
};

struct branch {
	enum branch_kind kind;
	bool direct;	 /* @target is known */
	bool incomplete; /* the bytes end before the instruction does */
	uint64_t target;
};

/* The branch that the instruction at @code is, which runs at @vaddr. */
typedef struct branch branch_decode_t(const uint8_t *code, size_t size, uint64_t vaddr);

branch_decode_t branch_decode_x86_64;
branch_decode_t branch_decode_aarch64;

#endif
