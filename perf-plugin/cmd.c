// SPDX-License-Identifier: GPL-2.0-only
/* How subcommands speak to people: one line a message, on stderr. */
#include <stdio.h>

#include "cmd.h"

static void say(const char *kind, const char *format, va_list args)
{
	flockfile(stderr);
	fprintf(stderr, "perf swlbr: %s", kind);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	funlockfile(stderr);
}

int cmd_fail(struct swlbr_error *error)
{
	cmd_failf("%s", error->message);
	swlbr_error_destroy(error);
	return 1;
}

int cmd_failf(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("", format, args);
	va_end(args);
	return 1;
}

void cmd_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("warning: ", format, args);
	va_end(args);
}

int cmd_usage_error(const char *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("", format, args);
	va_end(args);
	fprintf(stderr, "See 'perf swlbr %s --help'.\n", command);
	return 129;
}
