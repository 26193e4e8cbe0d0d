/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PERF_SWLBR_CMD_H
#define PERF_SWLBR_CMD_H

#include <stdarg.h>

#include <swlbr/error.h>

#define SWLBR_VERSION "0.1.0"

/* One subcommand of `perf swlbr`; argv[0] is its name. Returns the exit status. */
int cmd_record(int argc, char **argv);
int cmd_map(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_cflags(int argc, char **argv);

/* One line on stderr, "perf swlbr: …". Takes @error; returns 1, the exit status of a failure. */
int cmd_fail(struct swlbr_error *error);
int cmd_failf(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cmd_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A misuse of the command line: says it, names `perf swlbr CMD --help`; returns 129 as perf does. */
int cmd_usage_error(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
