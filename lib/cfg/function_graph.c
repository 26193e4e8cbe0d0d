// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Blocks come from direct branches first; constants are propagated over them; jump tables that
 * this finds make more blocks and paths; and so on until nothing new is found. Then the sites are
 * read off.
 */
#include <stdlib.h>
#include <string.h>

#include "function_graph.h"

/* A jump table's entries at most, of all tables too; generated parsers have some thousand. */
#define MAX_TABLE_ENTRIES 65536
#define MAX_ENTRIES	  (1 << 20)
/* Rounds of table discovery: a table behind a table behind a table... */
#define MAX_ROUNDS 32
#define MAX_BYTES  (4 << 20) /* of a function */
#define MAX_STATES (1 << 17) /* blocks; a state has 1.3 KB */
/* Blocks that the searches of one function may look at, in all. */
#define MAX_SEARCHED (1 << 24)

static struct swlbr_error *grow(void *array, uint32_t *max, uint32_t nr, size_t size)
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

static struct swlbr_error *decode(struct function_graph *graph, const struct value_context *context)
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

		error = grow(&graph->insns, &graph->max_insns, graph->nr_insns + 1, sizeof(*insn));
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

static void mark_leader(struct function_graph *graph, uint64_t vaddr)
{
	uint32_t insn = function_graph_insn_at(graph, vaddr);

	if (insn != UINT32_MAX)
		graph->leader[insn] = true;
}

static bool calls(const struct arch_insn *insn)
{
	return insn->flow == ARCH_FLOW_CALL || insn->flow == ARCH_FLOW_INDIRECT_CALL;
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
			mark_leader(graph, label);
		if (insn->flow == ARCH_FLOW_NEXT && !label)
			continue;
		leader[i + 1] = true;
		if (insn->flow == ARCH_FLOW_JUMP || insn->flow == ARCH_FLOW_COND)
			mark_leader(graph, insn->target);
		if (insn->other_target)
			mark_leader(graph, insn->other_target);
		if (calls(insn) && context->pads)
			mark_leader(graph, landing_pads_of(context->pads, insn->vaddr));
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
			error = grow(&graph->blocks, &graph->max_blocks, graph->nr_blocks + 1,
				     sizeof(*graph->blocks));
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
static void measure_tables(struct function_graph *graph, const struct value_context *context)
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
			mark_leader(graph, jump_table_target(context->image, table, k));
	}
}

static struct swlbr_error *add_table(struct function_graph *graph, uint32_t jump,
				     const struct value *target, bool *changed)
{
	struct swlbr_error *error;

	if (graph->table_of[jump])
		return NULL;
	error = grow(&graph->tables, &graph->max_tables, graph->nr_tables + 1,
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

static void flow_to(struct function_graph *graph, uint64_t vaddr, const struct value_state *state)
{
	uint32_t insn = function_graph_insn_at(graph, vaddr), block;

	if (insn == UINT32_MAX || !graph->leader[insn])
		return;
	block = graph->block_of[insn];
	if (value_state_meet(&graph->states[block], state))
		graph->dirty[block] = true;
}

/* The addresses that the instruction @last of a block can lead to, one after another. */
struct successors {
	const struct function_graph *graph;
	const struct value_context *context;
	uint32_t last, entry;
	unsigned int step;
};

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

static bool next_successor(struct successors *next, uint64_t *vaddr_ret)
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
	while (next_successor(&next, &vaddr)) {
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
				struct swlbr_error *error = add_table(graph, i, &target, new_table);

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
	error = grow(&graph->states, &graph->max_states, graph->nr_blocks, sizeof(*graph->states));
	if (error)
		return error;
	for (uint32_t i = 0; i < graph->nr_blocks; i++) {
		graph->states[i].reached = false;
		graph->states[i].nr_slots = 0;
		dirty[i] = false;
	}
	return NULL;
}

bool function_graph_is_padding(const struct function_graph *graph, const struct local_block *block)
{
	for (uint32_t i = 0; i < block->nr_insns; i++) {
		if (!graph->insns[block->first_insn + i].is_nop)
			return false;
	}
	return true;
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

static struct swlbr_error *propagate_all(struct function_graph *graph,
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

		while (next_successor(&next, &vaddr)) {
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
	while (next_successor(&next, &vaddr)) {
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
	struct swlbr_error *error =
		grow(&graph->sites, &graph->max_sites, graph->nr_sites + 1, sizeof(*graph->sites));

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
static void place_sites(struct function_graph *graph)
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

static struct swlbr_error *read_sites(struct function_graph *graph,
				      const struct value_context *context)
{
	struct announced announced = { 0 };

	graph->searched = MAX_SEARCHED;
	for (uint32_t b = 0; b < graph->nr_blocks; b++) {
		struct swlbr_error *error = read_block(graph, context, b, &announced);

		if (error)
			return error;
	}
	place_sites(graph);
	return NULL;
}

/* Too many blocks: neither tables nor sites. */
static struct swlbr_error *forget_values(struct function_graph *graph)
{
	graph->nr_tables = 0;
	for (uint32_t i = 0; i < graph->nr_blocks; i++)
		graph->blocks[i].value_function = graph->blocks[i].value_site = UINT32_MAX;
	place_sites(graph);
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
	error = decode(graph, context);
	if (error || !graph->nr_insns)
		return error;
	error = reserve_insns(graph);
	for (unsigned int round = 0; !error && new_table && round < MAX_ROUNDS; round++) {
		new_table = false;
		find_leaders(graph, context);
		measure_tables(graph, context);
		error = make_blocks(graph);
		if (!error && graph->nr_blocks > MAX_STATES)
			return forget_values(graph);
		if (!error)
			error = propagate_all(graph, context, &new_table);
	}
	return error ? error : read_sites(graph, context);
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
