/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PERF_SWLBR_CMD_H
#define PERF_SWLBR_CMD_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <swlbr/error.h>

#define SWLBR_VERSION "0.1.0"

/* One subcommand of `perf swlbr`; argv[0] is its name. Returns the exit status. */
int cmd_record(int argc, char **argv);
int cmd_map(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_inject(int argc, char **argv);
int cmd_cflags(int argc, char **argv);

/* One line on stderr, "perf swlbr: …". Takes @error; returns 1, the exit status of a failure. */
int cmd_fail(struct swlbr_error *error);
int cmd_failf(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cmd_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A misuse of the command line: says it, names `perf swlbr CMD --help`; returns 129 as perf does. */
int cmd_usage_error(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The values of --weight FILE=N. @texts is free()d by the owner; the strings are borrowed. */
struct cmd_weights {
	char **texts;
	size_t nr;
};

/* False: no memory. */
bool cmd_add_weight(struct cmd_weights *weights, char *text);
/* N of the file called just so, else 1. */
uint64_t cmd_weight_of(const struct cmd_weights *weights, const char *path);
/* One that is not of the form, or of none of the files; NULL if there is none. */
const char *cmd_unused_weight(const struct cmd_weights *weights, char *const *files, size_t nr);

#endif
