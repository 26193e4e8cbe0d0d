// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What a perf.data tells beside its samples: what processes mapped and when, what was lost. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "edgeprofile/reading.h"

bool reading_has_times(const struct swlbr_perfdata *file)
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

struct swlbr_error *reading_find_ids(struct reading *reading)
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
	/* No kernel is so large that this cuts something off. */
	if (start < symbol - KERNEL_OFFSET / 2)
		start = symbol - KERNEL_OFFSET / 2;
	if (end > symbol && end - symbol > KERNEL_OFFSET / 2)
		end = symbol + KERNEL_OFFSET / 2;
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

	if (!strcmp(path, SWLBR_NO_COUNTERS_PATH)) {
		reading->maps_no_counters = true;
		return NULL;
	}
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

struct swlbr_error *reading_add_side(struct reading *reading, const struct swlbr_record *record)
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

struct swlbr_error *reading_read_sides(struct reading *reading)
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
			error = reading_add_side(reading, &record);
		if (error || end)
			return error;
	}
}

struct swlbr_error *reading_read_pipe(struct swlbr_perfdata *file)
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
