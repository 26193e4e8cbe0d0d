/* SPDX-License-Identifier: GPL-2.0-only */
/* What a unit test says: a line for each check, and how many failed. */
#ifndef SWLBR_TESTS_CHECK_H
#define SWLBR_TESTS_CHECK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

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

#endif
