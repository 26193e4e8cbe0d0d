// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf swlbr inject: what the kernel's PMU swlbr counted, with vmlinux, into long branch stacks and
 * totals. The kernel itself knows no more than two branches that belong together. Stacks are drawn
 * for intervals and threads, and have the times, CPUs and threads of the samples that they are of.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <linux/perf_event.h>

#include <swlbr/branch_map.h>
#include <swlbr/flow.h>
#include <swlbr/perfdata_writer.h>
#include <swlbr/walk.h>

#include "base/number.h"
#include "cmd.h"
#include "convert.h"
#include "inject_groups.h"
#include "inject_walks.h"

/* Flows that are solved: intervals, and threads in these that are told apart. */
#define INTERVALS	16
#define MAX_INTERVALS	1000
#define MAX_INTERVAL_MS 86400000 /* a day */
#define MAX_THREADS	64

static const char usage[] =
	"\n"
	" Usage: perf swlbr inject [<options>] [<vmlinux>]\n"
	"\n"
	"    -i, --input <file>    recording of the kernel's PMU swlbr with raw data ('perf record -e\n"
	"                          swlbr// -R'; default: perf.data)\n"
	"    -o, --output <file>   output file name\n"
	"        --interval <ms>   length of the intervals that have stacks of their own (default: a\n"
	"                          sixteenth of the recording)\n"
	"    -c, --count <n>       taken branches to a stack (default: such that there are 20,000)\n"
	"    -q, --quiet           no summary\n"
	"    -h, --help            this text\n"
	"\n"
	" Example:\n"
	"    perf record -e swlbr// -R -a -- make\n"
	"    perf swlbr inject -i perf.data -o perf.data.walks vmlinux\n"
	"\n";

struct inject {
	struct convert convert; /* finds vmlinux and sums its counters up */
	const char *input, *output;
	uint64_t period;
	uint64_t interval; /* ns, 0: not given */
	bool quiet;
	uint64_t nr_deltas, nr_lost;
	uint64_t first, last;	/* ns, of samples */
	uint64_t start, length; /* of the kernel's code at run time; 0: not told */
	char symbol[32];	/* that it begins with */
	uint64_t offset;	/* run-time addresses less those of vmlinux */
	struct swlbr_perfdata *file;
	struct inject_groups groups;
	uint64_t nr_stacks;
	struct swlbr_perfdata_writer *writer;
	struct swlbr_event_time when;
	const struct convert_binary *binary;
};

/* The kernel's own mapping is the first: "[kernel.kallsyms]" and the symbol that it begins with. */
static void note_mapping(struct inject *inject, const struct swlbr_record *record)
{
	static const char name[] = "[kernel.kallsyms]";
	const char *path = record->mmap2.path;

	if (inject->length || strncmp(path, name, sizeof(name) - 1))
		return;
	inject->start = record->mmap2.start;
	inject->length = record->mmap2.length;
	snprintf(inject->symbol, sizeof(inject->symbol), "%s", path + sizeof(name) - 1);
}

static struct swlbr_error *add_sample(struct inject *inject, const struct swlbr_record *record)
{
	if (!convert_is_kernel_sample(inject->file, record))
		return NULL;
	if (!inject->first || record->time < inject->first)
		inject->first = record->time;
	if (record->time > inject->last)
		inject->last = record->time;
	return inject_groups_add(&inject->groups, inject->file, record);
}

static struct swlbr_error *add_record(struct inject *inject, const struct swlbr_record *record)
{
	struct swlbr_error *error;

	switch (record->kind) {
	case SWLBR_RECORD_MMAP2:
		note_mapping(inject, record);
		return NULL;
	case SWLBR_RECORD_LOST:
		inject->nr_lost += record->nr_lost;
		return NULL;
	case SWLBR_RECORD_SAMPLE:
		error = add_sample(inject, record);
		return error ? error
			     : convert_kernel_sample(&inject->convert, inject->input, inject->file,
						     record, &inject->nr_deltas);
	default:
		return NULL;
	}
}

static struct swlbr_error *read_input(struct inject *inject)
{
	struct swlbr_error *error = swlbr_perfdata_open(inject->input, &inject->file);
	bool end = false;

	while (!error && !end) {
		struct swlbr_record record;

		error = swlbr_perfdata_next(inject->file, &record, &end);
		if (!error && !end)
			error = add_record(inject, &record);
	}
	if (error)
		return error;
	if (!inject->nr_deltas)
		return swlbr_error_create(
			SWLBR_ERROR_NOT_FOUND,
			"%s: no counters of a kernel in it: recorded with 'perf record -e swlbr// -R'?",
			inject->input);
	if (inject->nr_lost)
		cmd_warn("%s: %llu records are lost: counts are too low; try perf record -m",
			 inject->input, (unsigned long long)inject->nr_lost);
	inject->binary = &inject->convert.binaries[0];
	return NULL;
}

/* Where the kernel ran. */
static struct swlbr_error *find_offset(struct inject *inject)
{
	struct swlbr_elf_symbol symbol;

	if (!inject->length || !swlbr_elf_symbol(inject->binary->elf, inject->symbol, &symbol))
		return swlbr_error_create(
			SWLBR_ERROR_NOT_FOUND,
			"%s: does not tell where the kernel was: may the one who recorded it see kernel addresses (kptr_restrict)?",
			inject->input);
	inject->offset = inject->start - symbol.vaddr;
	return NULL;
}

static struct swlbr_error *write_arc(void *context, const struct swlbr_flow_arc *arc)
{
	const struct inject *inject = context;
	struct swlbr_arc_row row = swlbr_flow_arc_row(arc);

	return swlbr_perfdata_write_arc(inject->writer, &inject->when, arc->to + inject->offset,
					swlbr_elf_build_id(inject->binary->elf), &row);
}

static struct swlbr_error *write_mapping(struct inject *inject, const struct swlbr_record *record)
{
	const struct swlbr_mapping mapping = {
		.start = record->mmap2.start,
		.length = record->mmap2.length,
		.offset = record->mmap2.offset,
		.prot = record->mmap2.prot,
		.flags = MAP_PRIVATE,
		.build_id = record->mmap2.build_id.size ? &record->mmap2.build_id : NULL,
		.path = record->mmap2.path,
	};

	/* The kernel's own is written, and modules do not count. */
	if ((record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
		return NULL;
	return swlbr_perfdata_write_mmap2(inject->writer, &inject->when, &mapping);
}

/* What threads there were and what they were called; and what each group has counted. */
static struct swlbr_error *copy_record(struct inject *inject, const struct swlbr_record *record,
				       uint32_t *number)
{
	struct swlbr_event_time *when = &inject->when;

	*when = (struct swlbr_event_time){ record->pid, record->tid, record->time, 0 };
	switch (record->kind) {
	case SWLBR_RECORD_MMAP2:
		return write_mapping(inject, record);
	case SWLBR_RECORD_COMM:
		return swlbr_perfdata_write_comm(inject->writer, when, record->comm.comm,
						 record->comm.exec);
	case SWLBR_RECORD_FORK:
		return swlbr_perfdata_write_fork(inject->writer, when, record->task.ppid,
						 record->task.ptid);
	case SWLBR_RECORD_EXIT:
		return swlbr_perfdata_write_exit(inject->writer, when, record->task.ppid,
						 record->task.ptid);
	case SWLBR_RECORD_SAMPLE:
		if (!convert_is_kernel_sample(inject->file, record))
			return NULL;
		return inject_groups_add_deltas(&inject->groups, (*number)++, inject->file, record);
	default:
		return NULL;
	}
}

static struct swlbr_error *copy_records(struct inject *inject)
{
	uint64_t length = inject->interval;
	struct swlbr_error *error;
	uint32_t number = 0;
	bool end = false;

	if (!length)
		length = (inject->last - inject->first) / INTERVALS + 1;
	if ((inject->last - inject->first) / length >= MAX_INTERVALS)
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "%s: more than %d intervals of %" PRIu64 " ms",
					  inject->input, MAX_INTERVALS, length / 1000000);
	error = inject_groups_make(&inject->groups, length, MAX_THREADS);
	swlbr_perfdata_rewind(inject->file, false);
	while (!error && !end) {
		struct swlbr_record record;

		error = swlbr_perfdata_next(inject->file, &record, &end);
		if (!error && !end)
			error = copy_record(inject, &record, &number);
	}
	return error;
}

static struct swlbr_error *write_all(struct inject *inject, const struct swlbr_branch_map *map,
				     const uint64_t *counters)
{
	const struct swlbr_build_id *id = swlbr_elf_build_id(inject->binary->elf);
	struct inject_walks walks = {
		.writer = inject->writer,
		.groups = &inject->groups,
		.start = inject->start,
		.offset = inject->offset,
		.period = inject->period,
	};
	struct swlbr_flow_result result = { 0 };
	struct swlbr_flow *flow = NULL;
	struct swlbr_error *error;

	inject->when.time = inject->first;
	error = swlbr_perfdata_write_kernel(inject->writer, &inject->when, id, inject->start,
					    inject->length, inject->symbol);
	if (!error)
		error = swlbr_perfdata_write_counters(inject->writer, &inject->when, id,
						      inject->binary->counters->engine, 0,
						      map->nr_counters, counters);
	if (!error)
		error = swlbr_flow_create(map, &flow);
	if (!error)
		error = swlbr_flow_solve(flow, counters, NULL, &result);
	if (!error)
		error = swlbr_flow_arcs(map, &result, write_arc, inject);
	if (!error)
		error = copy_records(inject);
	if (!error)
		error = inject_walks_write(&walks, map, counters, &result);
	inject->period = walks.period;
	inject->nr_stacks = walks.nr_stacks;
	swlbr_flow_result_deinit(&result);
	swlbr_flow_destroy(flow);
	return error;
}

static struct swlbr_error *write_output(struct inject *inject,
					const struct swlbr_perfdata_info *info)
{
	const uint64_t *counters;
	struct swlbr_branch_map *map;
	struct swlbr_error *error;

	error = swlbr_branch_map_load(inject->binary->elf, inject->binary->counters, &map);
	if (error)
		return error;
	if (swlbr_profraw_counters(inject->binary->profile, &counters) != map->nr_counters)
		error = swlbr_error_create(SWLBR_ERROR_MISMATCH, "%s: the map has other counters",
					   swlbr_elf_path(inject->binary->elf));
	if (!error)
		error = swlbr_perfdata_writer_open(inject->output, info, &inject->writer);
	if (!error) {
		error = write_all(inject, map, counters);
		if (error)
			swlbr_perfdata_writer_discard(inject->writer);
		else
			error = swlbr_perfdata_writer_commit(inject->writer);
	}
	swlbr_branch_map_destroy(map);
	return error;
}

/* -1: go on; else the exit status. */
static int parse_options(struct inject *inject, int argc, char **argv)
{
	enum { INTERVAL = 256 };
	static const struct option long_options[] = {
		{ "input", required_argument, NULL, 'i' },
		{ "output", required_argument, NULL, 'o' },
		{ "interval", required_argument, NULL, INTERVAL },
		{ "count", required_argument, NULL, 'c' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option;

	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":i:o:c:qh", long_options, NULL)) != -1) {
		switch (option) {
		case 'i':
			inject->input = optarg;
			break;
		case 'o':
			inject->output = optarg;
			break;
		case 'c':
			if (!number_in(optarg, 10, 1, UINT64_MAX, &inject->period))
				return cmd_usage_error("inject", "-c %s: a number above 0", optarg);
			break;
		case INTERVAL:
			if (!number_in(optarg, 10, 1, MAX_INTERVAL_MS, &inject->interval))
				return cmd_usage_error("inject", "--interval %s: milliseconds",
						       optarg);
			inject->interval *= 1000000;
			break;
		case 'q':
			inject->quiet = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return fflush(stdout) ? 1 : 0;
		case ':':
			return cmd_usage_error("inject", "option '%s' wants a value",
					       argv[optind - 1]);
		default:
			return cmd_usage_error("inject", "unknown option '%s'", argv[optind - 1]);
		}
	}
	if (!inject->output)
		return cmd_usage_error("inject", "no output file given (-o)");
	inject->convert.arguments = argv + optind;
	inject->convert.nr_arguments = (size_t)(argc - optind);
	return -1;
}

int cmd_inject(int argc, char **argv)
{
	struct inject inject = { .input = "perf.data" };
	struct swlbr_perfdata_info info = {
		.argc = argc,
		.argv = (const char *const *)argv,
		.version = "swlbr " SWLBR_VERSION,
		.period = 1,
	};
	int status = parse_options(&inject, argc, argv);
	struct swlbr_error *error;

	if (status >= 0)
		return status;
	error = read_input(&inject);
	if (!error)
		error = find_offset(&inject);
	if (!error)
		error = write_output(&inject, &info);
	if (!error && !inject.quiet)
		fprintf(stderr,
			"[ perf swlbr inject: wrote %s: %llu stacks of %llu branches each ]\n",
			inject.output, (unsigned long long)inject.nr_stacks,
			(unsigned long long)inject.period);
	inject_groups_deinit(&inject.groups);
	swlbr_perfdata_close(inject.file);
	convert_free_binaries(&inject.convert);
	return error ? cmd_fail(error) : 0;
}
