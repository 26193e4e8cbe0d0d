// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Blocks come from direct branches first; constants are propagated over them; jump tables that
 * this finds make more blocks and paths; and so on until nothing new is found. Then the sites are
 * read off.
 */
#include <stdlib.h>
#include <string.h>

#include "function_graph.h"
#include "function_parts.h"

/* Rounds of table discovery: a table behind a table behind a table... */
#define MAX_ROUNDS 32
#define MAX_STATES (1 << 17) /* blocks; a state has 1.3 KB */

struct swlbr_error *function_graph_grow(void *array, uint32_t *max, uint32_t nr, size_t size)
{
	void **pointer = array, *grown;
	uint32_t want = *max ? 2 * *max : 64;

	if (nr <= *max)
		return NULL;
	if (want < nr)
		want = nr;
	grown = reallocarray(*pointer, want, size);
	if (!grown)
		return swlbr_error_no_memory();
	*pointer = grown;
	*max = want;
	return NULL;
}

uint32_t function_graph_insn_at(const struct function_graph *graph, uint64_t vaddr)
{
	if (vaddr < graph->range.start || vaddr >= graph->range.end)
		return UINT32_MAX;
	return graph->insn_at[vaddr - graph->range.start] - 1;
}

const struct arch_insn *function_graph_last_insn(const struct function_graph *graph,
						 const struct local_block *block)
{
	return &graph->insns[block->first_insn + block->nr_insns - 1];
}

bool function_graph_is_padding(const struct function_graph *graph, const struct local_block *block)
{
	for (uint32_t i = 0; i < block->nr_insns; i++) {
		if (!graph->insns[block->first_insn + i].is_nop)
			return false;
	}
	return true;
}

void function_graph_mark_leader(struct function_graph *graph, uint64_t vaddr)
{
	uint32_t insn = function_graph_insn_at(graph, vaddr);

	if (insn != UINT32_MAX)
		graph->leader[insn] = true;
}

static struct swlbr_error *reserve_insns(struct function_graph *graph)
{
	bool *leader = realloc(graph->leader, graph->nr_insns + 1);
	uint32_t *table_of;

	if (!leader)
		return swlbr_error_no_memory();
	graph->leader = leader;
	table_of = reallocarray(graph->table_of, graph->nr_insns, sizeof(*table_of));
	if (!table_of)
		return swlbr_error_no_memory();
	graph->table_of = table_of;
	memset(table_of, 0, graph->nr_insns * sizeof(*table_of));
	return NULL;
}

/* But for the targets of tables. */
static void find_leaders(struct function_graph *graph, const struct value_context *context)
{
	bool *leader = graph->leader;

	memset(leader, 0, graph->nr_insns + 1);
	leader[0] = true;
	for (uint32_t i = 0; i < graph->nr_insns; i++) {
		const struct arch_insn *insn = &graph->insns[i];
		uint64_t label;

		if (i && insn[-1].vaddr + insn[-1].size != insn->vaddr)
			leader[i] = true; /* after bytes that are no instruction */
		label = jump_labels_target(context->labels, insn->vaddr);
		if (label)
			function_graph_mark_leader(graph, label);
		if (insn->flow == ARCH_FLOW_NEXT && !label)
			continue;
		leader[i + 1] = true;
		if (insn->flow == ARCH_FLOW_JUMP || insn->flow == ARCH_FLOW_COND)
			function_graph_mark_leader(graph, insn->target);
		if (insn->other_target)
			function_graph_mark_leader(graph, insn->other_target);
		if (calls(insn) && context->pads)
			function_graph_mark_leader(graph,
						   landing_pads_of(context->pads, insn->vaddr));
	}
}

static struct swlbr_error *make_blocks(struct function_graph *graph)
{
	uint32_t *block_of = reallocarray(graph->block_of, graph->nr_insns, sizeof(*block_of));
	struct swlbr_error *error;
	uint32_t *stack;

	if (!block_of)
		return swlbr_error_no_memory();
	graph->block_of = block_of;
	graph->nr_blocks = 0;
	for (uint32_t i = 0; i < graph->nr_insns; i++) {
		if (graph->leader[i]) {
			error = function_graph_grow(&graph->blocks, &graph->max_blocks,
						    graph->nr_blocks + 1, sizeof(*graph->blocks));
			if (error)
				return error;
			graph->blocks[graph->nr_blocks++] = (struct local_block){ .first_insn = i };
		}
		graph->blocks[graph->nr_blocks - 1].nr_insns++;
		block_of[i] = graph->nr_blocks - 1;
	}
	stack = reallocarray(graph->stack, graph->nr_blocks + 1, sizeof(*stack));
	if (!stack)
		return swlbr_error_no_memory();
	graph->stack = stack;
	return NULL;
}

/* Too many blocks: neither tables nor sites. */
static struct swlbr_error *forget_values(struct function_graph *graph)
{
	graph->nr_tables = 0;
	for (uint32_t i = 0; i < graph->nr_blocks; i++)
		graph->blocks[i].value_function = graph->blocks[i].value_site = UINT32_MAX;
	function_sites_place(graph);
	return NULL;
}

struct swlbr_error *function_graph_build(struct function_graph *graph,
					 const struct value_context *context,
					 const struct code_range *range)
{
	struct swlbr_error *error;
	bool new_table = true;

	graph->range = *range;
	graph->nr_tables = graph->nr_blocks = graph->nr_sites = 0;
	error = function_decode(graph, context);
	if (error || !graph->nr_insns)
		return error;
	error = reserve_insns(graph);
	for (unsigned int round = 0; !error && new_table && round < MAX_ROUNDS; round++) {
		new_table = false;
		find_leaders(graph, context);
		function_tables_measure(graph, context);
		error = make_blocks(graph);
		if (!error && graph->nr_blocks > MAX_STATES)
			return forget_values(graph);
		if (!error)
			error = function_flow_propagate(graph, context, &new_table);
	}
	return error ? error : function_sites_read(graph, context);
}

void function_graph_deinit(struct function_graph *graph)
{
	free(graph->insns);
	free(graph->leader);
	free(graph->insn_at);
	free(graph->blocks);
	free(graph->block_of);
	free(graph->tables);
	free(graph->sites);
	free(graph->states);
	free(graph->dirty);
	free(graph->table_of);
	free(graph->stack);
}
