// SPDX-License-Identifier: GPL-2.0-only
/* perf swlbr convert: perf.data, .profraw and arcs files into a profile for a compiler. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <swlbr/sample_profile.h>

#include "cmd.h"
#include "convert.h"

static const char usage[] =
	"\n"
	" Usage: perf swlbr convert [<options>] -f <format> -o <file> [<binary>...]\n"
	"\n"
	"    -i, --input <file>    perf.data, .profraw of a program, arcs file, or text of other tools\n"
	"                          (see the manual); may be repeated and take a list (a,b); all are\n"
	"                          summed (default: perf.data)\n"
	"    -f, --format <name>   output format, see --list-formats\n"
	"    -o, --output <file>   output file name\n"
	"        --list-formats    print the output formats\n"
	"        --compress        llvm-extbinary: compress the sections\n"
	"        --md5             llvm-extbinary: hashes instead of names\n"
	"        --symbol-list     llvm-extbinary, gcc-afdo: with the list of all functions\n"
	"        --gcov-version <n>  gcc-afdo: 2 (gcc 12 and 13, default) or 3 (gcc 16)\n"
	"        --symbol-order <file>\n"
	"                          propeller: the file for the linker (default: that of -o with .symbols\n"
	"                          added)\n"
	"        --normalize       llvm-sample, llvm-extbinary, gcc-afdo, arcs, json: scaled to a fixed\n"
	"                          total, without build paths: equal workloads give equal files\n"
	"        --pid <list>, --tid <list>, --comm <list>, --event <list>, --dso <list>\n"
	"                          of branch stacks, only those of the processes, threads, names,\n"
	"                          events or binaries listed\n"
	"        --time <from>,<to>  only those between these times, in seconds\n"
	"        --prefer <side>   of counters and branch stacks side by side: what both saw is of sw,\n"
	"                          hw, or the sum (default: see the manual)\n"
	"        --weight <file>=<n>\n"
	"                          count what is in the input <file> n times; may be repeated\n"
	"        --from <what>        of a recording of counters: arcs, the exact totals (default), or\n"
	"                             stacks, the samples\n"
	"        --json            the summary in JSON, on standard output\n"
	"    -q, --quiet           no summary\n"
	"    -v, --verbose         say more\n"
	"    -h, --help            this text\n"
	"\n"
	" A recording names the binaries it is of. Give <binary> where one has moved or changed since:\n"
	" the one with the recorded build-id is taken.\n"
	"\n"
	" What is made from counters (llvm-profdata, llvm-profraw) has no samples to choose from: --pid,\n"
	" --tid, --comm, --event, --dso, --time, --from and --json are for the other formats.\n"
	"\n"
	" Examples:\n"
	"    perf swlbr convert -i perf.data -f llvm-profdata -o prog.profdata\n"
	"    clang-19 -O2 -fprofile-use=prog.profdata -o prog prog.c\n"
	"    perf swlbr convert -i mon.data,tue.data -i wed.profraw -f llvm-profdata -o week.profdata\n"
	"    perf swlbr convert -i perf.data -f llvm-profraw -o prog.profraw ./prog.instrumented\n"
	"    perf swlbr convert -i perf.data -f llvm-sample -o prog.prof\n"
	"    clang-19 -O2 -fprofile-sample-use=prog.prof -o prog prog.c\n"
	"\n";

/* Damage told of without -v. */
#define REPORTS_SHOWN 10

static void report(void *context, const char *line)
{
	struct convert *convert = context;

	convert->reports++;
	if (convert->verbose || convert->reports <= REPORTS_SHOWN)
		cmd_warn("%s", line);
}

static bool add_input(struct convert *convert, const char *path, size_t size)
{
	char **grown = reallocarray(convert->inputs, convert->nr_inputs + 1, sizeof(*grown));

	if (!grown)
		return false;
	convert->inputs = grown;
	grown[convert->nr_inputs] = strndup(path, size);
	return grown[convert->nr_inputs++] != NULL;
}

/* A list, unless there is a file of just that name. */
static bool add_inputs(struct convert *convert, const char *list)
{
	struct stat stat_buffer;

	if (!stat(list, &stat_buffer))
		return add_input(convert, list, strlen(list));
	for (;;) {
		size_t size = strcspn(list, ",");

		if (size && !add_input(convert, list, size))
			return false;
		if (!list[size])
			return true;
		list += size + 1;
	}
}

/* The options of sample profiles that a format has. */
static unsigned int formats_flags(const char *format)
{
	if (!strcmp(format, "llvm-extbinary"))
		return SWLBR_SAMPLE_COMPRESS | SWLBR_SAMPLE_MD5 | SWLBR_SAMPLE_SYMBOL_LIST;
	return strcmp(format, "gcc-afdo") ? 0 : SWLBR_SAMPLE_SYMBOL_LIST;
}

/* The others' consumers take counts for executions, or are exact. */
static bool can_normalize(const char *format)
{
	static const char *const names[] = { "llvm-sample", "llvm-extbinary", "gcc-afdo", "arcs",
					     "json" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], format))
			return true;
	return false;
}

/* Propeller's second file; -1: it is fine, else the exit status. */
/* The folder that @path is in. */
static bool stat_folder(const char *path, struct stat *ret)
{
	char *folder = strndup(path, (size_t)(basename(path) - path));
	bool found = folder && !stat(*folder ? folder : ".", ret);

	free(folder);
	return found;
}

/* Also where neither is there yet. */
static bool is_same_file(const char *a, const char *b)
{
	struct stat one, other;

	if (!stat(a, &one) && !stat(b, &other))
		return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
	return !strcmp(basename(a), basename(b)) && stat_folder(a, &one) &&
	       stat_folder(b, &other) && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* Something that is there, and no file: no other can be written beside it. */
static bool is_special(const char *path)
{
	struct stat stat_of;

	return !strcmp(path, "-") || !strncmp(path, "/dev/", 5) ||
	       (!stat(path, &stat_of) && !S_ISREG(stat_of.st_mode));
}

static int check_symbol_order(const struct convert *convert)
{
	bool is_propeller = !strcmp(convert->format->name, "propeller");

	if (convert->symbol_order && !is_propeller)
		return cmd_usage_error("convert", "--symbol-order is for propeller");
	if (is_propeller && !convert->symbol_order && is_special(convert->output))
		return cmd_usage_error("convert",
				       "propeller has two files: with -o %s, give --symbol-order",
				       convert->output);
	if (convert->symbol_order && is_same_file(convert->symbol_order, convert->output))
		return cmd_usage_error("convert", "-o and --symbol-order are the same file");
	return -1;
}

static bool parse_prefer(struct convert *convert, const char *text)
{
	static const struct {
		const char *name;
		enum convert_prefer prefer;
	} sides[] = { { "sum", CONVERT_PREFER_SUM },
		      { "sw", CONVERT_PREFER_SW },
		      { "hw", CONVERT_PREFER_HW } };

	for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
		if (strcmp(sides[i].name, text))
			continue;
		convert->prefer = sides[i].prefer;
		return true;
	}
	return false;
}

/* Of what is made from counters there are no samples; -1: it is fine, else the exit status. */
static int check_filter(const struct convert *convert)
{
	if (!convert->format->write_counters)
		return -1;
	if (convert_is_filtered(convert) || convert->from)
		return cmd_usage_error(
			"convert",
			"--pid, --tid, --comm, --event, --dso, --time and --from are not for %s: they choose branch stacks, and it is made from counters",
			convert->format->name);
	if (convert->json)
		return cmd_usage_error("convert", "--json is not for %s", convert->format->name);
	return -1;
}

/* The value of an option that chooses samples; -1: it is fine, else the exit status. */
static int parse_filter(struct convert *convert, enum convert_filter option, const char *text)
{
	struct swlbr_error *error = convert_filter_option(convert, option, text);
	int status;

	if (!error)
		return -1;
	if (error->code != SWLBR_ERROR_FORMAT)
		return cmd_fail(error);
	status = cmd_usage_error("convert", "%s", error->message);
	swlbr_error_destroy(error);
	return status;
}

/* What --weight and --prefer say; -1: it is fine, else the exit status. */
static int check_sides(const struct convert *convert)
{
	const char *unused =
		cmd_unused_weight(&convert->weights, convert->inputs, convert->nr_inputs);

	if (unused)
		return cmd_usage_error("convert",
				       "--weight %s: no FILE=N, N above 0, of one of the inputs",
				       unused);
	for (size_t i = 0; i < convert->nr_inputs; i++)
		if (cmd_weight_of(&convert->weights, convert->inputs[i]) > SWLBR_MAX_STACK_WEIGHT)
			return cmd_usage_error("convert", "--weight of %s: at most %d",
					       convert->inputs[i], SWLBR_MAX_STACK_WEIGHT);
	if (convert->format->write_counters && (convert->weights.nr || convert->prefer))
		return cmd_usage_error("convert",
				       "--prefer and --weight are not for %s: it holds the "
				       "counters as they are",
				       convert->format->name);
	return -1;
}

/* -1: go on; else the exit status. */
static int parse_options(struct convert *convert, int argc, char **argv)
{
	enum {
		LIST_FORMATS = 256,
		COMPRESS,
		MD5,
		SYMBOL_LIST,
		SYMBOL_ORDER,
		GCOV_VERSION,
		NORMALIZE,
		PREFER,
		WEIGHT,
		FROM,
		JSON,
		FILTER
	};
	static const struct option long_options[] = {
		{ "input", required_argument, NULL, 'i' },
		{ "format", required_argument, NULL, 'f' },
		{ "output", required_argument, NULL, 'o' },
		{ "list-formats", no_argument, NULL, LIST_FORMATS },
		{ "compress", no_argument, NULL, COMPRESS },
		{ "md5", no_argument, NULL, MD5 },
		{ "symbol-list", no_argument, NULL, SYMBOL_LIST },
		{ "symbol-order", required_argument, NULL, SYMBOL_ORDER },
		{ "gcov-version", required_argument, NULL, GCOV_VERSION },
		{ "normalize", no_argument, NULL, NORMALIZE },
		{ "prefer", required_argument, NULL, PREFER },
		{ "weight", required_argument, NULL, WEIGHT },
		{ "pid", required_argument, NULL, FILTER + CONVERT_FILTER_PID },
		{ "tid", required_argument, NULL, FILTER + CONVERT_FILTER_TID },
		{ "comm", required_argument, NULL, FILTER + CONVERT_FILTER_COMM },
		{ "event", required_argument, NULL, FILTER + CONVERT_FILTER_EVENT },
		{ "time", required_argument, NULL, FILTER + CONVERT_FILTER_TIME },
		{ "dso", required_argument, NULL, FILTER + CONVERT_FILTER_DSO },
		{ "from", required_argument, NULL, FROM },
		{ "json", no_argument, NULL, JSON },
		{ "quiet", no_argument, NULL, 'q' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option, status;

	optind = 0; /* glibc: begin anew */
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":i:f:o:qvh", long_options, NULL)) != -1) {
		switch (option) {
		case 'i':
			if (!add_inputs(convert, optarg))
				return cmd_fail(swlbr_error_no_memory());
			break;
		case 'f':
			convert->format = convert_find_format(optarg);
			if (!convert->format)
				return cmd_usage_error(
					"convert", "unknown format '%s'; --list-formats names them",
					optarg);
			break;
		case 'o':
			convert->output = optarg;
			break;
		case LIST_FORMATS:
			return convert_list_formats();
		case FROM:
			if (!strcmp(optarg, "arcs"))
				convert->from = CONVERT_FROM_ARCS;
			else if (!strcmp(optarg, "stacks"))
				convert->from = CONVERT_FROM_STACKS;
			else
				return cmd_usage_error("convert", "--from %s: arcs or stacks",
						       optarg);
			break;
		case COMPRESS:
			convert->sample_flags |= SWLBR_SAMPLE_COMPRESS;
			break;
		case MD5:
			convert->sample_flags |= SWLBR_SAMPLE_MD5;
			break;
		case SYMBOL_LIST:
			convert->sample_flags |= SWLBR_SAMPLE_SYMBOL_LIST;
			break;
		case GCOV_VERSION:
			if (strcmp(optarg, "2") && strcmp(optarg, "3"))
				return cmd_usage_error("convert", "--gcov-version %s: 2 or 3",
						       optarg);
			convert->gcov_version = (unsigned int)(*optarg - '0');
			break;
		case SYMBOL_ORDER:
			convert->symbol_order = optarg;
			break;
		case PREFER:
			if (!parse_prefer(convert, optarg))
				return cmd_usage_error("convert", "--prefer %s: sw, hw or sum",
						       optarg);
			break;
		case WEIGHT:
			if (!cmd_add_weight(&convert->weights, optarg))
				return cmd_fail(swlbr_error_no_memory());
			break;
		case NORMALIZE:
			convert->normalize = true;
			break;
		case FILTER + CONVERT_FILTER_PID... FILTER + CONVERT_FILTER_DSO:
			status = parse_filter(convert, option - FILTER, optarg);
			if (status >= 0)
				return status;
			break;
		case JSON:
			convert->json = true;
			break;
		case 'q':
			convert->quiet = true;
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
	if (!convert->format)
		return cmd_usage_error("convert",
				       "no format given (-f); --list-formats names them");
	if (convert->sample_flags & ~formats_flags(convert->format->name))
		return cmd_usage_error("convert",
				       "--compress and --md5 are for llvm-extbinary, --symbol-list "
				       "for it and for gcc-afdo");
	if (convert->gcov_version && strcmp(convert->format->name, "gcc-afdo"))
		return cmd_usage_error("convert", "--gcov-version is for gcc-afdo");
	if (convert->normalize && !can_normalize(convert->format->name))
		return cmd_usage_error("convert", "--normalize is for llvm-sample, llvm-extbinary, "
						  "gcc-afdo, arcs and json");
	if (!convert->output)
		return cmd_usage_error("convert", "no output file given (-o)");
	status = check_symbol_order(convert);
	if (status >= 0)
		return status;
	if (convert->json && !strcmp(convert->output, "-"))
		return cmd_usage_error("convert", "both --json and -o - want standard output");
	if (!convert->nr_inputs && !add_input(convert, "perf.data", strlen("perf.data")))
		return cmd_fail(swlbr_error_no_memory());
	status = check_filter(convert);
	return status < 0 ? check_sides(convert) : status;
}

/* A binary that is not there would otherwise be missed only when it is needed. */
struct swlbr_error *convert_find_arguments(struct convert *convert)
{
	struct swlbr_error *error = swlbr_elf_finder_create(&convert->finder);

	for (size_t i = 0; !error && i < convert->nr_arguments; i++)
		error = swlbr_elf_finder_add(convert->finder, convert->arguments[i]);
	return error;
}

static struct swlbr_error *run(struct convert *convert)
{
	struct swlbr_error *error = convert_find_arguments(convert);

	if (!error)
		error = convert->format->write_counters ? convert_run_counters(convert)
							: convert_run_edges(convert);
	if (!convert->verbose && convert->reports > REPORTS_SHOWN)
		cmd_warn("and %llu more (-v tells all)",
			 (unsigned long long)(convert->reports - REPORTS_SHOWN));
	return error;
}

int convert_begin(struct convert *convert, int argc, char **argv)
{
	*convert = (struct convert){ 0 };
	convert->reporter = (struct swlbr_reporter){ .report = report, .context = convert };
	return parse_options(convert, argc, argv);
}

void convert_end(struct convert *convert)
{
	swlbr_profraws_clear(&convert->set);
	swlbr_stacks_destroy(convert->stacks);
	swlbr_elf_finder_destroy(convert->finder);
	convert_free_filter(convert);
	convert_free_binaries(convert);
	for (size_t i = 0; i < convert->nr_inputs; i++)
		free(convert->inputs[i]);
	free(convert->inputs);
	free(convert->weights.texts);
}

int cmd_convert(int argc, char **argv)
{
	struct convert convert;
	struct swlbr_error *error;
	int status = convert_begin(&convert, argc, argv);

	if (status < 0) {
		error = run(&convert);
		status = error ? cmd_fail(error) : 0;
	}
	convert_end(&convert);
	return status;
}
