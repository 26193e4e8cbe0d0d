/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_FLOW_CHOLESKY_H
#define SWLBR_FLOW_CHOLESKY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <swlbr/error.h>

/**
 * A sparse symmetric positive definite matrix and its factors L D L'. The places of the factors
 * are found once, by eliminating the row with the fewest neighbours first (minimum degree;
 * A. George and J. Liu, "The evolution of the minimum degree ordering algorithm", 1989); the values
 * many times.
 */
struct cholesky {
	size_t nr;
	uint32_t *place;  /* row -> its turn in the elimination */
	uint32_t *start;  /* per turn: its column's entries below the diagonal; nr + 1 */
	uint32_t *index;  /* turns, ascending in each column */
	double *value;	  /* per entry: of the matrix, then of L */
	double *diagonal; /* per turn: of the matrix, then of D */
	size_t nr_entries;
};

/**
 * Find the places for a matrix of @nr rows in which (a, b) is not 0 for each pair that @row_lists
 * holds: lists of rows, each all connected to each other, list i being
 * rows[list_start[i] … list_start[i + 1]). SWLBR_ERROR_UNSUPPORTED if the factors would be too
 * large. Freed by cholesky_deinit(), also after errors.
 */
struct swlbr_error *cholesky_init(struct cholesky *cholesky, size_t nr, size_t nr_lists,
				  const uint32_t *list_start, const uint32_t *rows);
void cholesky_deinit(struct cholesky *cholesky);

/** All values 0. */
void cholesky_clear(struct cholesky *cholesky);
/** Add to the element (a, b), and so to (b, a). */
void cholesky_add(struct cholesky *cholesky, uint32_t a, uint32_t b, double value);
/** Replace the values by those of the factors. */
void cholesky_factor(struct cholesky *cholesky);
/** Solve for the right side in @vector, by row; the solution replaces it. @work: nr doubles. */
void cholesky_solve(const struct cholesky *cholesky, double *vector, double *work);

#endif
