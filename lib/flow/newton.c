// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Dual of the least divergence problem: with x(l) = value * exp(A' l), maximise rest'l - sum x(l).
 * Its gradient is what the rows are off by, rest - A x, and its second derivative is -A diag(x) A'.
 * A little of l'l is taken off, so that rows which cannot all hold end off by some counts instead
 * of sending l to infinity.
 */
#include <math.h>
#include <stdlib.h>

#include "cholesky.h"
#include "open_rows.h"

#define MAX_STEPS    80 /* before rows are relaxed */
#define MAX_ROUNDS   10
#define SOFTNESS     0.02 /* counts that a row may be off by for each unit of its multiplier */
#define RELAXED	     1e12 /* the same of a row that does not count any more */
#define MAX_EXPONENT 3.0
/* A multiplier that nothing but a row that cannot hold needs: exp(25) is 7e10. */
#define TOO_GREAT 25

struct newton {
	struct open_rows *rows;
	struct cholesky matrix;
	uint32_t *list_start, *list_row; /* per variable: the rows that it is in */
	double *list_coefficient;
	double *off, *direction, *multiplier, *softness, *work; /* per row */
	double *exponent;					/* per variable */
	double *best;	  /* per variable: the values whose rows were off by the least */
	double least_off; /* the sum that they were off by */
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
		newton->off[row] =
			rows->rest[row] - sum - newton->softness[row] * newton->multiplier[row];
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

/* direction: solves (A diag(x) A' + softness) direction = off */
static void find_direction(struct newton *newton)
{
	const struct open_rows *rows = newton->rows;

	cholesky_clear(&newton->matrix);
	for (uint32_t row = 0; row < rows->nr_rows; row++) {
		cholesky_add(&newton->matrix, row, row, newton->softness[row]);
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
	for (size_t i = 0; i < rows->nr_rows; i++)
		sum -= newton->softness[i] * step * newton->direction[i] *
		       (newton->multiplier[i] + step * newton->direction[i] / 2);
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
	newton->softness = calloc(rows->nr_rows + 1, sizeof(double));
	newton->work = calloc(rows->nr_rows + 1, sizeof(double));
	newton->exponent = calloc(rows->nr_vars + 1, sizeof(double));
	newton->best = calloc(rows->nr_vars + 1, sizeof(double));
	if (!newton->off || !newton->direction || !newton->multiplier || !newton->softness ||
	    !newton->work || !newton->exponent || !newton->best)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < rows->nr_rows; i++)
		newton->softness[i] = SOFTNESS;
	return index_rows(newton);
}

/* Multipliers of rows that cannot hold are without bound, counts are not. */
#define MOST  1e18
#define LEAST 1e-9

/* Take back what the row has done, and let it be. */
static void relax(struct newton *newton, size_t row)
{
	struct open_rows *rows = newton->rows;

	for (uint32_t i = rows->start[row]; i < rows->start[row + 1]; i++) {
		double *value = &rows->value[rows->var[i]];

		*value *= exp(-rows->coefficient[i] * newton->multiplier[row]);
		if (!(*value > LEAST))
			*value = LEAST;
		else if (*value > MOST)
			*value = MOST;
	}
	newton->multiplier[row] = 0;
	newton->softness[row] = RELAXED;
}

/*
 * Rows that cannot all hold have pushed their multipliers up. Those that say who called a function
 * go first: a call further up may not have returned. False if there are none.
 */
static bool relax_some(struct newton *newton)
{
	const struct open_rows *rows = newton->rows;
	double greatest = TOO_GREAT;
	bool calls = false;

	for (size_t i = 0; i < rows->nr_rows; i++) {
		calls |= rows->is_call[i] && fabs(newton->multiplier[i]) > TOO_GREAT;
		if (fabs(newton->multiplier[i]) > greatest)
			greatest = fabs(newton->multiplier[i]);
	}
	if (greatest <= TOO_GREAT)
		return false;
	for (size_t i = 0; i < rows->nr_rows; i++) {
		double size = fabs(newton->multiplier[i]);

		if (calls ? rows->is_call[i] && size > TOO_GREAT : size > greatest * 0.95)
			relax(newton, i);
	}
	return true;
}

/* True if all rows hold. */
static bool iterate(struct newton *newton, double tolerance)
{
	for (unsigned int i = 0; i < MAX_STEPS; i++) {
		if (measure(newton) <= tolerance)
			return true;
		find_direction(newton);
		if (!take_step(newton))
			return false;
	}
	return false;
}

/* Counts by which all rows together are off, relaxed or not. */
static double total_off(const struct open_rows *rows)
{
	double total = 0;

	for (size_t row = 0; row < rows->nr_rows; row++) {
		double sum = rows->rest[row];

		for (uint32_t i = rows->start[row]; i < rows->start[row + 1]; i++)
			sum -= rows->coefficient[i] * rows->value[rows->var[i]];
		total += fabs(sum);
	}
	return total;
}

static void keep_if_best(struct newton *newton)
{
	const struct open_rows *rows = newton->rows;
	double off = total_off(rows);

	if (!(off < newton->least_off))
		return;
	newton->least_off = off;
	for (size_t i = 0; i < rows->nr_vars; i++)
		newton->best[i] = rows->value[i];
}

/*
 * Until all rows hold that are not relaxed. Where that does not come about, relaxed rows may have
 * left values of any size: the best of what there was is the answer then.
 */
static void solve(struct newton *newton, double tolerance)
{
	newton->least_off = INFINITY;
	for (unsigned int i = 0; i < MAX_ROUNDS; i++) {
		keep_if_best(newton);
		if (iterate(newton, tolerance))
			return;
		if (!relax_some(newton))
			break;
	}
	keep_if_best(newton);
	for (size_t i = 0; i < newton->rows->nr_vars; i++)
		newton->rows->value[i] = newton->best[i];
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
	free(newton.softness);
	free(newton.work);
	free(newton.exponent);
	free(newton.best);
	if (error && error->code == SWLBR_ERROR_UNSUPPORTED) {
		swlbr_error_destroy(error); /* what the projections came to has to do */
		error = NULL;
	}
	return error;
}
