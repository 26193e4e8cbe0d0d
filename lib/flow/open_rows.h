/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_FLOW_OPEN_ROWS_H
#define SWLBR_FLOW_OPEN_ROWS_H

#include "solver.h"

/** The rows that are still open, and their open variables, copied together. */
struct open_rows {
	size_t nr_vars, nr_rows, nr_terms;
	uint32_t *start;     /* nr_rows + 1, into the terms */
	uint32_t *var;	     /* per term */
	double *coefficient; /* per term */
	double *rest;	     /* per row: what it has to add up to */
	bool *gives_way;     /* per row: rather than the others, where not all can hold */
	double *value;	     /* per variable */
	uint32_t *outer; /* per variable: its number in the system; SWLBR_NONE: a bound's slack */
};

/** A bound becomes a row with a slack variable. Freed by open_rows_deinit(), also after errors. */
struct swlbr_error *open_rows_init(struct open_rows *rows, const struct flow_state *state);
void open_rows_deinit(struct open_rows *rows);

/** What the rows are off by, summed, but for rounding. */
double open_rows_off(const struct open_rows *rows);

/** Copy the values back; what rows are still off by is added to state->moved. */
void open_rows_take(const struct open_rows *rows, struct flow_state *state);

/**
 * Go on from rows->value, all positive, to the values value * exp(A' l) that satisfy the rows, or
 * come nearest: Newton's method for the multipliers l.
 */
struct swlbr_error *newton(struct open_rows *rows, double tolerance);

#endif
