// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The summary of an indexed profile: how many counters make up which share of all executions. From
 * it a compiler tells hot from cold. After ProfileSummaryBuilder.cpp (InstrProfSummaryBuilder).
 */
#include <stdlib.h>
#include <string.h>

#include "profile/llvm_profile_format.h"
#include "profile/summary.h"

struct swlbr_error *profile_summary_add(struct profile_summary *summary, const uint64_t *counts,
					size_t nr)
{
	if (nr > summary->max - summary->nr) {
		size_t max = 2 * (summary->max + nr);
		uint64_t *grown = reallocarray(summary->counts, max, sizeof(*grown));

		if (!grown)
			return swlbr_error_no_memory();
		summary->counts = grown;
		summary->max = max;
	}
	summary->nr_functions++;
	for (size_t i = 0; i < nr; i++) {
		uint64_t *max = i ? &summary->max_internal_count : &summary->max_function_count;

		if (counts[i] > *max)
			*max = counts[i];
		if (counts[i] > summary->max_count)
			summary->max_count = counts[i];
		summary->total += counts[i]; /* wraps, as LLVM's does */
		summary->counts[summary->nr++] = counts[i];
	}
	return NULL;
}

size_t profile_summary_words(void)
{
	return 2 + SUMMARY_FIELDS + 3 * SUMMARY_CUTOFFS;
}

static int highest_first(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a < *b) - (*a > *b);
}

void profile_summary_encode(struct profile_summary *summary, uint64_t *words)
{
	uint64_t *cutoff = words + 2 + SUMMARY_FIELDS, sum = 0, count = 0;
	size_t seen = 0;

	words[0] = SUMMARY_FIELDS;
	words[1] = SUMMARY_CUTOFFS;
	words += 2;
	words[SUMMARY_NR_FUNCTIONS] = summary->nr_functions;
	words[SUMMARY_NR_COUNTS] = summary->nr;
	words[SUMMARY_MAX_FUNCTION_COUNT] = summary->max_function_count;
	words[SUMMARY_MAX_COUNT] = summary->max_count;
	words[SUMMARY_MAX_INTERNAL_COUNT] = summary->max_internal_count;
	words[SUMMARY_TOTAL_COUNT] = summary->total;
	if (summary->nr)
		qsort(summary->counts, summary->nr, sizeof(*summary->counts), highest_first);
	for (size_t i = 0; i < SUMMARY_CUTOFFS; i++) {
		uint64_t wanted = (uint64_t)((unsigned __int128)summary->total *
					     summary_cutoffs[i] / SUMMARY_SCALE);

		/* Equal counts go together. */
		while (sum < wanted && seen < summary->nr) {
			count = summary->counts[seen];
			for (; seen < summary->nr && summary->counts[seen] == count; seen++)
				sum += count;
		}
		*cutoff++ = summary_cutoffs[i];
		*cutoff++ = count;
		*cutoff++ = seen;
	}
}

void profile_summary_deinit(struct profile_summary *summary)
{
	free(summary->counts);
	*summary = (struct profile_summary){ 0 };
}
