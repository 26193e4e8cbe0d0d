// SPDX-License-Identifier: GPL-2.0-only
/* Counters and branch stacks side by side. */
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "convert.h"

/*
 * Of one binary counters are exact where stacks are samples. Tables keep all rows, since they tell
 * the source of each.
 */
static enum swlbr_prefer prefer_of(const struct convert *convert)
{
	switch (convert->prefer) {
	case CONVERT_PREFER_SUM:
		return SWLBR_PREFER_SUM;
	case CONVERT_PREFER_HW:
		return SWLBR_PREFER_HW;
	default:
		return SWLBR_PREFER_SW;
	}
}

/* What a count stands for, where all of the source's are of stacks with a period. */
static void find_known(const struct convert *convert, struct swlbr_scale known[SWLBR_SOURCES])
{
	const struct swlbr_stacks_stats *stats = swlbr_stacks_get_stats(convert->stacks);

	for (int source = 0; source < SWLBR_SOURCES; source++)
		if (!convert->has_rows && !stats->other_entries[source])
			known[source] = (struct swlbr_scale){ stats->taken[source],
							      stats->taken_entries[source] };
}

static bool is_table(const struct convert_format *format)
{
	return !strcmp(format->name, "arcs") || !strcmp(format->name, "json");
}

struct swlbr_error *convert_combine(struct convert *convert, struct swlbr_edge_profile *edges,
				    struct swlbr_edge_profile *combined)
{
	struct swlbr_scale known[SWLBR_SOURCES] = { 0 };

	if (convert->prefer == CONVERT_PREFER_DEFAULT && is_table(convert->format))
		return swlbr_edge_profile_merge(combined, edges, 1);
	find_known(convert, known);
	return swlbr_edge_profile_combine(edges, prefer_of(convert), known, combined,
					  &convert->combination);
}

static double percent(uint64_t part, double whole)
{
	return whole > 0 ? 100.0 * (double)part / whole : 0;
}

void convert_combine_summary(const struct convert *convert)
{
	static const char *const names[] = { "sum", "sw", "hw" };
	static const char *const from[] = { "none", "from the branches that both saw",
					    "from period and depth" };
	const struct swlbr_combination *result = &convert->combination;
	double whole =
		(double)result->from_both + (double)result->from_sw + (double)result->from_hw;

	if (!result->both || convert->by_source)
		return;
	fprintf(stderr,
		"[   software and hardware side by side (--prefer %s): of the taken branches %.1f %% seen by both, %.1f %% only by counters, %.1f %% only by stacks; %llu ranges of code known better left out ]\n",
		names[prefer_of(convert)], percent(result->from_both, whole),
		percent(result->from_sw, whole), percent(result->from_hw, whole),
		(unsigned long long)result->ranges_left_out);
	for (int source = 0; source < SWLBR_SOURCES; source++) {
		struct swlbr_scale scale = result->scale[source];

		if (scale.den)
			fprintf(stderr, "[   a count of %s is %.6g executions, %s ]\n",
				swlbr_source_name(source), (double)scale.num / (double)scale.den,
				from[result->scale_from[source]]);
	}
	if (!result->shared)
		cmd_warn("no branch was seen by counters and by stacks: are they of one build?");
}
