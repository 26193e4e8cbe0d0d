/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The linear equations of a branch map. Variables are counts, none negative:
 *
 *   edges       one each
 *   blocks      one each
 *   entries     one a function: its calls
 *   slacks      what is not counted: calls from outside, ways out, sums in registers
 *
 * Rows, each equal to 0 or to a counter:
 *
 *   in          the edges into a block, and the entry of a function's first, are its count
 *   out         the edges out of a block, and the ways out, are its count
 *   landings    what calls have thrown is what came to their landing pad
 *   jumps       what setjmp returns a second time is what longjmp was called
 *   leaks       as often as a function was left without a return, calls of it did not return
 *   calls       a function's entry is the counts of the blocks that call it, and calls from outside
 *   counters    the counts of the blocks with its sites, times what they add, are its value
 */
#ifndef SWLBR_FLOW_SYSTEM_H
#define SWLBR_FLOW_SYSTEM_H

#include <swlbr/flow.h>

struct flow_term {
	uint32_t var;
	int32_t coefficient;
};

/* Of what @whole counts, calls of @function, @var do not return, and @rest do. */
struct flow_part {
	uint32_t var, rest, whole, function;
};

struct flow_system {
	size_t nr_vars, nr_rows, nr_terms;
	uint32_t first_block, first_entry, first_slack; /* variables; edges begin at 0 */
	uint32_t first_leak_row, first_counter_row;	/* calls between; others before */
	struct flow_term *terms;			/* by row */
	uint32_t *row_start;				/* nr_rows + 1 */
	uint32_t *row_counter;				/* SWLBR_NONE: equal to 0 */
	uint32_t *var_rows, *var_terms;			/* by variable: where it is */
	uint32_t *var_start;				/* nr_vars + 1 */
	uint32_t *unreturned; /* per block: slack of the calls that do not return, or SWLBR_NONE */
	uint32_t *thrown;     /* per block: slack of what leaves by no edge, or SWLBR_NONE */
	uint32_t *outside;    /* per function: slack of the calls from outside, or SWLBR_NONE */
	struct flow_part *parts;
	size_t nr_parts;
	double *leak; /* per function: about what part of its calls does not return; NULL: none */
};

/*
 * @leak, see leaks_find(), goes to the system, also after an error. Without it there are no rows of
 * leaks. All variables but slacks are the same ones in all systems of a map.
 */
struct swlbr_error *flow_system_init(struct flow_system *system, const struct swlbr_branch_map *map,
				     double *leak);
void flow_system_deinit(struct flow_system *system);

#endif
