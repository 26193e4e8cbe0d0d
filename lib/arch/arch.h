/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_ARCH_ARCH_H
#define SWLBR_ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Where control goes after an instruction. */
enum arch_flow {
	ARCH_FLOW_NEXT,
	ARCH_FLOW_JUMP,		 /* unconditional, to @target */
	ARCH_FLOW_COND,		 /* to @target or on */
	ARCH_FLOW_INDIRECT_JUMP, /* through a register or memory */
	ARCH_FLOW_CALL,		 /* of @target; on when it returns */
	ARCH_FLOW_INDIRECT_CALL,
	ARCH_FLOW_RETURN,
	ARCH_FLOW_STOP, /* never goes on: a trap */
};

/**
 * What an instruction does to the values that lead to counters and jump tables: addresses, biases,
 * small sums. Registers are numbered as the machine does; ARCH_NO_REGISTER is none. Memory is
 * [base + index * scale + disp], @disp being absolute where base is none.
 */
enum arch_op {
	ARCH_OP_OTHER,	  /* nothing is known of what it writes: see @clobbers */
	ARCH_OP_MOVE,	  /* dst = src */
	ARCH_OP_CONST,	  /* dst = imm */
	ARCH_OP_ADDRESS,  /* dst = address of the memory operand */
	ARCH_OP_LOAD,	  /* dst = memory */
	ARCH_OP_STORE,	  /* memory = src, or imm if src is none */
	ARCH_OP_ADD,	  /* dst += src, or imm if src is none */
	ARCH_OP_ADD_LOAD, /* dst += memory */
	ARCH_OP_ADD_MEM,  /* memory += src, or imm if src is none */
	ARCH_OP_ADD_FLAG, /* memory += imm plus the carry flag */
	ARCH_OP_FLAG,	  /* dst = 0 or 1 */
	ARCH_OP_AND,	  /* dst &= imm: with 1, dst is 0 or 1 */
	ARCH_OP_EXTEND,	  /* dst = src zero-extended from fewer bytes (@mem_size) */
	ARCH_OP_PUSH,	  /* push src, or imm if src is none; 0 for memory */
	ARCH_OP_POP,	  /* pop dst */
	ARCH_OP_COMPARE,  /* dst with src, or imm if src is none: only flags are written */
};

/** When a conditional branch is taken, as far as it tells something of how often. */
enum arch_condition {
	ARCH_CONDITION_OTHER,
	ARCH_CONDITION_EQUAL,
	ARCH_CONDITION_NOT_EQUAL,
	ARCH_CONDITION_ABOVE, /* unsigned */
	ARCH_CONDITION_ABOVE_EQUAL,
};

#define ARCH_NO_REGISTER 0xff
#define ARCH_REGISTERS	 32

struct arch_insn {
	uint64_t vaddr;
	uint64_t target; /* of direct branches */
	uint64_t
		other_target; /* of a JUMP that goes to one of two; 0: none (the decoder knows of none) */
	int64_t imm;
	int64_t disp;
	uint32_t clobbers; /* general registers written, a bit each; all an OTHER does */
	uint8_t size;	   /* bytes */
	uint8_t flow;	   /* enum arch_flow */
	uint8_t op;	   /* enum arch_op */
	uint8_t condition; /* enum arch_condition, of a COND */
	uint8_t dst, src;
	uint8_t base, index, scale;
	uint8_t mem_size; /* bytes, at most 255 */
	bool has_memory;  /* @base, @index, @scale, @disp and @mem_size are set */
	bool sign_extend; /* of a LOAD narrower than its destination */
	bool writes_memory;
	bool is_nop;	       /* padding */
	bool interrupt_return; /* goes to what was pushed last, without a call: a STOP for itself */
	bool selects; /* which value it leaves is a matter of a condition: a conditional move */
};

/** A machine: how its code is read. */
struct arch {
	const char *name;
	unsigned int machine;	    /* EM_* */
	uint8_t stack_pointer;	    /* register number */
	uint8_t argument[3];	    /* registers of a call's first arguments */
	uint32_t call_clobbered;    /* registers that a call may change */
	uint8_t min_insn, max_insn; /* bytes */
	/*
	 * Decode the instruction at @code, of which @size bytes are there and which runs at @vaddr.
	 * False if it is none.
	 */
	bool (*decode)(const uint8_t *code, size_t size, uint64_t vaddr, struct arch_insn *ret);
};

/** The machine of an ELF file (EM_*), or NULL if it is not known here. */
const struct arch *arch_of_machine(unsigned int machine);

extern const struct arch arch_x86_64;

#endif
