/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_BASE_INFILE_H
#define SWLBR_BASE_INFILE_H

#include <stddef.h>
#include <stdint.h>

#include <swlbr/error.h>

/**
 * Read all of @path, a pipe too. It is copied, not mapped: a file that shrinks meanwhile must not
 * end the program. @data_ret is the caller's to free().
 */
struct swlbr_error *infile_read(const char *path, uint8_t **data_ret, size_t *size_ret);

/** Read up to @max bytes of the beginning of a regular file; 0 bytes of anything else. */
struct swlbr_error *infile_peek(const char *path, uint8_t *data, size_t max, size_t *size_ret);

/**
 * The same for what lines_open() will read: of "-", what standard input has at hand, which still
 * comes to who reads it.
 */
struct swlbr_error *infile_peek_text(const char *path, uint8_t *data, size_t max, size_t *size_ret);

#endif
