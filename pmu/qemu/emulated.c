// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "emulated.h"

#define PAGE_MASK 4095ULL

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

struct swlbr_error *emulated_process_of(struct emulated *emulated, const struct lane_reader *lane,
					struct emulated_process **ret)
{
	struct emulated_process **grown, *process;
	bool new_process = true;

	for (size_t i = 0; i < emulated->nr_processes; i++) {
		process = emulated->processes[i];
		if (process->pid == lane->pid && process->id != lane->process && !process->ended) {
			process->replaced = true;
			new_process = false;
		}
		if (process->pid != lane->pid || process->id != lane->process)
			continue;
		process->nr_lanes++;
		*ret = process;
		return NULL;
	}
	grown = reallocarray(emulated->processes, emulated->nr_processes + 1, sizeof(*grown));
	process = calloc(1, sizeof(*process));
	if (grown)
		emulated->processes = grown;
	if (!grown || !process) {
		free(process);
		return swlbr_error_no_memory();
	}
	process->id = lane->process;
	process->pid = lane->pid;
	process->nr_lanes = 1;
	process->pidfd = (int)syscall(SYS_pidfd_open, lane->pid, 0);
	process->ended = process->pidfd < 0;
	grown[emulated->nr_processes++] = process;
	emulated->summary->images++;
	emulated->summary->processes += new_process;
	*ret = process;
	return NULL;
}

/* Its build-id and segments, if it is an ELF file that is still there. */
static struct swlbr_error *read_binary(struct emulated *emulated, struct emulated_binary *binary)
{
	const struct swlbr_elf_segment *segments;
	struct swlbr_error *error;
	struct swlbr_elf *elf;
	struct stat st;

	if (stat(binary->path, &st) || st.st_ino != binary->inode) {
		emulate_note(emulated->summary,
			     "%s: no longer there, or replaced: its build-id is not known",
			     binary->path);
		return NULL;
	}
	error = swlbr_elf_open(binary->path, &elf);
	if (error) {
		emulate_note(emulated->summary, "%s", error->message);
		swlbr_error_destroy(error);
		return NULL;
	}
	binary->build_id = *swlbr_elf_build_id(elf);
	binary->nr_segments = swlbr_elf_segments(elf, &segments);
	binary->segments = calloc(binary->nr_segments + 1, sizeof(*segments));
	if (binary->segments)
		memcpy(binary->segments, segments, binary->nr_segments * sizeof(*segments));
	else
		error = swlbr_error_no_memory();
	swlbr_elf_close(elf);
	return error;
}

static struct swlbr_error *add_to_profile(struct emulated *emulated, struct emulated_binary *binary)
{
	struct swlbr_edge_binary edge_binary = {
		.build_id = binary->build_id,
		.path = binary->path,
		.file_offsets = !binary->nr_segments,
	};

	return swlbr_edge_profile_binary(emulated->profile, &edge_binary, &binary->profile_index);
}

static struct swlbr_error *find_binary(struct emulated *emulated, const struct lane_mapping *told,
				       const char *path, size_t *ret)
{
	struct emulated_binary *grown, *binary;
	struct swlbr_error *error;

	for (size_t i = 0; i < emulated->nr_binaries; i++) {
		binary = &emulated->binaries[i];
		*ret = i;
		if (binary->inode == told->inode && binary->major == told->major &&
		    binary->minor == told->minor && !strcmp(binary->path, path))
			return NULL;
	}
	grown = reallocarray(emulated->binaries, emulated->nr_binaries + 1, sizeof(*grown));
	if (!grown)
		return swlbr_error_no_memory();
	emulated->binaries = grown;
	binary = &grown[emulated->nr_binaries];
	*binary = (struct emulated_binary){ .path = strdup(path),
					    .inode = told->inode,
					    .major = told->major,
					    .minor = told->minor };
	*ret = emulated->nr_binaries++;
	emulated->summary->binaries++;
	if (!binary->path)
		return swlbr_error_no_memory();
	error = read_binary(emulated, binary);
	if (!error && emulated->profile)
		error = add_to_profile(emulated, binary);
	return error;
}

struct swlbr_error *emulated_open_kernel(struct emulated *emulated)
{
	const char *path = emulated->options->kernel;
	struct lane_mapping told = { 0 };
	struct swlbr_error *error;
	struct stat st;
	size_t index;

	if (stat(path, &st))
		return swlbr_error_errno(errno, "%s", path);
	told.inode = st.st_ino;
	error = find_binary(emulated, &told, path, &index);
	if (!error && !emulated->binaries[index].nr_segments)
		error = swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: not an ELF image of a kernel",
					   path);
	return error;
}

/*
 * The mapping as the kernel makes it of an executable segment. The emulator maps code without the
 * right to execute it, so that segments side by side look like one mapping; readers want the
 * offset of the text segment.
 */
static struct swlbr_error *write_segment(struct emulated *emulated,
					 const struct swlbr_event_time *when,
					 const struct emulated_mapping *mapping,
					 const struct swlbr_elf_segment *segment)
{
	const struct emulated_binary *binary = &emulated->binaries[mapping->binary];
	const struct lane_mapping *told = &mapping->told;
	uint64_t first = segment->offset & ~PAGE_MASK;
	uint64_t end = (segment->offset + segment->filesz + PAGE_MASK) & ~PAGE_MASK;
	struct swlbr_mapping perf_mapping = {
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
		.build_id = &binary->build_id,
		.path = binary->path,
	};

	if (first < told->offset)
		first = told->offset;
	if (end > told->offset + told->length)
		end = told->offset + told->length;
	if (first >= end)
		return NULL;
	perf_mapping.start = told->start + (first - told->offset);
	perf_mapping.length = end - first;
	perf_mapping.offset = first;
	return swlbr_perfdata_write_mmap2(emulated->writer, when, &perf_mapping);
}

static struct swlbr_error *write_mapping(struct emulated *emulated,
					 const struct swlbr_event_time *when,
					 const struct emulated_mapping *mapping)
{
	const struct emulated_binary *binary = &emulated->binaries[mapping->binary];
	struct swlbr_elf_segment whole = { .offset = mapping->told.offset,
					   .filesz = mapping->told.length };
	struct swlbr_error *error = NULL;

	if (!binary->nr_segments)
		return write_segment(emulated, when, mapping, &whole);
	for (size_t i = 0; !error && i < binary->nr_segments; i++)
		if (binary->segments[i].flags & 1) /* PF_X */
			error = write_segment(emulated, when, mapping, &binary->segments[i]);
	return error;
}

static struct swlbr_error *on_mapping(struct emulated *emulated, struct emulated_process *process,
				      const struct swlbr_event_time *when,
				      const struct lane_mapping *told, const char *path)
{
	struct emulated_mapping mapping = { .told = *told };
	struct swlbr_error *error;

	if (!told->id || told->id > UINT16_MAX || told->length > INT64_MAX ||
	    told->offset > INT64_MAX)
		return NULL;
	error = find_binary(emulated, told, path, &mapping.binary);
	if (error)
		return error;
	if (told->id >= process->max_mappings) {
		size_t max = told->id + 32;
		struct emulated_mapping *grown =
			reallocarray(process->mappings, max, sizeof(*grown));

		if (!grown)
			return swlbr_error_no_memory();
		memset(grown + process->max_mappings, 0,
		       (max - process->max_mappings) * sizeof(*grown));
		process->mappings = grown;
		process->max_mappings = max;
	}
	process->mappings[told->id] = mapping;
	return emulated->writer ? write_mapping(emulated, when, &mapping) : NULL;
}

static struct swlbr_error *on_start(struct emulated *emulated, const struct swlbr_event_time *when,
				    const struct lane_start *start, const char *path)
{
	if (start->kind == LANE_START_THREAD)
		emulated->summary->threads++;
	if (!emulated->writer)
		return NULL;
	if (start->kind == LANE_START_IMAGE)
		return swlbr_perfdata_write_comm(emulated->writer, when, basename(path), true);
	return swlbr_perfdata_write_fork(emulated->writer, when, (pid_t)start->ppid,
					 (pid_t)start->ptid);
}

static struct swlbr_error *on_sample(struct emulated *emulated, const struct swlbr_event_time *when,
				     const struct lane_sample *sample, size_t size)
{
	const struct lane_entry *entries = (const struct lane_entry *)(sample + 1);
	struct swlbr_branch_entry stack[LANE_MAX_DEPTH];

	if (sample->nr > LANE_MAX_DEPTH || sample->nr * sizeof(*entries) > size - sizeof(*sample) ||
	    !emulated->writer)
		return NULL;
	for (uint64_t i = 0; i < sample->nr; i++)
		stack[i] = (struct swlbr_branch_entry){ entries[i].from, entries[i].to };
	emulated->summary->samples++;
	emulated->summary->taken += sample->period;
	return swlbr_perfdata_write_stack(emulated->writer, when, sample->ip, sample->period,
					  sample->nr, stack);
}

struct swlbr_error *emulated_record(struct emulated *emulated, struct emulated_process *process,
				    pid_t tid, const struct lane_record *record)
{
	struct swlbr_event_time when = { .pid = process->pid, .tid = tid, .time = record->time };
	const uint8_t *data = (const uint8_t *)(record + 1);
	size_t size = record->size - sizeof(*record);
	/* A text ends the record; one without a NUL in it is none. */
	const char *text = size && !data[size - 1] ? (const char *)data : NULL;

	switch (record->type) {
	case LANE_RECORD_START:
		if (text && size > sizeof(struct lane_start))
			return on_start(emulated, &when, (const struct lane_start *)data,
					text + sizeof(struct lane_start));
		break;
	case LANE_RECORD_MAPPING:
		if (text && size > sizeof(struct lane_mapping))
			return on_mapping(emulated, process, &when,
					  (const struct lane_mapping *)data,
					  text + sizeof(struct lane_mapping));
		break;
	case LANE_RECORD_COMM:
		if (emulated->writer && size >= 16)
			return swlbr_perfdata_write_comm(emulated->writer, &when,
							 (const char *)data, false);
		break;
	case LANE_RECORD_SAMPLE:
		if (size >= sizeof(struct lane_sample))
			return on_sample(emulated, &when, (const struct lane_sample *)data, size);
		break;
	case LANE_RECORD_EXEC:
		if (text) {
			free(process->executed);
			process->executed = strdup(text);
		}
		break;
	case LANE_RECORD_NO_EXEC:
		free(process->executed);
		process->executed = NULL;
		break;
	}
	return NULL;
}

struct count_context {
	struct emulated *emulated;
	struct emulated_process *process;
};

/* As resolve() below, where all addresses are the kernel's own. */
static bool resolve_in_kernel(const struct emulated_binary *kernel, uint64_t address,
			      uint32_t *binary_ret, uint64_t *address_ret)
{
	for (size_t i = 0; i < kernel->nr_segments; i++) {
		const struct swlbr_elf_segment *segment = &kernel->segments[i];
		uint64_t skip = (address - segment->vaddr) & ((1ULL << LANE_ADDRESS_BITS) - 1);

		if (!(segment->flags & 1) || skip >= segment->memsz)
			continue;
		*binary_ret = kernel->profile_index;
		*address_ret = segment->vaddr + skip;
		return true;
	}
	return false;
}

/* The binary and the address in it of @location; false if no file is mapped there. */
static bool resolve(const struct count_context *context, uint64_t location, uint32_t *binary_ret,
		    uint64_t *address_ret)
{
	uint64_t id = location >> LANE_ADDRESS_BITS, offset;
	uint64_t address = location & ((1ULL << LANE_ADDRESS_BITS) - 1);
	const struct emulated_mapping *mapping;
	const struct emulated_binary *binary;

	if (context->emulated->options->kernel)
		return resolve_in_kernel(&context->emulated->binaries[0], address, binary_ret,
					 address_ret);
	if (!id || id >= context->process->max_mappings)
		return false;
	mapping = &context->process->mappings[id];
	if (mapping->told.id != id || address - mapping->told.start >= mapping->told.length)
		return false;
	binary = &context->emulated->binaries[mapping->binary];
	*binary_ret = binary->profile_index;
	offset = address - mapping->told.start + mapping->told.offset;
	*address_ret = offset;
	for (size_t i = 0; i < binary->nr_segments; i++) {
		const struct swlbr_elf_segment *segment = &binary->segments[i];

		if (!(segment->flags & 1) || offset - segment->offset >= segment->filesz)
			continue;
		*address_ret = offset - segment->offset + segment->vaddr;
		return true;
	}
	return !binary->nr_segments;
}

static struct swlbr_error *add_run(void *data, const struct lane_run *run)
{
	const struct count_context *context = data;
	struct swlbr_edge_profile *profile = context->emulated->profile;
	struct emulate_summary *summary = context->emulated->summary;
	struct swlbr_edge edge = { .kind = SWLBR_EDGE_RANGE,
				   .source = SWLBR_SOURCE_EMU,
				   .nr = run->nr };
	struct swlbr_error *error = NULL;
	bool known = resolve(context, run->last, &edge.to_binary, &edge.to);

	if (known && resolve(context, run->start, &edge.from_binary, &edge.from) &&
	    edge.from_binary == edge.to_binary)
		error = swlbr_edge_profile_add(profile, &edge);
	if (error || !run->to)
		return error;
	summary->taken += run->nr;
	edge.kind = SWLBR_EDGE_BRANCH;
	edge.from = edge.to;
	edge.from_binary = edge.to_binary;
	if (known && resolve(context, run->to, &edge.to_binary, &edge.to))
		return swlbr_edge_profile_add(profile, &edge);
	summary->unknown += run->nr;
	return NULL;
}

struct swlbr_error *emulated_lane_ended(struct emulated *emulated, struct emulated_process *process,
					const struct lane_reader *lane)
{
	struct count_context context = { emulated, process };
	struct swlbr_event_time when = { .pid = lane->pid, .tid = lane->tid, .time = now() };

	process->nr_lanes--;
	emulated->summary->lost_threads += lane->lane->lost_threads;
	if (emulated->profile) {
		emulated->summary->lost += lane->lane->lost_runs;
		return lane_reader_runs(lane, true, add_run, &context);
	}
	if (lane->tid != lane->pid)
		return swlbr_perfdata_write_exit(emulated->writer, &when, lane->pid, lane->pid);
	return NULL;
}

static void free_process(struct emulated_process *process)
{
	if (process->pidfd >= 0)
		close(process->pidfd);
	free(process->executed);
	free(process->mappings);
	free(process);
}

struct swlbr_error *emulated_process_ended(struct emulated *emulated,
					   struct emulated_process *process)
{
	struct swlbr_event_time when = { .pid = process->pid, .tid = process->pid, .time = now() };
	struct swlbr_error *error = NULL;

	if (emulated->writer && process->ended && !process->replaced)
		error = swlbr_perfdata_write_exit(emulated->writer, &when, process->pid,
						  process->pid);
	for (size_t i = 0; i < emulated->nr_processes; i++) {
		if (emulated->processes[i] != process)
			continue;
		emulated->processes[i] = emulated->processes[--emulated->nr_processes];
		break;
	}
	if (process->executed)
		emulate_note(emulated->summary,
			     "process %d executed %s outside the emulator: not recorded",
			     process->pid, process->executed);
	free_process(process);
	return error;
}

void emulated_deinit(struct emulated *emulated)
{
	while (emulated->nr_processes)
		free_process(emulated->processes[--emulated->nr_processes]);
	free(emulated->processes);
	for (size_t i = 0; i < emulated->nr_binaries; i++) {
		free(emulated->binaries[i].path);
		free(emulated->binaries[i].segments);
	}
	free(emulated->binaries);
	swlbr_edge_profile_destroy(emulated->profile);
	swlbr_perfdata_writer_discard(emulated->writer);
}
