// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exact counts: the runs of a thread, each once. The table is in the lane; the hash table of indices
 * into it (open addressing, linear probing, at most half full) is the thread's own, so there are no
 * locks and no count is lost.
 */
#include <stdlib.h>

#include "plugin.h"

static struct lane_run *runs_of(struct lane *lane)
{
	return (struct lane_run *)((uint8_t *)lane + LANE_HEADER_SIZE + lane->ring_size);
}

/* Multiplication mixes upwards; the table takes the high bits (Fibonacci hashing). */
static size_t slot_of(const struct lane_writer *writer, uint64_t start, uint64_t last, uint64_t to)
{
	uint64_t hash = start * 0x9e3779b97f4a7c15ULL;

	hash = (hash ^ hash >> 29 ^ last) * 0xbf58476d1ce4e5b9ULL;
	hash = (hash ^ hash >> 32 ^ to) * 0x94d049bb133111ebULL;
	return hash >> (64 - writer->slots_log2);
}

/* The slot that has the run, or the free one where it belongs. */
static uint32_t *find_slot(const struct lane_writer *writer, uint64_t start, uint64_t last,
			   uint64_t to)
{
	const struct lane_run *runs = runs_of(writer->lane);
	size_t mask = ((size_t)1 << writer->slots_log2) - 1;
	size_t at = slot_of(writer, start, last, to);

	for (; writer->slots[at]; at = (at + 1) & mask) {
		const struct lane_run *run = &runs[writer->slots[at] - 1];

		if (run->start == start && run->last == last && run->to == to)
			break;
	}
	return &writer->slots[at];
}

static bool grow(struct lane_writer *writer)
{
	unsigned int log2 = writer->slots ? writer->slots_log2 + 1 : 12;
	uint32_t *slots = calloc((size_t)1 << log2, sizeof(*slots));
	const struct lane_run *runs = runs_of(writer->lane);

	if (!slots)
		return false;
	free(writer->slots);
	writer->slots = slots;
	writer->slots_log2 = log2;
	for (uint32_t i = 0; i < writer->lane->nr_runs; i++)
		*find_slot(writer, runs[i].start, runs[i].last, runs[i].to) = i + 1;
	return true;
}

void counts_add(struct lane_writer *writer, uint64_t start, uint64_t last, uint64_t to)
{
	struct lane *lane = writer->lane;
	uint32_t *slot, nr;

	if (!lane)
		return;
	nr = lane->nr_runs;
	if ((!writer->slots || nr >= ((size_t)1 << writer->slots_log2) / 2) && !grow(writer)) {
		lane->lost_runs++;
		return;
	}
	slot = find_slot(writer, start, last, to);
	if (*slot) {
		runs_of(lane)[*slot - 1].nr++;
	} else if (nr == lane->max_runs) {
		lane->lost_runs++;
	} else {
		runs_of(lane)[nr] = (struct lane_run){ start, last, to, 1 };
		*slot = nr + 1;
		__atomic_store_n(&lane->nr_runs, nr + 1, __ATOMIC_RELEASE);
	}
}
