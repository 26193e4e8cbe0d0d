// SPDX-License-Identifier: GPL-2.0-only
/* Counters of recordings and raw profiles into a profile made of counters. */
#include <stdio.h>
#include <sys/stat.h>

#include <swlbr/kernel_counters.h>

#include "base/saturate.h"

#include "cmd.h"
#include "convert.h"

static struct swlbr_error *add_file(struct convert *convert, const char *path)
{
	struct swlbr_error *error;
	struct stat stat_buffer;
	bool is_profraw = false, is_perfdata = false, is_arcs = false, is_kernel = false;

	error = swlbr_profraw_probe(path, &is_profraw);
	if (error)
		return error;
	/* A pipe can be read once: it must be a raw profile. */
	if (!stat(path, &stat_buffer) && !S_ISREG(stat_buffer.st_mode))
		is_profraw = true;
	if (!is_profraw)
		error = swlbr_perfdata_probe(path, &is_perfdata);
	if (error)
		return error;
	if (is_profraw)
		return convert_profraw(convert, path);
	if (is_perfdata)
		return convert_perfdata(convert, path);
	error = swlbr_kernel_counters_probe(path, &is_kernel);
	if (error)
		return error;
	if (is_kernel)
		return convert_kernel(convert, path);
	error = swlbr_arcs_probe(path, &is_arcs);
	if (error)
		return error;
	if (is_arcs)
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "%s: an edge profile, which has no counters: convert it "
					  "to another format than %s",
					  path, convert->format->name);
	if (!stat_buffer.st_size)
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: empty (the program may have been killed)", path);
	return swlbr_error_create(SWLBR_ERROR_FORMAT,
				  "%s: neither a perf.data nor a raw profile (at offset 0)", path);
}

static void sum_totals(const struct convert *convert, struct swlbr_profraw_totals *sum)
{
	*sum = (struct swlbr_profraw_totals){ 0 };
	for (size_t i = 0; i < convert->set.nr; i++) {
		struct swlbr_profraw_totals one;

		swlbr_profraw_totals(convert->set.profiles[i], &one);
		sum->functions += one.functions;
		sum->executed += one.executed;
		sum->damaged += one.damaged;
		sum->uncounted += one.uncounted;
		sum->counters += one.counters;
		add_saturating(&sum->count, one.count);
		add_saturating(&sum->boot_count, one.boot_count);
	}
}

/* An empty profile would be worse than none: a compiler takes it and says nothing. */
static struct swlbr_error *check_not_empty(const struct convert *convert,
					   const struct swlbr_profraw_totals *totals)
{
	const char *more = convert->nr_inputs > 1 ? " and the other inputs" : "";

	if (totals->count)
		return NULL;
	if (!totals->functions && totals->damaged)
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s%s: all %llu functions are damaged",
					  convert->inputs[0], more,
					  (unsigned long long)totals->damaged);
	return swlbr_error_create(
		SWLBR_ERROR_NOT_FOUND,
		"%s%s: all counters are 0: did the instrumented program run, and to its end?",
		convert->inputs[0], more);
}

static void print_summary(const struct convert *convert, const struct swlbr_profraw_totals *totals)
{
	char processes[64] = "", damaged[64] = "";

	if (convert->processes)
		snprintf(processes, sizeof(processes), "%llu process%s in ",
			 (unsigned long long)convert->processes,
			 convert->processes == 1 ? "" : "es");
	if (totals->damaged)
		snprintf(damaged, sizeof(damaged), "; %llu damaged functions left out",
			 (unsigned long long)totals->damaged);
	fprintf(stderr,
		"[ perf swlbr convert: wrote %s: %llu functions (%llu executed), %llu counters, total count %llu, from %s%zu input%s%s ]\n",
		convert->output, (unsigned long long)totals->functions,
		(unsigned long long)totals->executed, (unsigned long long)totals->counters,
		(unsigned long long)totals->count, processes, convert->nr_inputs,
		convert->nr_inputs == 1 ? "" : "s", damaged);
	if (totals->uncounted)
		fprintf(stderr,
			"[   %llu functions that may not count (.noinstr.text, .entry.text) left out ]\n",
			(unsigned long long)totals->uncounted);
	if (totals->boot_count)
		fprintf(stderr, "[   boot code (__init): %.1f %% of the total count ]\n",
			100.0 * (double)totals->boot_count / (double)totals->count);
	convert_kernel_summary(convert);
}

struct swlbr_error *convert_run_counters(struct convert *convert)
{
	struct swlbr_profraw_totals totals = { 0 };
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < convert->nr_inputs; i++)
		error = add_file(convert, convert->inputs[i]);
	if (!error)
		error = convert_take_recorded(convert);
	if (!error) {
		sum_totals(convert, &totals);
		error = check_not_empty(convert, &totals);
	}
	if (!error)
		error = convert->format->write_counters(convert, convert->output);
	if (error)
		return error;
	for (size_t i = 0; convert->verbose && i < convert->nr_binaries; i++)
		fprintf(stderr, "[ counters of %s ]\n", swlbr_elf_path(convert->binaries[i].elf));
	if (!convert->quiet)
		print_summary(convert, &totals);
	return NULL;
}
