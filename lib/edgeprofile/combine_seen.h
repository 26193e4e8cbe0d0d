/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_EDGEPROFILE_COMBINE_SEEN_H
#define SWLBR_EDGEPROFILE_COMBINE_SEEN_H

#include <swlbr/edge_profile.h>

/** Code that ran: from the first to the last instruction of ranges that overlap. */
struct stretch {
	uint32_t binary, chain;
	uint64_t low, high;
};

/**
 * The code in the ranges of one side, by binary and address. Stretches between which nothing but
 * the rest of an instruction can be are of one chain.
 */
struct seen {
	struct stretch *stretches;
	size_t nr;
};

/** Of the sorted @edges those of counters, or with @sw false the others. */
struct swlbr_error *seen_create(const struct swlbr_edge *edges, size_t nr, bool sw,
				struct seen *ret);
void seen_free(struct seen *seen);

/** Is all of @range, which begins and ends in one binary, in code of @seen? */
bool seen_whole(const struct seen *seen, const struct swlbr_edge *range);

#endif
