// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Writing a perf.data: the file as a whole, and the records of tasks and mappings. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <swlbr/perfdata.h>

#include "perfdata/writer.h"

/* TASK_COMM_LEN: the kernel's names of tasks, NUL included. */
#define COMM_SIZE 16

static uint64_t now(clockid_t clock)
{
	struct timespec ts = { 0 };

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

void swlbr_writer_begin(struct swlbr_perfdata_writer *writer, uint32_t type, uint16_t misc)
{
	struct perf_event_header header = { .type = type, .misc = misc };

	writer->used = 0;
	swlbr_writer_put(writer, &header, sizeof(header));
}

/* Records are bounded by their makers; one that is not would be a bug, which end() reports. */
void swlbr_writer_put(struct swlbr_perfdata_writer *writer, const void *data, size_t size)
{
	if (writer->used <= sizeof(writer->record) && size <= sizeof(writer->record) - writer->used)
		memcpy(writer->record + writer->used, data, size);
	writer->used += size;
}

void swlbr_writer_put_u32(struct swlbr_perfdata_writer *writer, uint32_t value)
{
	swlbr_writer_put(writer, &value, sizeof(value));
}

void swlbr_writer_put_u64(struct swlbr_perfdata_writer *writer, uint64_t value)
{
	swlbr_writer_put(writer, &value, sizeof(value));
}

void swlbr_writer_pad(struct swlbr_perfdata_writer *writer)
{
	static const uint8_t zeroes[8];

	swlbr_writer_put(writer, zeroes, -writer->used & 7);
}

/* The events of the file in their order: ours, then the kernel's. */
static struct event {
	const struct perf_event_attr *attr;
	uint64_t id;
} event_at(const struct swlbr_perfdata_writer *writer, size_t index)
{
	size_t kernel = index - writer->nr_events;

	if (index < (size_t)writer->nr_events)
		return (struct event){ &writer->attrs[index], writer_event_id(index) };
	return (struct event){ &writer->kernel_events[kernel].attr,
			       writer_kernel_event_id(kernel) };
}

/* A header that is not yet true (no data), the ids, and the attrs with the sections of their ids. */
static struct swlbr_error *write_head(struct swlbr_perfdata_writer *writer)
{
	struct perfdata_header *header = &writer->header;
	size_t nr = writer->nr_events + writer->nr_kernel_events;
	struct swlbr_error *error;

	header->magic = PERFDATA_MAGIC;
	header->size = sizeof(*header);
	header->attr_size = ATTR_SIZE + sizeof(struct perfdata_section);
	error = swlbr_outfile_write(writer->file, header, sizeof(*header));
	for (size_t i = 0; !error && i < nr; i++) {
		uint64_t id = event_at(writer, i).id;

		error = swlbr_outfile_write(writer->file, &id, sizeof(id));
	}
	header->attrs.offset = swlbr_outfile_offset(writer->file);
	header->attrs.size = nr * header->attr_size;
	for (size_t i = 0; !error && i < nr; i++) {
		struct perfdata_section ids = {
			.offset = sizeof(*header) + i * sizeof(uint64_t),
			.size = sizeof(uint64_t),
		};

		error = swlbr_outfile_write(writer->file, event_at(writer, i).attr, ATTR_SIZE);
		if (!error)
			error = swlbr_outfile_write(writer->file, &ids, sizeof(ids));
	}
	header->data.offset = swlbr_outfile_offset(writer->file);
	return error;
}

struct swlbr_error *swlbr_writer_end(struct swlbr_perfdata_writer *writer)
{
	struct perf_event_header header;
	struct swlbr_error *error = NULL;

	if (writer->used > UINT16_MAX)
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "%s: a record of %zu bytes is too large", writer->path,
					  writer->used);
	memcpy(&header, writer->record, sizeof(header));
	header.size = writer->used;
	memcpy(writer->record, &header, sizeof(header));
	if (!writer->header.data.offset)
		error = write_head(writer);
	return error ? error : swlbr_outfile_write(writer->file, writer->record, writer->used);
}

uint64_t swlbr_writer_note_time(struct swlbr_perfdata_writer *writer, uint64_t time)
{
	if (time < writer->flushed)
		time = writer->flushed;
	if (time > writer->newest)
		writer->newest = time;
	return time;
}

void swlbr_writer_note_sample(struct swlbr_perfdata_writer *writer, uint64_t time)
{
	if (!writer->first_sample || time < writer->first_sample)
		writer->first_sample = time;
	if (time > writer->last_sample)
		writer->last_sample = time;
}

/* End a record that is no sample: sample_id_all puts the sample's identity behind it. */
static struct swlbr_error *end_with_sample_id(struct swlbr_perfdata_writer *writer,
					      const struct swlbr_event_time *when)
{
	swlbr_writer_put_u32(writer, when->pid);
	swlbr_writer_put_u32(writer, when->tid);
	swlbr_writer_put_u64(writer, swlbr_writer_note_time(writer, when->time));
	swlbr_writer_put_u64(writer, when->cpu);
	swlbr_writer_put_u64(writer, writer_event_id(EVENT_BRANCHES));
	return swlbr_writer_end(writer);
}

void swlbr_writer_begin_sample(struct swlbr_perfdata_writer *writer, enum writer_event event,
			       const struct swlbr_event_time *when, uint64_t ip, uint64_t period)
{
	uint64_t time = swlbr_writer_note_time(writer, when->time);

	swlbr_writer_begin(writer, PERF_RECORD_SAMPLE,
			   writer->of_kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER);
	swlbr_writer_put_u64(writer, writer_event_id(event));
	swlbr_writer_put_u64(writer, ip);
	swlbr_writer_put_u32(writer, when->pid);
	swlbr_writer_put_u32(writer, when->tid);
	swlbr_writer_put_u64(writer, time);
	swlbr_writer_put_u64(writer, when->cpu);
	swlbr_writer_put_u64(writer, period);
	swlbr_writer_note_sample(writer, time);
}

struct swlbr_error *swlbr_perfdata_write_comm(struct swlbr_perfdata_writer *writer,
					      const struct swlbr_event_time *when, const char *comm,
					      bool exec)
{
	char name[COMM_SIZE] = "";

	if (exec)
		swlbr_writer_mapping_forget(writer, when->pid);
	memcpy(name, comm, strnlen(comm, sizeof(name) - 1));
	swlbr_writer_begin(writer, PERF_RECORD_COMM,
			   PERF_RECORD_MISC_USER | (exec ? PERF_RECORD_MISC_COMM_EXEC : 0));
	swlbr_writer_put_u32(writer, when->pid);
	swlbr_writer_put_u32(writer, when->tid);
	swlbr_writer_put(writer, name, strlen(name) + 1);
	swlbr_writer_pad(writer);
	return end_with_sample_id(writer, when);
}

static struct swlbr_error *write_task(struct swlbr_perfdata_writer *writer, uint32_t type,
				      const struct swlbr_event_time *when, pid_t ppid, pid_t ptid)
{
	swlbr_writer_begin(writer, type, PERF_RECORD_MISC_USER);
	swlbr_writer_put_u32(writer, when->pid);
	swlbr_writer_put_u32(writer, ppid);
	swlbr_writer_put_u32(writer, when->tid);
	swlbr_writer_put_u32(writer, ptid);
	swlbr_writer_put_u64(writer, swlbr_writer_note_time(writer, when->time));
	return end_with_sample_id(writer, when);
}

struct swlbr_error *swlbr_perfdata_write_fork(struct swlbr_perfdata_writer *writer,
					      const struct swlbr_event_time *when, pid_t ppid,
					      pid_t ptid)
{
	struct swlbr_error *error = swlbr_writer_mapping_fork(writer, when->pid, ppid);

	if (error)
		return error;
	return write_task(writer, PERF_RECORD_FORK, when, ppid, ptid);
}

struct swlbr_error *swlbr_perfdata_write_exit(struct swlbr_perfdata_writer *writer,
					      const struct swlbr_event_time *when, pid_t ppid,
					      pid_t ptid)
{
	if (when->pid == when->tid)
		swlbr_writer_mapping_forget(writer, when->pid);
	return write_task(writer, PERF_RECORD_EXIT, when, ppid, ptid);
}

static struct swlbr_error *note_binary(struct swlbr_perfdata_writer *writer,
				       const struct swlbr_build_id *build_id, const char *path)
{
	struct writer_binary *binary;

	for (size_t i = 0; i < writer->nr_binaries; i++) {
		binary = &writer->binaries[i];
		if (swlbr_build_id_equal(&binary->build_id, build_id) &&
		    !strcmp(binary->path, path))
			return NULL;
	}
	binary = realloc(writer->binaries, (writer->nr_binaries + 1) * sizeof(*binary));
	if (!binary)
		return swlbr_error_no_memory();
	writer->binaries = binary;
	binary += writer->nr_binaries;
	binary->build_id = *build_id;
	binary->path = strdup(path);
	if (!binary->path)
		return swlbr_error_no_memory();
	writer->nr_binaries++;
	return NULL;
}

struct swlbr_error *swlbr_perfdata_write_mmap2(struct swlbr_perfdata_writer *writer,
					       const struct swlbr_event_time *when,
					       const struct swlbr_mapping *mapping)
{
	const struct swlbr_build_id *build_id = mapping->build_id;
	const char *path = mapping->path;
	uint16_t misc = PERF_RECORD_MISC_USER;
	uint8_t binary[24] = { 0 }; /* maj, min, ino, ino_generation, or the build-id */
	struct swlbr_error *error = NULL;

	/* As the kernel does with a path it cannot tell. */
	if (strlen(path) >= PATH_MAX)
		path = "//toolong";
	if (!(mapping->prot & PROT_EXEC))
		misc |= PERF_RECORD_MISC_MMAP_DATA;
	if (build_id && build_id->size && !build_id->digest) {
		misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		binary[0] = build_id->size;
		memcpy(binary + 4, build_id->bytes, sizeof(build_id->bytes));
		error = note_binary(writer, build_id, path);
	}
	if (!error && build_id && mapping->prot & PROT_EXEC)
		error = swlbr_writer_mapping_add(writer, when->pid, build_id, mapping->start);
	if (error)
		return error;
	swlbr_writer_begin(writer, PERF_RECORD_MMAP2, misc);
	swlbr_writer_put_u32(writer, when->pid);
	swlbr_writer_put_u32(writer, when->tid);
	swlbr_writer_put_u64(writer, mapping->start);
	swlbr_writer_put_u64(writer, mapping->length);
	swlbr_writer_put_u64(writer, mapping->offset);
	swlbr_writer_put(writer, binary, sizeof(binary));
	swlbr_writer_put_u32(writer, mapping->prot);
	swlbr_writer_put_u32(writer, mapping->flags);
	swlbr_writer_put(writer, path, strlen(path) + 1);
	swlbr_writer_pad(writer);
	return end_with_sample_id(writer, when);
}

struct swlbr_error *swlbr_perfdata_write_kernel(struct swlbr_perfdata_writer *writer,
						const struct swlbr_event_time *when,
						const struct swlbr_build_id *build_id,
						uint64_t start, uint64_t length, const char *symbol)
{
	/* perf knows the kernel by this name, and by the symbol that its code begins with. */
	static const char name[] = "[kernel.kallsyms]";
	struct swlbr_error *error = note_binary(writer, build_id, name);

	if (!error)
		error = swlbr_writer_mapping_add(writer, when->pid, build_id, start);
	if (error)
		return error;
	writer->of_kernel = true;
	swlbr_writer_begin(writer, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);
	swlbr_writer_put_u32(writer, (uint32_t)-1);
	swlbr_writer_put_u32(writer, 0);
	swlbr_writer_put_u64(writer, start);
	swlbr_writer_put_u64(writer, length);
	swlbr_writer_put_u64(writer, start);
	swlbr_writer_put(writer, name, sizeof(name) - 1);
	swlbr_writer_put(writer, symbol, strlen(symbol) + 1);
	swlbr_writer_pad(writer);
	return end_with_sample_id(writer, when);
}

struct swlbr_error *swlbr_perfdata_write_no_counters(struct swlbr_perfdata_writer *writer,
						     const struct swlbr_event_time *when)
{
	const struct swlbr_mapping mapping = {
		.start = SWLBR_NO_COUNTERS_ADDRESS,
		.length = SWLBR_NO_COUNTERS_SIZE,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
		.path = SWLBR_NO_COUNTERS_PATH,
	};

	return swlbr_perfdata_write_mmap2(writer, when, &mapping);
}

struct swlbr_error *swlbr_perfdata_write_stack(struct swlbr_perfdata_writer *writer,
					       const struct swlbr_event_time *when, uint64_t ip,
					       uint64_t period, size_t nr,
					       const struct swlbr_branch_entry *entries)
{
	swlbr_writer_begin_sample(writer, EVENT_BRANCHES, when, ip, period);
	swlbr_writer_put_u64(writer, nr);
	for (size_t i = 0; i < nr; i++) {
		swlbr_writer_put_u64(writer, entries[i].from);
		swlbr_writer_put_u64(writer, entries[i].to);
		swlbr_writer_put_u64(writer, 0); /* flags */
	}
	return swlbr_writer_end(writer);
}

struct swlbr_error *swlbr_perfdata_write_round(struct swlbr_perfdata_writer *writer)
{
	/* perf flushes what is older than the newest record at the round before. */
	writer->flushed = writer->promised;
	writer->promised = writer->newest;
	swlbr_writer_begin(writer, PERFDATA_RECORD_FINISHED_ROUND, 0);
	return swlbr_writer_end(writer);
}

struct swlbr_error *swlbr_perfdata_writer_set_period(struct swlbr_perfdata_writer *writer,
						     uint64_t period)
{
	struct perf_event_attr *attr = &writer->attrs[EVENT_BRANCHES];

	attr->sample_period = period;
	if (!writer->header.data.offset)
		return NULL; /* will be written so */
	return swlbr_outfile_pwrite(writer->file,
				    writer->header.attrs.offset +
					    offsetof(struct perf_event_attr, sample_period),
				    &attr->sample_period, sizeof(attr->sample_period));
}

void swlbr_writer_event_name(const struct swlbr_perfdata_writer *writer, enum writer_event event,
			     char name[32])
{
	if (event == EVENT_BRANCHES)
		strcpy(name, writer->emulated ? SWLBR_EVENT_EMULATED : SWLBR_EVENT_BRANCHES);
	else
		snprintf(name, 32, "swlbr:%s", swlbr_writer_tracepoints[event].name);
}

static void init_attrs(struct swlbr_perfdata_writer *writer, const struct swlbr_perfdata_info *info)
{
	uint64_t filter = info->branch_filter & ~(uint64_t)PERF_SAMPLE_BRANCH_USER;

	writer->nr_events = info->emulated ? 1 : WRITER_EVENTS;
	for (int event = 0; event < writer->nr_events; event++) {
		struct perf_event_attr *attr = &writer->attrs[event];

		attr->size = ATTR_SIZE;
		attr->sample_type = SAMPLE_TYPE;
		attr->sample_id_all = 1;
		attr->exclude_kernel = attr->exclude_hv = 1;
		attr->inherit = 1;
		attr->use_clockid = 1;
		attr->clockid = CLOCK_MONOTONIC;
		if (event == EVENT_BRANCHES) {
			attr->type = swlbr_writer_free_pmu_type();
			attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
			attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER |
						   (filter ? filter : PERF_SAMPLE_BRANCH_ANY);
			attr->sample_period = info->period;
			attr->mmap = attr->mmap2 = attr->build_id = 1;
			attr->comm = attr->comm_exec = attr->task = 1;
		} else {
			attr->type = PERF_TYPE_TRACEPOINT;
			attr->config = writer_tracepoint_id(event);
			attr->sample_type |= PERF_SAMPLE_RAW;
			attr->sample_period = 1;
		}
	}
}

/* perf reads a file, not a pipe, in the form written here. */
static struct swlbr_error *check_stdout(const char *path)
{
	struct stat st;

	if (strcmp(path, "-"))
		return NULL;
	if (fstat(STDOUT_FILENO, &st) < 0)
		return swlbr_error_errno(errno, "standard output");
	if (S_ISREG(st.st_mode) || (S_ISCHR(st.st_mode) && !isatty(STDOUT_FILENO)))
		return NULL;
	return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
				  "standard output is %s: writing a perf.data there is not "
				  "supported yet, name a file",
				  S_ISCHR(st.st_mode) ? "a terminal" : "a pipe");
}

static struct swlbr_error *copy_info(struct swlbr_perfdata_writer *writer,
				     const struct swlbr_perfdata_info *info)
{
	writer->version = strdup(info->version);
	writer->argv = calloc(info->argc + 1, sizeof(*writer->argv));
	if (info->emulated)
		writer->emulated = strdup(info->emulated);
	if (!writer->version || !writer->argv || (info->emulated && !writer->emulated))
		return swlbr_error_no_memory();
	for (; writer->argc < info->argc; writer->argc++) {
		writer->argv[writer->argc] = strdup(info->argv[writer->argc]);
		if (!writer->argv[writer->argc])
			return swlbr_error_no_memory();
	}
	return NULL;
}

struct swlbr_error *swlbr_perfdata_writer_open(const char *path,
					       const struct swlbr_perfdata_info *info,
					       struct swlbr_perfdata_writer **ret)
{
	struct swlbr_perfdata_writer *writer;
	struct swlbr_error *error = check_stdout(path);

	if (error)
		return error;
	writer = calloc(1, sizeof(*writer));
	if (!writer)
		return swlbr_error_no_memory();
	writer->start_monotonic = now(CLOCK_MONOTONIC);
	writer->start_realtime = now(CLOCK_REALTIME);
	init_attrs(writer, info);
	writer->path = strdup(path);
	error = writer->path ? copy_info(writer, info) : swlbr_error_no_memory();
	if (!error)
		error = swlbr_outfile_open_flags(
			path, SWLBR_OUTFILE_PRIVATE | SWLBR_OUTFILE_KEEP_OLD, &writer->file);
	if (error) {
		swlbr_perfdata_writer_discard(writer);
		return error;
	}
	*ret = writer;
	return NULL;
}

uint64_t swlbr_perfdata_writer_size(const struct swlbr_perfdata_writer *writer)
{
	return swlbr_outfile_offset(writer->file);
}

struct swlbr_error *swlbr_perfdata_writer_commit(struct swlbr_perfdata_writer *writer)
{
	struct perfdata_header *header = &writer->header;
	struct swlbr_error *error = NULL;

	if (!header->data.offset)
		error = write_head(writer);
	header->data.size = swlbr_outfile_offset(writer->file) - header->data.offset;
	if (!error)
		error = swlbr_writer_features(writer);
	if (!error)
		error = swlbr_outfile_pwrite(writer->file, 0, header, sizeof(*header));
	if (!error) {
		error = swlbr_outfile_commit(writer->file);
		writer->file = NULL;
	}
	swlbr_perfdata_writer_discard(writer);
	return error;
}

void swlbr_perfdata_writer_discard(struct swlbr_perfdata_writer *writer)
{
	if (!writer)
		return;
	swlbr_outfile_discard(writer->file);
	for (size_t i = 0; i < writer->nr_binaries; i++)
		free(writer->binaries[i].path);
	free(writer->binaries);
	free(writer->mappings);
	for (size_t i = 0; i < writer->nr_kernel_events; i++)
		free(writer->kernel_events[i].name);
	free(writer->kernel_events);
	for (int i = 0; i < writer->argc; i++)
		free(writer->argv[i]);
	free(writer->argv);
	free(writer->version);
	free(writer->emulated);
	free(writer->path);
	free(writer);
}
