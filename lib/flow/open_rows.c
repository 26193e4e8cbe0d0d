// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <math.h>
#include <stdlib.h>

#include "open_rows.h"

static struct swlbr_error *allocate(struct open_rows *rows, const struct flow_state *state)
{
	const struct flow_system *system = state->system;
	size_t nr_rows = state->nr_bounds, nr_terms = 3 * state->nr_bounds;

	for (size_t row = 0; row < system->nr_rows; row++) {
		nr_rows += state->open[row] != 0;
		nr_terms += state->open[row];
	}
	rows->start = calloc(nr_rows + 1, sizeof(*rows->start));
	rows->rest = calloc(nr_rows + 1, sizeof(*rows->rest));
	rows->gives_way = calloc(nr_rows + 1, sizeof(*rows->gives_way));
	rows->var = calloc(nr_terms + 1, sizeof(*rows->var));
	rows->coefficient = calloc(nr_terms + 1, sizeof(*rows->coefficient));
	rows->value = calloc(nr_terms + 1, sizeof(*rows->value));
	rows->outer = calloc(nr_terms + 1, sizeof(*rows->outer));
	if (!rows->start || !rows->rest || !rows->gives_way || !rows->var || !rows->coefficient ||
	    !rows->value || !rows->outer)
		return swlbr_error_no_memory();
	return NULL;
}

static uint32_t add_var(struct open_rows *rows, uint32_t outer, double value)
{
	rows->outer[rows->nr_vars] = outer;
	rows->value[rows->nr_vars] = value > 1e-6 ? value : 1e-6;
	return (uint32_t)rows->nr_vars++;
}

static void add_term(struct open_rows *rows, uint32_t var, double coefficient)
{
	rows->var[rows->nr_terms] = var;
	rows->coefficient[rows->nr_terms++] = coefficient;
}

static void end_row(struct open_rows *rows, double rest)
{
	rows->rest[rows->nr_rows++] = rest;
	rows->start[rows->nr_rows] = (uint32_t)rows->nr_terms;
}

static uint32_t inner_of(struct open_rows *rows, const struct flow_state *state, uint32_t *inner,
			 uint32_t var)
{
	if (inner[var] == SWLBR_NONE)
		inner[var] = add_var(rows, var, state->value[var]);
	return inner[var];
}

/* less + slack = more */
static void add_bound(struct open_rows *rows, const struct flow_state *state, uint32_t *inner,
		      const struct flow_bound *bound)
{
	double rest = 0, slack = state->value[bound->more] - state->value[bound->less];

	if (state->known[bound->less] && state->known[bound->more])
		return;
	add_term(rows, add_var(rows, SWLBR_NONE, slack), 1);
	if (state->known[bound->less])
		rest -= state->value[bound->less];
	else
		add_term(rows, inner_of(rows, state, inner, bound->less), 1);
	if (state->known[bound->more])
		rest += state->value[bound->more];
	else
		add_term(rows, inner_of(rows, state, inner, bound->more), -1);
	rows->gives_way[rows->nr_rows] = true; /* that a loop was unrolled is a guess */
	end_row(rows, rest);
}

struct swlbr_error *open_rows_init(struct open_rows *rows, const struct flow_state *state)
{
	const struct flow_system *system = state->system;
	struct swlbr_error *error;
	uint32_t *inner;

	*rows = (struct open_rows){ 0 };
	error = allocate(rows, state);
	if (error)
		return error;
	inner = malloc((system->nr_vars + 1) * sizeof(*inner));
	if (!inner)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < system->nr_vars; i++)
		inner[i] = SWLBR_NONE;
	for (uint32_t row = 0; row < system->nr_rows; row++) {
		if (!state->open[row])
			continue;
		for (uint32_t i = system->row_start[row]; i < system->row_start[row + 1]; i++) {
			const struct flow_term *term = &system->terms[i];

			if (!state->known[term->var])
				add_term(rows, inner_of(rows, state, inner, term->var),
					 term->coefficient);
		}
		/* A call further up may not have returned. */
		rows->gives_way[rows->nr_rows] = row >= system->first_leak_row &&
						 row < system->first_counter_row;
		end_row(rows, state->rest[row]);
	}
	for (size_t i = 0; i < state->nr_bounds; i++)
		add_bound(rows, state, inner, &state->bounds[i]);
	free(inner);
	return NULL;
}

void open_rows_deinit(struct open_rows *rows)
{
	free(rows->start);
	free(rows->rest);
	free(rows->gives_way);
	free(rows->var);
	free(rows->coefficient);
	free(rows->value);
	free(rows->outer);
}

double open_rows_off(const struct open_rows *rows)
{
	double all = 0;

	for (size_t row = 0; row < rows->nr_rows; row++) {
		double off = rows->rest[row];

		for (uint32_t i = rows->start[row]; i < rows->start[row + 1]; i++)
			off -= rows->coefficient[i] * rows->value[rows->var[i]];
		if (fabs(off) > 0.5 + 1e-4 * fabs(rows->rest[row]))
			all += fabs(off);
	}
	return all;
}

void open_rows_take(const struct open_rows *rows, struct flow_state *state)
{
	double off = open_rows_off(rows);

	if (isfinite(off))
		state->moved += off;
	for (size_t i = 0; i < rows->nr_vars; i++) {
		uint32_t var = rows->outer[i];
		double value = rows->value[i];

		if (var == SWLBR_NONE)
			continue;
		/* Where rows contradict each other the limits hold still. */
		if (!isfinite(value))
			value = state->value[var];
		state->value[var] = value < state->limit[var] ? value : state->limit[var];
	}
}
