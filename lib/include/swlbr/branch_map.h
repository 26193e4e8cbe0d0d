/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_BRANCH_MAP_H
#define SWLBR_BRANCH_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <swlbr/counters.h>
#include <swlbr/elf.h>
#include <swlbr/error.h>

#define SWLBR_NONE UINT32_MAX

/** How an edge is taken. All but FALLTHROUGH and AFTER_CALL are taken branches. */
enum swlbr_map_edge_kind {
	SWLBR_MAP_FALLTHROUGH,
	SWLBR_MAP_TAKEN,      /* a direct jump, conditional or not */
	SWLBR_MAP_INDIRECT,   /* through a jump table, or to a label whose address was taken */
	SWLBR_MAP_TAIL,	      /* a jump to the begin of another function */
	SWLBR_MAP_AFTER_CALL, /* to the instruction after a call, when it returns */
};

/** How a block ends. */
enum swlbr_map_end {
	SWLBR_MAP_END_NONE, /* the next block begins at a target */
	SWLBR_MAP_END_COND,
	SWLBR_MAP_END_JUMP,
	SWLBR_MAP_END_INDIRECT_JUMP,
	SWLBR_MAP_END_CALL,
	SWLBR_MAP_END_INDIRECT_CALL,
	SWLBR_MAP_END_RETURN,
	SWLBR_MAP_END_STOP,
};

/** When the branch at a block's end is taken, where that tells how likely it is. */
enum swlbr_map_condition {
	SWLBR_MAP_CONDITION_OTHER,
	SWLBR_MAP_CONDITION_EQUAL,
	SWLBR_MAP_CONDITION_NOT_EQUAL,
};

/** What an increment site adds to its counter each time it runs. */
enum swlbr_map_site_kind {
	SWLBR_MAP_SITE_ONE,
	SWLBR_MAP_SITE_CONSTANT, /* @added */
	SWLBR_MAP_SITE_SELECT,	 /* 0 or 1 */
	SWLBR_MAP_SITE_SUM,	 /* what was gathered in a register: any number */
};

struct swlbr_map_function {
	uint64_t start, end; /* ELF virtual addresses */
	uint32_t name;	     /* in names; SWLBR_NONE: only .eh_frame knows it */
	uint32_t first_block, nr_blocks;
	uint8_t instrumented; /* it has increment sites */
	uint8_t never_returns;
	uint8_t address_taken; /* or visible to others: callers may be anywhere */
	uint8_t calls_setjmp;
};

struct swlbr_map_block {
	uint64_t start, last, end; /* first and last instruction, end of the last */
	uint32_t function;
	uint32_t first_edge, nr_edges; /* the edges out of it */
	uint32_t first_site, nr_sites;
	/* Of an indirect call: its value site, and the data record that has it; or SWLBR_NONE */
	uint32_t value_function, value_site;
	uint32_t callee;    /* function that it calls or, where there is no edge, jumps to */
	uint32_t landing;   /* 1 + the block where what its call throws goes on; 0: none */
	uint8_t end_kind;   /* enum swlbr_map_end */
	uint8_t leaves;	    /* may go where the map does not: unknown targets, other binaries */
	uint8_t entered;    /* may be come to from there: unwinding, tables that were not found */
	uint8_t padding;    /* nothing but nops */
	uint8_t condition;  /* enum swlbr_map_condition */
	uint8_t lands;	    /* whatever its call throws lands there */
	uint8_t jumps_away; /* calls longjmp */
	uint8_t jumped_to;  /* that goes on here: behind a call of setjmp */
	uint8_t reserved[4];
};

struct swlbr_map_edge {
	uint32_t from, to; /* blocks */
	uint16_t kind;	   /* enum swlbr_map_edge_kind */
	uint16_t entries;  /* of a jump table that lead there, at most 65,535; else 1 */
};

struct swlbr_map_site {
	uint64_t vaddr;
	uint64_t counter; /* index in the counter area */
	int64_t added;
	uint32_t block;
	uint32_t kind; /* enum swlbr_map_site_kind */
};

/**
 * The branch map of a binary: its code as functions, basic blocks and edges, and where it updates
 * counters. A pure function of the binary.
 */
struct swlbr_branch_map {
	struct swlbr_build_id build_id;
	uint32_t machine; /* EM_* */
	uint64_t nr_counters;
	struct swlbr_map_function *functions; /* by address */
	struct swlbr_map_block *blocks;	      /* by address */
	struct swlbr_map_edge *edges;	      /* by block they leave */
	struct swlbr_map_site *sites;	      /* by block */
	char *names;
	size_t nr_functions, nr_blocks, nr_edges, nr_sites, names_size;
};

/**
 * Make the map of @elf. @counters may be NULL: a map without sites. SWLBR_ERROR_UNSUPPORTED for
 * machines that cannot be decoded. Freed by swlbr_branch_map_destroy().
 */
struct swlbr_error *swlbr_branch_map_create(struct swlbr_elf *elf,
					    const struct swlbr_counters *counters,
					    struct swlbr_branch_map **ret);

/**
 * As swlbr_branch_map_create(), from the user's cache folder ($XDG_CACHE_HOME/swlbr or
 * ~/.cache/swlbr) if the map of that build-id is there, and put there if not. Damaged files are
 * made anew; a cache that cannot be written does no harm.
 */
struct swlbr_error *swlbr_branch_map_load(struct swlbr_elf *elf,
					  const struct swlbr_counters *counters,
					  struct swlbr_branch_map **ret);

/**
 * The functions of @map that @keep (one for each) has, as a map of their own, with the counters of the
 * whole. What leads to others, edges and calls, is not in it: for flows in which the others never ran.
 * Freed by swlbr_branch_map_destroy().
 */
struct swlbr_error *swlbr_branch_map_part(const struct swlbr_branch_map *map, const bool *keep,
					  struct swlbr_branch_map **ret);

/** NULL is fine. */
void swlbr_branch_map_destroy(struct swlbr_branch_map *map);

/** The block that begins at or holds @vaddr, SWLBR_NONE if none does. */
uint32_t swlbr_branch_map_block_at(const struct swlbr_branch_map *map, uint64_t vaddr);

/** NULL where only .eh_frame knows the function. */
const char *swlbr_branch_map_name(const struct swlbr_branch_map *map,
				  const struct swlbr_map_function *function);

#endif
