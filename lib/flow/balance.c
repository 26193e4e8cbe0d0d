// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Of all values that satisfy the rows, those nearest to the start values in Kullback-Leibler
 * divergence: each row in turn scales its variables by one factor (those of the other sign by its
 * inverse) so that it holds. These are Bregman projections (L. M. Bregman, "The relaxation method
 * of finding the common point of convex sets", 1967), which converge to that point; symmetric
 * copies get equal shares, never all or nothing.
 */
#include <math.h>
#include <stdlib.h>

#include "solver.h"

#define MAX_SWEEPS 400
/* Rows may be off by this share of what they hold. */
#define TOLERANCE 1e-5

/* Sums of the open terms with positive and negative coefficients. */
static void open_sums(const struct flow_state *state, uint32_t row, double *plus, double *minus)
{
	const struct flow_system *system = state->system;

	*plus = *minus = 0;
	for (uint32_t i = system->row_start[row]; i < system->row_start[row + 1]; i++) {
		const struct flow_term *term = &system->terms[i];

		if (state->known[term->var])
			continue;
		if (term->coefficient > 0)
			*plus += state->value[term->var] * term->coefficient;
		else
			*minus -= state->value[term->var] * term->coefficient;
	}
}

/* t so that plus * t - minus / t = rest, or 0 where there is none. */
static double factor_of(double plus, double minus, double rest)
{
	if (plus > 0)
		return (rest + sqrt(rest * rest + 4 * plus * minus)) / (2 * plus);
	return rest < 0 && minus > 0 ? minus / -rest : 0;
}

/* Returns by how much the row was off, as a share. */
static double project(struct flow_state *state, uint32_t row)
{
	const struct flow_system *system = state->system;
	double plus, minus, factor, off, rest = state->rest[row];

	open_sums(state, row, &plus, &minus);
	off = fabs(plus - minus - rest) / (plus + minus + fabs(rest) + 1);
	if (off < TOLERANCE / 10)
		return off;
	factor = factor_of(plus, minus, rest);
	if (!(factor > 1e-12)) /* nothing positive fits: as near as can be */
		factor = 1e-3;
	else if (factor > 1e6)
		factor = 1e6;
	for (uint32_t i = system->row_start[row]; i < system->row_start[row + 1]; i++) {
		const struct flow_term *term = &system->terms[i];

		if (state->known[term->var])
			continue;
		if (term->coefficient > 0)
			state->value[term->var] *= factor;
		else
			state->value[term->var] /= factor;
	}
	return off;
}

/* The bound's edges are brought together where they are on the wrong side of each other. */
static double project_bound(struct flow_state *state, const struct flow_bound *bound)
{
	double *less = &state->value[bound->less], *more = &state->value[bound->more];
	double off = (*less - *more) / (*less + *more + 1), middle;

	if (state->known[bound->less] && state->known[bound->more])
		return 0;
	if (off < TOLERANCE)
		return 0;
	middle = sqrt(*less * *more);
	if (!state->known[bound->less])
		*less = state->known[bound->more] ? *more : middle;
	if (!state->known[bound->more])
		*more = state->known[bound->less] ? *less : middle;
	return off;
}

struct swlbr_error *flow_balance(struct flow_state *state)
{
	const struct flow_system *system = state->system;
	uint32_t *rows = calloc(system->nr_rows + 1, sizeof(*rows));
	size_t nr = 0;

	if (!rows)
		return swlbr_error_no_memory();
	for (uint32_t row = 0; row < system->nr_rows; row++) {
		if (state->open[row])
			rows[nr++] = row;
	}
	for (unsigned int sweep = 0; nr && sweep < MAX_SWEEPS; sweep++) {
		double worst = 0;

		for (size_t i = 0; i < nr; i++) {
			double off = project(state, sweep % 2 ? rows[nr - 1 - i] : rows[i]);

			if (off > worst)
				worst = off;
		}
		for (size_t i = 0; i < state->nr_bounds; i++) {
			double off = project_bound(state, &state->bounds[i]);

			if (off > worst)
				worst = off;
		}
		if (worst < TOLERANCE)
			break;
	}
	free(rows);
	return NULL;
}
