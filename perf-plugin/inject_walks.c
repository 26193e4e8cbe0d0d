// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include <swlbr/walk.h>

#include "inject_walks.h"

#define DEPTH 32
/* Where no period is given: about so many stacks. */
#define WANTED_STACKS 20000

/* A group of samples while its stacks are written. */
struct drawing {
	struct inject_walks *walks;
	const struct inject_group *group;
	uint64_t nr, done;
	size_t at;	 /* the sample that the next stack is of */
	uint64_t before; /* what samples before that have counted */
};

/* The sample whose counts the next stack, of those evenly drawn from all, falls into. */
static const struct inject_sample *next_sample(struct drawing *drawing)
{
	const struct inject_group *group = drawing->group;
	double place = ((double)drawing->done++ + 0.5) * (double)group->count / (double)drawing->nr;

	while (drawing->at + 1 < group->nr_samples &&
	       (double)(drawing->before + group->samples[drawing->at].count) <= place)
		drawing->before += group->samples[drawing->at++].count;
	return &group->samples[drawing->at];
}

static struct swlbr_error *write_stack(void *context, size_t nr,
				       const struct swlbr_walk_branch *branches)
{
	struct drawing *drawing = context;
	const struct inject_sample *sample = next_sample(drawing);
	const struct inject_walks *walks = drawing->walks;
	struct swlbr_event_time when = { sample->pid, sample->tid, sample->time, sample->cpu };
	struct swlbr_branch_entry entries[DEPTH];
	uint64_t ip = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct swlbr_walk_branch *branch = &branches[i];

		entries[i].from = branch->from ? branch->from + walks->offset
					       : SWLBR_NO_COUNTERS_ADDRESS;
		entries[i].to = branch->to ? branch->to + walks->offset : SWLBR_NO_COUNTERS_ADDRESS;
		if (!ip && branch->to)
			ip = entries[i].to;
	}
	return swlbr_perfdata_write_stack(walks->writer, &when, ip ? ip : walks->start,
					  walks->period, nr, entries);
}

/* What a group's counters leave open is as in the whole recording. */
static struct swlbr_error *write_group(struct inject_walks *walks, struct swlbr_flow *flow,
				       struct swlbr_walker *walker, uint64_t *counters,
				       const struct swlbr_flow_result *whole,
				       const struct inject_group *group, double *carry)
{
	struct drawing drawing = { .walks = walks, .group = group };
	struct swlbr_flow_result result;
	struct swlbr_error *error;

	/* The first reading has seen that all are below. */
	for (size_t i = 0; i < group->nr_deltas; i++)
		counters[group->deltas[i].counter] += group->deltas[i].nr;
	error = swlbr_flow_solve(flow, counters, whole, &result);
	for (size_t i = 0; i < group->nr_deltas; i++)
		counters[group->deltas[i].counter] = 0;
	if (error)
		return error;
	*carry += swlbr_walker_branches(walker, &result) / (double)walks->period;
	drawing.nr = (uint64_t)*carry;
	*carry -= (double)drawing.nr;
	walks->nr_stacks += drawing.nr;
	error = swlbr_walk(walker, &result, drawing.nr, DEPTH, write_stack, &drawing);
	swlbr_flow_result_deinit(&result);
	return error;
}

/*
 * The part of @map that intervals and threads are solved for: the functions that ran, and those that
 * they call, which having run no more than they did says something of the callers.
 */
static struct swlbr_error *map_of_what_ran(const struct swlbr_branch_map *map,
					   const struct swlbr_flow_result *result,
					   struct swlbr_branch_map **ret)
{
	bool *keep = calloc(2 * map->nr_functions + 1, sizeof(*keep)), *ran;
	struct swlbr_error *error;

	if (!keep)
		return swlbr_error_no_memory();
	ran = keep + map->nr_functions;
	for (size_t i = 0; i < map->nr_blocks; i++)
		ran[map->blocks[i].function] |= result->block[i] > 0;
	for (size_t i = 0; i < map->nr_functions; i++)
		keep[i] = ran[i] || !map->functions[i].instrumented;
	for (size_t i = 0; i < map->nr_blocks; i++) {
		const struct swlbr_map_block *block = &map->blocks[i];

		if (!ran[block->function])
			continue;
		if (block->callee != SWLBR_NONE)
			keep[block->callee] = true;
		for (uint32_t k = 0; k < block->nr_edges; k++)
			keep[map->blocks[map->edges[block->first_edge + k].to].function] = true;
	}
	error = swlbr_branch_map_part(map, keep, ret);
	free(keep);
	return error;
}

static uint64_t period_for(double branches)
{
	return branches > WANTED_STACKS ? (uint64_t)(branches / WANTED_STACKS) : 1;
}

/* @map: of what ran. */
static struct swlbr_error *write_groups(struct inject_walks *walks,
					const struct swlbr_branch_map *map, const uint64_t *all)
{
	uint64_t *counters = calloc(map->nr_counters + 1, sizeof(*counters));
	struct swlbr_flow_result whole = { 0 };
	struct swlbr_walker *walker = NULL;
	struct swlbr_flow *flow = NULL;
	struct swlbr_error *error = counters ? swlbr_walker_create(map, &walker)
					     : swlbr_error_no_memory();
	double carry = 0.5;

	if (!error)
		error = swlbr_flow_create(map, &flow);
	if (!error)
		error = swlbr_flow_solve(flow, all, NULL, &whole);
	if (!error && !walks->period)
		walks->period = period_for(swlbr_walker_branches(walker, &whole));
	if (!error)
		error = swlbr_perfdata_writer_set_period(walks->writer, walks->period);
	for (size_t i = 0; !error && i < walks->groups->nr_groups; i++)
		error = write_group(walks, flow, walker, counters, &whole,
				    &walks->groups->groups[i], &carry);
	swlbr_walker_destroy(walker);
	swlbr_flow_destroy(flow);
	swlbr_flow_result_deinit(&whole);
	free(counters);
	return error;
}

struct swlbr_error *inject_walks_write(struct inject_walks *walks,
				       const struct swlbr_branch_map *map, const uint64_t *counters,
				       const struct swlbr_flow_result *whole)
{
	struct swlbr_branch_map *part;
	struct swlbr_error *error = map_of_what_ran(map, whole, &part);

	if (error)
		return error;
	error = write_groups(walks, part, counters);
	swlbr_branch_map_destroy(part);
	return error;
}
