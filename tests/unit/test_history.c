// SPDX-License-Identifier: GPL-2.0-only
/* What counters grew by in intervals: nothing is lost when intervals are made one. */
#include <string.h>

#include "check.h"
#include "pmu/user/history.h"

#define NR 64

/* The sums by counter, and whether each interval's entries are in order and in time. */
static bool sums(const struct history *history, uint64_t *sum)
{
	const struct history_entry *entry = history->entries;
	uint64_t end = history->start;
	size_t nr = 0;

	memset(sum, 0, NR * sizeof(*sum));
	for (size_t i = 0; i < history->nr_intervals; i++) {
		if (history->intervals[i].end < end)
			return false;
		end = history->intervals[i].end;
		for (size_t k = 0; k < history->intervals[i].nr; k++, entry++, nr++) {
			if (entry->counter >= NR || (k && entry[-1].counter >= entry->counter))
				return false;
			sum[entry->counter] += entry->grew;
		}
	}
	for (size_t k = 0; k < history->nr_open; k++, entry++, nr++)
		sum[entry->counter] += entry->grew;
	return nr == history->nr_entries;
}

static bool snapshot(struct history *history, uint64_t *now, uint64_t time, unsigned int step)
{
	uint64_t old[NR];

	memcpy(old, now, sizeof(old));
	for (unsigned int i = 0; i < NR; i++)
		now[i] += i % step ? 0 : time % 7 + i;
	return fine(history_grow(history, 0, old, now, NR / 2)) &&
	       fine(history_grow(history, NR / 2, old + NR / 2, now + NR / 2, NR / 2)) &&
	       fine(history_end_interval(history, time));
}

static void test_intervals(void)
{
	struct history history = { 0 };
	uint64_t now[NR] = { 0 }, sum[NR], zero[NR] = { 0 }, time = 100;
	bool good = true;

	history_begin(&history, time);
	for (unsigned int i = 0; i < 10000; i++)
		good &= snapshot(&history, now, ++time, 1 + i % 3);
	check(good && history.nr_intervals <= 4096 && history.nr_intervals > 1000,
	      "10,000 intervals become %zu", history.nr_intervals);
	check(sums(&history, sum) && !memcmp(sum, now, sizeof(sum)) &&
		      history.intervals[history.nr_intervals - 1].end == time,
	      "with all that was counted, and up to the last");
	good = fine(history_grow(&history, 0, zero, zero, NR)) &&
	       fine(history_end_interval(&history, time + 1));
	check(good && history.intervals[history.nr_intervals - 1].end == time,
	      "an interval in which nothing ran is none");
	good = fine(history_grow(&history, 0, now, zero, NR)) && !history.nr_open;
	check(good, "counters that were set back have not grown");
	for (size_t max = 48; max; max /= 2) {
		good = fine(history_coarsen(&history, max)) && history.nr_intervals <= max;
		good &= sums(&history, sum) && !memcmp(sum, now, sizeof(sum));
		check(good && history.intervals[history.nr_intervals - 1].end == time,
		      "at most %zu intervals: the same sums", max);
	}
	check(fine(history_coarsen(&history, 0)) && history.nr_intervals == 1,
	      "one interval is the least");
	history_deinit(&history);
}

/* What is under way while intervals are made one stays under way. */
static void test_open(void)
{
	struct history history = { 0 };
	uint64_t now[NR] = { 0 }, sum[NR], old[NR];

	history_begin(&history, 1);
	check(snapshot(&history, now, 2, 1) && snapshot(&history, now, 3, 2), "two intervals");
	memcpy(old, now, sizeof(old));
	now[5] += 9;
	check(fine(history_grow(&history, 0, old, now, NR)) && fine(history_coarsen(&history, 1)) &&
		      history.nr_intervals == 1 && history.nr_open == 1 && sums(&history, sum) &&
		      !memcmp(sum, now, sizeof(sum)),
	      "and one under way: made one, with that beside");
	check(fine(history_end_interval(&history, 4)) && history.nr_intervals == 2 &&
		      sums(&history, sum) && !memcmp(sum, now, sizeof(sum)),
	      "which ends as ever");
	history_deinit(&history);
}

/* 1,048,576 entries are the most. */
static void test_bounds(void)
{
	enum { MANY = 300000 };
	static uint64_t zero[MANY], one[MANY];
	struct history history = { 0 };
	bool good = true;
	size_t before;

	for (size_t i = 0; i < MANY; i++)
		one[i] = 1;
	history_begin(&history, 1);
	for (unsigned int i = 0; i < 20; i++)
		good &= fine(history_grow(&history, 0, zero, one, MANY)) &&
			fine(history_end_interval(&history, 2 + i));
	before = history.nr_entries;
	check(good && !history.given_up && before <= 1 << 20 && history.max_entries <= 1 << 20 &&
		      history.entries[7].grew > 1,
	      "20 intervals of 300,000 counters become %zu", history.nr_intervals);
	good = true;
	for (unsigned int i = 0; i < 5; i++)
		good &= fine(history_grow(&history, (uint64_t)MANY * i, zero, one, MANY));
	check(good && history.given_up && !history.nr_intervals,
	      "one interval of 1,500,000: given up");
	check(fine(history_grow(&history, 0, zero, one, MANY)) &&
		      fine(history_end_interval(&history, 99)) && !history.nr_intervals,
	      "and nothing is kept from then on");
	history_deinit(&history);
}

int main(void)
{
	test_intervals();
	test_open();
	test_bounds();
	return failures != 0;
}
