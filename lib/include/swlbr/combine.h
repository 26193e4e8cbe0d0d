/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_COMBINE_H
#define SWLBR_COMBINE_H

#include <stdbool.h>
#include <stdint.h>

#include <swlbr/edge_profile.h>

/**
 * Software and hardware side by side. Counters count executions, branch stacks are samples of them:
 * before they are in one profile, those of the stacks are scaled to executions. Emulated branches
 * are taken as a hardware's.
 */
enum swlbr_prefer {
	SWLBR_PREFER_SUM, /* both, added */
	SWLBR_PREFER_SW,  /* what both saw is the counters' */
	SWLBR_PREFER_HW,  /* what both saw is the stacks' */
};

/** A count of a source stands for num / den executions. */
struct swlbr_scale {
	uint64_t num, den; /* den 0: not known */
};

/** Where the scale of a source is from. */
enum swlbr_scale_from {
	SWLBR_SCALE_NONE,   /* counts are as they were */
	SWLBR_SCALE_SHARED, /* what the branches that both saw add up to */
	SWLBR_SCALE_PERIOD, /* the sampling period and the depth of the stacks */
};

/**
 * struct swlbr_combination - what came of it
 * @both: there were counts of counters, and others
 * @shared: distinct branches that both saw
 * @from_both, @from_sw, @from_hw: taken branches of the result that both saw, only counters, and
 *	only stacks; executions
 * @ranges_left_out: distinct ranges of the side that is not preferred, of code that the other saw
 */
struct swlbr_combination {
	bool both;
	struct swlbr_scale scale[SWLBR_SOURCES];
	enum swlbr_scale_from scale_from[SWLBR_SOURCES];
	uint64_t shared;
	uint64_t from_both, from_sw, from_hw;
	uint64_t ranges_left_out;
};

/**
 * Combine the sources of @profile into the empty @combined. @known: what counts of each source stand
 * for, as far as periods tell; may be NULL.
 *
 * The scale of a source for SWLBR_PREFER_SUM is that of @known, since a longer recording shall count
 * more; and where that is not known, or for the others, which need the two sides to be of one amount
 * of work, that of the branches which counters saw too.
 *
 * What only one side saw comes from it: a branch by its two ends, and a range if some of its code is
 * in no range of the preferred side (the two sides cut the same code into other ranges, so that one
 * more range of code that is known would count it twice). Mispredicts and cycles are a hardware's,
 * also of branches whose number is the counters': as many of each execution. With one side alone
 * @combined is @profile.
 */
struct swlbr_error *swlbr_edge_profile_combine(struct swlbr_edge_profile *profile,
					       enum swlbr_prefer prefer,
					       const struct swlbr_scale known[SWLBR_SOURCES],
					       struct swlbr_edge_profile *combined,
					       struct swlbr_combination *ret);

#endif
