// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "leaks.h"

struct maker {
	struct flow_system *system;
	const struct swlbr_branch_map *map;
	size_t max_terms, max_rows, max_parts;
	uint32_t *in_start, *in_edge;  /* edges into each block */
	uint32_t *call_start, *caller; /* blocks that call each function */
	bool *called_outside;	       /* per function: by code that has no counters */
	uint32_t *come_in;	       /* per block: slack of ways in, or SWLBR_NONE */
	uint32_t *tail; /* per edge: slack of the tail calls that do not return, 0: none yet */
};

static struct swlbr_error *add_term(struct maker *maker, uint32_t var, int64_t coefficient)
{
	struct flow_system *system = maker->system;

	if (system->nr_terms == maker->max_terms) {
		size_t max = maker->max_terms ? maker->max_terms + maker->max_terms / 2 : 4096;
		struct flow_term *grown = reallocarray(system->terms, max, sizeof(*grown));

		if (!grown)
			return swlbr_error_no_memory();
		system->terms = grown;
		maker->max_terms = max;
	}
	system->terms[system->nr_terms++] =
		(struct flow_term){ .var = var, .coefficient = (int32_t)coefficient };
	return NULL;
}

/* The terms added since the last row are one row. */
static struct swlbr_error *end_row(struct maker *maker, uint32_t counter)
{
	struct flow_system *system = maker->system;

	if (system->nr_rows == maker->max_rows) {
		size_t max = maker->max_rows ? maker->max_rows + maker->max_rows / 2 : 4096;
		uint32_t *starts = reallocarray(system->row_start, max + 1, sizeof(*starts));
		uint32_t *counters;

		if (!starts)
			return swlbr_error_no_memory();
		system->row_start = starts;
		counters = reallocarray(system->row_counter, max, sizeof(*counters));
		if (!counters)
			return swlbr_error_no_memory();
		system->row_counter = counters;
		maker->max_rows = max;
		starts[0] = 0;
	}
	if (system->nr_rows && system->row_start[system->nr_rows] == system->nr_terms)
		return NULL; /* nothing in it */
	system->row_counter[system->nr_rows++] = counter;
	system->row_start[system->nr_rows] = (uint32_t)system->nr_terms;
	return NULL;
}

static uint32_t new_slack(struct maker *maker)
{
	return (uint32_t)maker->system->nr_vars++;
}

/* Code of functions without counters is not part of the system. */
static bool is_counted(const struct swlbr_branch_map *map, uint32_t block)
{
	return map->functions[map->blocks[block].function].instrumented;
}

static struct swlbr_error *index_edges(struct maker *maker)
{
	const struct swlbr_branch_map *map = maker->map;
	uint32_t *start = calloc(map->nr_blocks + 2, sizeof(*start));
	uint32_t *edges = calloc(map->nr_edges + 1, sizeof(*edges));

	maker->in_start = start;
	maker->in_edge = edges;
	if (!start || !edges)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < map->nr_edges; i++)
		start[map->edges[i].to + 2]++;
	for (size_t i = 2; i < map->nr_blocks + 2; i++)
		start[i] += start[i - 1];
	for (size_t i = 0; i < map->nr_edges; i++)
		edges[start[map->edges[i].to + 1]++] = (uint32_t)i;
	return NULL;
}

static struct swlbr_error *index_calls(struct maker *maker)
{
	const struct swlbr_branch_map *map = maker->map;
	uint32_t *start = calloc(map->nr_functions + 2, sizeof(*start));
	uint32_t *caller = calloc(map->nr_blocks + 1, sizeof(*caller));

	maker->call_start = start;
	maker->caller = caller;
	maker->called_outside = calloc(map->nr_functions + 1, sizeof(bool));
	if (!start || !caller || !maker->called_outside)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < map->nr_blocks; i++) {
		if (map->blocks[i].callee == SWLBR_NONE)
			continue;
		if (is_counted(map, (uint32_t)i))
			start[map->blocks[i].callee + 2]++;
		else
			maker->called_outside[map->blocks[i].callee] = true;
	}
	for (size_t i = 2; i < map->nr_functions + 2; i++)
		start[i] += start[i - 1];
	for (size_t i = 0; i < map->nr_blocks; i++) {
		if (map->blocks[i].callee != SWLBR_NONE && is_counted(map, (uint32_t)i))
			caller[start[map->blocks[i].callee + 1]++] = (uint32_t)i;
	}
	return NULL;
}

static struct swlbr_error *add_in_row(struct maker *maker, uint32_t b)
{
	const struct swlbr_branch_map *map = maker->map;
	const struct swlbr_map_block *block = &map->blocks[b];
	struct flow_system *system = maker->system;
	bool first = map->functions[block->function].first_block == b;
	bool outside = block->entered;
	struct swlbr_error *error = NULL;

	for (uint32_t i = maker->in_start[b]; !error && i < maker->in_start[b + 1]; i++) {
		uint32_t edge = maker->in_edge[i];

		if (is_counted(map, map->edges[edge].from))
			error = add_term(maker, edge, 1);
		else
			outside = true;
	}
	if (!error && first)
		error = add_term(maker, system->first_entry + block->function, 1);
	if (!error && outside) {
		maker->come_in[b] = new_slack(maker);
		error = add_term(maker, maker->come_in[b], 1);
	}
	if (!error)
		error = add_term(maker, system->first_block + b, -1);
	return error ? error : end_row(maker, SWLBR_NONE);
}

/* True if what comes to the end of @block may go where there is no edge. */
static bool has_way_out(const struct swlbr_map_block *block)
{
	switch (block->end_kind) {
	case SWLBR_MAP_END_RETURN:
	case SWLBR_MAP_END_STOP:
		return true;
	default:
		return block->leaves || !block->nr_edges;
	}
}

/* longjmp and exceptions end calls of this binary's functions; those of others return, or land. */
static bool may_not_return(const struct swlbr_map_block *block)
{
	return block->end_kind == SWLBR_MAP_END_INDIRECT_CALL || block->landing ||
	       (block->end_kind == SWLBR_MAP_END_CALL && block->callee != SWLBR_NONE);
}

static struct swlbr_error *add_out_row(struct maker *maker, uint32_t b)
{
	const struct swlbr_branch_map *map = maker->map;
	const struct swlbr_map_block *block = &map->blocks[b];
	bool out = has_way_out(block);
	struct swlbr_error *error = NULL;

	for (uint32_t i = 0; !error && i < block->nr_edges; i++) {
		if (is_counted(map, map->edges[block->first_edge + i].to))
			error = add_term(maker, block->first_edge + i, 1);
		else
			out = true;
	}
	if (!error && out) {
		maker->system->thrown[b] = new_slack(maker);
		error = add_term(maker, maker->system->thrown[b], 1);
	} else if (!error && may_not_return(block)) {
		maker->system->unreturned[b] = new_slack(maker);
		error = add_term(maker, maker->system->unreturned[b], 1);
		maker->system->thrown[b] = maker->system->unreturned[b];
	}
	if (!error)
		error = add_term(maker, maker->system->first_block + b, -1);
	return error ? error : end_row(maker, SWLBR_NONE);
}

/*
 * What comes to a landing pad has been thrown by the calls that it is of. Only of pads that stop all
 * that is thrown: then those calls return or land. Theirs are the unreturned that are not closed.
 */
static struct swlbr_error *add_landing_rows(struct maker *maker)
{
	const struct swlbr_branch_map *map = maker->map;
	uint32_t *nr = calloc(map->nr_blocks + 1, sizeof(*nr)), *call, *start;
	struct swlbr_error *error = NULL;

	call = calloc(map->nr_blocks + 1, sizeof(*call));
	start = calloc(map->nr_blocks + 2, sizeof(*start));
	if (!nr || !call || !start)
		error = swlbr_error_no_memory();
	for (size_t b = 0; !error && b < map->nr_blocks; b++)
		if (map->blocks[b].landing)
			start[map->blocks[b].landing]++;
	for (size_t p = 0; !error && p < map->nr_blocks; p++)
		start[p + 1] += start[p];
	for (uint32_t b = 0; !error && b < map->nr_blocks; b++)
		if (map->blocks[b].landing)
			call[start[map->blocks[b].landing - 1] + nr[map->blocks[b].landing - 1]++] =
				b;
	for (uint32_t p = 0; !error && p < map->nr_blocks; p++) {
		bool sure = start[p + 1] > start[p] && is_counted(map, p) &&
			    maker->come_in[p] != SWLBR_NONE;

		for (uint32_t i = start[p]; sure && i < start[p + 1]; i++)
			sure = map->blocks[call[i]].lands &&
			       maker->system->thrown[call[i]] != SWLBR_NONE;
		for (uint32_t i = start[p]; sure && !error && i < start[p + 1]; i++) {
			maker->system->unreturned[call[i]] = SWLBR_NONE;
			error = add_term(maker, maker->system->thrown[call[i]], 1);
		}
		if (sure && !error)
			error = add_term(maker, maker->come_in[p], -1);
		if (sure && !error)
			error = end_row(maker, SWLBR_NONE);
	}
	free(nr);
	free(call);
	free(start);
	return error;
}

/* What setjmp returns a second time is what longjmp was called. */
static struct swlbr_error *add_jump_row(struct maker *maker)
{
	const struct swlbr_branch_map *map = maker->map;
	size_t nr[2] = { 0 };
	struct swlbr_error *error = NULL;

	for (uint32_t b = 0; b < map->nr_blocks; b++) {
		nr[0] += map->blocks[b].jumped_to && maker->come_in[b] != SWLBR_NONE;
		nr[1] += map->blocks[b].jumps_away && maker->system->thrown[b] != SWLBR_NONE;
	}
	/* If one of them is in code without counters alone, nothing is known. */
	for (uint32_t b = 0; !error && nr[0] && nr[1] && b < map->nr_blocks; b++) {
		if (map->blocks[b].jumped_to && maker->come_in[b] != SWLBR_NONE)
			error = add_term(maker, maker->come_in[b], 1);
		if (!error && map->blocks[b].jumps_away && maker->system->thrown[b] != SWLBR_NONE)
			error = add_term(maker, maker->system->thrown[b], -1);
	}
	return error ? error : end_row(maker, SWLBR_NONE);
}

static bool leaks(const struct maker *maker, uint32_t function)
{
	return maker->system->leak[function] > 0;
}

static bool may_be_called_outside(const struct maker *maker, uint32_t f)
{
	return maker->map->functions[f].address_taken || maker->called_outside[f];
}

static uint32_t outside_of(struct maker *maker, uint32_t f)
{
	uint32_t *outside = &maker->system->outside[f];

	if (*outside == SWLBR_NONE)
		*outside = new_slack(maker);
	return *outside;
}

/* Of what @whole counts, calls of @function, some do not return, and some do. */
static struct swlbr_error *add_part(struct maker *maker, uint32_t whole, uint32_t function,
				    uint32_t *ret)
{
	struct flow_system *system = maker->system;
	struct flow_part *parts;
	struct swlbr_error *error;

	parts = array_grow(system->parts, system->nr_parts, &maker->max_parts, sizeof(*parts));
	if (!parts)
		return swlbr_error_no_memory();
	system->parts = parts;
	*ret = new_slack(maker);
	parts[system->nr_parts++] = (struct flow_part){
		.var = *ret, .rest = new_slack(maker), .whole = whole, .function = function
	};
	error = add_term(maker, *ret, 1);
	if (!error)
		error = add_term(maker, *ret + 1, 1);
	if (!error)
		error = add_term(maker, whole, -1);
	return error ? error : end_row(maker, SWLBR_NONE);
}

static struct swlbr_error *add_tails(struct maker *maker)
{
	const struct swlbr_branch_map *map = maker->map;
	struct swlbr_error *error = NULL;

	maker->tail = calloc(map->nr_edges + 1, sizeof(*maker->tail));
	if (!maker->tail)
		return swlbr_error_no_memory();
	for (uint32_t i = 0; !error && i < map->nr_edges; i++)
		if (map->edges[i].kind == SWLBR_MAP_TAIL && is_counted(map, map->edges[i].from) &&
		    leaks(maker, map->blocks[map->edges[i].to].function))
			error = add_part(maker, i, map->blocks[map->edges[i].to].function,
					 &maker->tail[i]);
	return error;
}

/* How a run of @b may leave its function without a return, or come back to it. */
static struct swlbr_error *add_left(struct maker *maker, uint32_t b)
{
	const struct swlbr_map_block *block = &maker->map->blocks[b];
	struct swlbr_error *error = NULL;

	if (block->jumped_to && maker->come_in[b] != SWLBR_NONE)
		error = add_term(maker, maker->come_in[b], -1);
	if (!error && maker->system->thrown[b] != SWLBR_NONE && !block->landing &&
	    (block_stops(block) || maker->system->unreturned[b] != SWLBR_NONE))
		error = add_term(maker, maker->system->thrown[b], 1);
	for (uint32_t i = block->first_edge; !error && i < block->first_edge + block->nr_edges; i++)
		if (maker->tail[i])
			error = add_term(maker, maker->tail[i], 1);
	return error;
}

/* Which calls of @f did not return; @outside: of those from outside. */
static struct swlbr_error *add_unreturned(struct maker *maker, uint32_t f, uint32_t outside)
{
	const struct swlbr_map_function *function = &maker->map->functions[f];
	uint32_t first = function->first_block;
	bool elsewhere = false, called = outside != SWLBR_NONE;
	struct swlbr_error *error = called ? add_term(maker, outside, -1) : NULL;

	for (uint32_t i = maker->call_start[f]; !error && i < maker->call_start[f + 1]; i++) {
		called = true;
		if (maker->system->thrown[maker->caller[i]] == SWLBR_NONE)
			elsewhere = true;
		else
			error = add_term(maker, maker->system->thrown[maker->caller[i]], -1);
	}
	for (uint32_t i = maker->in_start[first]; !error && i < maker->in_start[first + 1]; i++) {
		uint32_t edge = maker->in_edge[i];

		called |= maker->tail[edge] != 0;
		if (maker->tail[edge])
			error = add_term(maker, maker->tail[edge], -1);
		else if (maker->map->edges[edge].kind == SWLBR_MAP_TAIL)
			elsewhere = true;
	}
	if (!error && (elsewhere || !called))
		error = add_term(maker, new_slack(maker), -1);
	return error;
}

/* As often as @f was left without a return, and not come back to, calls of it did not return. */
static struct swlbr_error *add_leak_row(struct maker *maker, uint32_t f)
{
	const struct swlbr_map_function *function = &maker->map->functions[f];
	uint32_t first = function->first_block, outside = SWLBR_NONE;
	struct swlbr_error *error = NULL;

	if (leaks(maker, f) && may_be_called_outside(maker, f))
		error = add_part(maker, outside_of(maker, f), f, &outside);
	for (uint32_t b = first; !error && b < first + function->nr_blocks; b++)
		error = add_left(maker, b);
	if (!error && leaks(maker, f))
		error = add_unreturned(maker, f, outside);
	return error ? error : end_row(maker, SWLBR_NONE);
}

static struct swlbr_error *add_leak_rows(struct maker *maker)
{
	struct swlbr_error *error = add_tails(maker);

	for (uint32_t f = 0; !error && f < maker->map->nr_functions; f++)
		if (leaks(maker, f) || (maker->map->functions[f].calls_setjmp &&
					maker->map->functions[f].instrumented))
			error = add_leak_row(maker, f);
	return error;
}

static struct swlbr_error *add_call_row(struct maker *maker, uint32_t f)
{
	struct flow_system *system = maker->system;
	struct swlbr_error *error = NULL;

	for (uint32_t i = maker->call_start[f]; !error && i < maker->call_start[f + 1]; i++)
		error = add_term(maker, system->first_block + maker->caller[i], 1);
	if (!error && may_be_called_outside(maker, f))
		error = add_term(maker, outside_of(maker, f), 1);
	if (!error)
		error = add_term(maker, system->first_entry + f, -1);
	return error ? error : end_row(maker, SWLBR_NONE);
}

static int by_counter(const void *left, const void *right)
{
	const struct swlbr_map_site *const *a = left, *const *b = right;

	if ((*a)->counter != (*b)->counter)
		return (*a)->counter < (*b)->counter ? -1 : 1;
	return (*a < *b) ? -1 : *a > *b;
}

#define MAX_ADDED 1000000 /* by a site at once */

/* The sites [@from, @to) are of one counter. */
static struct swlbr_error *add_counter_row(struct maker *maker,
					   const struct swlbr_map_site *const *sites, size_t from,
					   size_t to)
{
	struct flow_system *system = maker->system;
	size_t first = system->nr_terms;
	struct flow_term *last;
	bool more = false;

	for (size_t i = from; i < to; i++) {
		const struct swlbr_map_site *site = sites[i];
		int64_t added = site->kind == SWLBR_MAP_SITE_ONE ? 1 : site->added;
		struct swlbr_error *error;

		if (site->kind == SWLBR_MAP_SITE_SUM || site->kind == SWLBR_MAP_SITE_SELECT ||
		    added <= 0 || added > MAX_ADDED) {
			more = true;
			continue;
		}
		last = system->nr_terms > first ? &system->terms[system->nr_terms - 1] : NULL;
		if (last && last->var == system->first_block + site->block &&
		    last->coefficient < INT32_MAX - MAX_ADDED) {
			last->coefficient += (int32_t)added;
			continue; /* an unrolled loop */
		}
		error = add_term(maker, system->first_block + site->block, added);
		if (error)
			return error;
	}
	if (more) {
		struct swlbr_error *error = add_term(maker, new_slack(maker), 1);

		if (error)
			return error;
	}
	return end_row(maker, (uint32_t)sites[from]->counter);
}

static struct swlbr_error *add_counter_rows(struct maker *maker)
{
	const struct swlbr_branch_map *map = maker->map;
	const struct swlbr_map_site **sites = calloc(map->nr_sites + 1, sizeof(*sites));
	struct swlbr_error *error = NULL;
	size_t end;

	if (!sites)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < map->nr_sites; i++)
		sites[i] = &map->sites[i];
	qsort(sites, map->nr_sites, sizeof(*sites), by_counter);
	for (size_t i = 0; !error && i < map->nr_sites; i = end) {
		for (end = i; end < map->nr_sites && sites[end]->counter == sites[i]->counter;
		     end++)
			;
		error = add_counter_row(maker, sites, i, end);
	}
	free(sites);
	return error;
}

static struct swlbr_error *index_rows(struct flow_system *system)
{
	system->var_start = calloc(system->nr_vars + 2, sizeof(*system->var_start));
	system->var_rows = calloc(system->nr_terms + 1, sizeof(*system->var_rows));
	system->var_terms = calloc(system->nr_terms + 1, sizeof(*system->var_terms));
	if (!system->var_start || !system->var_rows || !system->var_terms)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < system->nr_terms; i++)
		system->var_start[system->terms[i].var + 2]++;
	for (size_t i = 2; i < system->nr_vars + 2; i++)
		system->var_start[i] += system->var_start[i - 1];
	for (uint32_t row = 0; row < system->nr_rows; row++) {
		for (uint32_t i = system->row_start[row]; i < system->row_start[row + 1]; i++) {
			uint32_t at = system->var_start[system->terms[i].var + 1]++;

			system->var_rows[at] = row;
			system->var_terms[at] = i;
		}
	}
	return NULL;
}

static struct swlbr_error *make(struct maker *maker)
{
	const struct swlbr_branch_map *map = maker->map;
	struct swlbr_error *error = index_edges(maker);

	if (!error)
		error = index_calls(maker);
	for (uint32_t i = 0; !error && i < map->nr_functions; i++)
		maker->system->outside[i] = SWLBR_NONE;
	for (uint32_t i = 0; !error && i < map->nr_blocks; i++) {
		maker->system->unreturned[i] = maker->come_in[i] = maker->system->thrown[i] =
			SWLBR_NONE;
		if (!is_counted(map, i))
			continue;
		error = add_in_row(maker, i);
		if (!error)
			error = add_out_row(maker, i);
	}
	if (!error)
		error = add_landing_rows(maker);
	if (!error)
		error = add_jump_row(maker);
	maker->system->first_leak_row = (uint32_t)maker->system->nr_rows;
	if (!error && maker->system->leak)
		error = add_leak_rows(maker);
	for (uint32_t i = 0; !error && i < map->nr_functions; i++) {
		if (map->functions[i].instrumented)
			error = add_call_row(maker, i);
	}
	maker->system->first_counter_row = (uint32_t)maker->system->nr_rows;
	if (!error)
		error = add_counter_rows(maker);
	return error ? error : index_rows(maker->system);
}

struct swlbr_error *flow_system_init(struct flow_system *system, const struct swlbr_branch_map *map,
				     double *leak)
{
	struct maker maker = { .system = system, .map = map };
	struct swlbr_error *error;

	*system = (struct flow_system){ .leak = leak };
	system->first_block = (uint32_t)map->nr_edges;
	system->first_entry = system->first_block + (uint32_t)map->nr_blocks;
	system->first_slack = system->first_entry + (uint32_t)map->nr_functions;
	system->nr_vars = system->first_slack;
	system->outside = calloc(map->nr_functions + 1, sizeof(*system->outside));
	system->unreturned = calloc(map->nr_blocks + 1, sizeof(*system->unreturned));
	maker.come_in = calloc(map->nr_blocks + 1, sizeof(*maker.come_in));
	system->thrown = calloc(map->nr_blocks + 1, sizeof(*system->thrown));
	error = system->outside && system->unreturned && maker.come_in && system->thrown
			? make(&maker)
			: swlbr_error_no_memory();
	free(maker.come_in);
	free(maker.in_start);
	free(maker.in_edge);
	free(maker.call_start);
	free(maker.caller);
	free(maker.called_outside);
	free(maker.tail);
	return error;
}

void flow_system_deinit(struct flow_system *system)
{
	free(system->terms);
	free(system->row_start);
	free(system->row_counter);
	free(system->var_rows);
	free(system->var_terms);
	free(system->var_start);
	free(system->outside);
	free(system->unreturned);
	free(system->thrown);
	free(system->leak);
	free(system->parts);
}
