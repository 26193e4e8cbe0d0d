// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Greatest values: in each row a variable is at most what the terms of the other sign, each as
 * great as it can be, leave for it. Sweeps over the open rows until nothing changes much.
 */
#include <math.h>
#include <stdlib.h>

#include "solver.h"

#define MAX_SWEEPS 24

static bool lower(struct flow_state *state, uint32_t var, double limit)
{
	if (state->known[var] || !(limit < state->limit[var] * 0.999 - 0.01))
		return false;
	state->limit[var] = limit > 0 ? limit : 0;
	return true;
}

/* The greatest sums of the open terms of each sign. */
static void limit_sums(const struct flow_state *state, uint32_t row, double *plus, double *minus)
{
	const struct flow_system *system = state->system;

	*plus = *minus = 0;
	for (uint32_t i = system->row_start[row]; i < system->row_start[row + 1]; i++) {
		const struct flow_term *term = &system->terms[i];

		if (state->known[term->var])
			continue;
		if (term->coefficient > 0)
			*plus += state->limit[term->var] * term->coefficient;
		else
			*minus -= state->limit[term->var] * term->coefficient;
	}
}

static bool limit_row(struct flow_state *state, uint32_t row)
{
	const struct flow_system *system = state->system;
	double plus, minus, rest = state->rest[row];
	bool changed = false;

	limit_sums(state, row, &plus, &minus);
	/* plus = minus + rest: each positive term is at most minus + rest. */
	for (uint32_t i = system->row_start[row]; i < system->row_start[row + 1]; i++) {
		const struct flow_term *term = &system->terms[i];

		if (term->coefficient > 0)
			changed |= lower(state, term->var, (minus + rest) / term->coefficient);
		else
			changed |= lower(state, term->var, (plus - rest) / -term->coefficient);
	}
	return changed;
}

/*
 * The sum of all counters, which is more than anything ran: what runs again and again without one
 * that counts it has been optimised away, or was never in a loop.
 */
static double sum_counters(const struct flow_state *state)
{
	double sum = 1;

	for (uint32_t row = 0; row < state->system->nr_rows; row++)
		sum += state->counted[row];
	return sum;
}

struct swlbr_error *flow_limit(struct flow_state *state)
{
	const struct flow_system *system = state->system;
	double all = sum_counters(state);
	bool changed = true;

	state->limit = calloc(system->nr_vars + 1, sizeof(*state->limit));
	if (!state->limit)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < system->nr_vars; i++)
		state->limit[i] = state->known[i] ? state->value[i] : all;
	for (unsigned int sweep = 0; changed && sweep < MAX_SWEEPS; sweep++) {
		changed = false;
		for (uint32_t i = 0; i < system->nr_rows; i++) {
			uint32_t row = sweep % 2 ? (uint32_t)system->nr_rows - 1 - i : i;

			if (state->open[row])
				changed |= limit_row(state, row);
		}
		for (size_t i = 0; i < state->nr_bounds; i++)
			changed |= lower(state, state->bounds[i].less,
					 state->limit[state->bounds[i].more]);
	}
	for (uint32_t i = 0; i < system->nr_vars; i++) {
		if (!state->known[i] && state->limit[i] < 0.5)
			flow_decide(state, i, 0);
	}
	return NULL;
}
