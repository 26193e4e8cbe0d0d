// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Branch stacks being summed: making, asking, and the names of what is dropped. */
#include <stdlib.h>

#include "edgeprofile/stacks.h"

static const struct {
	const char *name, *text;
} drops[SWLBR_DROPS] = {
	[SWLBR_DROP_WRONG_PATH] = { "wrong_path", "entries of mispredicted paths" },
	[SWLBR_DROP_REPEATED] = { "repeated", "newest entries written twice" },
	[SWLBR_DROP_UNMAPPED] = { "unmapped", "entries in no known binary" },
	[SWLBR_DROP_NO_ADDRESS] = { "no_address", "entries with an end at address 0" },
	[SWLBR_DROP_NO_COUNTERS] = { "no_counters",
				     "entries with an end in code without counters" },
	[SWLBR_DROP_RANGE_UNMAPPED] = { "range_unmapped", "ranges with an end in no known binary" },
	[SWLBR_DROP_RANGE_NEGATIVE] = { "range_negative", "ranges that end before they begin" },
	[SWLBR_DROP_RANGE_TOO_LONG] = { "range_too_long", "ranges of more than 1 MiB" },
	[SWLBR_DROP_RANGE_ELSEWHERE] = { "range_elsewhere", "ranges from one binary into another" },
	[SWLBR_DROP_RANGE_FILTERED] = { "range_filtered", "ranges of stacks with gaps" },
};

const char *swlbr_stack_drop_name(enum swlbr_stack_drop drop)
{
	return drops[drop].name;
}

const char *swlbr_stack_drop_text(enum swlbr_stack_drop drop)
{
	return drops[drop].text;
}

struct swlbr_error *swlbr_stacks_create(const struct swlbr_stacks_filter *filter,
					struct swlbr_stacks **ret)
{
	struct swlbr_stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return swlbr_error_no_memory();
	if (filter)
		stacks->filter = *filter;
	stacks->weight = 1;
	if (!stacks->filter.time_end)
		stacks->filter.time_end = UINT64_MAX;
	*ret = stacks;
	return NULL;
}

void swlbr_stacks_destroy(struct swlbr_stacks *stacks)
{
	if (!stacks)
		return;
	for (int source = 0; source < SWLBR_SOURCES; source++) {
		free(stacks->counts[source].branches.slots);
		free(stacks->counts[source].ranges.slots);
		free(stacks->total[source].branches.slots);
		free(stacks->total[source].ranges.slots);
	}
	stacks_free_mappings(stacks);
	stacks_free_binaries(stacks);
	free(stacks->spills);
	free(stacks);
}

struct swlbr_error *swlbr_stacks_set_weight(struct swlbr_stacks *stacks, unsigned int weight)
{
	struct swlbr_error *error = stacks_add_counts(stacks);

	stacks->weight = weight;
	return error;
}

const struct swlbr_stacks_stats *swlbr_stacks_get_stats(const struct swlbr_stacks *stacks)
{
	return &stacks->stats;
}

struct swlbr_error *swlbr_stacks_add_binary(struct swlbr_stacks *stacks, const char *path,
					    const struct swlbr_build_id *build_id,
					    uint32_t *index_ret)
{
	return stacks_binary(stacks, path, build_id, BINARY_FILE, index_ret);
}

static uint64_t place_of(const struct swlbr_stack_place *place)
{
	if (place->binary == SWLBR_NO_BINARY || place->offset > PLACE_OFFSET_MASK)
		return PLACE_NONE;
	return (uint64_t)place->binary << PLACE_OFFSET_BITS | place->offset;
}

struct swlbr_error *swlbr_stacks_add(struct swlbr_stacks *stacks, enum swlbr_source source,
				     size_t nr, const struct swlbr_stack_entry *entries)
{
	struct swlbr_stacks_stats *stats = &stacks->stats;
	size_t kept = 0;

	if (nr > MAX_STACK)
		nr = MAX_STACK;
	stats->stacks += nr != 0;
	stats->empty_stacks += nr == 0;
	stats->entries += nr;
	for (size_t i = 0; i < nr; i++) {
		struct placed_entry *entry = &stacks->entries[kept];

		if (SWLBR_BRANCH_SPEC(entries[i].flags) == SWLBR_BRANCH_WRONG_PATH) {
			stats->drops[SWLBR_DROP_WRONG_PATH]++;
			continue;
		}
		entry->from = place_of(&entries[i].from);
		entry->to = place_of(&entries[i].to);
		entry->flags = entries[i].flags;
		stats->drops[SWLBR_DROP_UNMAPPED] += entry->from == PLACE_NONE ||
						     entry->to == PLACE_NONE;
		kept++;
	}
	return stacks_count(stacks, source, true, kept);
}
