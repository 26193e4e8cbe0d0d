/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_PROFILE_SUMMARY_H
#define SWLBR_PROFILE_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

#include <swlbr/error.h>

/** What is counted for the summary of an indexed profile. Zeroed is empty. */
struct profile_summary {
	uint64_t *counts; /* of all functions, for the cutoffs */
	size_t nr, max;
	uint64_t nr_functions, total, max_count, max_function_count, max_internal_count;
};

struct swlbr_error *profile_summary_add(struct profile_summary *summary, const uint64_t *counts,
					size_t nr);

/** Words of an encoded summary. */
size_t profile_summary_words(void);

/** The words of the summary into @words, profile_summary_words() of them. Sorts @summary. */
void profile_summary_encode(struct profile_summary *summary, uint64_t *words);

void profile_summary_deinit(struct profile_summary *summary);

#endif
