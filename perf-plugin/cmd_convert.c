// SPDX-License-Identifier: GPL-2.0-only
/* perf swlbr convert: perf.data and .profraw files into a profile for a compiler. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <swlbr/instr_profile.h>

#include "cmd.h"
#include "convert.h"

static const char usage[] =
	"\n"
	" Usage: perf swlbr convert [<options>] -f <format> -o <file> [<binary>...]\n"
	"\n"
	"    -i, --input <file>    perf.data of 'perf swlbr record', or .profraw of a program; may be\n"
	"                          repeated and take a list (a,b); all are summed (default: perf.data)\n"
	"    -f, --format <name>   output format, see --list-formats\n"
	"    -o, --output <file>   output file name\n"
	"        --list-formats    print the output formats\n"
	"    -q, --quiet           no summary\n"
	"    -v, --verbose         say more\n"
	"    -h, --help            this text\n"
	"\n"
	" A recording names the binaries it is of. Give <binary> where one has moved or changed since:\n"
	" the one with the recorded build-id is taken.\n"
	"\n"
	" Examples:\n"
	"    perf swlbr convert -i perf.data -f llvm-profdata -o prog.profdata\n"
	"    clang-19 -O2 -fprofile-use=prog.profdata -o prog prog.c\n"
	"    perf swlbr convert -i mon.data,tue.data -i wed.profraw -f llvm-profdata -o week.profdata\n"
	"    perf swlbr convert -i perf.data -f llvm-profraw -o prog.profraw ./prog.instrumented\n"
	"\n";

/* Damage told of without -v. */
#define REPORTS_SHOWN 10

static struct swlbr_error *write_profdata(struct convert *convert, const char *path)
{
	return swlbr_instr_profile_write(&convert->set, path, &convert->reporter);
}

static struct swlbr_error *write_profraw(struct convert *convert, const char *path)
{
	return swlbr_profraws_write(&convert->set, path);
}

static const struct format {
	const char *name;
	struct swlbr_error *(*write)(struct convert *convert, const char *path);
	const char *summary;
} formats[] = {
	{ "llvm-profdata", write_profdata, "indexed profile for clang -fprofile-use (.profdata)" },
	{ "llvm-profraw", write_profraw, "raw profile for llvm-profdata merge (.profraw)" },
};

#define NR_FORMATS (sizeof(formats) / sizeof(formats[0]))

struct options {
	char **inputs;
	size_t nr_inputs;
	const struct format *format;
	const char *output;
	bool quiet;
};

static void report(void *context, const char *line)
{
	struct convert *convert = context;

	convert->reports++;
	if (convert->verbose || convert->reports <= REPORTS_SHOWN)
		cmd_warn("%s", line);
}

static int list_formats(void)
{
	for (size_t i = 0; i < NR_FORMATS; i++)
		printf("%-14s %s\n", formats[i].name, formats[i].summary);
	return fflush(stdout) ? 1 : 0;
}

static const struct format *find_format(const char *name)
{
	for (size_t i = 0; i < NR_FORMATS; i++) {
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	}
	return NULL;
}

static bool add_input(struct options *options, const char *path, size_t size)
{
	char **grown = reallocarray(options->inputs, options->nr_inputs + 1, sizeof(*grown));

	if (!grown)
		return false;
	options->inputs = grown;
	grown[options->nr_inputs] = strndup(path, size);
	return grown[options->nr_inputs++] != NULL;
}

/* A list, unless there is a file of just that name. */
static bool add_inputs(struct options *options, const char *list)
{
	struct stat stat_buffer;

	if (!stat(list, &stat_buffer))
		return add_input(options, list, strlen(list));
	for (;;) {
		size_t size = strcspn(list, ",");

		if (size && !add_input(options, list, size))
			return false;
		if (!list[size])
			return true;
		list += size + 1;
	}
}

/* -1: go on; else the exit status. */
static int parse_options(struct options *options, struct convert *convert, int argc, char **argv)
{
	enum { LIST_FORMATS = 256 };
	static const struct option long_options[] = {
		{ "input", required_argument, NULL, 'i' },
		{ "format", required_argument, NULL, 'f' },
		{ "output", required_argument, NULL, 'o' },
		{ "list-formats", no_argument, NULL, LIST_FORMATS },
		{ "quiet", no_argument, NULL, 'q' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	optind = 0; /* glibc: begin anew */
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":i:f:o:qvh", long_options, NULL)) != -1) {
		switch (option) {
		case 'i':
			if (!add_inputs(options, optarg))
				return cmd_fail(swlbr_error_no_memory());
			break;
		case 'f':
			options->format = find_format(optarg);
			if (!options->format)
				return cmd_usage_error(
					"convert", "unknown format '%s'; --list-formats names them",
					optarg);
			break;
		case 'o':
			options->output = optarg;
			break;
		case LIST_FORMATS:
			return list_formats();
		case 'q':
			options->quiet = true;
			break;
		case 'v':
			convert->verbose = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return fflush(stdout) ? 1 : 0;
		case ':':
			return cmd_usage_error("convert", "option '%s' wants a value",
					       argv[optind - 1]);
		default:
			return cmd_usage_error("convert", "unknown option '%s'", argv[optind - 1]);
		}
	}
	convert->arguments = argv + optind;
	convert->nr_arguments = (size_t)(argc - optind);
	if (!options->format)
		return cmd_usage_error("convert",
				       "no format given (-f); --list-formats names them");
	if (!options->output)
		return cmd_usage_error("convert", "no output file given (-o)");
	if (!options->nr_inputs && !add_input(options, "perf.data", strlen("perf.data")))
		return cmd_fail(swlbr_error_no_memory());
	return -1;
}

/* A binary that is not there would otherwise be missed only when it is needed. */
static struct swlbr_error *check_arguments(const struct convert *convert)
{
	for (size_t i = 0; i < convert->nr_arguments; i++) {
		struct swlbr_elf *elf;
		struct swlbr_error *error = swlbr_elf_open(convert->arguments[i], &elf);

		if (error)
			return error;
		swlbr_elf_close(elf);
	}
	return NULL;
}

static struct swlbr_error *add_file(struct convert *convert, const char *path)
{
	struct swlbr_error *error;
	struct stat stat_buffer;
	bool is_profraw = false, is_perfdata = false;

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
		sum->counters += one.counters;
		if (__builtin_add_overflow(sum->count, one.count, &sum->count))
			sum->count = UINT64_MAX;
	}
}

/* An empty profile would be worse than none: a compiler takes it and says nothing. */
static struct swlbr_error *check_not_empty(const struct options *options,
					   const struct swlbr_profraw_totals *totals)
{
	const char *more = options->nr_inputs > 1 ? " and the other inputs" : "";

	if (totals->count)
		return NULL;
	if (!totals->functions && totals->damaged)
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s%s: all %llu functions are damaged",
					  options->inputs[0], more,
					  (unsigned long long)totals->damaged);
	return swlbr_error_create(
		SWLBR_ERROR_NOT_FOUND,
		"%s%s: all counters are 0: did the instrumented program run, and to its end?",
		options->inputs[0], more);
}

static void print_summary(const struct options *options, const struct convert *convert,
			  const struct swlbr_profraw_totals *totals)
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
		options->output, (unsigned long long)totals->functions,
		(unsigned long long)totals->executed, (unsigned long long)totals->counters,
		(unsigned long long)totals->count, processes, options->nr_inputs,
		options->nr_inputs == 1 ? "" : "s", damaged);
}

static struct swlbr_error *run(const struct options *options, struct convert *convert)
{
	struct swlbr_profraw_totals totals = { 0 };
	struct swlbr_error *error;

	error = check_arguments(convert);
	for (size_t i = 0; !error && i < options->nr_inputs; i++)
		error = add_file(convert, options->inputs[i]);
	if (!error)
		error = convert_take_recorded(convert);
	if (!error) {
		sum_totals(convert, &totals);
		error = check_not_empty(options, &totals);
	}
	if (!error)
		error = options->format->write(convert, options->output);
	if (!convert->verbose && convert->reports > REPORTS_SHOWN)
		cmd_warn("and %llu more (-v tells all)",
			 (unsigned long long)(convert->reports - REPORTS_SHOWN));
	if (error)
		return error;
	for (size_t i = 0; convert->verbose && i < convert->nr_binaries; i++)
		fprintf(stderr, "[ counters of %s ]\n", swlbr_elf_path(convert->binaries[i].elf));
	if (!options->quiet)
		print_summary(options, convert, &totals);
	return NULL;
}

int cmd_convert(int argc, char **argv)
{
	struct convert convert = { 0 };
	struct options options = { 0 };
	struct swlbr_error *error;
	int status;

	convert.reporter = (struct swlbr_reporter){ .report = report, .context = &convert };
	status = parse_options(&options, &convert, argc, argv);
	if (status < 0) {
		error = run(&options, &convert);
		status = error ? cmd_fail(error) : 0;
	}
	swlbr_profraws_clear(&convert.set);
	convert_free_binaries(&convert);
	for (size_t i = 0; i < options.nr_inputs; i++)
		free(options.inputs[i]);
	free(options.inputs);
	return status;
}
