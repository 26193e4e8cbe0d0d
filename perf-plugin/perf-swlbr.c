// SPDX-License-Identifier: GPL-2.0-only
/* perf-swlbr: perf runs it for `perf swlbr …`. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
};

static int cmd_help(int argc, char **argv);

static const struct command commands[] = {
	{ "cflags", cmd_cflags, "Print the compiler flags to build a program with" },
	{ "record", cmd_record, "Run a program or attach to one; its counters go to perf.data" },
	{ "map", cmd_map, "Show the branch map of a binary" },
	{ "convert", cmd_convert, "Make a compiler profile from perf.data or .profraw files" },
	{ "inject", cmd_inject, "Make long branch stacks of what a kernel's counters say" },
	{ "merge", cmd_merge, "Sum profiles of one kind, with weights" },
	{ "help", cmd_help, "Explain a command" },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const char examples[] =
	"\nExample:\n\n"
	"   make CC=clang-19 CFLAGS=\"-O2 $(perf swlbr cflags)\"\n"
	"   perf swlbr record -- ./program input\n"
	"   perf swlbr convert -i perf.data -f llvm-profdata -o program.profdata\n"
	"   make clean all CC=clang-19 CFLAGS=\"-O2 -fprofile-use=program.profdata\"\n";

static void print_usage(FILE *to)
{
	fprintf(to, "\n usage: perf swlbr [--version] [-h] COMMAND [ARGS]\n\n The commands are:\n");
	for (size_t i = 0; i < NR_COMMANDS; i++)
		fprintf(to, "   %-10s %s\n", commands[i].name, commands[i].summary);
	fputs(examples, to);
	fputs("\n See 'perf swlbr help COMMAND' for more on one of them.\n\n", to);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < NR_COMMANDS; i++) {
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	}
	return NULL;
}

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Levenshtein distance; only the first 31 bytes of each word are looked at. */
static size_t edit_distance(const char *a, const char *b)
{
	enum { LONGEST = 31 };
	size_t row[LONGEST + 1], a_len = strnlen(a, LONGEST), b_len = strnlen(b, LONGEST);

	for (size_t j = 0; j <= b_len; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			size_t replaced = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = min_size(replaced, min_size(row[j], row[j - 1]) + 1);
		}
	}
	return row[b_len];
}

/* The command nearest to @name, or NULL if none is near. */
static const struct command *nearest_command(const char *name)
{
	const struct command *nearest = NULL;
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < NR_COMMANDS; i++) {
		size_t distance = edit_distance(name, commands[i].name);

		if (distance < best) {
			best = distance;
			nearest = &commands[i];
		}
	}
	return best <= strlen(nearest->name) / 2 ? nearest : NULL;
}

static int unknown_command(const char *name)
{
	const struct command *nearest = nearest_command(name);

	if (nearest)
		cmd_failf("'%s' is not a command; did you mean '%s'?", name, nearest->name);
	else
		cmd_failf("'%s' is not a command; see 'perf swlbr help'", name);
	return 1;
}

static int cmd_help(int argc, char **argv)
{
	const struct command *command;
	char help_option[] = "--help";

	if (argc < 2 || !strcmp(argv[1], "help") || argv[1][0] == '-') {
		print_usage(stdout);
		return 0;
	}
	command = find_command(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	return command->run(2, (char *[]){ argv[1], help_option, NULL });
}

/* For completion. */
static void list_commands(void)
{
	for (size_t i = 0; i < NR_COMMANDS; i++)
		puts(commands[i].name);
}

/* An output that could not be written whole is a failure too. */
static int close_stdout(int status)
{
	bool failed = ferror(stdout);

	if ((fclose(stdout) && errno != EBADF) || failed) /* started without one: nothing is lost */
		return status ? status : cmd_failf("standard output: %m");
	return status;
}

static int run(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		print_usage(stderr);
		return 1;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_usage(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-v")) {
		puts("perf swlbr version " SWLBR_VERSION);
		return 0;
	}
	if (!strcmp(argv[1], "--list-cmds")) {
		list_commands();
		return 0;
	}
	if (argv[1][0] == '-') {
		cmd_failf("unknown option '%s'; see 'perf swlbr help'", argv[1]);
		return 129;
	}
	command = find_command(argv[1]);
	return command ? command->run(argc - 1, argv + 1) : unknown_command(argv[1]);
}

int main(int argc, char **argv)
{
	return close_stdout(run(argc, argv));
}
