// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What registers hold where each block begins: values flow along the edges until none changes. */
#include <stdlib.h>
#include <string.h>

#include "function_graph.h"
#include "function_parts.h"

static void flow_to(struct function_graph *graph, uint64_t vaddr, const struct value_state *state)
{
	uint32_t insn = function_graph_insn_at(graph, vaddr), block;

	if (insn == UINT32_MAX || !graph->leader[insn])
		return;
	block = graph->block_of[insn];
	if (value_state_meet(&graph->states[block], state))
		graph->dirty[block] = true;
}

static bool never_returns(const struct value_context *context, uint64_t vaddr)
{
	size_t low = 0, high = context->nr_noreturn;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (context->noreturn[middle] < vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < context->nr_noreturn && context->noreturn[low] == vaddr;
}

static bool goes_on_after(const struct value_context *context, const struct arch_insn *insn)
{
	switch (insn->flow) {
	case ARCH_FLOW_JUMP:
	case ARCH_FLOW_INDIRECT_JUMP:
	case ARCH_FLOW_RETURN:
	case ARCH_FLOW_STOP:
		return false;
	case ARCH_FLOW_CALL:
		return !never_returns(context, insn->target);
	default:
		return true;
	}
}

bool successors_next(struct successors *next, uint64_t *vaddr_ret)
{
	const struct function_graph *graph = next->graph;
	const struct arch_insn *insn = &graph->insns[next->last];
	bool jumps = insn->flow == ARCH_FLOW_JUMP || insn->flow == ARCH_FLOW_COND;

	if (next->step == 0) {
		next->step = 1;
		*vaddr_ret = insn->target;
		if (jumps)
			return true;
	}
	if (next->step == 1) {
		next->step = 2;
		*vaddr_ret = insn->other_target;
		if (insn->other_target)
			return true;
	}
	if (next->step == 2) {
		next->step = 3;
		*vaddr_ret = insn->vaddr + insn->size;
		if (goes_on_after(next->context, insn))
			return true;
	}
	if (graph->table_of[next->last]) {
		const struct jump_table *table = &graph->tables[graph->table_of[next->last] - 1];

		*vaddr_ret = jump_table_target(next->context->image, table, next->entry);
		return next->entry++ < table->nr;
	}
	return false;
}

/* The comparison of two registers that the branch @last is about, or NULL. */
static const struct arch_insn *comparison_of(const struct function_graph *graph, uint32_t last)
{
	const struct arch_insn *insn = &graph->insns[last];

	if (insn->flow != ARCH_FLOW_COND || insn->condition == ARCH_CONDITION_OTHER ||
	    insn->condition > ARCH_CONDITION_NOT_EQUAL || graph->leader[last] ||
	    insn[-1].op != ARCH_OP_COMPARE || insn[-1].src == ARCH_NO_REGISTER)
		return NULL;
	return &insn[-1];
}

static void flow_on(struct function_graph *graph, const struct value_context *context,
		    uint32_t last, struct value_state *state)
{
	struct successors next = { .graph = graph, .context = context, .last = last };
	const struct arch_insn *compare = comparison_of(graph, last), *insn = &graph->insns[last];
	uint64_t vaddr, equal = 0;

	if (compare)
		equal = insn->condition == ARCH_CONDITION_EQUAL ? insn->target
								: insn->vaddr + insn->size;
	while (successors_next(&next, &vaddr)) {
		if (!compare || vaddr != equal)
			flow_to(graph, vaddr, state);
	}
	/* The unwinder brings back all that a call preserves. */
	if (context->pads && calls(insn))
		flow_to(graph, landing_pads_of(context->pads, insn->vaddr), state);
	if (compare) {
		value_state_equal(state, compare, last - 1);
		flow_to(graph, equal, state);
	}
}

/* The state at the end of @block; jump tables that it uses are added. */
static struct swlbr_error *end_state(struct function_graph *graph,
				     const struct value_context *context, uint32_t block,
				     struct value_state *state, bool *new_table)
{
	const struct local_block *local = &graph->blocks[block];
	struct value_site sites[2];

	memcpy(state->reg, graph->states[block].reg, sizeof(state->reg));
	state->nr_slots = graph->states[block].nr_slots;
	memcpy(state->slot, graph->states[block].slot, state->nr_slots * sizeof(state->slot[0]));
	state->reached = true;
	for (uint32_t i = local->first_insn; i < local->first_insn + local->nr_insns; i++) {
		if (graph->insns[i].flow == ARCH_FLOW_INDIRECT_JUMP) {
			struct value target = value_jump_target(context, state, &graph->insns[i]);

			if (target.kind == VALUE_TABLE64 || target.kind == VALUE_JUMP32) {
				struct swlbr_error *error =
					function_tables_add(graph, i, &target, new_table);

				if (error)
					return error;
			}
		}
		value_state_step(context, state, &graph->insns[i], i, sites);
	}
	return NULL;
}

static struct swlbr_error *step_block(struct function_graph *graph,
				      const struct value_context *context, uint32_t block,
				      bool *new_table)
{
	const struct local_block *local = &graph->blocks[block];
	struct value_state state;
	struct swlbr_error *error = end_state(graph, context, block, &state, new_table);

	if (!error)
		flow_on(graph, context, local->first_insn + local->nr_insns - 1, &state);
	return error;
}

/* Until no state changes. @new_table: the blocks have to be made anew. */
static struct swlbr_error *propagate(struct function_graph *graph,
				     const struct value_context *context, bool *new_table)
{
	bool *dirty = graph->dirty, *end = dirty + graph->nr_blocks;
	bool again = true;

	while (again) {
		again = false;
		for (bool *at = dirty; (at = memchr(at, true, (size_t)(end - at))); at++) {
			struct swlbr_error *error;

			*at = false;
			again = true;
			error = step_block(graph, context, (uint32_t)(at - dirty), new_table);
			if (error)
				return error;
		}
	}
	return NULL;
}

static struct swlbr_error *reset_states(struct function_graph *graph)
{
	bool *dirty = realloc(graph->dirty, graph->nr_blocks + 1);
	struct swlbr_error *error;

	if (!dirty)
		return swlbr_error_no_memory();
	graph->dirty = dirty;
	error = function_graph_grow(&graph->states, &graph->max_states, graph->nr_blocks,
				    sizeof(*graph->states));
	if (error)
		return error;
	for (uint32_t i = 0; i < graph->nr_blocks; i++) {
		graph->states[i].reached = false;
		graph->states[i].nr_slots = 0;
		dirty[i] = false;
	}
	return NULL;
}

/*
 * The state of a block that nothing leads to: a landing pad, the target of a table that was not
 * found, or what a compiler has put behind a call that it did not know to never return.
 */
static struct swlbr_error *guess_state(struct function_graph *graph,
				       const struct value_context *context, uint32_t block,
				       bool *new_table)
{
	const struct arch_insn *before;

	if (block && graph->states[block - 1].reached) {
		before = function_graph_last_insn(graph, &graph->blocks[block - 1]);
		if (before->flow == ARCH_FLOW_CALL && never_returns(context, before->target))
			return end_state(graph, context, block - 1, &graph->states[block],
					 new_table);
	}
	value_state_forget(&graph->states[block]);
	return NULL;
}

struct swlbr_error *function_flow_propagate(struct function_graph *graph,
					    const struct value_context *context, bool *new_table)
{
	struct swlbr_error *error = reset_states(graph);

	if (error)
		return error;
	value_state_enter(context, &graph->states[0]);
	graph->dirty[0] = true;
	error = propagate(graph, context, new_table);
	for (uint32_t i = 0; !error && !*new_table && i < graph->nr_blocks; i++) {
		if (graph->states[i].reached || function_graph_is_padding(graph, &graph->blocks[i]))
			continue;
		error = guess_state(graph, context, i, new_table);
		graph->dirty[i] = true;
		if (!error)
			error = propagate(graph, context, new_table);
	}
	return error;
}
