// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The instructions of a function, and where those lead that are not what they look like. */
#include <stdlib.h>
#include <string.h>

#include "function_graph.h"
#include "function_parts.h"

#define MAX_BYTES (4 << 20) /* of a function */

static struct swlbr_error *reserve_bytes(struct function_graph *graph, size_t size)
{
	uint32_t *grown;

	if (size > graph->max_bytes) {
		grown = reallocarray(graph->insn_at, size, sizeof(*grown));
		if (!grown)
			return swlbr_error_no_memory();
		graph->insn_at = grown;
		graph->max_bytes = size;
	}
	memset(graph->insn_at, 0, size * sizeof(*graph->insn_at));
	return NULL;
}

/*
 * A kernel that has changed its own code makes the processor fetch it anew by a return from no
 * interrupt, to an address that it pushes just before: a jump.
 */
static void follow_interrupt_return(struct function_graph *graph)
{
	struct arch_insn *insn = &graph->insns[graph->nr_insns - 1];
	const struct arch_insn *push = insn - 1;

	if (!insn->interrupt_return || graph->nr_insns < 2 || push->op != ARCH_OP_PUSH ||
	    push->src != ARCH_NO_REGISTER || push->vaddr + push->size != insn->vaddr ||
	    (uint64_t)push->imm < graph->range.start || (uint64_t)push->imm >= graph->range.end)
		return;
	insn->flow = ARCH_FLOW_JUMP;
	insn->target = (uint64_t)push->imm;
}

/*
 * Linux asks for a feature of the processor by a jump to .altinstr_aux, where a test, a conditional
 * jump and a jump lead to one of two places; it is overwritten at boot by what leads there at once.
 * So it is a jump to one of two, and what is there is no code of the running kernel.
 */
static void follow_feature_jump(struct arch_insn *insn, const struct value_context *context)
{
	uint64_t vaddr = insn->target, other = 0;

	if (insn->flow != ARCH_FLOW_JUMP ||
	    vaddr - context->features.vaddr >= context->features.size)
		return;
	for (int i = 0; i < 4; i++) {
		struct arch_insn next;
		size_t stored;
		const uint8_t *code = memory_image_from(context->image, vaddr, &stored);

		if (!stored || !context->arch->decode(code, stored, vaddr, &next))
			return;
		if (next.flow == ARCH_FLOW_JUMP) {
			insn->other_target = other == next.target ? 0 : other;
			insn->target = next.target;
			return;
		}
		if (next.flow == ARCH_FLOW_COND && !other)
			other = next.target;
		else if (next.flow != ARCH_FLOW_NEXT)
			return;
		vaddr += next.size;
	}
}

struct swlbr_error *function_decode(struct function_graph *graph,
				    const struct value_context *context)
{
	uint64_t vaddr = graph->range.start, end = graph->range.end;
	size_t stored;
	const uint8_t *code = memory_image_from(context->image, vaddr, &stored);
	struct swlbr_error *error;

	graph->nr_insns = 0;
	if (stored > MAX_BYTES)
		stored = MAX_BYTES;
	if (end - vaddr > stored)
		end = graph->range.end = vaddr + stored;
	error = reserve_bytes(graph, end - vaddr);
	if (error)
		return error;
	while (vaddr < end) {
		struct arch_insn *insn;

		error = function_graph_grow(&graph->insns, &graph->max_insns, graph->nr_insns + 1,
					    sizeof(*insn));
		if (error)
			return error;
		insn = &graph->insns[graph->nr_insns];
		if (!context->arch->decode(code, end - vaddr, vaddr, insn)) {
			code += context->arch->min_insn;
			vaddr += context->arch->min_insn;
			continue;
		}
		graph->insn_at[vaddr - graph->range.start] = ++graph->nr_insns;
		follow_interrupt_return(graph);
		follow_feature_jump(insn, context);
		code += insn->size;
		vaddr += insn->size;
	}
	return NULL;
}
