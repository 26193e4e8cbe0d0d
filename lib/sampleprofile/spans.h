/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_SAMPLEPROFILE_SPANS_H
#define SWLBR_SAMPLEPROFILE_SPANS_H

#include <stddef.h>
#include <stdint.h>

#include <swlbr/error.h>

/** Code from @begin up to @end that ran @count times. */
struct span {
	uint64_t begin, end, count;
};

/** Spans that may overlap and be in any order. Zeroed is empty. */
struct spans {
	struct span *entries;
	size_t nr, max;
};

/** Add a span; one of a count of 0 says that the code did not run as far as others do not. */
struct swlbr_error *spans_add(struct spans *spans, uint64_t begin, uint64_t end, uint64_t count);
void spans_free(struct spans *spans);

/**
 * Make @spans disjoint and sorted: each stretch of code gets the sum of all that covered it, and
 * code that none covered is not there.
 */
struct swlbr_error *spans_sum(struct spans *spans);

#endif
