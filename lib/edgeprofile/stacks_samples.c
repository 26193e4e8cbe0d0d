// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The samples of a perf.data: which count, whose memory it was, and where their stacks lead. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "edgeprofile/reading.h"

static bool listed(const char *name, size_t size, const char *const *list, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (strlen(list[i]) == size && !strncmp(list[i], name, size))
			return true;
	}
	return false;
}

/* By its whole name, or without the modifiers ("cycles" for "cycles:u"). */
static bool wants_event(const struct swlbr_stacks_filter *filter, const char *name)
{
	if (!filter->nr_events)
		return true;
	return name && (listed(name, strlen(name), filter->events, filter->nr_events) ||
			listed(name, strcspn(name, ":"), filter->events, filter->nr_events));
}

/*
 * Events of ours are known by their names: the numbers of dynamic PMUs mean nothing. The rest is
 * hardware's.
 */
enum swlbr_source reading_source_of(const char *name)
{
	if (!name || strncmp(name, "swlbr/", 6))
		return SWLBR_SOURCE_HW;
	return strncmp(name, "swlbr/emulated", 14) ? SWLBR_SOURCE_SW : SWLBR_SOURCE_EMU;
}

/* Does an event of that name count taken branches? Ours do, and Intel's and AMD's that are made for it. */
static bool counts_taken(const char *name)
{
	return name && (reading_source_of(name) != SWLBR_SOURCE_HW ||
			strcasestr(name, "br_inst_retired.near_taken") ||
			strcasestr(name, "ex_ret_brn_tkn"));
}

struct swlbr_error *reading_find_events(struct reading *reading)
{
	struct swlbr_perfdata_event event;
	size_t nr = 0;

	while (swlbr_perfdata_event(reading->file, nr, &event))
		nr++;
	reading->events = calloc(nr ? nr : 1, sizeof(*reading->events));
	if (!reading->events)
		return swlbr_error_no_memory();
	reading->nr_events = nr;
	for (size_t i = 0; swlbr_perfdata_event(reading->file, i, &event); i++)
		reading->events[i] = (struct event_use){
			.source = reading_source_of(event.name),
			.counts_taken = counts_taken(event.name),
			.wanted = wants_event(&reading->stacks->filter, event.name),
			.call_stack = event.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK,
			.with_ranges = !event.branch_sample_type ||
				       event.branch_sample_type & PERF_SAMPLE_BRANCH_ANY,
		};
	return NULL;
}

static bool has_pid(const pid_t *pids, size_t nr, pid_t pid)
{
	for (size_t i = 0; i < nr; i++) {
		if (pids[i] == pid)
			return true;
	}
	return !nr;
}

static bool passes(const struct reading *reading, const struct swlbr_record *record, uint64_t time)
{
	const struct swlbr_stacks_filter *filter = &reading->stacks->filter;

	return reading->events[record->sample.event].wanted && record->time >= filter->time_begin &&
	       record->time <= filter->time_end &&
	       has_pid(filter->pids, filter->nr_pids, record->pid) &&
	       has_pid(filter->tids, filter->nr_tids, record->tid) &&
	       (!filter->nr_comms || comm_times_listed(&reading->comms, time, record->tid));
}

/* Address spaces at a moment. */
struct moment {
	struct image *user, *kernel;
	uint64_t user_time, kernel_time;
};

static inline uint64_t place_at(const struct moment *moment, uint64_t address)
{
	if (is_kernel(address))
		return moment->kernel ? image_place(moment->kernel, address, moment->kernel_time)
				      : PLACE_NONE;
	return moment->user ? image_place(moment->user, address, moment->user_time) : PLACE_NONE;
}

static bool has_no_counters(uint64_t address)
{
	return address - SWLBR_NO_COUNTERS_ADDRESS < SWLBR_NO_COUNTERS_SIZE;
}

static void count_unmapped(const struct reading *reading, const struct swlbr_branch *branch,
			   const struct placed_entry *entry)
{
	struct swlbr_stacks_stats *stats = &reading->stacks->stats;

	if (reading->maps_no_counters &&
	    (has_no_counters(branch->from) || has_no_counters(branch->to)))
		stats->drops[SWLBR_DROP_NO_COUNTERS]++;
	else if (!branch->from || !branch->to)
		stats->drops[SWLBR_DROP_NO_ADDRESS]++;
	else
		stats->drops[SWLBR_DROP_UNMAPPED]++;
	if ((entry->from == PLACE_NONE && is_kernel(branch->from)) ||
	    (entry->to == PLACE_NONE && is_kernel(branch->to)))
		stats->kernel_unmapped++;
}

/* The stack's entries as places into stacks->entries; returns how many. */
static size_t place_stack(const struct reading *reading, const struct moment *moment,
			  const struct swlbr_branch *stack, size_t nr)
{
	struct swlbr_stacks *stacks = reading->stacks;
	struct placed_entry *entry = stacks->entries;

	for (size_t i = 0; i < nr; i++) {
		if (__builtin_expect(SWLBR_BRANCH_SPEC(stack[i].flags) == SWLBR_BRANCH_WRONG_PATH,
				     0)) {
			stacks->stats.drops[SWLBR_DROP_WRONG_PATH]++;
			continue;
		}
		entry->from = place_at(moment, stack[i].from);
		entry->to = place_at(moment, stack[i].to);
		entry->flags = stack[i].flags;
		if (__builtin_expect(entry->from == PLACE_NONE || entry->to == PLACE_NONE, 0))
			count_unmapped(reading, &stack[i], entry);
		entry++;
	}
	return entry - stacks->entries;
}

struct swlbr_error *reading_add_stack(struct reading *reading, const struct swlbr_record *record,
				      const struct event_use *event, uint64_t time)
{
	struct moment moment = { .user_time = time, .kernel_time = time };
	struct swlbr_stacks *stacks = reading->stacks;
	struct swlbr_error *error = NULL;
	size_t nr = record->sample.nr;

	stacks->stats.stacks++;
	stacks->stats.entries += nr;
	if (record->pid != reading->pid || !reading->process) {
		reading->pid = record->pid;
		reading->process = address_spaces_process(&reading->spaces, record->pid);
	}
	if (reading->process)
		moment.user = process_image(reading->process, &moment.user_time);
	if (reading->kernel)
		moment.kernel = process_image(reading->kernel, &moment.kernel_time);
	if (moment.user && moment.user->dirty)
		error = image_prepare(&reading->spaces, moment.user);
	if (!error && moment.kernel && moment.kernel->dirty)
		error = image_prepare(&reading->spaces, moment.kernel);
	if (error)
		return error;
	nr = place_stack(reading, &moment, record->sample.stack, nr < MAX_STACK ? nr : MAX_STACK);
	return stacks_count(stacks, event->source, event->with_ranges, nr);
}

static void count_taken(struct swlbr_stacks *stacks, const struct swlbr_record *record,
			const struct event_use *event)
{
	struct swlbr_stacks_stats *stats = &stacks->stats;
	uint64_t nr = record->sample.nr * stacks->weight;

	if (event->counts_taken && record->sample.period) {
		stats->taken[event->source] += record->sample.period * stacks->weight;
		stats->taken_entries[event->source] += nr;
	} else {
		stats->other_entries[event->source] += nr;
	}
}

struct swlbr_error *reading_add_sample(struct reading *reading, const struct swlbr_record *record)
{
	struct swlbr_stacks_stats *stats = &reading->stacks->stats;
	uint64_t time = reading->by_time ? record->time : record->offset;

	if (record->kind != SWLBR_RECORD_SAMPLE) {
		stats->unknown_events += record->type == PERF_RECORD_SAMPLE &&
					 record->kind == SWLBR_RECORD_OTHER;
		stats->arcs += record->kind == SWLBR_RECORD_ARC;
		return NULL;
	}
	if (!passes(reading, record, time)) {
		stats->filtered++;
		return NULL;
	}
	stats->samples++;
	stats->callchains += record->sample.nr_callers != 0;
	if (!record->sample.has_stack)
		return NULL;
	if (!record->sample.nr) {
		stats->empty_stacks++;
		return NULL;
	}
	if (reading->events[record->sample.event].call_stack) {
		stats->call_stacks++;
		return NULL;
	}
	count_taken(reading->stacks, record, &reading->events[record->sample.event]);
	return reading_add_stack(reading, record, &reading->events[record->sample.event], time);
}
