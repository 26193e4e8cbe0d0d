// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <swlbr/branch_map.h>
#include <swlbr/flow.h>
#include <swlbr/perfdata.h>
#include <swlbr/walk.h>

#include "base/saturate.h"

#include "stacks.h"

/* Processes of a binary that are kept apart, and entries of all: 256 MB. */
#define MAX_PROCESSES 64
#define MAX_ENTRIES   (1 << 24)
/* Intervals of a process that get a flow of their own. */
#define MAX_INTERVALS 48
/*
 * The share of a process's stacks that is drawn from the whole run at the end, beginning where the
 * intervals, whose snapshots are torn, have too little.
 */
#define SETTLED 0.2
/* Where no period is given: about so many stacks a file. */
#define WANTED_STACKS 20000

static void process_destroy(struct stacks_process *process)
{
	history_deinit(&process->history);
	free(process->total);
	free(process->targets);
	free(process);
}

void stacks_deinit(struct stacks *stacks)
{
	while (stacks->processes) {
		struct stacks_process *process = stacks->processes;

		stacks->processes = process->next;
		process_destroy(process);
	}
}

static struct swlbr_error *sum_up(struct stacks_process *process, const struct counter_copy *base,
				  const struct counter_copy *last)
{
	size_t max = 0;

	for (size_t i = 0; i < last->nr_blocks; i++) {
		const uint64_t *from = counter_copy_block(base, i);
		const uint64_t *to = counter_copy_block(last, i);

		for (size_t k = 0; last->block[i] && k < COUNTERS_PER_BLOCK; k++) {
			struct history_entry *grown;

			if (to[k] <= from[k])
				continue;
			if (process->nr_total == max) {
				max = max ? 2 * max : 256;
				grown = reallocarray(process->total, max, sizeof(*grown));
				if (!grown)
					return swlbr_error_no_memory();
				process->total = grown;
			}
			process->total[process->nr_total++] =
				(struct history_entry){ i * COUNTERS_PER_BLOCK + k,
							to[k] - from[k] };
		}
	}
	return NULL;
}

/* The process that takes what comes over the limit, NULL if @image is not there yet. */
static struct stacks_process *overflow_of(const struct stacks *stacks, const struct image *image)
{
	struct stacks_process *found = NULL;
	size_t nr = 0;

	for (struct stacks_process *p = stacks->processes; p; p = p->next) {
		if (p->image != image)
			continue;
		if (!found)
			found = p;
		nr++;
	}
	return nr >= MAX_PROCESSES || stacks->nr_entries >= MAX_ENTRIES ? found : NULL;
}

static struct swlbr_error *add_targets(struct swlbr_flow_target **targets, size_t *nr,
				       const struct swlbr_flow_target *more, size_t nr_more)
{
	struct swlbr_flow_target *grown;

	if (!nr_more)
		return NULL;
	grown = reallocarray(*targets, *nr + nr_more, sizeof(*grown));
	if (!grown)
		return swlbr_error_no_memory();
	memcpy(grown + *nr, more, nr_more * sizeof(*grown));
	*targets = grown;
	*nr += nr_more;
	return NULL;
}

static struct swlbr_error *add_to(struct stacks_process *into, const struct stacks_process *from)
{
	size_t max = into->nr_total + from->nr_total, nr = 0, i = 0, k = 0;
	struct history_entry *sum = calloc(max + 1, sizeof(*sum));

	if (!sum)
		return swlbr_error_no_memory();
	while (i < into->nr_total || k < from->nr_total) {
		const struct history_entry *a = &into->total[i], *b = &from->total[k];

		if (k == from->nr_total || (i < into->nr_total && a->counter < b->counter)) {
			sum[nr++] = *a;
			i++;
		} else if (i == into->nr_total || b->counter < a->counter) {
			sum[nr++] = *b;
			k++;
		} else {
			sum[nr] = *a;
			sum[nr++].grew += b->grew;
			i++;
			k++;
		}
	}
	free(into->total);
	into->total = sum;
	into->nr_total = nr;
	history_deinit(&into->history); /* there is no time common to them */
	return add_targets(&into->targets, &into->nr_targets, from->targets, from->nr_targets);
}

struct swlbr_error *stacks_keep(struct session *session, struct image *image, pid_t pid,
				uint64_t load_bias, const struct counter_copy *base,
				const struct counter_copy *last, struct history *history,
				struct swlbr_flow_target *targets, size_t nr_targets)
{
	struct stacks *stacks = &session->stacks;
	struct stacks_process *process, *into;
	struct swlbr_error *error;

	process = image->elf ? calloc(1, sizeof(*process)) : NULL;
	if (!process) {
		free(targets);
		return image->elf ? swlbr_error_no_memory() : NULL;
	}
	process->targets = targets;
	process->nr_targets = nr_targets;
	process->image = image;
	process->pid = pid;
	process->load_bias = load_bias;
	process->end = session_now();
	error = sum_up(process, base, last);
	into = overflow_of(stacks, image);
	if (!error && into) {
		error = add_to(into, process);
		into->end = process->end;
	}
	if (error || into || !process->nr_total) {
		process_destroy(process);
		return error;
	}
	error = history_end_interval(history, process->end);
	process->history = *history;
	*history = (struct history){ 0 };
	if (!error)
		error = history_coarsen(&process->history, MAX_INTERVALS);
	process->next = stacks->processes;
	stacks->processes = process;
	stacks->nr_entries += process->nr_total + process->history.nr_entries;
	return error;
}

/* A binary whose processes are being written. */
struct binary {
	struct session *session;
	struct image *image;
	struct swlbr_branch_map *map;
	struct swlbr_flow *flow;
	struct swlbr_walker *walker;
	struct swlbr_flow_result total; /* of all its processes */
	uint64_t *counters;
	struct swlbr_flow_target *targets;
	size_t nr_targets;
	size_t nr_processes;
	double branches;
};

static void binary_deinit(struct binary *binary)
{
	swlbr_flow_result_deinit(&binary->total);
	swlbr_walker_destroy(binary->walker);
	swlbr_flow_destroy(binary->flow);
	swlbr_branch_map_destroy(binary->map);
	free(binary->counters);
	free(binary->targets);
}

static void add_counters(const struct binary *binary, const struct history_entry *entries,
			 size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		add_saturating(&binary->counters[entries[i].counter], entries[i].grew);
}

static void clear_counters(const struct binary *binary)
{
	memset(binary->counters, 0, binary->map->nr_counters * sizeof(*binary->counters));
}

static struct swlbr_error *binary_init(struct binary *binary, struct session *session,
				       struct image *image)
{
	struct swlbr_error *error;

	*binary = (struct binary){ .session = session, .image = image };
	error = swlbr_branch_map_load(image->elf, image->counters, &binary->map);
	if (!error)
		error = swlbr_flow_create(binary->map, &binary->flow);
	if (!error)
		error = swlbr_walker_create(binary->map, &binary->walker);
	if (error)
		return error;
	binary->counters = calloc(binary->map->nr_counters + 1, sizeof(*binary->counters));
	if (!binary->counters)
		return swlbr_error_no_memory();
	for (const struct stacks_process *p = session->stacks.processes; p; p = p->next) {
		if (p->image != image)
			continue;
		add_counters(binary, p->total, p->nr_total);
		binary->nr_processes++;
		error = add_targets(&binary->targets, &binary->nr_targets, p->targets,
				    p->nr_targets);
		if (error)
			return error;
	}
	error = swlbr_flow_solve(binary->flow, binary->counters, NULL, &binary->total);
	if (!error)
		error = swlbr_flow_set_targets(binary->map, binary->targets, binary->nr_targets,
					       &binary->total);
	if (!error)
		binary->branches = swlbr_walker_branches(binary->walker, &binary->total);
	return error;
}

/* One process of a binary, while its rows and stacks are written. */
struct writing {
	struct binary *binary;
	const struct stacks_process *process;
	struct swlbr_event_time when;
	uint64_t start, end; /* ns, of the interval */
	uint64_t nr, done;   /* stacks of the interval */
	uint64_t period;
};

static struct swlbr_error *write_arc(void *context, const struct swlbr_flow_arc *arc)
{
	const struct writing *writing = context;
	struct swlbr_arc_row row = swlbr_flow_arc_row(arc);

	return swlbr_perfdata_write_arc(writing->binary->session->writer, &writing->when,
					arc->to + writing->process->load_bias,
					&writing->process->image->build_id, &row);
}

static uint64_t loaded(const struct writing *writing, uint64_t vaddr)
{
	return vaddr ? vaddr + writing->process->load_bias : SWLBR_NO_COUNTERS_ADDRESS;
}

static struct swlbr_error *write_stack(void *context, size_t nr,
				       const struct swlbr_walk_branch *branches)
{
	struct writing *writing = context;
	struct swlbr_branch_entry entries[RECORDER_MAX_DEPTH];
	uint64_t ip = SWLBR_NO_COUNTERS_ADDRESS;

	writing->when.time =
		writing->start + (uint64_t)((double)(writing->end - writing->start) *
					    (double)writing->done / (double)writing->nr);
	writing->done++;
	writing->binary->session->summary->stacks++;
	for (size_t i = 0; i < nr; i++) {
		entries[i].from = loaded(writing, branches[i].from);
		entries[i].to = loaded(writing, branches[i].to);
		/* Where a sample of an LBR would be: behind the newest branch that is in the map. */
		if (ip == SWLBR_NO_COUNTERS_ADDRESS)
			ip = branches[i].to ? entries[i].to : entries[i].from;
	}
	return swlbr_perfdata_write_stack(writing->binary->session->writer, &writing->when, ip,
					  writing->period, nr, entries);
}

static struct swlbr_error *walk_interval(struct writing *writing,
					 const struct swlbr_flow_result *flow, double share,
					 double *carry)
{
	struct binary *binary = writing->binary;
	double wanted =
		share * swlbr_walker_branches(binary->walker, flow) / (double)writing->period;

	*carry += wanted;
	writing->nr = *carry >= 1 ? (uint64_t)*carry : 0;
	*carry -= (double)writing->nr;
	writing->done = 0;
	return swlbr_walk(binary->walker, flow, writing->nr, binary->session->options->depth,
			  write_stack, writing);
}

/* The flow that the counters of an interval say; where they leave it open, as in the whole run. */
static struct swlbr_error *solve_interval(const struct binary *binary,
					  const struct history_entry *entries, size_t nr,
					  const struct swlbr_flow_result *whole,
					  struct swlbr_flow_result *flow)
{
	struct swlbr_error *error;

	clear_counters(binary);
	add_counters(binary, entries, nr);
	error = swlbr_flow_solve(binary->flow, binary->counters, whole, flow);
	return error ? error : swlbr_flow_share_calls(binary->map, whole, flow);
}

/* The stacks of all intervals but for a share, which goes to what these have too little of. */
static struct swlbr_error *walk_intervals(struct writing *writing,
					  const struct swlbr_flow_result *whole, double *carry)
{
	struct binary *binary = writing->binary;
	const struct history *history = &writing->process->history;
	const struct history_entry *entries = history->entries;
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < history->nr_intervals; i++) {
		struct swlbr_flow_result flow;

		writing->end = history->intervals[i].end;
		error = solve_interval(binary, entries, history->intervals[i].nr, whole, &flow);
		entries += history->intervals[i].nr;
		if (error)
			break;
		error = walk_interval(writing, &flow, 1 - SETTLED, carry);
		swlbr_flow_result_deinit(&flow);
		writing->start = writing->end;
	}
	return error;
}

static struct swlbr_error *walk_process(struct writing *writing,
					const struct swlbr_flow_result *whole, double *carry)
{
	const struct history *history = &writing->process->history;
	uint64_t start = history->start ? history->start : writing->process->end;
	struct swlbr_error *error;

	writing->start = writing->when.time = start;
	writing->end = writing->process->end;
	error = swlbr_perfdata_write_no_counters(writing->binary->session->writer, &writing->when);
	if (error)
		return error;
	if (history->nr_intervals < 2)
		return walk_interval(writing, whole, 1, carry);
	error = walk_intervals(writing, whole, carry);
	if (error)
		return error;
	writing->start = start;
	writing->end = writing->process->end;
	swlbr_walker_settle(writing->binary->walker, whole);
	return walk_interval(writing, whole, SETTLED, carry);
}

static struct swlbr_error *write_process(struct binary *binary,
					 const struct stacks_process *process, uint64_t period,
					 double *carry)
{
	struct writing writing = {
		.binary = binary,
		.process = process,
		.when = { .pid = process->pid, .tid = process->pid, .time = process->end },
		.period = period,
	};
	struct swlbr_flow_result own = { 0 };
	const struct swlbr_flow_result *whole = &binary->total;
	struct swlbr_error *error = NULL;

	if (binary->nr_processes > 1) {
		clear_counters(binary);
		add_counters(binary, process->total, process->nr_total);
		error = swlbr_flow_solve(binary->flow, binary->counters, &binary->total, &own);
		if (!error)
			error = swlbr_flow_set_targets(binary->map, process->targets,
						       process->nr_targets, &own);
		whole = &own;
	}
	if (!error)
		error = swlbr_flow_arcs(binary->map, whole, write_arc, &writing);
	if (!error)
		error = walk_process(&writing, whole, carry);
	swlbr_flow_result_deinit(&own);
	return error;
}

/* A binary without a map has its counters still: that is told, and no more. */
static void tell_no_map(struct session *session, const struct image *image,
			struct swlbr_error *error)
{
	struct recorder_summary *summary = session->summary;

	if (summary->nr_notes < RECORDER_MAX_NOTES &&
	    asprintf(&summary->note[summary->nr_notes],
		     "no branch stacks of %s, counters alone: %s", image->path,
		     error->message) >= 0)
		summary->nr_notes++;
	swlbr_error_destroy(error);
}

static void sum_up_flow(struct recorder_summary *summary, const struct binary *binary)
{
	const struct swlbr_flow_result *total = &binary->total;

	for (size_t i = 0; i < binary->map->nr_edges; i++) {
		uint32_t kind = binary->map->edges[i].kind;

		if (kind == SWLBR_MAP_FALLTHROUGH || kind == SWLBR_MAP_AFTER_CALL)
			continue;
		summary->branches += total->edge[i];
		summary->exact_branches += total->edge_exact[i] ? total->edge[i] : 0;
	}
	summary->blocks += total->total;
	summary->moved += total->moved;
}

static void tell_moved(struct session *session, const struct binary *binary)
{
	struct recorder_summary *summary = session->summary;
	const struct swlbr_flow_result *total = &binary->total;

	if (!swlbr_flow_disagrees(total) || summary->nr_notes >= RECORDER_MAX_NOTES)
		return;
	if (asprintf(
		    &summary->note[summary->nr_notes],
		    "%s: counters disagree by %.1f %% of what ran: threads lost updates, or calls did not return; the nearest flow was taken",
		    binary->image->path, 100 * total->moved / total->total) >= 0)
		summary->nr_notes++;
}

/* Of each binary with processes, once. */
static struct swlbr_error *open_binaries(struct session *session, struct binary *binaries,
					 size_t *nr_ret)
{
	struct swlbr_error *error = NULL;
	size_t nr = 0;

	for (const struct stacks_process *p = session->stacks.processes; p; p = p->next) {
		size_t i = 0;

		while (i < nr && binaries[i].image != p->image)
			i++;
		if (i < nr || p->image->no_map)
			continue;
		error = binary_init(&binaries[nr], session, p->image);
		if (error && error->code == SWLBR_ERROR_NO_MEMORY) {
			binary_deinit(&binaries[nr]);
			break;
		}
		if (error) {
			binary_deinit(&binaries[nr]);
			tell_no_map(session, p->image, error);
			p->image->no_map = true;
			error = NULL;
			continue;
		}
		sum_up_flow(session->summary, &binaries[nr]);
		tell_moved(session, &binaries[nr++]);
	}
	*nr_ret = nr;
	return error;
}

static uint64_t choose_period(const struct session *session, const struct binary *binaries,
			      size_t nr)
{
	double branches = 0;

	if (session->options->period)
		return session->options->period;
	for (size_t i = 0; i < nr; i++)
		branches += binaries[i].branches;
	return branches > WANTED_STACKS ? (uint64_t)(branches / WANTED_STACKS) : 1;
}

static struct swlbr_error *write_all(struct session *session, struct binary *binaries, size_t nr)
{
	uint64_t period = choose_period(session, binaries, nr);
	struct swlbr_error *error = NULL;
	double carry = 0.5;

	if (nr)
		error = swlbr_perfdata_writer_set_period(session->writer, period);
	for (const struct stacks_process *p = session->stacks.processes; !error && p; p = p->next) {
		for (size_t i = 0; !error && i < nr; i++) {
			if (binaries[i].image == p->image)
				error = write_process(&binaries[i], p, period, &carry);
		}
	}
	return error;
}

struct swlbr_error *stacks_write(struct session *session)
{
	struct swlbr_error *error;
	struct binary *binaries;
	size_t nr = 0;

	for (const struct stacks_process *p = session->stacks.processes; p; p = p->next)
		nr++;
	if (!nr)
		return NULL;
	binaries = calloc(nr, sizeof(*binaries));
	if (!binaries)
		return swlbr_error_no_memory();
	error = open_binaries(session, binaries, &nr);
	if (!error)
		error = write_all(session, binaries, nr);
	for (size_t i = 0; i < nr; i++)
		binary_deinit(&binaries[i]);
	free(binaries);
	return error;
}
