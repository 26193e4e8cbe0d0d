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
#include <string.h>

#include "edgeprofile/comm_times.h"
#include "edgeprofile/stacks.h"

/* What to do with the samples of an event. */
struct event_use {
	enum swlbr_source source;
	bool wanted, call_stack, with_ranges;
};

struct reading {
	struct swlbr_stacks *stacks;
	struct swlbr_perfdata *file;
	struct address_spaces spaces;
	struct comm_times comms;
	struct event_use *events;
	size_t nr_events;
	struct swlbr_perfdata_binary *ids; /* of the BUILD_ID feature, by path */
	size_t nr_ids;
	bool by_time;	 /* records tell their time; else their order in the file is taken for it */
	uint64_t newest; /* time of the records so far */
	/* Of the last sample. */
	pid_t pid;
	struct process *process, *kernel;
};

/* So on the machines that have branch stacks. */
static inline bool is_kernel(uint64_t address)
{
	return address >> 63;
}

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
static enum swlbr_source source_of(const struct swlbr_perfdata_event *event)
{
	if (!event->name || strncmp(event->name, "swlbr/", 6))
		return SWLBR_SOURCE_HW;
	return strncmp(event->name, "swlbr/emulated", 14) ? SWLBR_SOURCE_SW : SWLBR_SOURCE_EMU;
}

static struct swlbr_error *find_events(struct reading *reading)
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
			.source = source_of(&event),
			.wanted = wants_event(&reading->stacks->filter, event.name),
			.call_stack = event.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK,
			.with_ranges = !event.branch_sample_type ||
				       event.branch_sample_type & PERF_SAMPLE_BRANCH_ANY,
		};
	return NULL;
}

static bool all_have_time(const struct swlbr_perfdata *file)
{
	struct swlbr_perfdata_event event;
	size_t i = 0;

	while (swlbr_perfdata_event(file, i, &event) && event.has_time)
		i++;
	return i && !swlbr_perfdata_event(file, i, &event);
}

static int by_path(const void *left, const void *right)
{
	const struct swlbr_perfdata_binary *a = left, *b = right;

	return strcmp(a->path, b->path);
}

static bool is_vmlinux(const struct swlbr_perfdata_binary *binary)
{
	const char *slash = strrchr(binary->path, '/');

	return binary->kernel && (!strncmp(binary->path, "[kernel.kallsyms]", 17) ||
				  !strncmp(slash ? slash + 1 : binary->path, "vmlinux", 7));
}

static struct swlbr_error *find_ids(struct reading *reading)
{
	struct swlbr_perfdata_binary binary;
	size_t nr = 0;

	free(reading->ids);
	reading->ids = NULL;
	reading->nr_ids = 0;
	while (swlbr_perfdata_binary(reading->file, nr, &binary))
		nr++;
	if (!nr)
		return NULL;
	reading->ids = reallocarray(NULL, nr, sizeof(*reading->ids));
	if (!reading->ids)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < nr; i++) {
		swlbr_perfdata_binary(reading->file, i, &reading->ids[i]);
		if (is_vmlinux(&reading->ids[i]))
			reading->ids[i].path = "[kernel.kallsyms]";
	}
	reading->nr_ids = nr;
	qsort(reading->ids, nr, sizeof(*reading->ids), by_path);
	return NULL;
}

static void recorded_id(const struct reading *reading, const char *path, struct swlbr_build_id *id)
{
	struct swlbr_perfdata_binary key = { .path = path }, *found = NULL;

	if (reading->nr_ids)
		found = bsearch(&key, reading->ids, reading->nr_ids, sizeof(key), by_path);
	if (found)
		*id = found->build_id;
}

/* Executable memory that is of no file: heaps, what a JIT compiled, shared memory. */
static bool is_anonymous(const char *path)
{
	static const char *const prefixes[] = {
		"//anon", "/anon_hugepage", "/dev/zero", "/memfd:",    "/SYSV",
		"[heap]", "[stack",	    "[uprobes]", "anon_inode", "[anon",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		if (!strncmp(path, prefixes[i], strlen(prefixes[i])))
			return true;
	}
	return !*path;
}

/*
 * perf gives the kernel a mapping with the address of a symbol for its offset, and the symbol's
 * name behind its own: the kernel may be anywhere (KASLR), places are told from the symbol.
 */
static struct swlbr_error *map_kernel(struct reading *reading, uint64_t time,
				      const struct swlbr_record *record)
{
	uint64_t start = record->mmap2.start, end = UINT64_MAX, symbol = record->mmap2.offset;
	struct swlbr_build_id id = record->mmap2.build_id;
	struct swlbr_error *error;
	uint32_t binary;

	if (!is_kernel(symbol))
		symbol = start;
	if (!is_kernel(symbol))
		return NULL;
	if (record->mmap2.length < end - start)
		end = start + record->mmap2.length;
	if (start < symbol - KERNEL_OFFSET / 2)
		start = symbol - KERNEL_OFFSET / 2;
	if (end > start && end - start > KERNEL_OFFSET)
		end = start + KERNEL_OFFSET;
	if (end <= start)
		return NULL;
	if (!id.size)
		recorded_id(reading, "[kernel.kallsyms]", &id);
	error = stacks_binary(reading->stacks, record->mmap2.path, &id, BINARY_KERNEL, &binary);
	if (error)
		return error;
	return address_spaces_map(&reading->spaces, time, KERNEL_PID, start, end - start,
				  ((uint64_t)binary << PLACE_OFFSET_BITS) + KERNEL_OFFSET + start -
					  symbol);
}

static struct swlbr_error *map_file(struct reading *reading, uint64_t time, pid_t pid,
				    const struct swlbr_record *record)
{
	uint64_t offset = record->mmap2.offset, size = record->mmap2.length, place = PLACE_NONE;
	const char *path = record->mmap2.path;
	struct swlbr_build_id id = record->mmap2.build_id;
	bool kernel = pid == KERNEL_PID;

	/* Old kernels give the vdso its address for offset. */
	if (!strcmp(path, "[vdso]"))
		offset = 0;
	if (!is_anonymous(path) && offset <= PLACE_OFFSET_MASK / 2 &&
	    size <= PLACE_OFFSET_MASK / 2 - offset) {
		struct swlbr_error *error;
		uint32_t binary;

		if (!id.size)
			recorded_id(reading, path, &id);
		error = stacks_binary(reading->stacks, path, &id,
				      kernel ? BINARY_MODULE : BINARY_FILE, &binary);
		if (error)
			return error;
		place = ((uint64_t)binary << PLACE_OFFSET_BITS) + offset;
	}
	return address_spaces_map(&reading->spaces, time, pid, record->mmap2.start, size, place);
}

static struct swlbr_error *map(struct reading *reading, uint64_t time,
			       const struct swlbr_record *record)
{
	switch (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_GUEST_KERNEL:
	case PERF_RECORD_MISC_GUEST_USER:
		return NULL;
	}
	if (record->pid == KERNEL_PID && !strncmp(record->mmap2.path, "[kernel", 7))
		return map_kernel(reading, time, record);
	return map_file(reading, time, record->pid, record);
}

static struct swlbr_error *add_side_record(struct reading *reading,
					   const struct swlbr_record *record)
{
	struct swlbr_stacks_stats *stats = &reading->stacks->stats;
	uint64_t time = reading->by_time ? record->time : record->offset;
	struct swlbr_error *error = NULL;

	switch (record->kind) {
	case SWLBR_RECORD_MMAP2:
		return map(reading, time, record);
	case SWLBR_RECORD_COMM:
		if (record->comm.exec)
			error = address_spaces_exec(&reading->spaces, time, record->pid);
		if (!error && reading->stacks->filter.nr_comms)
			error = comm_times_add(&reading->comms, time, record->tid,
					       record->comm.comm);
		return error;
	case SWLBR_RECORD_FORK:
		if (record->pid != record->task.ppid)
			error = address_spaces_fork(&reading->spaces, time, record->pid,
						    record->task.ppid);
		if (!error && reading->stacks->filter.nr_comms)
			error = comm_times_fork(&reading->comms, time, record->tid,
						record->task.ptid);
		return error;
	case SWLBR_RECORD_LOST:
		stats->lost += record->nr_lost;
		return NULL;
	case SWLBR_RECORD_THROTTLE:
		stats->throttled++;
		return NULL;
	case SWLBR_RECORD_AUXTRACE_INFO:
		stats->traces |= 1U << (record->trace_type & 31);
		return NULL;
	default:
		return NULL;
	}
}

/* What was written through a pipe tells of events and binaries between the records. */
static struct swlbr_error *read_pipe(struct swlbr_perfdata *file)
{
	struct swlbr_error *error = NULL;
	struct swlbr_record record;
	bool end = swlbr_perfdata_event_name(file, 0);

	swlbr_perfdata_rewind(file, true);
	while (!error && !end)
		error = swlbr_perfdata_next(file, &record, &end);
	if (!error || error->code != SWLBR_ERROR_FORMAT)
		return error;
	swlbr_error_destroy(error);
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

static void count_unmapped(struct swlbr_stacks_stats *stats, const struct swlbr_branch *branch,
			   const struct placed_entry *entry)
{
	if (!branch->from || !branch->to)
		stats->drops[SWLBR_DROP_NO_ADDRESS]++;
	else
		stats->drops[SWLBR_DROP_UNMAPPED]++;
	if ((entry->from == PLACE_NONE && is_kernel(branch->from)) ||
	    (entry->to == PLACE_NONE && is_kernel(branch->to)))
		stats->kernel_unmapped++;
}

/* The stack's entries as places into stacks->entries; returns how many. */
static size_t place_stack(struct swlbr_stacks *stacks, const struct moment *moment,
			  const struct swlbr_branch *stack, size_t nr)
{
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
			count_unmapped(&stacks->stats, &stack[i], entry);
		entry++;
	}
	return entry - stacks->entries;
}

static struct swlbr_error *add_stack(struct reading *reading, const struct swlbr_record *record,
				     uint64_t time)
{
	const struct event_use *event = &reading->events[record->sample.event];
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
	nr = place_stack(stacks, &moment, record->sample.stack, nr < MAX_STACK ? nr : MAX_STACK);
	return stacks_count(stacks, event->source, event->with_ranges, nr);
}

static struct swlbr_error *add_sample(struct reading *reading, const struct swlbr_record *record)
{
	struct swlbr_stacks_stats *stats = &reading->stacks->stats;
	uint64_t time = reading->by_time ? record->time : record->offset;

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
	return add_stack(reading, record, time);
}

/* Damage is left for the second reading to tell. */
static struct swlbr_error *read_sides(struct reading *reading)
{
	struct swlbr_record record;
	bool end;

	swlbr_perfdata_rewind(reading->file, true);
	for (;;) {
		struct swlbr_error *error = swlbr_perfdata_next(reading->file, &record, &end);

		if (error && error->code == SWLBR_ERROR_FORMAT) {
			swlbr_error_destroy(error);
			return NULL;
		}
		if (!error && !end)
			error = add_side_record(reading, &record);
		if (error || end)
			return error;
	}
}

static struct swlbr_error *read_samples(struct reading *reading)
{
	struct swlbr_record record;
	bool end;

	reading->kernel = address_spaces_process(&reading->spaces, KERNEL_PID);
	swlbr_perfdata_rewind(reading->file, false);
	for (;;) {
		struct swlbr_error *error = swlbr_perfdata_next(reading->file, &record, &end);

		if (!error && !end && record.kind == SWLBR_RECORD_SAMPLE)
			error = add_sample(reading, &record);
		if (error || end)
			return error;
	}
}

static struct swlbr_error *read_twice(struct reading *reading)
{
	const struct swlbr_stacks_filter *filter = &reading->stacks->filter;
	struct swlbr_error *error = read_sides(reading);

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
	struct swlbr_error *error = add_side_record(reading, record);

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
			error = add_sample(reading, &record);
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
			error = add_side_record(reading, &record);
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

struct swlbr_error *swlbr_stacks_read(struct swlbr_stacks *stacks, struct swlbr_perfdata *file)
{
	struct reading reading = { .stacks = stacks, .file = file };
	struct swlbr_error *error, *merge_error;

	stacks->stats.files++;
	error = read_pipe(file);
	if (!error)
		error = find_ids(&reading);
	if (!error)
		error = find_events(&reading);
	reading.by_time = all_have_time(file);
	if (!error)
		error = read_file(&reading);
	if (!error || error->code == SWLBR_ERROR_FORMAT) {
		merge_error = stacks_add_counts(stacks);
		if (merge_error) {
			swlbr_error_destroy(error);
			error = merge_error;
		}
	}
	stacks->stats.unfinished_files += swlbr_perfdata_unfinished(file);
	if (swlbr_perfdata_arch(file))
		snprintf(stacks->stats.arch, sizeof(stacks->stats.arch), "%s",
			 swlbr_perfdata_arch(file));
	stacks->stats.damaged_files += error && error->code == SWLBR_ERROR_FORMAT;
	address_spaces_clear(&reading.spaces);
	comm_times_clear(&reading.comms);
	free(reading.events);
	free(reading.ids);
	return error;
}
