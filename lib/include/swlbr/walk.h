/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_WALK_H
#define SWLBR_WALK_H

#include <swlbr/branch_map.h>
#include <swlbr/edge_profile.h>
#include <swlbr/flow.h>
#include <swlbr/perfdata_writer.h>

/** One branch or range of a flow, in ELF virtual addresses. */
struct swlbr_flow_arc {
	enum swlbr_edge_kind kind;
	uint64_t from, to;
	uint64_t nr;
	bool exact; /* not a guess */
	/* A call from code without counters, or an exception that lands: @from is 0. */
	bool from_outside;
};

/**
 * Give the taken branches and the fall-through ranges of @flow to @add, one by one. Ranges are
 * maximal: they begin at the target of a taken branch and end at the next one. Calls of functions
 * without counters, and what such functions do, are left out. Stops at the first error of @add.
 */
struct swlbr_error *swlbr_flow_arcs(
	const struct swlbr_branch_map *map, const struct swlbr_flow_result *flow,
	struct swlbr_error *(*add)(void *context, const struct swlbr_flow_arc *arc), void *context);

/** The same as a recording's swlbr:arc has it. */
struct swlbr_arc_row swlbr_flow_arc_row(const struct swlbr_flow_arc *arc);

/** Executions of taken branches: all, and those whose counts are not a guess. */
struct swlbr_flow_share {
	uint64_t branches, exact;
};

/**
 * Add the arcs of @flow to @edges, of the map's binary; @path is a hint where that is. What is
 * exact of them is added to @share.
 */
struct swlbr_error *swlbr_flow_edges(const struct swlbr_branch_map *map,
				     const struct swlbr_flow_result *flow, const char *path,
				     struct swlbr_edge_profile *edges,
				     struct swlbr_flow_share *share);

/** A taken branch of a walk, in ELF virtual addresses; 0 is an end in code without counters. */
struct swlbr_walk_branch {
	uint64_t from, to;
};

/**
 * Draws branch stacks from flows of one map: walks along its edges, calls and returns paired, in
 * which each edge is taken nearly as often as the flow has it. Choices are made by what is due and by
 * a sequence of chance that is always the same, so equal flows give equal stacks.
 */
struct swlbr_walker;

/** @map is borrowed. Freed by swlbr_walker_destroy(). */
struct swlbr_error *swlbr_walker_create(const struct swlbr_branch_map *map,
					struct swlbr_walker **ret);
/** NULL is fine. */
void swlbr_walker_destroy(struct swlbr_walker *walker);

/** The taken branches of @flow, as far as walks have them. */
double swlbr_walker_branches(const struct swlbr_walker *walker,
			     const struct swlbr_flow_result *flow);

/**
 * What was drawn since the last call has had too much of some branches and too little of others, by
 * what @whole says: let the next stacks make up for it.
 */
void swlbr_walker_settle(struct swlbr_walker *walker, const struct swlbr_flow_result *whole);

/**
 * Give @nr stacks of up to @depth branches (at most 1,024), drawn evenly from @flow, to @emit, newest branch
 * first. Stacks are shorter where the program ends.
 */
struct swlbr_error *swlbr_walk(
	struct swlbr_walker *walker, const struct swlbr_flow_result *flow, uint64_t nr,
	unsigned int depth,
	struct swlbr_error *(*emit)(void *context, size_t nr,
				    const struct swlbr_walk_branch *branches),
	void *context);

#endif
