/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the parts of walk.c's work share: what a walker keeps, and how it chooses ways. */
#ifndef SWLBR_WALK_WALKER_H
#define SWLBR_WALK_WALKER_H

#include <swlbr/walk.h>

#include "callers.h"
#include "landings.h"

struct swlbr_walker {
	const struct swlbr_branch_map *map;
	struct callers callers;
	double *caller_credit,
		*outside_credit;	    /* per caller; per function: code without counters */
	double *edge_credit, *leave_credit; /* per edge; per block */
	double *enter_credit;		    /* per function: entered from code without counters */
	struct landings landings;
	double *back_credit, *throw_credit; /* per block: its call returned, or did not */
	double *land_credit;		    /* per landing pad */
	/* Per indirect call of the flow: as a way on, and as one back. */
	double *call_credit, *return_credit;
	size_t nr_calls;
	uint32_t *call_of; /* the flow's indirect calls by function */
	const struct swlbr_flow_result *flow;
	double entries; /* calls from code without counters, of all functions */
	/* Per event: how often it should have been in stacks by now, less how often it was. */
	double *owed;
	double *given; /* how often it was, since the last settlement */
	uint64_t random;
	/* The events that the flow has, and how often. */
	uint32_t *event;
	double *count;
	size_t nr_active;
};

/*
 * A way of taking a branch: an edge, the call or the return of a block, the entry of a function from
 * code without counters, the way back from there behind a call, or to a landing pad.
 */
static inline size_t walker_nr_events(const struct swlbr_walker *walker)
{
	const struct swlbr_branch_map *map = walker->map;

	return map->nr_edges + 3 * map->nr_blocks + map->nr_functions + walker->landings.nr;
}

static inline size_t walker_call_event(const struct swlbr_branch_map *map, uint32_t block)
{
	return map->nr_edges + block;
}

static inline size_t walker_return_event(const struct swlbr_branch_map *map, uint32_t block)
{
	return map->nr_edges + map->nr_blocks + block;
}

static inline size_t walker_back_event(const struct swlbr_branch_map *map, uint32_t block)
{
	return map->nr_edges + 2 * map->nr_blocks + block;
}

static inline size_t walker_entry_event(const struct swlbr_branch_map *map, uint32_t function)
{
	return map->nr_edges + 3 * map->nr_blocks + function;
}

/* Exceptions that go on at a landing pad. */
static inline size_t walker_landing_event(const struct swlbr_walker *walker, uint32_t pad)
{
	const struct swlbr_branch_map *map = walker->map;

	return map->nr_edges + 3 * map->nr_blocks + map->nr_functions +
	       landings_index(&walker->landings, pad);
}

/* The first of the flow's indirect calls from @block on. */
size_t walker_first_call(const struct swlbr_flow_result *flow, uint32_t block);

/* The events that the flow of @walker has, and how often. */
struct swlbr_error *walker_find_active(struct swlbr_walker *walker);

/* The flow's indirect calls by function; credits go on as long as there are as many. */
struct swlbr_error *walker_index_calls(struct swlbr_walker *walker);

/* The edge by which the walk leaves @block; SWLBR_NONE: it leaves the map. */
uint32_t walker_choose_edge(struct swlbr_walker *walker, uint32_t block);

/* The function that the indirect call of @block calls; SWLBR_NONE: code without counters. */
uint32_t walker_choose_callee(struct swlbr_walker *walker, uint32_t block);

/* Where a return from @function goes to; SWLBR_NONE: to code without counters. */
uint32_t walker_choose_caller(struct swlbr_walker *walker, uint32_t function);

/* A function that code without counters calls; SWLBR_NONE if there is none. */
uint32_t walker_choose_entry(struct swlbr_walker *walker);

/* The call of @block is over: where it goes on. SWLBR_NONE: it threw what lands further up. */
uint32_t walker_choose_way_back(struct swlbr_walker *walker, uint32_t block);

/* A landing pad that what was thrown goes on at; SWLBR_NONE if there is none. */
uint32_t walker_choose_landing(struct swlbr_walker *walker);

#endif
