// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A row with one open variable decides it. A row whose open variables all count to the same side
 * and have nothing left to add up to decides that all are 0. Rows that come out negative, or end
 * with something left over, disagree with the others: counts are never negative, so 0 is taken, and
 * what is left over is summed up.
 */
#include <math.h>
#include <stdlib.h>

#include "solver.h"

/* The call of block @b is of a function that leaks, or may be ended by what goes on at its setjmp. */
static bool may_be_ended(const struct flow_state *state, size_t b)
{
	const struct swlbr_map_block *block = &state->map->blocks[b];
	const double *leak = state->system->leak;

	if (!leak)
		return false;
	if (block->end_kind == SWLBR_MAP_END_INDIRECT_CALL)
		return state->map->functions[block->function].calls_setjmp;
	return block->callee != SWLBR_NONE && leak[block->callee] > 0;
}

/* In functions whose rows agree all calls return, but those that may be ended. */
static void close_unreturned(struct flow_state *state, const bool *disagrees)
{
	const struct flow_system *system = state->system;

	for (size_t b = 0; b < state->map->nr_blocks; b++) {
		if (system->unreturned[b] != SWLBR_NONE && !may_be_ended(state, b) &&
		    !(disagrees && disagrees[state->map->blocks[b].function]))
			flow_decide(state, system->unreturned[b], 0);
	}
}

struct swlbr_error *flow_state_init(struct flow_state *state, const struct flow_system *system,
				    const struct swlbr_branch_map *map, const uint64_t *counters,
				    const bool *disagrees)
{
	*state = (struct flow_state){ .system = system, .map = map };
	state->value = calloc(system->nr_vars + 1, sizeof(*state->value));
	state->known = calloc(system->nr_vars + 1, sizeof(*state->known));
	state->rest = calloc(system->nr_rows + 1, sizeof(*state->rest));
	state->counted = calloc(system->nr_rows + 1, sizeof(*state->counted));
	state->open = calloc(system->nr_rows + 1, sizeof(*state->open));
	state->open_plus = calloc(system->nr_rows + 1, sizeof(*state->open_plus));
	state->disagrees = calloc(map->nr_functions + 1, sizeof(*state->disagrees));
	if (!state->value || !state->known || !state->rest || !state->counted || !state->open ||
	    !state->open_plus || !state->disagrees)
		return swlbr_error_no_memory();
	for (size_t row = 0; row < system->nr_rows; row++) {
		state->open[row] = system->row_start[row + 1] - system->row_start[row];
		for (uint32_t i = system->row_start[row]; i < system->row_start[row + 1]; i++)
			state->open_plus[row] += system->terms[i].coefficient > 0;
		if (system->row_counter[row] != SWLBR_NONE)
			state->rest[row] = state->counted[row] =
				(double)counters[system->row_counter[row]];
	}
	/* Code without counters is in no row. */
	for (uint32_t i = 0; i < system->nr_vars; i++) {
		if (system->var_start[i] == system->var_start[i + 1])
			state->known[i] = true;
	}
	close_unreturned(state, disagrees);
	return NULL;
}

void flow_state_deinit(struct flow_state *state)
{
	free(state->value);
	free(state->known);
	free(state->rest);
	free(state->counted);
	free(state->open);
	free(state->open_plus);
	free(state->limit);
	free(state->disagrees);
}

/*
 * The functions that the row is about have a row that does not go with the others. It is off by
 * @by, which is given up: a row is noted once.
 */
static void note_disagreement(struct flow_state *state, uint32_t row, double by)
{
	const struct flow_system *system = state->system;

	if (by < 0.5)
		return;
	state->rest[row] = 0;
	state->moved += by;
	for (uint32_t i = system->row_start[row]; i < system->row_start[row + 1]; i++) {
		uint32_t block = system->terms[i].var - system->first_block;

		if (block < state->map->nr_blocks)
			state->disagrees[state->map->blocks[block].function] = true;
	}
}

struct queue {
	uint32_t *row;
	bool *queued;
	size_t nr, at, max;
};

static void push(struct queue *queue, uint32_t row)
{
	if (queue->queued[row])
		return;
	queue->queued[row] = true;
	queue->row[queue->nr++ % queue->max] = row;
}

void flow_decide(struct flow_state *state, uint32_t var, double value)
{
	const struct flow_system *system = state->system;

	state->known[var] = true;
	state->value[var] = value;
	for (uint32_t i = system->var_start[var]; i < system->var_start[var + 1]; i++) {
		uint32_t row = system->var_rows[i];
		int32_t coefficient = system->terms[system->var_terms[i]].coefficient;

		state->rest[row] -= value * coefficient;
		state->open[row]--;
		state->open_plus[row] -= coefficient > 0;
	}
}

static void decide(struct flow_state *state, struct queue *queue, uint32_t var, double value)
{
	const struct flow_system *system = state->system;

	flow_decide(state, var, value);
	for (uint32_t i = system->var_start[var]; i < system->var_start[var + 1]; i++)
		push(queue, system->var_rows[i]);
}

/* +1 or -1 if all open terms have that sign, else 0. */
static int sign_of_open(const struct flow_state *state, uint32_t row)
{
	return !state->open_plus[row] ? -1 : state->open_plus[row] == state->open[row] ? 1 : 0;
}

static void look_at(struct flow_state *state, struct queue *queue, uint32_t row)
{
	const struct flow_system *system = state->system;
	double rest = state->rest[row];
	int sign = sign_of_open(state, row);

	if (!state->open[row]) {
		note_disagreement(state, row, fabs(rest));
		return;
	}
	if (state->open[row] > 1) {
		if (!sign || rest * sign > 0.5)
			return;
		note_disagreement(state, row, -rest * sign);
		for (uint32_t i = system->row_start[row]; i < system->row_start[row + 1]; i++) {
			if (!state->known[system->terms[i].var])
				decide(state, queue, system->terms[i].var, 0);
		}
		return;
	}
	for (uint32_t i = system->row_start[row]; i < system->row_start[row + 1]; i++) {
		const struct flow_term *term = &system->terms[i];

		if (state->known[term->var])
			continue;
		rest /= term->coefficient;
		note_disagreement(state, row, -rest);
		decide(state, queue, term->var, rest > 0 ? rest : 0);
		return;
	}
}

struct swlbr_error *flow_propagate(struct flow_state *state)
{
	const struct flow_system *system = state->system;
	struct queue queue = { .max = system->nr_rows + 1 };

	queue.row = calloc(queue.max, sizeof(*queue.row));
	queue.queued = calloc(queue.max, sizeof(*queue.queued));
	if (!queue.row || !queue.queued) {
		free(queue.row);
		free(queue.queued);
		return swlbr_error_no_memory();
	}
	/* Counters first: what they say is exact. */
	for (uint32_t row = (uint32_t)system->nr_rows; row-- > 0;)
		push(&queue, row);
	while (queue.at < queue.nr) {
		uint32_t row = queue.row[queue.at++ % queue.max];

		queue.queued[row] = false;
		look_at(state, &queue, row);
	}
	free(queue.row);
	free(queue.queued);
	return NULL;
}
