// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf script -i FILE --dlfilter dlfilter-swlbr.so --dlarg -f --dlarg FORMAT --dlarg -o --dlarg OUT
 *
 * What perf itself decodes, of any version of perf and of Intel PT, CoreSight ETM and Arm SPE through
 * --itrace, goes the way of 'perf swlbr convert' into the same formats. Mappings are read from the
 * file: perf tells them only address by address, and nothing of the kernel's reference symbol.
 */
#include <errno.h>
#include <perf/perf_dlfilter.h>
#include <stdlib.h>
#include <string.h>

#include "perf-plugin/cmd.h"
#include "perf-plugin/convert.h"
#include "perf-plugin/dlfilter/command_line.h"

_Static_assert(sizeof(struct swlbr_branch) == sizeof(struct perf_branch_entry),
	       "entries are passed on as they are");

/* Set by perf. */
struct perf_dlfilter_fns perf_dlfilter_fns;

struct filter {
	struct convert convert;
	char **argv;
	/* The event of the last sample, by its id. */
	uint64_t id;
	const char *event;
	uint64_t branch_sample_type;
	bool all_samples; /* perf has no filter of its own */
};

const char *filter_description(const char **long_description);

const char *filter_description(const char **long_description)
{
	*long_description =
		"Sums branch stacks, also those made of a trace by --itrace, and writes a profile as\n"
		"'perf swlbr convert' does. Arguments are that command's:\n"
		"  --dlarg -f --dlarg FORMAT   output format: arcs, …\n"
		"  --dlarg -o --dlarg FILE     output file\n"
		"  --dlarg -i --dlarg FILE     the perf.data, if perf's own -i does not name it\n"
		"  --dlarg BINARY              a binary that has moved since";
	return "Makes an edge profile or a compiler profile of branch stacks (perf swlbr)";
}

/* The arguments as those of a command, with the input if they do not name it. */
static struct swlbr_error *make_arguments(struct filter *filter, char **args, int nr,
					  const char *input, int *argc_ret)
{
	bool named = false;
	int argc = 0;

	for (int i = 0; i < nr; i++)
		named = named || !strncmp(args[i], "-i", 2) || !strncmp(args[i], "--input", 7);
	filter->argv = calloc((size_t)nr + 4, sizeof(*filter->argv));
	if (!filter->argv)
		return swlbr_error_no_memory();
	filter->argv[argc++] = strdup("dlfilter-swlbr");
	if (!named) {
		filter->argv[argc++] = strdup("-i");
		filter->argv[argc++] = strdup(input);
	}
	for (int i = 0; i < nr; i++)
		filter->argv[argc++] = strdup(args[i]);
	for (int i = 0; i < argc; i++) {
		if (!filter->argv[i])
			return swlbr_error_no_memory();
	}
	*argc_ret = argc;
	return NULL;
}

static struct swlbr_error *read_mappings(struct filter *filter)
{
	struct convert *convert = &filter->convert;
	struct swlbr_perfdata *file;
	struct swlbr_error *error;

	error = swlbr_perfdata_open(convert->inputs[0], &file);
	if (error)
		return error;
	error = swlbr_stacks_create(NULL, &convert->stacks);
	if (!error)
		error = swlbr_stacks_use_mappings(convert->stacks, file);
	swlbr_perfdata_close(file);
	return error;
}

static void destroy(struct filter *filter)
{
	convert_end(&filter->convert);
	for (size_t i = 0; filter->argv && filter->argv[i]; i++)
		free(filter->argv[i]);
	free(filter->argv);
	free(filter);
}

int start(void **data, void *ctx)
{
	struct filter *filter = calloc(1, sizeof(*filter));
	struct perf_command_line line;
	struct swlbr_error *error;
	char **args;
	int nr = 0, argc = 0, status;

	if (!filter)
		return -ENOMEM;
	args = perf_dlfilter_fns.args(ctx, &nr);
	perf_command_line(&line);
	filter->all_samples = line.all_samples;
	error = make_arguments(filter, args, args ? nr : 0, line.input, &argc);
	status = error ? -1 : convert_begin(&filter->convert, argc, filter->argv);
	if (!error && status < 0 && !filter->convert.format->write_edges)
		error = swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					   "%s is made from counters: use 'perf swlbr convert'",
					   filter->convert.format->name);
	if (!error && status < 0 && !perf_has_open(filter->convert.inputs[0]))
		error = swlbr_error_create(
			SWLBR_ERROR_NOT_FOUND,
			"%s: perf does not read it; say which file it reads with --dlarg -i --dlarg FILE",
			filter->convert.inputs[0]);
	if (!error && status < 0)
		error = convert_find_arguments(&filter->convert);
	if (!error && status < 0)
		error = read_mappings(filter);
	if (error)
		status = cmd_fail(error);
	if (status >= 0) {
		destroy(filter);
		return -EINVAL;
	}
	*data = filter;
	return 0;
}

static void note_event(struct filter *filter, const struct perf_dlfilter_sample *sample, void *ctx)
{
	const struct perf_event_attr *attr = perf_dlfilter_fns.attr(ctx);

	filter->id = sample->id;
	filter->event = sample->event;
	filter->branch_sample_type = attr ? attr->branch_sample_type : 0;
}

static int add_sample(struct filter *filter, const struct perf_dlfilter_sample *sample, void *ctx)
{
	struct swlbr_error *error;

	if (sample->event != filter->event || sample->id != filter->id)
		note_event(filter, sample, ctx);
	error = swlbr_stacks_add_sample(
		filter->convert.stacks,
		&(struct swlbr_stacks_sample){
			.pid = sample->pid,
			.time = sample->time,
			.event = filter->event,
			.branch_sample_type = filter->branch_sample_type,
			.has_stack = sample->brstack,
			.nr = sample->brstack ? sample->brstack_nr : 0,
			.stack = (const struct swlbr_branch *)sample->brstack,
		});
	if (error) {
		cmd_fail(error);
		return -EIO;
	}
	return 1; /* not to be printed */
}

/* Before perf looks up what the sample's address is, which takes it longer than all the rest. */
int filter_event_early(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	struct filter *filter = data;

	return filter->all_samples ? add_sample(filter, sample, ctx) : 0;
}

/* After perf's own filters (--time, --pid, --cpu, …). */
int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	return add_sample(data, sample, ctx);
}

int stop(void *data, void *ctx)
{
	struct filter *filter = data;
	struct swlbr_edge_profile *edges = NULL;
	struct swlbr_error *error;

	(void)ctx;
	if (!filter) /* perf calls this too where start() has failed */
		return 0;
	error = swlbr_edge_profile_create(&edges);
	if (!error)
		error = convert_write_edges(&filter->convert, edges);
	swlbr_edge_profile_destroy(edges);
	destroy(filter);
	if (!error)
		return 0;
	cmd_fail(error);
	return -ENODATA;
}
