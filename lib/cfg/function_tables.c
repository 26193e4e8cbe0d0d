// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Jump tables: how long they are, and where their entries lead. */
#include <stdlib.h>

#include "function_graph.h"
#include "function_parts.h"

/* A jump table's entries at most, of all tables too; generated parsers have some thousand. */
#define MAX_TABLE_ENTRIES 65536
#define MAX_ENTRIES	  (1 << 20)

uint64_t jump_table_target(const struct memory_image *image, const struct jump_table *table,
			   uint32_t i)
{
	uint64_t at = table->vaddr + (uint64_t)i * table->entry_size, word = 0;
	uint32_t half = 0;

	if (table->entry_size == 8) {
		memory_image_u64(image, at, &word);
		return word;
	}
	memory_image_u32(image, at, &half);
	return table->vaddr + (uint64_t)(int64_t)(int32_t)half;
}

/*
 * How many entries the check before the jump lets through: the block before it in the code compares
 * with a constant and jumps away above. The greatest number where there is no such check.
 */
static uint32_t guarded_entries(const struct function_graph *graph, uint32_t jump)
{
	const struct arch_insn *insn;
	uint32_t at = jump, above;

	while (at && !graph->leader[at])
		at--;
	if (!at)
		return UINT32_MAX;
	insn = &graph->insns[at - 1];
	if (insn->flow != ARCH_FLOW_COND || (insn->condition != ARCH_CONDITION_ABOVE &&
					     insn->condition != ARCH_CONDITION_ABOVE_EQUAL))
		return UINT32_MAX;
	above = insn->condition == ARCH_CONDITION_ABOVE;
	for (at--; at && !graph->leader[at]; at--) {
		insn = &graph->insns[at - 1];
		if (insn->op == ARCH_OP_COMPARE)
			return insn->src == ARCH_NO_REGISTER && insn->imm >= 0 &&
					       insn->imm < MAX_TABLE_ENTRIES
				       ? (uint32_t)insn->imm + above
				       : UINT32_MAX;
		/* Nothing but flags are written: another comparison, which is not followed. */
		if (insn->op == ARCH_OP_OTHER && !insn->clobbers && !insn->writes_memory &&
		    !insn->is_nop)
			break;
	}
	return UINT32_MAX;
}

/*
 * Entries lead to instructions of this function; the check before the jump, or the next table, at
 * @limit, ends the table. @max: entries at most.
 */
static void measure_table(struct function_graph *graph, const struct value_context *context,
			  struct jump_table *table, uint64_t limit, uint32_t max)
{
	uint32_t guarded = guarded_entries(graph, table->jump);

	if (guarded < max)
		max = guarded;
	for (table->nr = 0; table->nr < max; table->nr++) {
		uint64_t at = table->vaddr + (uint64_t)table->nr * table->entry_size;

		if (at >= limit || !memory_image_at(context->image, at, table->entry_size))
			break;
		if (function_graph_insn_at(graph, jump_table_target(context->image, table,
								    table->nr)) == UINT32_MAX)
			break;
	}
}

static int table_by_vaddr(const void *left, const void *right)
{
	const struct jump_table *a = left, *b = right;

	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	return (a->jump > b->jump) - (a->jump < b->jump);
}

/* With all tables that were found: where each ends, and the blocks that it leads to. */
void function_tables_measure(struct function_graph *graph, const struct value_context *context)
{
	uint64_t limit = UINT64_MAX;
	uint32_t left = MAX_ENTRIES;

	if (graph->nr_tables)
		qsort(graph->tables, graph->nr_tables, sizeof(*graph->tables), table_by_vaddr);
	for (uint32_t i = graph->nr_tables; i-- > 0;) {
		struct jump_table *table = &graph->tables[i];

		if (i + 1 < graph->nr_tables && table[1].vaddr > table->vaddr)
			limit = table[1].vaddr;
		measure_table(graph, context, table, limit,
			      left < MAX_TABLE_ENTRIES ? left : MAX_TABLE_ENTRIES);
		left -= table->nr;
		graph->table_of[table->jump] = i + 1;
		for (uint32_t k = 0; k < table->nr; k++)
			function_graph_mark_leader(graph,
						   jump_table_target(context->image, table, k));
	}
}

struct swlbr_error *function_tables_add(struct function_graph *graph, uint32_t jump,
					const struct value *target, bool *changed)
{
	struct swlbr_error *error;

	if (graph->table_of[jump])
		return NULL;
	error = function_graph_grow(&graph->tables, &graph->max_tables, graph->nr_tables + 1,
				    sizeof(*graph->tables));
	if (error)
		return error;
	graph->tables[graph->nr_tables++] = (struct jump_table){
		.vaddr = (uint64_t)target->v,
		.jump = jump,
		.entry_size = target->kind == VALUE_TABLE64 ? 8 : 4,
	};
	graph->table_of[jump] = graph->nr_tables;
	*changed = true;
	return NULL;
}
