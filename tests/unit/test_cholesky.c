// SPDX-License-Identifier: GPL-2.0-only
/* Sparse factors against a dense solver, for random matrices A D A' + E of random sparse A. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "flow/cholesky.h"

#define MAX_ROWS  60
#define MAX_LISTS 120

static uint64_t state = 1;

static uint32_t any(uint32_t below)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(state >> 33) % below;
}

static double dense[MAX_ROWS][MAX_ROWS];

/* Gauss's elimination of a copy; no pivots are needed for positive definite matrices. */
static void solve_dense(size_t nr, double *vector)
{
	static double a[MAX_ROWS][MAX_ROWS];

	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < nr; k++)
			a[i][k] = dense[i][k];
	}
	for (size_t p = 0; p < nr; p++) {
		for (size_t i = p + 1; i < nr; i++) {
			double factor = a[i][p] / a[p][p];

			for (size_t k = p; k < nr; k++)
				a[i][k] -= factor * a[p][k];
			vector[i] -= factor * vector[p];
		}
	}
	for (size_t p = nr; p-- > 0;) {
		for (size_t k = p + 1; k < nr; k++)
			vector[p] -= a[p][k] * vector[k];
		vector[p] /= a[p][p];
	}
}

struct lists {
	uint32_t start[MAX_LISTS + 1], rows[MAX_LISTS * 6];
	double coefficient[MAX_LISTS * 6];
	size_t nr;
};

static void make_lists(struct lists *lists, uint32_t nr_rows)
{
	lists->nr = nr_rows + any(nr_rows + 1);
	lists->start[0] = 0;
	for (size_t l = 0; l < lists->nr; l++) {
		uint32_t at = lists->start[l], nr = 1 + any(4);

		for (uint32_t i = 0; i < nr; i++) {
			/* Mostly neighbours, as in a flow; a row may come twice in a list. */
			uint32_t row = (uint32_t)((l + any(5)) % nr_rows);

			lists->rows[at] = any(8) ? row : any(nr_rows);
			lists->coefficient[at++] = any(2) ? 1 : -1 - (double)any(3);
		}
		lists->start[l + 1] = at;
	}
}

static void fill(struct cholesky *matrix, const struct lists *lists, uint32_t nr_rows)
{
	cholesky_clear(matrix);
	for (uint32_t i = 0; i < nr_rows; i++) {
		for (uint32_t k = 0; k < nr_rows; k++)
			dense[i][k] = 0;
		dense[i][i] = 0.5;
		cholesky_add(matrix, i, i, 0.5);
	}
	for (size_t l = 0; l < lists->nr; l++) {
		double x = 1 + any(1000);

		for (uint32_t i = lists->start[l]; i < lists->start[l + 1]; i++) {
			for (uint32_t k = i; k < lists->start[l + 1]; k++) {
				double value = x * lists->coefficient[i] * lists->coefficient[k];
				uint32_t a = lists->rows[i], b = lists->rows[k];

				/* One row twice: both halves of the square are on the diagonal. */
				if (a == b && i != k)
					value *= 2;
				cholesky_add(matrix, a, b, value);
				dense[a][b] += value;
				if (a != b)
					dense[b][a] += value;
			}
		}
	}
}

/* The greatest error of a solution, as a share. */
static double try_one(uint32_t nr_rows)
{
	static struct lists lists;
	struct cholesky matrix;
	double got[MAX_ROWS], want[MAX_ROWS], work[MAX_ROWS], worst = 0, size = 1;
	struct swlbr_error *error;

	make_lists(&lists, nr_rows);
	error = cholesky_init(&matrix, nr_rows, lists.nr, lists.start, lists.rows);
	if (error) {
		printf("# %s\n", error->message);
		swlbr_error_destroy(error);
		return INFINITY;
	}
	for (unsigned int again = 0; again < 2; again++) { /* places are for many matrices */
		fill(&matrix, &lists, nr_rows);
		for (uint32_t i = 0; i < nr_rows; i++)
			got[i] = want[i] = (double)any(2001) - 1000;
		solve_dense(nr_rows, want);
		cholesky_factor(&matrix);
		cholesky_solve(&matrix, got, work);
		for (uint32_t i = 0; i < nr_rows; i++) {
			size = fmax(size, fabs(want[i]));
			worst = fmax(worst, fabs(got[i] - want[i]));
		}
	}
	cholesky_deinit(&matrix);
	return worst / size;
}

static void test_limit(void)
{
	/* All rows connected to each other. */
	uint32_t nr = 20000, start[2] = { 0, 20000 }, *rows = calloc(nr, sizeof(*rows));
	struct cholesky matrix;
	struct swlbr_error *error;

	for (uint32_t i = 0; rows && i < nr; i++)
		rows[i] = i;
	error = cholesky_init(&matrix, nr, 0, start, rows);
	check(!error && matrix.nr_entries == 0, "a diagonal matrix");
	swlbr_error_destroy(error);
	cholesky_deinit(&matrix);
	start[1] = 2000;
	error = cholesky_init(&matrix, nr, 1, start, rows);
	check(error && error->code == SWLBR_ERROR_UNSUPPORTED, "a matrix that is too dense");
	swlbr_error_destroy(error);
	cholesky_deinit(&matrix);
	start[1] = nr;
	error = cholesky_init(&matrix, nr, 1, start, rows);
	check(error && error->code == SWLBR_ERROR_UNSUPPORTED, "one that is so from the start");
	swlbr_error_destroy(error);
	cholesky_deinit(&matrix);
	free(rows);
}

static void test_star(void)
{
	static uint32_t start[5001], rows[10000];
	struct cholesky matrix;
	struct swlbr_error *error;

	for (uint32_t i = 0; i < 5000; i++) {
		start[i + 1] = 2 * i + 2;
		rows[2 * i] = 0;
		rows[2 * i + 1] = i + 1;
	}
	error = cholesky_init(&matrix, 5001, 5000, start, rows);
	check(!error && matrix.nr_entries == 5000, "the middle of a star is eliminated last");
	swlbr_error_destroy(error);
	cholesky_deinit(&matrix);
}

int main(void)
{
	double worst = 0;

	for (unsigned int i = 0; i < 300; i++)
		worst = fmax(worst, try_one(1 + i % MAX_ROWS));
	check(worst < 1e-9, "600 random systems are solved to within %.1g", worst);
	test_star();
	test_limit();
	return failures != 0;
}
