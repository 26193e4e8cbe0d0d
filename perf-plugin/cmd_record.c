// SPDX-License-Identifier: GPL-2.0-only
/* perf swlbr record: counters of running programs into a perf.data. */
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/number.h"
#include "cmd.h"
#include "pmu/user/event_parse.h"
#include "pmu/user/recorder.h"
#include "record_emulate.h"

static const char usage[] =
	"\n"
	" Usage: perf swlbr record [<options>] [--] <command> [<args>]\n"
	"    or: perf swlbr record [<options>] -p <pid>[,<pid>...]\n"
	"    or: perf swlbr record --emulate[=counts] [<options>] [--] <command> [<args>]\n"
	"\n"
	"    -o, --output <file>   output file name (default: perf.data)\n"
	"    -p, --pid <pid>       record the running process(es) until Ctrl-C or their end\n"
	"    -e, --event <event>[,<event>...]\n"
	"                          also record these events of the kernel, with branch stacks where\n"
	"                          the machine has them: cycles:u, cpu-clock, rNNN, <pmu>/<terms>/\n"
	"    -F, --freq <n>        snapshots per second while the program runs (default: 99)\n"
	"    -c, --count <n>       taken branches per branch stack (default: with --emulate 10007,\n"
	"                          else such that there are about 20000 stacks)\n"
	"        --depth <n>       branches in a stack, 8 to 64 (default: 32)\n"
	"    -q, --quiet           no progress line, no summary\n"
	"    -v, --verbose         say more\n"
	"    -h, --help            this text\n"
	"\n"
	"        --emulate[=lbr]   run any program, of x86-64 or aarch64, in QEMU and record\n"
	"                          branch stacks, as an LBR would; needs no special build\n"
	"        --emulate=counts  likewise, but count every branch and write an arcs file\n"
	"                          (default output: perf.arcs)\n"
	"    -j, --branch-filter <kind>[,<kind>...]\n"
	"                          with --emulate: any, any_call, any_ret, ind_call, cond, u\n"
	"        --sysroot <dir>   with --emulate: where the program's libraries are\n"
	"        --kernel <file>   with --emulate=counts and a qemu-system command: count the\n"
	"                          code of this kernel\n"
	"\n"
	" Without --emulate the program must have been built with the flags that\n"
	" 'perf swlbr cflags' prints.\n"
	"\n"
	" Examples:\n"
	"    clang-19 -O2 $(perf swlbr cflags) -o prog prog.c\n"
	"    perf swlbr record -- ./prog args\n"
	"    perf swlbr record -o server.data -p $(pidof server)\n"
	"    perf swlbr record --emulate -- ./any-prog args\n"
	"    perf swlbr convert -i perf.data -f llvm-profdata -o prog.profdata\n"
	"\n";

struct record {
	struct recorder_options options;
	struct record_emulate emulate;
	struct event_list events;
	pid_t *pids;
	bool output_given, frequency_given, quiet, verbose;
};

static bool progress_shown;

static void show_progress(const struct recorder_summary *summary, const char *state)
{
	(void)state;
	progress_shown = true;
	fprintf(stderr,
		"\r[ perf swlbr record: %.1f s, %llu processes, %llu recorded now, %llu snapshots, %.3f MB ]\033[K",
		(double)(summary->end - summary->start) / 1e9,
		(unsigned long long)summary->processes, (unsigned long long)summary->live,
		(unsigned long long)summary->snapshots, (double)summary->bytes / 1e6);
	fflush(stderr);
}

/* What recording cost: our own processor time, and what was done after the program's end. */
static void show_cost(const struct recorder_summary *summary)
{
	double wall = (double)(summary->end - summary->start) / 1e9, own;
	struct rusage cost;

	getrusage(RUSAGE_SELF, &cost);
	own = (double)(cost.ru_utime.tv_sec + cost.ru_stime.tv_sec) +
	      (double)(cost.ru_utime.tv_usec + cost.ru_stime.tv_usec) / 1e6;
	fprintf(stderr,
		"[ %.3f s, %.3f s of it after the program's end; recorder %.3f s of processor time (%.1f %%); %llu snapshots ]\n",
		wall, summary->child_end ? (double)(summary->end - summary->child_end) / 1e9 : 0.0,
		own, wall > 0 ? 100 * own / wall : 0.0, (unsigned long long)summary->snapshots);
}

/* How much of the branches was counted, and how much could only be the nearest guess. */
static void show_flow(const struct recorder_summary *summary)
{
	if (!(summary->branches > 0))
		return;
	fprintf(stderr,
		"[ jumps: %.1f %% decided by counters alone; counters disagreed by %.0f executions (%.3f %%) ]\n",
		100 * summary->exact_branches / summary->branches, summary->moved,
		summary->blocks > 0 ? 100 * summary->moved / summary->blocks : 0.0);
}

static void tell(const char *line)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	cmd_warn("%s", line);
}

static void warn_of_lost(const struct recorder_event *event)
{
	if (event->lost)
		cmd_warn(
			"%s: %llu records were lost, the kernel's buffers were full; sample it less often, as in %s",
			event->name, (unsigned long long)event->lost, "cycles/freq=1000/u");
	if (event->throttled)
		cmd_warn(
			"%s: throttled %llu times, it comes more often than kernel.perf_event_max_sample_rate",
			event->name, (unsigned long long)event->throttled);
}

static void show_summary(const struct record *record, const struct recorder_summary *summary)
{
	for (size_t i = 0; i < summary->nr_notes; i++)
		cmd_warn("%s", summary->note[i]);
	if (summary->lost > summary->nr_notes)
		cmd_warn("%llu more such losses",
			 (unsigned long long)(summary->lost - summary->nr_notes));
	for (size_t i = 0; i < summary->nr_events; i++)
		warn_of_lost(&summary->events[i]);
	if (record->quiet)
		return;
	fprintf(stderr,
		"[ perf swlbr record: Captured and wrote %.3f MB %s (%llu processes, %llu images of %llu binaries, %llu increments%s, %llu branch stacks) ]\n",
		(double)summary->bytes / 1e6, record->options.output,
		(unsigned long long)summary->processes, (unsigned long long)summary->images,
		(unsigned long long)summary->binaries, (unsigned long long)summary->executions,
		summary->lost ? ", some lost" : "", (unsigned long long)summary->stacks);
	for (size_t i = 0; i < summary->nr_events; i++)
		fprintf(stderr, "[ %s: %llu samples%s ]\n", summary->events[i].name,
			(unsigned long long)summary->events[i].samples,
			summary->events[i].lost ? ", some lost" : "");
	if (record->verbose) {
		show_flow(summary);
		show_cost(summary);
	}
}

static bool parse_pids(struct record *record, const char *list)
{
	for (;;) {
		uint64_t pid;
		pid_t *grown;

		if (!number_at(&list, 10, ",", &pid) || !pid || pid > INT32_MAX)
			return false;
		grown = reallocarray(record->pids, record->options.nr_pids + 1, sizeof(*grown));
		if (!grown)
			return false;
		record->pids = grown;
		grown[record->options.nr_pids++] = (pid_t)pid;
		if (!*list++)
			return true;
	}
}

static bool parse_frequency(struct record *record, const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !isfinite(value) || value < 0.01 || value > 10000)
		return false;
	record->options.frequency = value;
	record->frequency_given = true;
	return true;
}

/* 0: go on; else the exit status plus 1. */
static int parse_events(struct record *record, const char *text)
{
	struct swlbr_error *error = event_list_parse(&record->events, text);
	int status = 0;

	if (error)
		status = 1 + cmd_usage_error("record", "-e %s", error->message);
	swlbr_error_destroy(error);
	return status;
}

/* 0: go on; else the exit status plus 1. */
static int parse_options(struct record *record, int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "pid", required_argument, NULL, 'p' },
		{ "event", required_argument, NULL, 'e' },
		{ "freq", required_argument, NULL, 'F' },
		{ "emulate", optional_argument, NULL, RECORD_OPTION_EMULATE },
		{ "count", required_argument, NULL, 'c' },
		{ "branch-filter", required_argument, NULL, 'j' },
		{ "depth", required_argument, NULL, RECORD_OPTION_DEPTH },
		{ "sysroot", required_argument, NULL, RECORD_OPTION_SYSROOT },
		{ "kernel", required_argument, NULL, RECORD_OPTION_KERNEL },
		{ "quiet", no_argument, NULL, 'q' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option, status;

	optind = 0;
	while ((option = getopt_long(argc, argv, "+o:p:e:F:c:j:qvh", options, NULL)) != -1) {
		switch (option) {
		case 'o':
			record->options.output = optarg;
			record->output_given = true;
			break;
		case 'p':
			if (!parse_pids(record, optarg))
				return 1 + cmd_usage_error("record",
							   "-p %s: not a list of process ids",
							   optarg);
			break;
		case 'e':
			status = parse_events(record, optarg);
			if (status)
				return status;
			break;
		case 'F':
			if (!parse_frequency(record, optarg))
				return 1 + cmd_usage_error("record",
							   "-F %s: not a rate of 0.01 to 10000 Hz",
							   optarg);
			break;
		case 'q':
			record->quiet = true;
			break;
		case 'v':
			record->verbose = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return 1;
		case '?':
			fprintf(stderr, "See 'perf swlbr record --help'.\n");
			return 1 + 129;
		default:
			status = record_emulate_option(&record->emulate, option, optarg);
			if (status)
				return status;
		}
	}
	if (record->options.nr_pids && optind < argc)
		return 1 + cmd_usage_error("record", "either -p or a command, not both");
	if (!record->options.nr_pids && optind >= argc)
		return 1 + cmd_usage_error("record", "what to record? a command, or -p PID");
	if (record->emulate.on && record->options.nr_pids)
		return 1 +
		       cmd_usage_error(
			       "record",
			       "--emulate runs a command; what runs already cannot be emulated");
	if (record->emulate.on && record->events.nr)
		return 1 + cmd_usage_error(
				   "record",
				   "-e: the kernel would count the emulator; not with --emulate");
	if (record->emulate.on && record->frequency_given)
		return 1 + cmd_usage_error("record",
					   "-F: emulated time is not time; use -c with --emulate");
	status = record_emulate_check(&record->emulate);
	if (status)
		return status;
	if (optind < argc)
		record->options.command = argv + optind;
	record->options.pids = record->pids;
	return 0;
}

int record_exit_like(bool child_ended, int child_status, int stop_signal)
{
	int signal_nr = 0, status = 0;

	if (child_ended && WIFEXITED(child_status))
		status = WEXITSTATUS(child_status);
	else if (child_ended)
		signal_nr = WTERMSIG(child_status);
	if (stop_signal)
		signal_nr = stop_signal;
	if (signal_nr) {
		struct rlimit no_core = { 0, 0 };
		sigset_t mask;

		fflush(NULL);
		setrlimit(RLIMIT_CORE, &no_core);
		signal(signal_nr, SIG_DFL);
		sigemptyset(&mask);
		sigaddset(&mask, signal_nr);
		sigprocmask(SIG_UNBLOCK, &mask, NULL);
		raise(signal_nr);
	}
	return status;
}

/*
 * With %m in its pattern the runtime adds an older file to the counters in memory before it writes
 * them, at an end that is also ours.
 */
static void check_profile_pattern(void)
{
	const char *pattern = getenv("LLVM_PROFILE_FILE");

	for (pattern = pattern ? strchr(pattern, '%') : NULL; pattern;
	     pattern = strchr(pattern, '%')) {
		pattern += 1 + strspn(pattern + 1, "0123456789");
		if (*pattern == 'm') {
			cmd_warn(
				"LLVM_PROFILE_FILE has %%m: the counts will hold an older .profraw's as well, if there is one");
			return;
		}
	}
}

int cmd_record(int argc, char **argv)
{
	struct record record = { .options = { .output = "perf.data", .frequency = 99 } };
	struct recorder_summary summary;
	struct swlbr_error *error;
	int status = parse_options(&record, argc, argv);
	const char **words;

	if (status) {
		event_list_deinit(&record.events);
		free(record.pids);
		return status - 1;
	}
	words = calloc((size_t)argc + 2, sizeof(*words));
	if (!words)
		return cmd_fail(swlbr_error_no_memory());
	words[0] = "perf";
	words[1] = "swlbr";
	memcpy(words + 2, argv, (size_t)argc * sizeof(*words));
	record.options.info = (struct swlbr_perfdata_info){
		.argc = argc + 2,
		.argv = words,
		.version = "swlbr " SWLBR_VERSION,
		.period = 1000003,
	};
	if (record.emulate.on) {
		record.emulate.options.command = record.options.command;
		record.emulate.options.output = record.output_given ? record.options.output : NULL;
		record.emulate.quiet = record.quiet;
		record.emulate.verbose = record.verbose;
		status = record_emulate_run(&record.emulate, &record.options.info);
		free(words);
		event_list_deinit(&record.events);
		free(record.pids);
		return status;
	}
	if (!record.quiet && isatty(STDERR_FILENO))
		record.options.progress = show_progress;
	record.options.events = &record.events;
	record.options.tell = tell;
	record.options.period = record.emulate.period;
	record.options.depth = record.emulate.options.depth ? record.emulate.options.depth : 32;
	check_profile_pattern();
	error = recorder_run(&record.options, &summary);
	if (progress_shown)
		fputs("\r\033[K", stderr);
	if (error) {
		cmd_fail(error);
		status = 1;
	} else {
		show_summary(&record, &summary);
		status = record_exit_like(summary.child_ended, summary.child_status,
					  summary.stop_signal);
	}
	recorder_summary_deinit(&summary);
	free(words);
	event_list_deinit(&record.events);
	free(record.pids);
	return status;
}
