/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much counters grew between snapshots: what an interval's branch stacks are made of. Memory is
 * bounded: when a history is full, each two neighbouring intervals become one.
 */
#ifndef SWLBR_USER_HISTORY_H
#define SWLBR_USER_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <swlbr/error.h>

struct history_entry {
	uint64_t counter, grew;
};

struct history_interval {
	uint64_t end; /* ns */
	size_t nr;    /* entries, by counter */
};

struct history {
	uint64_t start; /* ns */
	struct history_entry *entries;
	size_t nr_entries, max_entries;
	struct history_interval *intervals;
	size_t nr_intervals, max_intervals;
	size_t nr_open; /* entries of the interval under way */
	bool given_up;	/* one interval alone would fill it: totals have to do */
};

void history_begin(struct history *history, uint64_t now);
void history_deinit(struct history *history);

/* Counters first… were @old and are @new now. */
struct swlbr_error *history_grow(struct history *history, uint64_t first, const uint64_t *old,
				 const uint64_t *new, size_t nr);

/* A snapshot is whole: what grew since the one before is an interval. */
struct swlbr_error *history_end_interval(struct history *history, uint64_t now);

/* Make neighbours one until there are at most @max intervals. */
struct swlbr_error *history_coarsen(struct history *history, size_t max);

#endif
