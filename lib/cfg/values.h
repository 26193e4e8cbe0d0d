/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What registers and stack slots hold, as far as it leads to counters and jump tables: a forward
 * constant propagation with a few symbolic values beside constants.
 */
#ifndef SWLBR_CFG_VALUES_H
#define SWLBR_CFG_VALUES_H

#include <swlbr/counters.h>

#include "arch/arch.h"
#include "jump_labels.h"
#include "landing_pads.h"
#include "memory_image.h"

enum value_kind {
	VALUE_UNSEEN, /* no path has come here yet */
	VALUE_UNKNOWN,
	VALUE_CONST,	   /* v; addresses are at a load bias of 0 */
	VALUE_BIASED,	   /* v + the counter bias (continuous mode moves the counters by it) */
	VALUE_STACK,	   /* the stack pointer at the function's entry + v */
	VALUE_BOOL,	   /* 0 or 1 */
	VALUE_TRIPS,	   /* v + how often instruction @origin has run since the loop began */
	VALUE_INDEXED,	   /* v + something unknown */
	VALUE_TABLE32,	   /* a 32-bit entry of the table at v, sign-extended */
	VALUE_TABLE64,	   /* a 64-bit entry of the table at v */
	VALUE_JUMP32,	   /* v + a 32-bit entry of the table at v */
	VALUE_COUNT,	   /* what the counter at v holds, + k */
	VALUE_COUNT_BOOL,  /* the same + 0 or 1 */
	VALUE_COUNT_TRIPS, /* the same + how often instruction @origin has run */
	VALUE_COUNT_SUM,   /* the same + something unknown */
};

struct value {
	int64_t v;
	int32_t k;
	/* 1 + the instruction that counts trips; 0: none */
	uint32_t origin : 24;
	uint32_t kind : 8; /* enum value_kind */
};

#define VALUE_MAX_ORIGIN 0xffffff

#define VALUE_SLOTS 32

/* Registers, and the stack slots that hold something known. */
struct value_state {
	struct value reg[ARCH_REGISTERS];
	struct value_slot {
		int64_t offset; /* from the stack pointer at entry */
		struct value value;
	} slot[VALUE_SLOTS];
	unsigned int nr_slots;
	bool reached;
};

enum site_kind {
	SITE_ONE,      /* adds 1 each time its block runs */
	SITE_CONSTANT, /* adds k */
	SITE_SELECT,   /* adds 0 or 1 */
	SITE_SUM,      /* adds what a register has gathered: any number */
};

/* An instruction that updates a counter. */
struct value_site {
	uint64_t counter; /* index in the counter area */
	int64_t k;
	enum site_kind kind;
	uint32_t place;	 /* 1 + instruction that it counts; 0: the one that updates memory */
	uint32_t loaded; /* 1 + instruction that loaded what is stored back; 0: not known */
};

/* What the transfer function has to know of the binary. */
struct value_context {
	const struct arch *arch;
	const struct memory_image *image;
	struct swlbr_range counters;
	uint64_t bias_vaddr;	    /* 0: any word of writable memory may be the bias */
	struct swlbr_range data;    /* data records */
	uint64_t record_size;	    /* of one, bytes */
	uint64_t instrument_target; /* address of the function that profiles call targets, or 0 */
	const struct landing_pads *pads;  /* NULL: none */
	const struct jump_labels *labels; /* NULL: none */
	struct swlbr_range features;	  /* .altinstr_aux; see function_graph.c */
	const uint64_t *noreturn;	  /* sorted addresses of functions that never return */
	size_t nr_noreturn;
};

/* The state at a function's entry. */
void value_state_enter(const struct value_context *context, struct value_state *state);
/* The state where nothing is known. */
void value_state_forget(struct value_state *state);

/* Make @into what holds on both paths; true if that changed it. */
bool value_state_meet(struct value_state *into, const struct value_state *from);

/* Go on over @insn, number @number of its function. Returns the number of counters that it updates (0, 1 or 2), in @sites. */
unsigned int value_state_step(const struct value_context *context, struct value_state *state,
			      const struct arch_insn *insn, uint32_t number,
			      struct value_site sites[2]);

/* The value site that a call of context->instrument_target is about; false if that is not known. */
bool value_site_of_call(const struct value_context *context, const struct value_state *state,
			uint32_t *function_ret, uint32_t *site_ret);

/* The registers of @compare, instruction @number, are equal: what one is known to be, both are. */
void value_state_equal(struct value_state *state, const struct arch_insn *compare, uint32_t number);

/* What the indirect jump @insn jumps to: a TABLE64, a JUMP32, a CONST, or unknown. */
struct value value_jump_target(const struct value_context *context, const struct value_state *state,
			       const struct arch_insn *insn);

#endif
