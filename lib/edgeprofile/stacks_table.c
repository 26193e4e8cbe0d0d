// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Counting branches and ranges. This is where the time goes: a stack is looked at in passes, so
 * that the processor fetches the slots of all its entries at once and not one after the other.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "edgeprofile/stacks.h"

/* The rules of google/autofdo (sample_reader.cc), see enum swlbr_stack_drop. */
#define MAX_RANGE	    (1ULL << 20)
#define MAX_REPEATED_STRIDE 0x1000

#define HUGE_PAGE_SIZE (2 * 1024 * 1024)
/* Tables up to this are in the processor's second-level cache. */
#define CACHED_LOG2 14

/* Multiplication mixes upwards; the tables take the high bits (Fibonacci hashing). */
static inline uint32_t hash_slot(uint64_t from, uint64_t to, unsigned int log2)
{
	return (from * 0x9e3779b97f4a7c15ULL + to) * 0x94d049bb133111ebULL >> (64 - log2);
}

/* The slot that has the branch, or the free one where it belongs. */
static inline struct branch_slot *find_branch(struct branch_slot *slots, unsigned int log2,
					      uint32_t at, uint64_t from, uint64_t to)
{
	while (slots[at].from != from || slots[at].to != to) {
		if (slots[at].from == PLACE_NONE)
			break;
		at = (at + 1) & ((1U << log2) - 1);
	}
	return &slots[at];
}

static inline struct range_slot *find_range(struct range_slot *slots, unsigned int log2,
					    uint32_t at, uint64_t from, uint32_t length)
{
	while (slots[at].from != from || slots[at].length != length) {
		if (slots[at].from == PLACE_NONE)
			break;
		at = (at + 1) & ((1U << log2) - 1);
	}
	return &slots[at];
}

/* Large tables are spread over so many pages that finding these takes time: huge pages help. */
static void *new_slots(size_t size)
{
	void *slots;

	if (size < HUGE_PAGE_SIZE) {
		slots = malloc(size);
	} else {
		slots = aligned_alloc(HUGE_PAGE_SIZE, size);
		if (slots)
			madvise(slots, size, MADV_HUGEPAGE);
	}
	if (slots)
		memset(slots, 0xff, size);
	return slots;
}

#define FIRST_LOG2 12
/* 2^31 slots: 64 GB of branches. */
#define MAX_LOG2 31

static unsigned int next_log2(unsigned int log2, size_t nr)
{
	if (!log2)
		log2 = FIRST_LOG2;
	while (log2 < MAX_LOG2 && nr > ((size_t)1 << log2) / 2)
		log2++;
	return log2;
}

struct swlbr_error *branch_table_reserve(struct branch_table *table, size_t more)
{
	struct branch_table grown = { .log2 = next_log2(table->log2, table->nr + more) };

	if (table->slots && grown.log2 == table->log2) {
		if (table->nr + more >= (size_t)1 << table->log2)
			return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
						  "more than 2 billion distinct branches");
		return NULL;
	}
	grown.slots = new_slots(sizeof(*grown.slots) << grown.log2);
	if (!grown.slots)
		return swlbr_error_no_memory();
	for (size_t i = 0; table->slots && i < (size_t)1 << table->log2; i++) {
		const struct branch_slot *old = &table->slots[i];

		if (old->from != PLACE_NONE)
			*find_branch(grown.slots, grown.log2,
				     hash_slot(old->from, old->to, grown.log2), old->from,
				     old->to) = *old;
	}
	grown.nr = table->nr;
	free(table->slots);
	*table = grown;
	return NULL;
}

struct swlbr_error *range_table_reserve(struct range_table *table, size_t more)
{
	struct range_table grown = { .log2 = next_log2(table->log2, table->nr + more) };

	if (table->slots && grown.log2 == table->log2) {
		if (table->nr + more >= (size_t)1 << table->log2)
			return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
						  "more than 2 billion distinct ranges");
		return NULL;
	}
	grown.slots = new_slots(sizeof(*grown.slots) << grown.log2);
	if (!grown.slots)
		return swlbr_error_no_memory();
	for (size_t i = 0; table->slots && i < (size_t)1 << table->log2; i++) {
		const struct range_slot *old = &table->slots[i];

		if (old->from != PLACE_NONE)
			*find_range(grown.slots, grown.log2,
				    hash_slot(old->from, old->length, grown.log2), old->from,
				    old->length) = *old;
	}
	grown.nr = table->nr;
	free(table->slots);
	*table = grown;
	return NULL;
}

/* Keep what the slot has apart; it begins anew. */
static struct swlbr_error *spill(struct swlbr_stacks *stacks, struct stacks_spill what)
{
	struct stacks_spill *grown =
		reallocarray(stacks->spills, stacks->nr_spills + 1, sizeof(*grown));

	if (!grown)
		return swlbr_error_no_memory();
	stacks->spills = grown;
	grown[stacks->nr_spills++] = what;
	return NULL;
}

static struct swlbr_error *spill_branch(struct swlbr_stacks *stacks, enum swlbr_source source,
					struct branch_slot *slot)
{
	struct swlbr_error *error =
		spill(stacks, (struct stacks_spill){ .branch = *slot, .source = source });

	slot->nr = slot->mispredicted = 0;
	slot->cycles = 0;
	return error;
}

static struct swlbr_error *spill_range(struct swlbr_stacks *stacks, enum swlbr_source source,
				       struct range_slot *slot)
{
	struct stacks_spill what = { .range = true, .source = source };

	what.branch.from = slot->from;
	what.branch.to = slot->from + slot->length;
	what.branch.nr = slot->nr;
	slot->nr = 0;
	return spill(stacks, what);
}

static inline void count_branch(struct branch_table *table, struct branch_slot *slot,
				const struct placed_entry *entry)
{
	if (slot->from == PLACE_NONE) {
		*slot = (struct branch_slot){ .from = entry->from, .to = entry->to };
		table->nr++;
	}
	slot->nr++;
	slot->mispredicted += entry->flags & SWLBR_BRANCH_MISPREDICTED;
	slot->cycles += SWLBR_BRANCH_CYCLES(entry->flags);
}

static struct swlbr_error *count_branches(struct swlbr_stacks *stacks, enum swlbr_source source,
					  const struct placed_entry *entries, size_t nr)
{
	struct branch_table *table = &stacks->counts[source].branches;
	struct swlbr_error *error = branch_table_reserve(table, nr);
	struct branch_slot *slots = table->slots;
	unsigned int log2 = table->log2;
	uint64_t dropped = 0;

	if (error)
		return error;
	for (size_t i = 0; log2 > CACHED_LOG2 && i < nr; i++) {
		stacks->slots[i] = hash_slot(entries[i].from, entries[i].to, log2);
		__builtin_prefetch(&slots[stacks->slots[i]], 1);
	}
	for (size_t i = 0; i < nr; i++) {
		uint64_t from = entries[i].from, to = entries[i].to;
		struct branch_slot *slot;
		uint32_t at;

		if (__builtin_expect(from == PLACE_NONE || to == PLACE_NONE, 0)) {
			dropped++;
			continue;
		}
		at = log2 > CACHED_LOG2 ? stacks->slots[i] : hash_slot(from, to, log2);
		slot = find_branch(slots, log2, at, from, to);
		count_branch(table, slot, &entries[i]);
		if (__builtin_expect(slot->nr == UINT32_MAX, 0)) {
			error = spill_branch(stacks, source, slot);
			if (error)
				return error;
		}
	}
	stacks->stats.branches_kept += nr - dropped;
	return NULL;
}

/* Why the range of two places does not count. */
static enum swlbr_stack_drop range_drop(uint64_t begin, uint64_t end)
{
	if (begin == PLACE_NONE || end == PLACE_NONE)
		return SWLBR_DROP_RANGE_UNMAPPED;
	if (begin >> PLACE_OFFSET_BITS != end >> PLACE_OFFSET_BITS)
		return SWLBR_DROP_RANGE_ELSEWHERE;
	return end < begin ? SWLBR_DROP_RANGE_NEGATIVE : SWLBR_DROP_RANGE_TOO_LONG;
}

static struct swlbr_error *count_ranges(struct swlbr_stacks *stacks, enum swlbr_source source,
					const struct placed_entry *entries, size_t nr)
{
	struct range_table *table = &stacks->counts[source].ranges;
	struct swlbr_error *error = range_table_reserve(table, nr);
	struct range_slot *slots = table->slots;
	unsigned int log2 = table->log2;
	uint64_t dropped = 0;

	if (error)
		return error;
	for (size_t i = 0; log2 > CACHED_LOG2 && i + 1 < nr; i++) {
		uint64_t begin = entries[i + 1].to;

		stacks->slots[i] = hash_slot(begin, (uint32_t)(entries[i].from - begin), log2);
		__builtin_prefetch(&slots[stacks->slots[i]], 1);
	}
	for (size_t i = 0; i + 1 < nr; i++) {
		uint64_t begin = entries[i + 1].to, length = entries[i].from - begin;
		struct range_slot *slot;
		uint32_t at;

		/* No place is next to the end of its 40 bits: lengths tell binaries apart. */
		if (__builtin_expect(length > MAX_RANGE || begin == PLACE_NONE, 0)) {
			stacks->stats.drops[range_drop(begin, entries[i].from)]++;
			dropped++;
			continue;
		}
		at = log2 > CACHED_LOG2 ? stacks->slots[i] : hash_slot(begin, length, log2);
		slot = find_range(slots, log2, at, begin, length);
		if (slot->from == PLACE_NONE) {
			*slot = (struct range_slot){ .from = begin, .length = length };
			table->nr++;
		}
		slot->nr++;
		if (__builtin_expect(slot->nr == UINT32_MAX, 0)) {
			error = spill_range(stacks, source, slot);
			if (error)
				return error;
		}
	}
	stacks->stats.ranges_kept += nr - 1 - dropped;
	return NULL;
}

/*
 * Some processors write the newest entry twice. A tight loop repeats it too, and that is true: only
 * a stride that is no tight loop's tells one from the other.
 */
static size_t repeated_entries(const struct placed_entry *entries, size_t nr)
{
	size_t first = 0;

	while (first + 1 < nr && entries[first].from == entries[first + 1].from &&
	       entries[first].to == entries[first + 1].to && entries[first].from != PLACE_NONE) {
		uint64_t from = entries[first].from, to = entries[first].to;

		if ((from > to ? from - to : to - from) <= MAX_REPEATED_STRIDE)
			break;
		first++;
	}
	return first;
}

struct swlbr_error *stacks_count(struct swlbr_stacks *stacks, enum swlbr_source source,
				 bool with_ranges, size_t nr)
{
	const struct placed_entry *entries = stacks->entries;
	struct swlbr_error *error;
	size_t repeated = 0;

	if (source == SWLBR_SOURCE_HW)
		repeated = repeated_entries(entries, nr);
	stacks->stats.drops[SWLBR_DROP_REPEATED] += repeated;
	entries += repeated;
	nr -= repeated;
	error = count_branches(stacks, source, entries, nr);
	if (error || nr < 2)
		return error;
	stacks->stats.ranges += nr - 1;
	if (with_ranges)
		return count_ranges(stacks, source, entries, nr);
	stacks->stats.drops[SWLBR_DROP_RANGE_FILTERED] += nr - 1;
	return NULL;
}

void stacks_clear_counts(struct swlbr_stacks *stacks)
{
	for (int source = 0; source < SWLBR_SOURCES; source++) {
		free(stacks->counts[source].branches.slots);
		free(stacks->counts[source].ranges.slots);
		stacks->counts[source] = (struct stacks_counts){ 0 };
	}
}

static struct swlbr_error *merge_branches(struct swlbr_stacks *stacks, enum swlbr_source source,
					  const struct branch_table *from)
{
	struct branch_table *to = &stacks->total[source].branches;
	struct swlbr_error *error = branch_table_reserve(to, from->nr);

	for (size_t i = 0; !error && i < (size_t)1 << from->log2; i++) {
		const struct branch_slot *slot = &from->slots[i];
		struct branch_slot *sum;

		if (slot->from == PLACE_NONE)
			continue;
		sum = find_branch(to->slots, to->log2, hash_slot(slot->from, slot->to, to->log2),
				  slot->from, slot->to);
		if (sum->from == PLACE_NONE) {
			*sum = *slot;
			to->nr++;
			continue;
		}
		if (slot->nr >= UINT32_MAX - sum->nr)
			error = spill_branch(stacks, source, sum);
		sum->nr += slot->nr;
		sum->mispredicted += slot->mispredicted;
		sum->cycles += slot->cycles;
	}
	return error;
}

static struct swlbr_error *merge_ranges(struct swlbr_stacks *stacks, enum swlbr_source source,
					const struct range_table *from)
{
	struct range_table *to = &stacks->total[source].ranges;
	struct swlbr_error *error = range_table_reserve(to, from->nr);

	for (size_t i = 0; !error && i < (size_t)1 << from->log2; i++) {
		const struct range_slot *slot = &from->slots[i];
		struct range_slot *sum;

		if (slot->from == PLACE_NONE)
			continue;
		sum = find_range(to->slots, to->log2, hash_slot(slot->from, slot->length, to->log2),
				 slot->from, slot->length);
		if (sum->from == PLACE_NONE) {
			*sum = *slot;
			to->nr++;
			continue;
		}
		if (slot->nr >= UINT32_MAX - sum->nr)
			error = spill_range(stacks, source, sum);
		sum->nr += slot->nr;
	}
	return error;
}

struct swlbr_error *stacks_add_counts(struct swlbr_stacks *stacks)
{
	struct swlbr_error *error = NULL;

	for (int source = 0; !error && source < SWLBR_SOURCES; source++) {
		struct stacks_counts *counts = &stacks->counts[source];
		struct stacks_counts *total = &stacks->total[source];

		if (stacks->weight == 1 && !total->branches.nr && !total->ranges.nr) {
			struct stacks_counts empty = *total;

			*total = *counts;
			*counts = empty;
			continue;
		}
		/* Added so often: counts are of 32 bits, and spill as they grow. */
		for (unsigned int i = 0; !error && i < stacks->weight; i++) {
			if (counts->branches.nr)
				error = merge_branches(stacks, source, &counts->branches);
			if (!error && counts->ranges.nr)
				error = merge_ranges(stacks, source, &counts->ranges);
		}
	}
	stacks_clear_counts(stacks);
	return error;
}
