/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_WALK_RETURNS_H
#define SWLBR_WALK_RETURNS_H

#include "callers.h"

/** A block behind a call, and which share of a function's returns goes there. */
struct return_site {
	uint32_t block;
	double share; /* 1: all, and no other is possible */
};

/** Where functions return to, by how often each caller has called. */
struct returns {
	const struct swlbr_branch_map *map;
	const struct swlbr_flow_result *flow;
	struct callers callers;
	/* Indirect calls by the function called: calls[first_call[f] … first_call[f + 1]). */
	uint32_t *calls, *first_call;
	double *indirect; /* per function: how often they called it */
	/* Of the function asked for last. */
	double *site_share, *share, *next_share; /* per block, per function */
	struct return_site *sites;
	uint32_t *functions, *next;
	size_t nr_sites;
};

struct swlbr_error *returns_init(struct returns *returns, const struct swlbr_branch_map *map,
				 const struct swlbr_flow_result *flow);
void returns_deinit(struct returns *returns);

/**
 * Where the @nr returns of @function go: returns->sites, until it is asked again. What came by a
 * tail call goes back to the callers of the function that made it. Shares that make less than half
 * a return are left out.
 */
void returns_of(struct returns *returns, uint32_t function, double nr);

#endif
