// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Dual of the least divergence problem: with x(l) = value * exp(A' l), maximise rest'l - sum x(l).
 * Its gradient is what the rows are off by, rest - A x, and its second derivative is -A diag(x) A'.
 * Rows that cannot all hold would send l to infinity, so each may be off by
 *
 *   SOFTNESS * l + 2 * slack * sinh(l)
 *
 * of which the first part keeps the matrix regular, and the second, two slack variables that start
 * at next to nothing, is little beside any count until l is beyond what counts need.
 *
 * A row that is far off asks for steps that others have no use for. So to the diagonal of each row
 * goes what it is off by, over the step that it may take: the nearer the answer, the nearer to
 * Newton's method (D.-H. Li, M. Fukushima, L. Qi, N. Yamashita, "Regularized Newton methods for
 * convex minimization problems with singular solutions", 2004).
 */
#include <math.h>
#include <stdlib.h>

#include "cholesky.h"
#include "open_rows.h"

#define MAX_STEPS    300 /* of all rounds */
#define MAX_ROUNDS   10
#define SOFTNESS     0.02
#define MAX_EXPONENT 3.0
#define SLACK	     1e-9
#define MORE_SLACK   1e-7 /* of rows that give way */

struct newton {
	struct open_rows *rows;
	struct cholesky matrix;
	uint32_t *list_start, *list_row; /* per variable: the rows that it is in */
	double *list_coefficient;
	double *off, *direction, *multiplier, *work; /* per row */
	double *exponent;			     /* per variable */
	unsigned int steps;
};

static struct swlbr_error *index_rows(struct newton *newton)
{
	const struct open_rows *rows = newton->rows;
	uint32_t *start = calloc(rows->nr_vars + 2, sizeof(*start));

	newton->list_start = start;
	newton->list_row = calloc(rows->nr_terms + 1, sizeof(*newton->list_row));
	newton->list_coefficient = calloc(rows->nr_terms + 1, sizeof(double));
	if (!start || !newton->list_row || !newton->list_coefficient)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < rows->nr_terms; i++)
		start[rows->var[i] + 2]++;
	for (size_t i = 2; i < rows->nr_vars + 2; i++)
		start[i] += start[i - 1];
	for (uint32_t row = 0; row < rows->nr_rows; row++) {
		for (uint32_t i = rows->start[row]; i < rows->start[row + 1]; i++) {
			uint32_t at = start[rows->var[i] + 1]++;

			newton->list_row[at] = row;
			newton->list_coefficient[at] = rows->coefficient[i];
		}
	}
	return NULL;
}

/* to = A' from */
static void multiply_transposed(const struct open_rows *rows, const double *from, double *to)
{
	for (size_t i = 0; i < rows->nr_vars; i++)
		to[i] = 0;
	for (size_t row = 0; row < rows->nr_rows; row++) {
		for (uint32_t i = rows->start[row]; i < rows->start[row + 1]; i++)
			to[rows->var[i]] += rows->coefficient[i] * from[row];
	}
}

static double slack_of(const struct newton *newton, size_t row)
{
	return newton->rows->gives_way[row] ? MORE_SLACK : SLACK;
}

/* The gradient, and the worst share that a row is off by. */
static double measure(struct newton *newton)
{
	const struct open_rows *rows = newton->rows;
	double worst = 0;

	for (size_t row = 0; row < rows->nr_rows; row++) {
		double sum = 0, size = fabs(rows->rest[row]) + 1, share;

		for (uint32_t i = rows->start[row]; i < rows->start[row + 1]; i++) {
			double term = rows->coefficient[i] * rows->value[rows->var[i]];

			sum += term;
			size += fabs(term);
		}
		newton->off[row] = rows->rest[row] - sum - SOFTNESS * newton->multiplier[row] -
				   2 * slack_of(newton, row) * sinh(newton->multiplier[row]);
		share = fabs(newton->off[row]) / size;
		if (share > worst)
			worst = share;
	}
	return worst;
}

static double dot(const double *a, const double *b, size_t nr)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += a[i] * b[i];
	return sum;
}

/* direction: solves (A diag(x) A' + what is on the diagonal) direction = off */
static void find_direction(struct newton *newton)
{
	const struct open_rows *rows = newton->rows;

	cholesky_clear(&newton->matrix);
	for (uint32_t row = 0; row < rows->nr_rows; row++) {
		cholesky_add(&newton->matrix, row, row,
			     SOFTNESS + 2 * slack_of(newton, row) * cosh(newton->multiplier[row]) +
				     fabs(newton->off[row]) / MAX_EXPONENT);
		newton->direction[row] = newton->off[row];
	}
	for (size_t v = 0; v < rows->nr_vars; v++) {
		uint32_t end = newton->list_start[v + 1];

		for (uint32_t i = newton->list_start[v]; i < end; i++) {
			for (uint32_t k = i; k < end; k++)
				cholesky_add(&newton->matrix, newton->list_row[i],
					     newton->list_row[k],
					     rows->value[v] * newton->list_coefficient[i] *
						     newton->list_coefficient[k]);
		}
	}
	cholesky_factor(&newton->matrix);
	cholesky_solve(&newton->matrix, newton->direction, newton->work);
}

/* What the dual gains by @step, less what Armijo's rule asks for. */
static double gain(const struct newton *newton, double step, double slope)
{
	const struct open_rows *rows = newton->rows;
	double sum = step * dot(rows->rest, newton->direction, rows->nr_rows);

	for (size_t i = 0; i < rows->nr_vars; i++)
		sum -= rows->value[i] * expm1(step * newton->exponent[i]);
	for (size_t i = 0; i < rows->nr_rows; i++) {
		double l = newton->multiplier[i], more = step * newton->direction[i];

		/* cosh(l + more) - cosh(l) = 2 sinh(l + more / 2) sinh(more / 2) */
		sum -= SOFTNESS * more * (l + more / 2) +
		       4 * slack_of(newton, i) * sinh(l + more / 2) * sinh(more / 2);
	}
	return sum - 1e-4 * step * slope;
}

static bool take_step(struct newton *newton)
{
	struct open_rows *rows = newton->rows;
	double slope = dot(newton->off, newton->direction, rows->nr_rows);
	double largest = 0, step = 1;

	multiply_transposed(rows, newton->direction, newton->exponent);
	for (size_t i = 0; i < rows->nr_vars; i++) {
		if (fabs(newton->exponent[i]) > largest)
			largest = fabs(newton->exponent[i]);
	}
	if (!isfinite(largest) || !(slope > 0))
		return false;
	if (largest > MAX_EXPONENT)
		step = MAX_EXPONENT / largest;
	while (step > 1e-9 && gain(newton, step, slope) < -1e-9 * slope)
		step /= 2;
	if (step <= 1e-9)
		return false;
	for (size_t i = 0; i < rows->nr_vars; i++)
		rows->value[i] *= exp(step * newton->exponent[i]);
	for (size_t i = 0; i < rows->nr_rows; i++)
		newton->multiplier[i] += step * newton->direction[i];
	return true;
}

static struct swlbr_error *allocate(struct newton *newton)
{
	const struct open_rows *rows = newton->rows;

	newton->off = calloc(rows->nr_rows + 1, sizeof(double));
	newton->direction = calloc(rows->nr_rows + 1, sizeof(double));
	newton->multiplier = calloc(rows->nr_rows + 1, sizeof(double));
	newton->work = calloc(rows->nr_rows + 1, sizeof(double));
	newton->exponent = calloc(rows->nr_vars + 1, sizeof(double));
	if (!newton->off || !newton->direction || !newton->multiplier || !newton->work ||
	    !newton->exponent)
		return swlbr_error_no_memory();
	return index_rows(newton);
}

/* The multipliers there are become part of the values. */
static void restart(struct newton *newton)
{
	for (size_t i = 0; i < newton->rows->nr_rows; i++)
		newton->multiplier[i] = 0;
}

/* Until all rows hold but for their slack, or nothing is gained any more. */
static void iterate(struct newton *newton, double tolerance)
{
	while (newton->steps < MAX_STEPS && measure(newton) > tolerance) {
		newton->steps++;
		find_direction(newton);
		if (!take_step(newton))
			break;
	}
}

/*
 * Multipliers add up along the ways through the code, so that in a long one some go beyond what
 * slack is little beside, though all rows can hold. From what that comes to, less is needed: rounds
 * that bring rows nearer go on (the method of multipliers: R. T. Rockafellar, 1976).
 */
static void solve(struct newton *newton, double tolerance)
{
	double off = INFINITY, before;

	for (unsigned int i = 0; i < MAX_ROUNDS && off > 0; i++) {
		before = off;
		iterate(newton, tolerance);
		off = open_rows_off(newton->rows);
		if (!(off < before / 2))
			break;
		restart(newton);
	}
}

struct swlbr_error *newton(struct open_rows *rows, double tolerance)
{
	struct newton newton = { .rows = rows };
	struct swlbr_error *error = allocate(&newton);

	if (!error)
		error = cholesky_init(&newton.matrix, rows->nr_rows, rows->nr_vars,
				      newton.list_start, newton.list_row);
	if (!error)
		solve(&newton, tolerance);
	cholesky_deinit(&newton.matrix);
	free(newton.list_start);
	free(newton.list_row);
	free(newton.list_coefficient);
	free(newton.off);
	free(newton.direction);
	free(newton.multiplier);
	free(newton.work);
	free(newton.exponent);
	if (error && error->code == SWLBR_ERROR_UNSUPPORTED) {
		swlbr_error_destroy(error); /* what the projections came to has to do */
		error = NULL;
	}
	return error;
}
