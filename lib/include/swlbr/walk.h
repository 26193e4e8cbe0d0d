/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_WALK_H
#define SWLBR_WALK_H

#include <swlbr/branch_map.h>
#include <swlbr/edge_profile.h>
#include <swlbr/flow.h>

/** One branch or range of a flow, in ELF virtual addresses. */
struct swlbr_flow_arc {
	enum swlbr_edge_kind kind;
	uint64_t from, to;
	uint64_t nr;
	bool exact;	   /* not a guess */
	bool from_outside; /* a call from code without counters: @from is 0 */
};

/**
 * Give the taken branches and the fall-through ranges of @flow to @add, one by one. Ranges are
 * maximal: they begin at the target of a taken branch and end at the next one. Calls of functions
 * without counters, and what such functions do, are left out. Stops at the first error of @add.
 */
struct swlbr_error *swlbr_flow_arcs(
	const struct swlbr_branch_map *map, const struct swlbr_flow_result *flow,
	struct swlbr_error *(*add)(void *context, const struct swlbr_flow_arc *arc), void *context);

/** Add the arcs of @flow to @edges, of the map's binary; @path is a hint where that is. */
struct swlbr_error *swlbr_flow_edges(const struct swlbr_branch_map *map,
				     const struct swlbr_flow_result *flow, const char *path,
				     struct swlbr_edge_profile *edges);

#endif
