/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_PERFDATA_SOURCE_H
#define SWLBR_PERFDATA_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#define READER_PAGE_SIZE 4096
/* Small enough for a second-level cache, and several times the largest record. */
#define READER_WINDOW_SIZE (512 * 1024)

/* Read up to @size bytes, fewer only at the end of the file. Returns 0 or an errno. */
int swlbr_reader_pread(int fd, void *buffer, size_t size, uint64_t offset, size_t *done_ret);

#endif
