// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Of all values that satisfy the rows, those nearest to the start values in Kullback-Leibler
 * divergence: symmetric copies get equal shares, never all or nothing. First some rounds in which
 * each row in turn scales its variables by one factor (those of the other sign by its inverse) so
 * that it holds: Bregman projections (L. M. Bregman, "The relaxation method of finding the common
 * point of convex sets", 1967). Both stay in the family start * exp(row multipliers), so Newton's
 * method on the dual goes on from there; see newton.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "open_rows.h"
#include "solver.h"

#define MAX_SWEEPS	 6 /* before Newton's method */
#define MAX_SWEEPS_ALONE 40
/* Rows may be off by this share of what they hold. */
#define TOLERANCE 1e-6
#define ROUGH	  1e-3
#define TOO_ROUGH 1e-2

/* Sums of the terms with positive and negative coefficients. */
static void row_sums(const struct open_rows *rows, size_t row, double *plus, double *minus)
{
	*plus = *minus = 0;
	for (uint32_t i = rows->start[row]; i < rows->start[row + 1]; i++) {
		double term = rows->value[rows->var[i]] * rows->coefficient[i];

		if (term > 0)
			*plus += term;
		else
			*minus -= term;
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
static double project(struct open_rows *rows, size_t row)
{
	double plus, minus, factor, off, rest = rows->rest[row];

	row_sums(rows, row, &plus, &minus);
	off = fabs(plus - minus - rest) / (plus + minus + fabs(rest) + 1);
	if (off < TOLERANCE / 10)
		return off;
	factor = factor_of(plus, minus, rest);
	if (!(factor > 0.05)) /* nothing positive may fit at all: as near as can be */
		factor = 0.05;
	else if (factor > 20)
		factor = 20;
	for (uint32_t i = rows->start[row]; i < rows->start[row + 1]; i++) {
		if (rows->coefficient[i] > 0)
			rows->value[rows->var[i]] *= factor;
		else
			rows->value[rows->var[i]] /= factor;
	}
	return off;
}

static double sweep(struct open_rows *rows, bool backwards)
{
	double worst = 0;

	for (size_t i = 0; i < rows->nr_rows; i++) {
		double off = project(rows, backwards ? rows->nr_rows - 1 - i : i);

		if (off > worst)
			worst = off;
	}
	return worst;
}

/* Newton's method, whose outcome is taken unless it is worse than what there was before. */
static struct swlbr_error *refine(struct open_rows *rows, double tolerance)
{
	double *before = malloc((rows->nr_vars + 1) * sizeof(*before));
	double off = open_rows_off(rows);
	struct swlbr_error *error;

	if (!before)
		return swlbr_error_no_memory();
	memcpy(before, rows->value, rows->nr_vars * sizeof(*before));
	error = newton(rows, tolerance);
	if (!error &&
	    !(open_rows_off(rows) <= off)) /* rows that contradict each other everywhere */
		memcpy(rows->value, before, rows->nr_vars * sizeof(*before));
	free(before);
	return error;
}

struct swlbr_error *flow_balance(struct flow_state *state, bool roughly)
{
	unsigned int max = roughly ? MAX_SWEEPS_ALONE : MAX_SWEEPS;
	double enough = roughly ? ROUGH : TOLERANCE, worst = 1;
	struct open_rows rows;
	struct swlbr_error *error = open_rows_init(&rows, state);

	for (unsigned int i = 0; !error && i < max && worst > enough; i++)
		worst = sweep(&rows, i % 2);
	if (!error && worst > (roughly ? TOO_ROUGH : TOLERANCE))
		error = refine(&rows, enough);
	if (!error)
		open_rows_take(&rows, state);
	open_rows_deinit(&rows);
	return error;
}
