// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Where a function updates counters, and of which indirect calls it notes the targets. */
#include <stdlib.h>
#include <string.h>

#include "function_graph.h"
#include "function_parts.h"

/* Blocks that the searches of one function may look at, in all. */
#define MAX_SEARCHED (1 << 24)

/*
 * True if @block can run again and again without @other running in between. The answer is worth
 * nothing once graph->searched is 0.
 */
static bool repeats_without(struct function_graph *graph, const struct value_context *context,
			    uint32_t block, uint32_t other)
{
	uint32_t *stack = graph->stack;
	size_t nr = 0;
	bool found = false;

	if (block == other)
		return false;
	memset(graph->dirty, 0, graph->nr_blocks); /* not needed any more: marks what was seen */
	stack[nr++] = block;
	while (nr && !found && graph->searched) {
		const struct local_block *local = &graph->blocks[stack[--nr]];
		struct successors next = { .graph = graph,
					   .context = context,
					   .last = local->first_insn + local->nr_insns - 1 };
		uint64_t vaddr;

		while (successors_next(&next, &vaddr)) {
			uint32_t insn = function_graph_insn_at(graph, vaddr), to;

			graph->searched -= graph->searched != 0;
			if (insn == UINT32_MAX)
				continue;
			to = graph->block_of[insn];
			found |= to == block;
			if (to == other || graph->dirty[to])
				continue;
			graph->dirty[to] = true;
			stack[nr++] = to;
		}
	}
	return found;
}

/*
 * True if each run of the loop that counts trips by instruction @counting is followed by one of
 * @block at most: the loop, or the test at its head, is come to in between.
 */
static bool once_a_loop(struct function_graph *graph, const struct value_context *context,
			uint32_t block, uint32_t counting)
{
	uint32_t body = graph->block_of[counting];
	struct successors next = { .graph = graph,
				   .context = context,
				   .last = graph->blocks[body].first_insn +
					   graph->blocks[body].nr_insns - 1 };
	uint64_t vaddr;

	if (!repeats_without(graph, context, block, body))
		return true;
	while (successors_next(&next, &vaddr)) {
		uint32_t insn = function_graph_insn_at(graph, vaddr);

		if (insn != UINT32_MAX &&
		    !repeats_without(graph, context, block, graph->block_of[insn]))
			return true;
	}
	return false;
}

/*
 * A counter that is loaded before a loop and stored in it each time round, as base + trips, is
 * still one increment a time: strength reduction has rewritten what is stored, not how often.
 */
static unsigned int tell_sum(struct function_graph *graph, const struct value_context *context,
			     uint32_t insn, struct value_site sites[2], unsigned int nr)
{
	uint32_t block = graph->block_of[insn];
	uint64_t counter;
	bool each_time, once;

	if (!nr || (sites[0].kind != SITE_SUM && !sites[0].place))
		return nr;
	counter = sites[0].counter;
	each_time = sites[0].loaded &&
		    repeats_without(graph, context, block, graph->block_of[sites[0].loaded - 1]);
	once = !sites[0].place ||
	       (!each_time && once_a_loop(graph, context, block, sites[0].place - 1));
	if (graph->searched && each_time) {
		sites[0] = (struct value_site){ .counter = counter, .k = 1, .kind = SITE_ONE };
		return 1;
	}
	if (graph->searched && once)
		return nr;
	sites[0] = (struct value_site){ .counter = counter, .kind = SITE_SUM };
	return 1;
}

static struct swlbr_error *add_site(struct function_graph *graph, uint32_t insn,
				    const struct value_site *site)
{
	struct swlbr_error *error = function_graph_grow(&graph->sites, &graph->max_sites,
							graph->nr_sites + 1, sizeof(*graph->sites));

	if (error)
		return error;
	if (site->place)
		insn = site->place - 1;
	graph->sites[graph->nr_sites++] =
		(struct local_site){ graph->insns[insn].vaddr, *site, graph->block_of[insn] };
	return NULL;
}

static int by_vaddr(const void *left, const void *right)
{
	const struct local_site *a = left, *b = right;

	if (a->vaddr != b->vaddr)
		return a->vaddr > b->vaddr ? 1 : -1;
	return (a->site.counter > b->site.counter) - (a->site.counter < b->site.counter);
}

/* What is counted in a register and stored on each of several ways out was counted once. */
static void drop_doubles(struct function_graph *graph)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < graph->nr_sites; i++) {
		const struct local_site *site = &graph->sites[i];

		if (!nr || by_vaddr(&graph->sites[nr - 1], site) ||
		    graph->sites[nr - 1].site.kind != site->site.kind)
			graph->sites[nr++] = *site;
	}
	graph->nr_sites = nr;
}

/* A site may count in another block than the one that stores: sorted, then given to the blocks. */
void function_sites_place(struct function_graph *graph)
{
	if (graph->nr_sites)
		qsort(graph->sites, graph->nr_sites, sizeof(*graph->sites), by_vaddr);
	drop_doubles(graph);
	for (uint32_t b = 0; b < graph->nr_blocks; b++)
		graph->blocks[b].nr_sites = 0;
	for (uint32_t i = graph->nr_sites; i-- > 0;) {
		struct local_block *block = &graph->blocks[graph->sites[i].block];

		block->first_site = i;
		block->nr_sites++;
	}
}

/* The value site announced last, until the indirect call that it is of. */
struct announced {
	uint32_t function, site;
	unsigned int blocks; /* to look for it in; 0: none is announced */
};

/* Blocks between the call that profiles a target and the call of the target. */
#define ANNOUNCED_FOR 6

static void look_for_call(struct function_graph *graph, const struct value_context *context,
			  uint32_t block, uint32_t insn, struct announced *announced)
{
	const struct arch_insn *i = &graph->insns[insn];
	struct local_block *local = &graph->blocks[block];

	if (i->flow == ARCH_FLOW_CALL && i->target == context->instrument_target && i->target) {
		announced->blocks = value_site_of_call(context, &graph->states[block],
						       &announced->function, &announced->site)
					    ? ANNOUNCED_FOR
					    : 0;
	} else if (announced->blocks &&
		   (i->flow == ARCH_FLOW_INDIRECT_CALL || i->flow == ARCH_FLOW_INDIRECT_JUMP)) {
		local->value_function = announced->function;
		local->value_site = announced->site;
		announced->blocks = 0;
	}
}

static struct swlbr_error *read_block(struct function_graph *graph,
				      const struct value_context *context, uint32_t b,
				      struct announced *announced)
{
	struct local_block *block = &graph->blocks[b];
	struct value_state *state = &graph->states[b]; /* not needed any more after this */

	block->value_function = block->value_site = UINT32_MAX;
	for (uint32_t i = 0; state->reached && i < block->nr_insns; i++) {
		uint32_t insn = block->first_insn + i;
		struct value_site sites[2];
		unsigned int nr;

		look_for_call(graph, context, b, insn, announced);
		nr = value_state_step(context, state, &graph->insns[insn], insn, sites);
		nr = tell_sum(graph, context, insn, sites, nr);
		for (unsigned int k = 0; k < nr; k++) {
			struct swlbr_error *error = add_site(graph, insn, &sites[k]);

			if (error)
				return error;
		}
	}
	announced->blocks -= announced->blocks != 0;
	return NULL;
}

struct swlbr_error *function_sites_read(struct function_graph *graph,
					const struct value_context *context)
{
	struct announced announced = { 0 };

	graph->searched = MAX_SEARCHED;
	for (uint32_t b = 0; b < graph->nr_blocks; b++) {
		struct swlbr_error *error = read_block(graph, context, b, &announced);

		if (error)
			return error;
	}
	function_sites_place(graph);
	return NULL;
}
