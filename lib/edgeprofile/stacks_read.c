// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The branch stacks of a perf.data. Records need not be in the order of time: a sample may come
 * before the mapping that it is in. So the file is read twice, first, passing over the samples, for
 * what processes mapped and when, then for the stacks. But many files are in order, and once is
 * enough: it is tried so first, and begun anew at the first record of a task that comes too late.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include "edgeprofile/reading.h"

static struct swlbr_error *read_samples(struct reading *reading)
{
	struct swlbr_record record;
	bool end;

	reading->kernel = address_spaces_process(&reading->spaces, KERNEL_PID);
	swlbr_perfdata_rewind(reading->file, false);
	for (;;) {
		struct swlbr_error *error = swlbr_perfdata_next(reading->file, &record, &end);

		if (!error && !end)
			error = reading_add_sample(reading, &record);
		if (error || end)
			return error;
	}
}

static struct swlbr_error *read_twice(struct reading *reading)
{
	const struct swlbr_stacks_filter *filter = &reading->stacks->filter;
	struct swlbr_error *error = reading_read_sides(reading);

	if (!error)
		error = address_spaces_update(&reading->spaces);
	if (!error)
		error = comm_times_finish(&reading->comms, filter->comms, filter->nr_comms);
	return error ? error : read_samples(reading);
}

/* Work that a file in order does not make: many mappings between samples. */
#define MAX_WORK (16 * 1024 * 1024)

/* A record of a task, in a file that is in order up to it. */
static struct swlbr_error *add_in_order(struct reading *reading, const struct swlbr_record *record,
					uint64_t time)
{
	struct swlbr_error *error = reading_add_side(reading, record);

	reading->newest = time;
	if (!error)
		error = address_spaces_update(&reading->spaces);
	reading->process = NULL; /* it may be a new one */
	reading->kernel = address_spaces_process(&reading->spaces, KERNEL_PID);
	return error;
}

/* @in_order_ret: false if it was not, and has to be read anew. */
static struct swlbr_error *read_in_order(struct reading *reading, bool *in_order_ret)
{
	struct swlbr_record record;
	bool end;

	swlbr_perfdata_rewind(reading->file, false);
	for (;;) {
		struct swlbr_error *error = swlbr_perfdata_next(reading->file, &record, &end);
		uint64_t time = reading->by_time ? record.time : record.offset;

		if (error || end)
			return error;
		switch (record.kind) {
		case SWLBR_RECORD_SAMPLE:
			if (time > reading->newest)
				reading->newest = time;
			error = reading_add_sample(reading, &record);
			break;
		case SWLBR_RECORD_MMAP2:
		case SWLBR_RECORD_COMM:
		case SWLBR_RECORD_FORK:
			*in_order_ret = time >= reading->newest && reading->spaces.work < MAX_WORK;
			if (!*in_order_ret)
				return NULL;
			error = add_in_order(reading, &record, time);
			break;
		default:
			error = record.type == PERF_RECORD_SAMPLE
					? reading_add_sample(reading, &record)
					: reading_add_side(reading, &record);
		}
		if (error)
			return error;
	}
}

static void begin_anew(struct reading *reading, const struct swlbr_stacks_stats *stats,
		       size_t nr_spills)
{
	struct swlbr_stacks *stacks = reading->stacks;

	stacks_clear_counts(stacks);
	stacks->stats = *stats;
	stacks->nr_spills = nr_spills;
	address_spaces_clear(&reading->spaces);
	reading->process = reading->kernel = NULL;
}

static struct swlbr_error *read_file(struct reading *reading)
{
	struct swlbr_stacks *stacks = reading->stacks;
	struct swlbr_stacks_stats stats = stacks->stats;
	size_t nr_spills = stacks->nr_spills;
	struct swlbr_error *error;
	bool in_order = true;

	/* Names of threads are asked by time, too. */
	if (stacks->filter.nr_comms)
		return read_twice(reading);
	error = read_in_order(reading, &in_order);
	if (in_order)
		return error;
	begin_anew(reading, &stats, nr_spills);
	return read_twice(reading);
}

static void note_file(struct swlbr_stacks *stacks, const struct swlbr_perfdata *file)
{
	stacks->stats.unfinished_files += swlbr_perfdata_unfinished(file);
	if (swlbr_perfdata_arch(file))
		snprintf(stacks->stats.arch, sizeof(stacks->stats.arch), "%s",
			 swlbr_perfdata_arch(file));
	if (swlbr_perfdata_os_release(file))
		snprintf(stacks->release, sizeof(stacks->release), "%s",
			 swlbr_perfdata_os_release(file));
}

static void clear(struct reading *reading)
{
	address_spaces_clear(&reading->spaces);
	comm_times_clear(&reading->comms);
	free(reading->events);
	free(reading->ids);
}

struct swlbr_error *swlbr_stacks_read(struct swlbr_stacks *stacks, struct swlbr_perfdata *file)
{
	struct reading reading = { .stacks = stacks, .file = file };
	struct swlbr_error *error, *merge_error;

	stacks->stats.files++;
	error = reading_read_pipe(file);
	if (!error)
		error = reading_find_ids(&reading);
	if (!error)
		error = reading_find_events(&reading);
	reading.by_time = reading_has_times(file);
	if (!error)
		error = read_file(&reading);
	if (!error || error->code == SWLBR_ERROR_FORMAT) {
		merge_error = stacks_add_counts(stacks);
		if (merge_error) {
			swlbr_error_destroy(error);
			error = merge_error;
		}
	}
	note_file(stacks, file);
	stacks->stats.damaged_files += error && error->code == SWLBR_ERROR_FORMAT;
	clear(&reading);
	return error;
}

struct swlbr_error *swlbr_stacks_use_mappings(struct swlbr_stacks *stacks,
					      struct swlbr_perfdata *file)
{
	struct reading *reading = calloc(1, sizeof(*reading));
	struct swlbr_error *error;

	if (!reading)
		return swlbr_error_no_memory();
	stacks_free_mappings(stacks);
	stacks->mappings = reading;
	*reading = (struct reading){ .stacks = stacks, .file = file };
	stacks->stats.files++;
	error = reading_read_pipe(file);
	if (!error)
		error = reading_find_ids(reading);
	reading->by_time = reading_has_times(file);
	if (!error)
		error = reading_read_sides(reading);
	if (!error)
		error = address_spaces_update(&reading->spaces);
	reading->kernel = address_spaces_process(&reading->spaces, KERNEL_PID);
	reading->file = NULL; /* it is the caller's to close */
	note_file(stacks, file);
	return error;
}

struct swlbr_error *swlbr_stacks_add_sample(struct swlbr_stacks *stacks,
					    const struct swlbr_stacks_sample *sample)
{
	struct reading *reading = stacks->mappings;
	struct swlbr_record record = {
		.pid = sample->pid,
		.sample = { .nr = sample->nr, .stack = sample->stack },
	};
	const struct event_use event = {
		.source = reading_source_of(sample->event),
		.with_ranges = !sample->branch_sample_type ||
			       sample->branch_sample_type & PERF_SAMPLE_BRANCH_ANY,
	};

	stacks->stats.samples++;
	stacks->stats.empty_stacks += sample->has_stack && !sample->nr;
	if (!sample->nr)
		return NULL;
	if (sample->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK) {
		stacks->stats.call_stacks++;
		return NULL;
	}
	return reading_add_stack(reading, &record, &event,
				 reading->by_time ? sample->time : UINT64_MAX);
}

void stacks_free_mappings(struct swlbr_stacks *stacks)
{
	if (stacks->mappings)
		clear(stacks->mappings);
	free(stacks->mappings);
	stacks->mappings = NULL;
}
