/* SPDX-License-Identifier: GPL-2.0-only */
/* What a unit test says: a line for each check, and how many failed. */
#ifndef SWLBR_TESTS_CHECK_H
#define SWLBR_TESTS_CHECK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include <swlbr/error.h>

static int failures;

__attribute__((format(printf, 2, 3))) static void check(bool ok, const char *format, ...)
{
	va_list args;

	printf(ok ? "ok " : "FAIL ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	failures += !ok;
}

/* No error; prints and destroys one. */
static inline bool fine(struct swlbr_error *error)
{
	if (error)
		printf("# got: %s\n", error->message);
	swlbr_error_destroy(error);
	return !error;
}

#endif
