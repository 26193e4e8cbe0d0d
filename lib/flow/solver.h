/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_FLOW_SOLVER_H
#define SWLBR_FLOW_SOLVER_H

#include "system.h"
#include "unrolled.h"

/* Values of the variables while they are found. */
struct flow_state {
	const struct flow_system *system;
	double *value;	     /* per variable */
	bool *known;	     /* decided */
	double *rest;	     /* per row: what the unknown variables have to add up to */
	double *counted;     /* per row: what its counter says, 0 where it has none */
	uint32_t *open;	     /* per row: terms with unknown variables */
	uint32_t *open_plus; /* of these, with positive coefficients */
	double moved;	     /* sum of what rows disagreed by */
	double *limit;	     /* per variable: it cannot be more; see flow_limit() */
	const struct flow_bound *bounds;
	size_t nr_bounds;
	const struct swlbr_branch_map *map;
	bool *disagrees; /* per function: rows of it do not go together if all calls return */
};

/*
 * All variables open, but for the calls that do not return: there are none in functions but those
 * that @disagrees (which may be NULL) has.
 */
struct swlbr_error *flow_state_init(struct flow_state *state, const struct flow_system *system,
				    const struct swlbr_branch_map *map, const uint64_t *counters,
				    const bool *disagrees);
void flow_state_deinit(struct flow_state *state);

/* Decide what follows row by row, in linear time. */
struct swlbr_error *flow_propagate(struct flow_state *state);

/* Find the greatest value each open variable can have, and decide those that can only be 0. */
struct swlbr_error *flow_limit(struct flow_state *state);

/* Set @var and queue nothing: for values found by other means than rows. */
void flow_decide(struct flow_state *state, uint32_t var, double value);

/*
 * Start values for the open variables: the flow that comes to a block is shared out by what
 * branches usually do, or by what they did in @prior. @depth: of loops, per block.
 */
struct swlbr_error *flow_start(struct flow_state *state, const struct swlbr_branch_map *map,
			       const uint16_t *depth, const struct swlbr_flow_result *prior);

/*
 * Find values for the variables that are still open, of those that satisfy their rows the nearest
 * to what they hold now (all above 0), in proportion.
 */
struct swlbr_error *flow_balance(struct flow_state *state, bool roughly);

#endif
