// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "history.h"

#define MAX_ENTRIES   (1 << 20) /* 16 MB */
#define MAX_INTERVALS 4096

void history_begin(struct history *history, uint64_t now)
{
	history_deinit(history);
	history->start = now;
}

void history_deinit(struct history *history)
{
	free(history->entries);
	free(history->intervals);
	*history = (struct history){ 0 };
}

static void give_up(struct history *history)
{
	history_begin(history, history->start);
	history->given_up = true;
}

/* Two runs of entries, each by counter, into one at @to. Returns how many that has. */
static size_t merge(const struct history_entry *a, size_t nr_a, const struct history_entry *b,
		    size_t nr_b, struct history_entry *to)
{
	size_t i = 0, k = 0, nr = 0;

	while (i < nr_a || k < nr_b) {
		if (k == nr_b || (i < nr_a && a[i].counter < b[k].counter)) {
			to[nr++] = a[i++];
		} else if (i == nr_a || b[k].counter < a[i].counter) {
			to[nr++] = b[k++];
		} else {
			to[nr] = a[i++];
			to[nr++].grew += b[k++].grew;
		}
	}
	return nr;
}

/* Each two neighbouring intervals become one; what is under way stays. */
static struct swlbr_error *halve(struct history *history)
{
	struct history_entry *entries = calloc(history->max_entries + 1, sizeof(*entries));
	size_t from = 0, to = 0, kept = 0;

	if (!entries)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < history->nr_intervals; i += 2) {
		struct history_interval one = history->intervals[i], other = { 0 };

		if (i + 1 < history->nr_intervals)
			other = history->intervals[i + 1];
		history->intervals[kept].end = other.end ? other.end : one.end;
		history->intervals[kept].nr = merge(history->entries + from, one.nr,
						    history->entries + from + one.nr, other.nr,
						    entries + to);
		from += one.nr + other.nr;
		to += history->intervals[kept++].nr;
	}
	memcpy(entries + to, history->entries + from, history->nr_open * sizeof(*entries));
	free(history->entries);
	history->entries = entries;
	history->nr_entries = to + history->nr_open;
	history->nr_intervals = kept;
	return NULL;
}

static struct swlbr_error *reserve(struct history *history, size_t nr)
{
	struct history_entry *grown;
	size_t max = history->max_entries ? history->max_entries : 512;

	if (history->nr_entries + nr <= history->max_entries)
		return NULL;
	while (history->nr_entries + nr > MAX_ENTRIES) {
		size_t before = history->nr_entries;
		struct swlbr_error *error = NULL;

		if (history->nr_intervals < 2) {
			give_up(history);
			return NULL;
		}
		error = halve(history);
		if (error)
			return error;
		/* Not worth it if the same counters are not busy in both. */
		if (history->nr_entries > before - before / 8 && history->nr_intervals < 2)
			give_up(history);
	}
	while (max < history->nr_entries + nr)
		max *= 2;
	grown = reallocarray(history->entries, max, sizeof(*grown));
	if (!grown)
		return swlbr_error_no_memory();
	history->entries = grown;
	history->max_entries = max;
	return NULL;
}

struct swlbr_error *history_grow(struct history *history, uint64_t first, const uint64_t *old,
				 const uint64_t *new, size_t nr)
{
	struct swlbr_error *error;

	if (history->given_up)
		return NULL;
	error = reserve(history, nr);
	if (error || history->given_up)
		return error;
	for (size_t i = 0; i < nr; i++) {
		if (new[i] <= old[i]) /* the same, or set back */
			continue;
		history->entries[history->nr_entries++] =
			(struct history_entry){ first + i, new[i] - old[i] };
		history->nr_open++;
	}
	return NULL;
}

struct swlbr_error *history_end_interval(struct history *history, uint64_t now)
{
	struct history_interval *grown;

	if (history->given_up || !history->nr_open)
		return NULL;
	if (history->nr_intervals == MAX_INTERVALS) {
		struct swlbr_error *error = halve(history);

		if (error)
			return error;
	}
	grown = array_grow(history->intervals, history->nr_intervals, &history->max_intervals,
			   sizeof(*grown));
	if (!grown)
		return swlbr_error_no_memory();
	history->intervals = grown;
	history->intervals[history->nr_intervals++] =
		(struct history_interval){ .end = now, .nr = history->nr_open };
	history->nr_open = 0;
	return NULL;
}

struct swlbr_error *history_coarsen(struct history *history, size_t max)
{
	struct swlbr_error *error = NULL;

	while (!error && history->nr_intervals > max && history->nr_intervals > 1)
		error = halve(history);
	return error;
}
