// SPDX-License-Identifier: GPL-2.0-only
/* perf swlbr cflags: the flags to build a program with. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"

#define DEFAULT_CC   "clang-19"
#define OLDEST_CLANG 14
#define NEWEST_CLANG 22

struct flag {
	const char *text;
	const char *why;
	int last_clang; /* not needed by newer versions; 0: needed by all */
};

/*
 * Versions 14, 15, 16, 19 and 22 were tried: all take every flag (tests/e2e/cflags.sh). What divides
 * an interpreter's dispatch differs between them (14 to 16: the first of the three flags named
 * tail-dup and the other two; 19 and 22: the other two), so all get the three. luaV_execute of lua
 * 5.4 has then one indirect jump (`jmp *`) everywhere, and else 79 (14, 15, 16), 13 (19), 22 (22);
 * on lua they cost 0.2 to 0.6 % of instructions.
 *
 * Names made unique (-funique-internal-linkage-names) are left out: the build that uses the profile
 * would need them too.
 */
static const struct flag flags[] = {
	{ .text = "--start-no-unused-arguments",
	  .why = "the same line is for compiling and linking: do not warn about what one of them ignores" },
	{ .text = "-fprofile-generate", .why = "count executions" },
	{ .text = "-Xclang -fprofile-instrument-path=/dev/null",
	  .why = "no .profraw unless LLVM_PROFILE_FILE asks: the default one is merged into memory at exit" },
	{ .text = "-mllvm -runtime-counter-relocation",
	  .why = "address counters through a bias: they cannot be promoted to registers" },
	{ .text = "-mllvm -pgo-instrument-entry=true",
	  .why = "clang 14 takes any load at a function's head for that bias: increment before it",
	  .last_clang = 14 },
	{ .text = "-mllvm -do-counter-promotion=false",
	  .why = "increment counters where the code runs, not as a sum after the loop" },
	{ .text = "-mllvm -sink-common-insts=false",
	  .why = "keep one increment for each arm of a switch: merged ones cannot be told apart" },
	{ .text = "-mllvm -tail-dup-indirect-size=0",
	  .why = "keep indirect dispatch in one place, counted once" },
	{ .text = "-mllvm -disable-tail-duplicate", .why = "likewise, after register allocation" },
	{ .text = "-mllvm -tail-dup-placement=false", .why = "likewise, when blocks are laid out" },
	{ .text = "-fno-unroll-loops",
	  .why = "one copy of a loop: how its executions share out over copies, no counter tells" },
	{ .text = "-mllvm -rotation-max-header-size=0",
	  .why = "one test of a loop: no second one before it that no counter tells from the first" },
	{ .text = "-mllvm -jump-is-expensive",
	  .why = "one branch for a && b that is counted as one condition" },
	{ .text = "-mllvm -disable-cgp-select2branch",
	  .why = "no branch where a select is counted" },
	{ .text = "-g", .why = "map addresses to source lines, for sample profiles" },
	{ .text = "-gdwarf-4", .why = "autofdo's create_gcov reads DWARF 4 but not 5" },
	{ .text = "-fdebug-info-for-profiling",
	  .why = "discriminators and linkage names: tell the basic blocks of one line apart" },
	{ .text = "-Wl,--build-id", .why = "name the binary, so that a recording finds it again" },
	{ .text = "--end-no-unused-arguments", .why = "warn about the other arguments as before" },
};

#define NR_FLAGS (sizeof(flags) / sizeof(flags[0]))

static const char usage[] =
	"\n usage: perf swlbr cflags [<options>]\n\n"
	"    Print the flags to compile and link a program with, so that perf swlbr record\n"
	"    finds exact counters in it.\n\n"
	"        --cc CC      the compiler, with words before it if need be (default: " DEFAULT_CC
	")\n"
	"        --explain    one line for each flag: why it is there\n\n"
	"Examples:\n\n"
	"   clang-19 -O2 $(perf swlbr cflags) -o program program.c\n"
	"   make CC=clang-19 CFLAGS=\"-O2 $(perf swlbr cflags)\" LDFLAGS=\"$(perf swlbr cflags)\"\n"
	"   perf swlbr cflags --cc \"ccache clang-22\" --explain\n\n";

/* What a compiler says of itself. */
struct compiler {
	int clang_major; /* 0: not clang */
	bool gcc;
};

/* The words of @command, then @tail, as an argument vector whose strings lie in @command. */
static char **split_words(char *command, const char *const *tail)
{
	size_t nr = 0, nr_tail = 0, capacity = strlen(command) / 2 + 2;
	char **words, *save = NULL;

	while (tail[nr_tail])
		nr_tail++;
	words = calloc(capacity + nr_tail, sizeof(*words));
	if (!words)
		return NULL;
	for (char *word = strtok_r(command, " \t\n", &save); word;
	     word = strtok_r(NULL, " \t\n", &save))
		words[nr++] = word;
	for (size_t i = 0; nr && i < nr_tail; i++)
		words[nr++] = (char *)tail[i];
	return words;
}

/* In the child: becomes @words with @input and @output as its standard streams. */
static void exec_compiler(char **words, int input, int output, int report)
{
	int failure, null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
	    dup2(null, STDERR_FILENO) >= 0)
		execvp(words[0], words);
	failure = errno;
	if (write(report, &failure, sizeof(failure)) < 0)
		_exit(126);
	_exit(127);
}

static size_t read_all(int fd, char *buffer, size_t size)
{
	size_t length = 0;
	ssize_t got;
	char rest[512];

	while (length < size && ((got = read(fd, buffer + length, size - length)) > 0 ||
				 (got < 0 && errno == EINTR)))
		length += got > 0 ? (size_t)got : 0;
	/* What does not fit is read too: the writer must not die of SIGPIPE. */
	while ((got = read(fd, rest, sizeof(rest))) > 0 || (got < 0 && errno == EINTR))
		;
	return length;
}

/*
 * Feeds @source to the program @words and reads up to @size - 1 bytes of its answer. Returns 0, or
 * errno if the program cannot be run, or -1 if it failed.
 */
static int ask(char **words, const char *source, char *answer, size_t size)
{
	int input[2], output[2], report[2], failure = 0, status;
	pid_t child;

	if (pipe2(input, O_CLOEXEC) || pipe2(output, O_CLOEXEC) || pipe2(report, O_CLOEXEC))
		return errno;
	/* A pipe holds these few bytes whether or not somebody reads them. */
	if (write(input[1], source, strlen(source)) < 0)
		return errno;
	close(input[1]);
	child = fork();
	if (child < 0)
		return errno;
	if (!child)
		exec_compiler(words, input[0], output[1], report[1]);
	close(input[0]);
	close(output[1]);
	close(report[1]);
	answer[read_all(output[0], answer, size - 1)] = '\0';
	if (read(report[0], &failure, sizeof(failure)) != sizeof(failure))
		failure = 0;
	close(output[0]);
	close(report[0]);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (failure)
		return failure;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -1;
}

/* Asks the preprocessor: names and version strings differ between distributions, macros do not. */
static int identify_compiler(const char *cc, struct compiler *compiler)
{
	static const char *const preprocess[] = { "-E", "-P", "-x", "c", "-", NULL };
	static const char source[] = "swlbr:clang __clang_major__\nswlbr:gcc __GNUC__\n";
	char answer[4096], *command = strdup(cc), **words, *line;
	int status;

	words = command ? split_words(command, preprocess) : NULL;
	if (!words) {
		free(command);
		return cmd_fail(swlbr_error_no_memory());
	}
	if (!words[0])
		status = cmd_usage_error("cflags", "--cc: no compiler named");
	else if ((status = ask(words, source, answer, sizeof(answer))) > 0)
		status = cmd_failf("%s: cannot run the compiler: %s", cc, strerror(status));
	else if (status < 0)
		status = cmd_failf("%s: not a C compiler (it cannot preprocess)", cc);
	free(words);
	free(command);
	if (status)
		return status;
	line = strstr(answer, "swlbr:clang ");
	if (line)
		compiler->clang_major = atoi(line + strlen("swlbr:clang "));
	line = strstr(answer, "swlbr:gcc ");
	compiler->gcc = line && atoi(line + strlen("swlbr:gcc ")) > 0;
	return 0;
}

/* 0 if there are flags for it; else says why not. */
static int judge_compiler(const char *cc, const struct compiler *compiler)
{
	if (!compiler->clang_major && compiler->gcc)
		return cmd_failf("%s: gcc's counters are not read yet; use clang %d to %d", cc,
				 OLDEST_CLANG, NEWEST_CLANG);
	if (!compiler->clang_major)
		return cmd_failf("%s: neither clang nor gcc", cc);
	if (compiler->clang_major < OLDEST_CLANG)
		return cmd_failf("%s: clang %d is too old; use clang %d to %d", cc,
				 compiler->clang_major, OLDEST_CLANG, NEWEST_CLANG);
	if (compiler->clang_major > NEWEST_CLANG)
		cmd_warn("%s: clang %d is newer than what was tried; these are the flags for %d",
			 cc, compiler->clang_major, NEWEST_CLANG);
	return 0;
}

static void print_flags(int clang_major, bool explain)
{
	const char *separator = "";

	for (size_t i = 0; i < NR_FLAGS; i++) {
		if (flags[i].last_clang && clang_major > flags[i].last_clang)
			continue;
		if (explain) {
			printf("%-46s  %s\n", flags[i].text, flags[i].why);
		} else {
			printf("%s%s", separator, flags[i].text);
			separator = " ";
		}
	}
	if (!explain)
		putchar('\n');
}

int cmd_cflags(int argc, char **argv)
{
	static const struct option options[] = {
		{ "cc", required_argument, NULL, 'c' },
		{ "explain", no_argument, NULL, 'x' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	const char *cc = DEFAULT_CC;
	struct compiler compiler = {};
	bool explain = false;
	int option, status;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			cc = optarg;
			break;
		case 'x':
			explain = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		case ':':
			return cmd_usage_error("cflags", "option '%s' needs a value",
					       argv[optind - 1]);
		default:
			return cmd_usage_error("cflags", "unknown option '%s'", argv[optind - 1]);
		}
	}
	if (optind < argc)
		return cmd_usage_error("cflags", "unexpected argument '%s'", argv[optind]);
	status = identify_compiler(cc, &compiler);
	if (!status)
		status = judge_compiler(cc, &compiler);
	if (status)
		return status;
	print_flags(compiler.clang_major, explain);
	return 0;
}
