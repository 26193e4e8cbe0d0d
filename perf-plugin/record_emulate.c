// SPDX-License-Identifier: GPL-2.0-only
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "cmd.h"
#include "pmu/qemu/branch_kind.h"
#include "record_emulate.h"

#define DEFAULT_PERIOD 10007
#define DEFAULT_DEPTH  32
#define PLUGIN_NAME    "qemu-swlbr.so"

#ifndef SWLBR_LIBDIR
#define SWLBR_LIBDIR "/usr/local/lib"
#endif

#define CALLS	  (1U << BRANCH_CALL | 1U << BRANCH_INDIRECT_CALL)
#define ALL_KINDS ((1U << BRANCH_KINDS) - 1)

static bool progress_shown;

static bool parse_mode(struct record_emulate *emulate, const char *text)
{
	emulate->on = true;
	emulate->options.counts = text && !strcmp(text, "counts");
	return !text || !strcmp(text, "lbr") || emulate->options.counts;
}

static bool parse_period(struct record_emulate *emulate, const char *text)
{
	uint64_t number;

	if (!number_in(text, 10, 1, 1ULL << 62, &number))
		return false;
	emulate->period = number;
	return true;
}

static bool parse_depth(struct record_emulate *emulate, const char *text)
{
	uint64_t number;

	if (!number_in(text, 10, 8, 64, &number))
		return false;
	emulate->options.depth = (uint32_t)number;
	return true;
}

static bool parse_filter(struct record_emulate *emulate, const char *text)
{
	static const struct {
		const char *name;
		uint32_t kinds;
		uint64_t perf; /* PERF_SAMPLE_BRANCH_* */
	} filters[] = {
		{ "any", ALL_KINDS, PERF_SAMPLE_BRANCH_ANY },
		{ "any_call", CALLS, PERF_SAMPLE_BRANCH_ANY_CALL },
		{ "any_ret", 1U << BRANCH_RETURN, PERF_SAMPLE_BRANCH_ANY_RETURN },
		{ "ind_call", 1U << BRANCH_INDIRECT_CALL, PERF_SAMPLE_BRANCH_IND_CALL },
		{ "cond", 1U << BRANCH_CONDITIONAL, PERF_SAMPLE_BRANCH_COND },
		{ "u", 0, PERF_SAMPLE_BRANCH_USER }, /* there is nothing else */
	};
	const size_t nr = sizeof(filters) / sizeof(*filters);

	for (;;) {
		size_t size = strcspn(text, ","), i = 0;

		while (i < nr && (strncmp(filters[i].name, text, size) || filters[i].name[size]))
			i++;
		if (i == nr)
			return false;
		emulate->options.kinds |= filters[i].kinds;
		emulate->branch_filter |= filters[i].perf;
		if (!text[size])
			return true;
		text += size + 1;
	}
}

int record_emulate_option(struct record_emulate *emulate, int option, const char *text)
{
	switch (option) {
	case RECORD_OPTION_EMULATE:
		if (parse_mode(emulate, text))
			return 0;
		return 1 + cmd_usage_error("record", "--emulate=%s: lbr or counts", text);
	case 'c':
		if (parse_period(emulate, text))
			return 0;
		return 1 + cmd_usage_error("record", "-c %s: not a number of branches", text);
	case 'j':
		emulate->other_option = "-j";
		if (parse_filter(emulate, text))
			return 0;
		return 1 + cmd_usage_error(
				   "record",
				   "-j %s: kinds are any, any_call, any_ret, ind_call, cond and u",
				   text);
	case RECORD_OPTION_DEPTH:
		if (parse_depth(emulate, text))
			return 0;
		return 1 + cmd_usage_error("record", "--depth %s: not 8 to 64", text);
	case RECORD_OPTION_SYSROOT:
		emulate->other_option = "--sysroot";
		emulate->options.sysroot = *text ? text : NULL;
		return 0;
	default: /* RECORD_OPTION_KERNEL */
		emulate->other_option = "--kernel";
		emulate->options.kernel = text;
		return 0;
	}
}

int record_emulate_check(const struct record_emulate *emulate)
{
	if (!emulate->on && emulate->other_option)
		return 1 + cmd_usage_error("record", "%s is for --emulate", emulate->other_option);
	if (emulate->options.kernel && !emulate->options.counts)
		return 1 + cmd_usage_error("record", "--kernel is for --emulate=counts");
	return 0;
}

/* Next to this program, as in the build folder, or where it is installed. */
static bool find_plugin(char path[PATH_MAX])
{
	static const char *const places[] = { "%.*s/" PLUGIN_NAME,
					      "%.*s/../lib/swlbr/" PLUGIN_NAME };
	char self[PATH_MAX];
	ssize_t size = readlink("/proc/self/exe", self, sizeof(self));
	int directory = 0;

	for (ssize_t i = 0; i < size; i++)
		if (self[i] == '/')
			directory = (int)i;
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, PATH_MAX, places[i], directory, self);
		if (!access(path, R_OK))
			return true;
	}
	snprintf(path, PATH_MAX, "%s/swlbr/" PLUGIN_NAME, SWLBR_LIBDIR);
	return !access(path, R_OK);
}

static void show_progress(const struct emulate_summary *summary)
{
	progress_shown = true;
	fprintf(stderr,
		"\r[ perf swlbr record: %.1f s emulated, %llu processes, %llu samples, %.3f MB ]\033[K",
		(double)(summary->end - summary->start) / 1e9,
		(unsigned long long)summary->processes, (unsigned long long)summary->samples,
		(double)summary->bytes / 1e6);
	fflush(stderr);
}

static void show_notes(const struct emulate_summary *summary)
{
	for (uint64_t i = 0; i < summary->nr_notes && i < EMULATE_MAX_NOTES; i++)
		if (summary->note[i])
			cmd_warn("%s", summary->note[i]);
	if (summary->nr_notes > EMULATE_MAX_NOTES)
		cmd_warn("%llu more such notes",
			 (unsigned long long)(summary->nr_notes - EMULATE_MAX_NOTES));
	if (summary->lost_threads)
		cmd_warn("%llu threads were not recorded: the program left no descriptor for it",
			 (unsigned long long)summary->lost_threads);
	if (summary->lost)
		cmd_warn("%llu executions were not counted: too many distinct branches",
			 (unsigned long long)summary->lost);
}

static void show_summary(const struct record_emulate *emulate,
			 const struct emulate_summary *summary)
{
	show_notes(summary);
	if (emulate->quiet)
		return;
	if (emulate->options.counts)
		fprintf(stderr,
			"[ perf swlbr record: Counted and wrote %s (emulated; %llu processes, %llu images of %llu binaries, %llu taken branches, %llu of them in code of no file) ]\n",
			emulate->options.output, (unsigned long long)summary->processes,
			(unsigned long long)summary->images, (unsigned long long)summary->binaries,
			(unsigned long long)summary->taken, (unsigned long long)summary->unknown);
	else
		fprintf(stderr,
			"[ perf swlbr record: Captured and wrote %.3f MB %s (emulated; %llu processes, %llu images of %llu binaries, %llu samples for %llu taken branches) ]\n",
			(double)summary->bytes / 1e6, emulate->options.output,
			(unsigned long long)summary->processes, (unsigned long long)summary->images,
			(unsigned long long)summary->binaries, (unsigned long long)summary->samples,
			(unsigned long long)summary->taken);
}

int record_emulate_run(struct record_emulate *emulate, const struct swlbr_perfdata_info *info)
{
	struct emulate_options *options = &emulate->options;
	struct emulate_summary summary;
	struct swlbr_error *error;
	char plugin[PATH_MAX];
	int status = 1;

	if (!options->output)
		options->output = options->counts ? "perf.arcs" : "perf.data";
	options->info = *info;
	options->info.branch_filter = emulate->branch_filter;
	options->info.period = emulate->period ? emulate->period : DEFAULT_PERIOD;
	options->depth = options->depth ? options->depth : DEFAULT_DEPTH;
	/* As in perf, a filter that names no kind means any. */
	options->kinds = options->kinds ? options->kinds : ALL_KINDS;
	if (!find_plugin(plugin))
		return cmd_failf("%s: the emulator's plugin is not installed", plugin);
	options->plugin = plugin;
	if (!emulate->quiet && isatty(STDERR_FILENO))
		options->progress = show_progress;
	error = emulate_run(options, &summary);
	if (progress_shown)
		fputs("\r\033[K", stderr);
	if (error) {
		cmd_fail(error);
	} else {
		show_summary(emulate, &summary);
		status = record_exit_like(summary.child_ended, summary.child_status,
					  summary.stop_signal);
	}
	emulate_summary_deinit(&summary);
	return status;
}
