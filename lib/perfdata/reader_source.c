// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The bytes of a perf.data. They are read in pieces into one buffer, not mapped: that is as fast
 * while the buffer stays in the processor's cache, and a file that shrinks meanwhile gives an error
 * and not a signal.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "perfdata/reader.h"
#include "perfdata/source.h"

/* Bounds the memory a hostile file can make us take: no real section comes near. */
#define MAX_SECTION_SIZE (64 * 1024 * 1024)

int swlbr_reader_pread(int fd, void *buffer, size_t size, uint64_t offset, size_t *done_ret)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, (uint8_t *)buffer + done, size - done, offset + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (!n)
			break;
		done += n;
	}
	*done_ret = done;
	return 0;
}

struct swlbr_error *swlbr_reader_read(struct swlbr_perfdata *file, void *buffer, size_t size,
				      uint64_t offset)
{
	size_t done = 0;
	int err = swlbr_reader_pread(file->fd, buffer, size, offset, &done);

	if (err)
		return swlbr_error_errno(err, "%s: cannot read at offset %" PRIu64, file->path,
					 offset);
	if (done < size)
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: the file ends within %zu bytes at offset %" PRIu64,
					  file->path, size, offset);
	return NULL;
}

struct swlbr_error *swlbr_reader_section(struct swlbr_perfdata *file,
					 struct perfdata_section section, const char *what,
					 uint8_t **data_ret)
{
	struct swlbr_error *error;
	uint8_t *data;

	if (section.offset > file->size || section.size > file->size - section.offset)
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: %s at offset %" PRIu64 ", size %" PRIu64
					  ", end after the file, which has %" PRIu64 " bytes",
					  file->path, what, section.offset, section.size,
					  file->size);
	if (section.size > MAX_SECTION_SIZE)
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "%s: %s at offset %" PRIu64 " are too large: %" PRIu64
					  " bytes",
					  file->path, what, section.offset, section.size);
	data = malloc(section.size ? section.size : 1);
	if (!data)
		return swlbr_error_no_memory();
	error = swlbr_reader_read(file, data, section.size, section.offset);
	if (error) {
		free(data);
		return error;
	}
	*data_ret = data;
	return NULL;
}

struct swlbr_error *swlbr_reader_fill(struct swlbr_perfdata *file, uint64_t offset, size_t size)
{
	uint64_t start = offset & ~(uint64_t)(READER_PAGE_SIZE - 1);
	int err;

	file->window_size = 0;
	err = swlbr_reader_pread(file->fd, file->window, READER_WINDOW_SIZE, start,
				 &file->window_size);
	if (err)
		return swlbr_error_errno(err, "%s: cannot read at offset %" PRIu64, file->path,
					 offset);
	file->window_start = start;
	if (file->window_size < offset - start + size)
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: the file ends within %zu bytes at offset %" PRIu64,
					  file->path, size, offset);
	return NULL;
}

struct swlbr_error *swlbr_reader_spool(int fd, const char *path, int *fd_ret)
{
	static const char what[] = "copy of what comes through a pipe";
	struct swlbr_error *error = NULL;
	size_t max = 1024 * 1024;
	uint8_t *buffer = malloc(max);
	FILE *file = tmpfile();

	if (!buffer)
		error = swlbr_error_no_memory();
	else if (!file)
		error = swlbr_error_errno(errno, "%s: temporary %s", path, what);
	while (!error) {
		ssize_t n = read(fd, buffer, max);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			error = swlbr_error_errno(errno, "%s: cannot read", path);
		else if (n && fwrite(buffer, 1, n, file) != (size_t)n)
			error = swlbr_error_errno(errno, "%s: temporary %s", path, what);
		if (n == 0)
			break;
	}
	if (!error && (fflush(file) || (*fd_ret = dup(fileno(file))) < 0))
		error = swlbr_error_errno(errno, "%s: temporary %s", path, what);
	if (file)
		fclose(file);
	free(buffer);
	return error;
}
