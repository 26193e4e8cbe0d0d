/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_FLOW_H
#define SWLBR_FLOW_H

#include <swlbr/branch_map.h>

/** The equations of a branch map, ready to be solved for any counter values. */
struct swlbr_flow;

/** An indirect call's target as the value profile has it. */
struct swlbr_flow_target {
	uint32_t function, site; /* data record, and value site in it */
	uint64_t vaddr;		 /* ELF virtual address of the target */
	uint64_t nr;
};

/** How often an indirect call has called a function. */
struct swlbr_flow_call {
	uint32_t block, function;
	double nr;
	bool exact;
};

/** What the counters of an interval say of the map's edges and blocks; counts are executions. */
struct swlbr_flow_result {
	double *edge;	 /* per edge of the map */
	double *block;	 /* per block */
	double *entry;	 /* per function: how often it was called */
	double *outside; /* per function: of these, how often by code that has no counters */
	struct swlbr_flow_call *calls; /* indirect calls of functions with counters, by block */
	size_t nr_calls;
	bool *edge_exact; /* decided by counters and conservation alone, without a guess */
	bool *block_exact;
	size_t unknown; /* edges and blocks with counts that were not decided */
	double moved;	/* executions by which equations disagreed, summed: lost updates, torn
			     * snapshots, calls that did not return */
	double total;	/* executions of all blocks, to compare @moved with */
};

/**
 * True if equations disagreed by so much that it is worth telling: more than 1 % of what ran, and
 * more than the calls that a program's end leaves open.
 */
static inline bool swlbr_flow_disagrees(const struct swlbr_flow_result *result)
{
	return result->moved > result->total * 0.01 && result->moved > 100000;
}

/** @map is borrowed. Freed by swlbr_flow_destroy(). */
struct swlbr_error *swlbr_flow_create(const struct swlbr_branch_map *map, struct swlbr_flow **ret);
/** NULL is fine. */
void swlbr_flow_destroy(struct swlbr_flow *flow);

/**
 * Solve for @counters (map->nr_counters increments). What the counters leave open is split as
 * @prior has it (the result of a longer run of the same binary), or in proportion to the flow
 * around it where @prior is NULL. @result is the caller's, cleared by swlbr_flow_result_deinit().
 */
struct swlbr_error *swlbr_flow_solve(struct swlbr_flow *flow, const uint64_t *counters,
				     const struct swlbr_flow_result *prior,
				     struct swlbr_flow_result *result);
void swlbr_flow_result_deinit(struct swlbr_flow_result *result);

/**
 * Tell @result who the indirect calls have called: it gets calls, and these are no calls from
 * outside any more. A site that inlining has copied shares out what it has seen by the counts of
 * its copies. @targets are sorted in place, and those that are there twice summed up.
 */
struct swlbr_error *swlbr_flow_set_targets(const struct swlbr_branch_map *map,
					   struct swlbr_flow_target *targets, size_t nr,
					   struct swlbr_flow_result *result);
/** The same for an interval: in proportion to those of @whole. */
struct swlbr_error *swlbr_flow_share_calls(const struct swlbr_branch_map *map,
					   const struct swlbr_flow_result *whole,
					   struct swlbr_flow_result *result);

/** All counts 0. Cleared by swlbr_flow_result_deinit(), also after an error. */
struct swlbr_error *swlbr_flow_result_init(struct swlbr_flow_result *result,
					   const struct swlbr_branch_map *map);
#endif
