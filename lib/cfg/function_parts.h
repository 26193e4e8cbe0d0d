/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the parts of function_graph.c's work share. */
#ifndef SWLBR_CFG_FUNCTION_PARTS_H
#define SWLBR_CFG_FUNCTION_PARTS_H

#include "function_graph.h"

/* Room in *@array, of elements of @size bytes, for @nr of them; *@max is for how many there is. */
struct swlbr_error *function_graph_grow(void *array, uint32_t *max, uint32_t nr, size_t size);

/* A block begins at @vaddr, if an instruction of the function does. */
void function_graph_mark_leader(struct function_graph *graph, uint64_t vaddr);

static inline bool calls(const struct arch_insn *insn)
{
	return insn->flow == ARCH_FLOW_CALL || insn->flow == ARCH_FLOW_INDIRECT_CALL;
}

/* Of graph->range; one that is too long is cut off. */
struct swlbr_error *function_decode(struct function_graph *graph,
				    const struct value_context *context);

/* A table that the jump @jump goes through, unless it is known; *@changed is set if it is not. */
struct swlbr_error *function_tables_add(struct function_graph *graph, uint32_t jump,
					const struct value *target, bool *changed);

/* With all tables that were found: where each ends, and the blocks that it leads to. */
void function_tables_measure(struct function_graph *graph, const struct value_context *context);

/* The addresses that the instruction @last of a block can lead to, one after another. */
struct successors {
	const struct function_graph *graph;
	const struct value_context *context;
	uint32_t last, entry;
	unsigned int step;
};

bool successors_next(struct successors *next, uint64_t *vaddr_ret);

/* The states of all blocks. *@new_table is set if a table was found: blocks are to be made anew. */
struct swlbr_error *function_flow_propagate(struct function_graph *graph,
					    const struct value_context *context, bool *new_table);

/* The sites of all blocks, whose states are used up. */
struct swlbr_error *function_sites_read(struct function_graph *graph,
					const struct value_context *context);

/* A site may count in another block than the one that stores: sorted, then given to the blocks. */
void function_sites_place(struct function_graph *graph);

#endif
