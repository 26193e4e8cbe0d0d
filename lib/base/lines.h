/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_BASE_LINES_H
#define SWLBR_BASE_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <swlbr/error.h>

/** The lines of a text file of at most this many bytes each. */
#define LINES_SIZE (128 * 1024)

struct lines {
	const char *path;
	FILE *file;
	uint64_t number; /* of the line read last, from 1 */
	char *line;	 /* without its newline */
	bool cut_off;	 /* it had none: it is the last */
};

/** "-" is standard input. Ended by lines_close(), also on error. */
struct swlbr_error *lines_open(struct lines *lines, const char *path);
void lines_close(struct lines *lines);

/** The next line; false at the end. Fails for one that is too long, or holds a NUL. */
struct swlbr_error *lines_next(struct lines *lines, bool *found_ret);

/** A SWLBR_ERROR_FORMAT about the line: "PATH: what (line N)". */
struct swlbr_error *lines_error(const struct lines *lines, const char *what)
	__attribute__((returns_nonnull));

#endif
