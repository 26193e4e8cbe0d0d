// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cholesky.h"

#define MAX_ENTRIES 40000000
/* Numbers looked at while places are found: a second or two. */
#define MAX_WORK 500000000

/* The elimination: who is still connected to whom. */
struct neighbours {
	uint32_t *row; /* sorted */
	uint32_t nr, max;
};

struct elimination {
	size_t work;
	bool too_dense;
	struct cholesky *cholesky;
	struct neighbours *neighbours;
	uint32_t *bucket, *next, *previous; /* rows by degree: heads, and links */
	uint32_t *merged;		    /* scratch */
	uint32_t *order;		    /* turn -> row */
	struct neighbours *column;	    /* per turn: rows, to be turned to turns */
};

#define NONE UINT32_MAX

static bool reserve(struct neighbours *list, uint32_t nr)
{
	uint32_t *grown;

	if (nr <= list->max)
		return true;
	grown = reallocarray(list->row, nr + nr / 2 + 4, sizeof(*grown));
	if (!grown)
		return false;
	list->row = grown;
	list->max = nr + nr / 2 + 4;
	return true;
}

static int by_number(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static void tidy(struct neighbours *list)
{
	uint32_t kept = 0;

	qsort(list->row, list->nr, sizeof(*list->row), by_number);
	for (uint32_t i = 0; i < list->nr; i++) {
		if (!kept || list->row[kept - 1] != list->row[i])
			list->row[kept++] = list->row[i];
	}
	list->nr = kept;
}

static bool connect(struct elimination *elimination, size_t nr_lists, const uint32_t *list_start,
		    const uint32_t *rows)
{
	for (size_t l = 0; l < nr_lists; l++) {
		size_t length = list_start[l + 1] - list_start[l];

		elimination->work += length * length;
		if (elimination->work > MAX_ENTRIES) {
			elimination->too_dense = true;
			return false;
		}
		for (uint32_t i = list_start[l]; i < list_start[l + 1]; i++) {
			struct neighbours *list = &elimination->neighbours[rows[i]];

			if (!reserve(list, list->nr + (list_start[l + 1] - list_start[l])))
				return false;
			for (uint32_t k = list_start[l]; k < list_start[l + 1]; k++) {
				if (rows[k] != rows[i])
					list->row[list->nr++] = rows[k];
			}
		}
	}
	for (size_t i = 0; i < elimination->cholesky->nr; i++) {
		if (elimination->neighbours[i].nr)
			tidy(&elimination->neighbours[i]);
	}
	return true;
}

static void bucket_add(struct elimination *elimination, uint32_t row)
{
	uint32_t *head = &elimination->bucket[elimination->neighbours[row].nr];

	elimination->previous[row] = NONE;
	elimination->next[row] = *head;
	if (*head != NONE)
		elimination->previous[*head] = row;
	*head = row;
}

static void bucket_remove(struct elimination *elimination, uint32_t row)
{
	uint32_t next = elimination->next[row], previous = elimination->previous[row];

	if (previous == NONE)
		elimination->bucket[elimination->neighbours[row].nr] = next;
	else
		elimination->next[previous] = next;
	if (next != NONE)
		elimination->previous[next] = previous;
}

/* The neighbours of the eliminated @row become neighbours of @other. */
static bool merge(struct elimination *elimination, uint32_t other, uint32_t row)
{
	struct neighbours *a = &elimination->neighbours[other];
	const struct neighbours *b = &elimination->neighbours[row];
	uint32_t i = 0, k = 0, nr = 0;

	elimination->work += a->nr + b->nr;
	if (elimination->work > MAX_WORK) {
		elimination->too_dense = true;
		return false;
	}
	while (i < a->nr || k < b->nr) {
		uint32_t one;

		if (k == b->nr || (i < a->nr && a->row[i] <= b->row[k])) {
			k += k < b->nr && a->row[i] == b->row[k];
			one = a->row[i++];
		} else {
			one = b->row[k++];
		}
		if (one != row && one != other)
			elimination->merged[nr++] = one;
	}
	if (!reserve(a, nr))
		return false;
	memcpy(a->row, elimination->merged, nr * sizeof(*a->row));
	a->nr = nr;
	return true;
}

static bool eliminate(struct elimination *elimination)
{
	struct cholesky *cholesky = elimination->cholesky;
	uint32_t degree = 0;

	for (uint32_t turn = 0; turn < cholesky->nr; turn++) {
		struct neighbours *list;
		uint32_t row;

		while (elimination->bucket[degree] == NONE)
			degree++;
		row = elimination->bucket[degree];
		list = &elimination->neighbours[row];
		bucket_remove(elimination, row);
		elimination->order[turn] = row;
		cholesky->place[row] = turn;
		cholesky->nr_entries += list->nr;
		if (cholesky->nr_entries > MAX_ENTRIES) {
			elimination->too_dense = true;
			return false;
		}
		for (uint32_t i = 0; i < list->nr; i++) {
			bucket_remove(elimination, list->row[i]);
			if (!merge(elimination, list->row[i], row))
				return false;
			bucket_add(elimination, list->row[i]);
			if (elimination->neighbours[list->row[i]].nr < degree)
				degree = elimination->neighbours[list->row[i]].nr;
		}
	}
	return true;
}

static bool take_places(struct elimination *elimination)
{
	struct cholesky *cholesky = elimination->cholesky;
	size_t at = 0;

	cholesky->start = calloc(cholesky->nr + 1, sizeof(*cholesky->start));
	cholesky->index = calloc(cholesky->nr_entries + 1, sizeof(*cholesky->index));
	cholesky->value = calloc(cholesky->nr_entries + 1, sizeof(*cholesky->value));
	cholesky->diagonal = calloc(cholesky->nr + 1, sizeof(*cholesky->diagonal));
	if (!cholesky->start || !cholesky->index || !cholesky->value || !cholesky->diagonal)
		return false;
	for (size_t turn = 0; turn < cholesky->nr; turn++) {
		const struct neighbours *list = &elimination->neighbours[elimination->order[turn]];

		cholesky->start[turn] = (uint32_t)at;
		for (uint32_t i = 0; i < list->nr; i++)
			cholesky->index[at + i] = cholesky->place[list->row[i]];
		qsort(cholesky->index + at, list->nr, sizeof(*cholesky->index), by_number);
		at += list->nr;
	}
	cholesky->start[cholesky->nr] = (uint32_t)at;
	return true;
}

static void elimination_deinit(struct elimination *elimination)
{
	for (size_t i = 0; elimination->neighbours && i < elimination->cholesky->nr; i++)
		free(elimination->neighbours[i].row);
	free(elimination->neighbours);
	free(elimination->bucket);
	free(elimination->next);
	free(elimination->previous);
	free(elimination->merged);
	free(elimination->order);
}

struct swlbr_error *cholesky_init(struct cholesky *cholesky, size_t nr, size_t nr_lists,
				  const uint32_t *list_start, const uint32_t *rows)
{
	struct elimination elimination = { .cholesky = cholesky };
	bool done;

	*cholesky = (struct cholesky){ .nr = nr };
	cholesky->place = calloc(nr + 1, sizeof(*cholesky->place));
	elimination.neighbours = calloc(nr + 1, sizeof(*elimination.neighbours));
	elimination.bucket = calloc(nr + 1, sizeof(*elimination.bucket));
	elimination.next = calloc(nr + 1, sizeof(*elimination.next));
	elimination.previous = calloc(nr + 1, sizeof(*elimination.previous));
	elimination.merged = calloc(2 * nr + 1, sizeof(*elimination.merged));
	elimination.order = calloc(nr + 1, sizeof(*elimination.order));
	done = cholesky->place && elimination.neighbours && elimination.bucket &&
	       elimination.next && elimination.previous && elimination.merged &&
	       elimination.order && connect(&elimination, nr_lists, list_start, rows);
	if (done) {
		memset(elimination.bucket, 0xff, (nr + 1) * sizeof(*elimination.bucket));
		for (uint32_t i = 0; i < nr; i++)
			bucket_add(&elimination, i);
		done = eliminate(&elimination) && take_places(&elimination);
	}
	elimination_deinit(&elimination);
	if (done)
		return NULL;
	if (elimination.too_dense)
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "a system of %zu equations is too dense", nr);
	return swlbr_error_no_memory();
}

void cholesky_deinit(struct cholesky *cholesky)
{
	free(cholesky->place);
	free(cholesky->start);
	free(cholesky->index);
	free(cholesky->value);
	free(cholesky->diagonal);
}

void cholesky_clear(struct cholesky *cholesky)
{
	memset(cholesky->value, 0, cholesky->nr_entries * sizeof(*cholesky->value));
	memset(cholesky->diagonal, 0, cholesky->nr * sizeof(*cholesky->diagonal));
}

void cholesky_add(struct cholesky *cholesky, uint32_t a, uint32_t b, double value)
{
	uint32_t column = cholesky->place[a], row = cholesky->place[b];
	uint32_t low, high;

	if (a == b) {
		cholesky->diagonal[column] += value;
		return;
	}
	if (column > row) {
		uint32_t swap = column;

		column = row;
		row = swap;
	}
	low = cholesky->start[column];
	high = cholesky->start[column + 1];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (cholesky->index[middle] < row)
			low = middle + 1;
		else
			high = middle;
	}
	cholesky->value[low] += value;
}

void cholesky_factor(struct cholesky *cholesky)
{
	const uint32_t *index = cholesky->index;
	double *value = cholesky->value;

	for (size_t k = 0; k < cholesky->nr; k++) {
		uint32_t start = cholesky->start[k], end = cholesky->start[k + 1];
		double d = cholesky->diagonal[k];

		if (!(d > 1e-300))
			d = cholesky->diagonal[k] = 1e-300;
		/* What is below in this column is a subset of the columns of its own entries. */
		for (uint32_t i = start; i < end; i++) {
			uint32_t column = index[i], at = cholesky->start[column];
			double factor = value[i] / d;

			if (factor == 0)
				continue;
			cholesky->diagonal[column] -= factor * value[i];
			for (uint32_t m = i + 1; m < end; m++) {
				while (index[at] < index[m])
					at++;
				value[at] -= factor * value[m];
			}
		}
		for (uint32_t i = start; i < end; i++)
			value[i] /= d;
	}
}

void cholesky_solve(const struct cholesky *cholesky, double *vector, double *work)
{
	for (size_t i = 0; i < cholesky->nr; i++)
		work[cholesky->place[i]] = vector[i];
	for (size_t k = 0; k < cholesky->nr; k++) {
		for (uint32_t i = cholesky->start[k]; i < cholesky->start[k + 1]; i++)
			work[cholesky->index[i]] -= cholesky->value[i] * work[k];
	}
	for (size_t k = cholesky->nr; k-- > 0;) {
		work[k] /= cholesky->diagonal[k];
		for (uint32_t i = cholesky->start[k]; i < cholesky->start[k + 1]; i++)
			work[k] -= cholesky->value[i] * work[cholesky->index[i]];
	}
	for (size_t i = 0; i < cholesky->nr; i++)
		vector[i] = work[cholesky->place[i]];
}
