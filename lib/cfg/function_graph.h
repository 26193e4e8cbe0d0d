/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* One function: its instructions, basic blocks, jump tables, and where it updates counters. */
#ifndef SWLBR_CFG_FUNCTION_GRAPH_H
#define SWLBR_CFG_FUNCTION_GRAPH_H

#include "functions.h"
#include "values.h"

/* A table of branch targets, found by the indirect jump that uses it. */
struct jump_table {
	uint64_t vaddr;	    /* of entry 0 */
	uint32_t jump;	    /* instruction that jumps through it */
	uint32_t nr;	    /* entries */
	uint8_t entry_size; /* 4: relative to the table; 8: addresses */
};

struct local_block {
	uint32_t first_insn, nr_insns;
	uint32_t first_site, nr_sites;
	uint32_t value_function, value_site; /* of an indirect call; UINT32_MAX: not known */
};

struct local_site {
	uint64_t vaddr;
	struct value_site site;
	uint32_t block;
};

struct function_graph {
	struct code_range range;
	struct arch_insn *insns; /* in order; bytes that are no instruction are left out */
	uint32_t nr_insns, max_insns;
	bool *leader;	   /* per instruction: begins a block */
	uint32_t *insn_at; /* per byte of the range: 1 + instruction that begins there */
	size_t max_bytes;
	struct local_block *blocks;
	uint32_t nr_blocks, max_blocks;
	uint32_t *block_of; /* per instruction */
	uint32_t *table_of; /* per instruction: 1 + table that it jumps through */
	struct jump_table *tables;
	uint32_t nr_tables, max_tables;
	struct local_site *sites;
	uint32_t nr_sites, max_sites;
	struct value_state *states; /* per block, at its begin */
	uint32_t max_states;
	bool *dirty;
	uint32_t *stack; /* per block: of searches */
	size_t searched; /* blocks that searches may still look at */
};

/*
 * Buffers are kept from one function to the next; a graph of zeroes is ready for use. A range longer
 * than any function (4 MB) is cut off, and a function of very many blocks has no sites and tables:
 * memory is bounded whatever a binary says of itself.
 */
struct swlbr_error *function_graph_build(struct function_graph *graph,
					 const struct value_context *context,
					 const struct code_range *range);
void function_graph_deinit(struct function_graph *graph);

/* The instruction that begins at @vaddr, UINT32_MAX if none does. */
uint32_t function_graph_insn_at(const struct function_graph *graph, uint64_t vaddr);

/* The last instruction of @block. */
const struct arch_insn *function_graph_last_insn(const struct function_graph *graph,
						 const struct local_block *block);

/* True if @block is nothing but nops. */
bool function_graph_is_padding(const struct function_graph *graph, const struct local_block *block);

/* Where entry @i of @table leads. */
uint64_t jump_table_target(const struct memory_image *image, const struct jump_table *table,
			   uint32_t i);

#endif
