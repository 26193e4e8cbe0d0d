// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Reading of whole files. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/infile.h"

/* Reads until @max bytes or the end. */
static struct swlbr_error *read_full(int fd, const char *path, uint8_t *data, size_t max,
				     size_t *size_ret)
{
	size_t size = 0;

	while (size < max) {
		ssize_t n = read(fd, data + size, max - size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return swlbr_error_errno(errno, "%s: read failed", path);
		if (!n)
			break;
		size += (size_t)n;
	}
	*size_ret = size;
	return NULL;
}

static struct swlbr_error *read_growing(int fd, const char *path, size_t expected,
					uint8_t **data_ret, size_t *size_ret)
{
	size_t size = 0, max = expected + 1; /* one more, to see the end */
	uint8_t *data = malloc(max);

	while (data) {
		struct swlbr_error *error;
		uint8_t *grown;
		size_t got = 0;

		error = read_full(fd, path, data + size, max - size, &got);
		if (error) {
			free(data);
			return error;
		}
		size += got;
		if (size < max) {
			*data_ret = data;
			*size_ret = size;
			return NULL;
		}
		max = max * 2 + 4096;
		grown = realloc(data, max);
		if (!grown)
			free(data);
		data = grown;
	}
	return swlbr_error_no_memory();
}

static struct swlbr_error *open_for_reading(const char *path, int *fd_ret, struct stat *stat_ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return swlbr_error_errno(errno, "%s", path);
	if (fstat(fd, stat_ret)) {
		int errnum = errno;

		close(fd);
		return swlbr_error_errno(errnum, "%s", path);
	}
	*fd_ret = fd;
	return NULL;
}

struct swlbr_error *infile_read(const char *path, uint8_t **data_ret, size_t *size_ret)
{
	struct swlbr_error *error;
	struct stat stat;
	int fd;

	error = open_for_reading(path, &fd, &stat);
	if (error)
		return error;
	error = read_growing(fd, path, S_ISREG(stat.st_mode) ? (size_t)stat.st_size : 4096,
			     data_ret, size_ret);
	close(fd);
	return error;
}

/* A writer that writes line by line gets some time to come to what tells its kind. */
#define PEEK_WAIT   200 /* ms */
#define PEEK_ENOUGH 4096

static void wait_for_enough(int fd)
{
	struct pollfd input = { .fd = fd, .events = POLLIN };

	while (poll(&input, 1, -1) < 0 && errno == EINTR)
		;
	for (int ms = 0; ms < PEEK_WAIT && !(input.revents & (POLLHUP | POLLERR)); ms++) {
		int size;

		if (ioctl(fd, FIONREAD, &size) || size >= PEEK_ENOUGH)
			break;
		poll(NULL, 0, 1);
		poll(&input, 1, 0);
	}
}

/* What has come through a pipe, without taking it out: there may be less than there will be. */
static struct swlbr_error *peek_pipe(int fd, const char *path, uint8_t *data, size_t max,
				     size_t *size_ret)
{
	struct swlbr_error *error = NULL;
	int copy[2];
	ssize_t n;

	wait_for_enough(fd);
	if (pipe2(copy, O_CLOEXEC))
		return swlbr_error_errno(errno, "%s", path);
	do
		n = tee(fd, copy[1], max, 0);
	while (n < 0 && errno == EINTR);
	close(copy[1]);
	/* Without tee() nothing is known before it is read. */
	if (n > 0)
		error = read_full(copy[0], path, data, (size_t)n, size_ret);
	close(copy[0]);
	return error;
}

static struct swlbr_error *peek_standard_input(uint8_t *data, size_t max, size_t *size_ret)
{
	static const char name[] = "standard input";
	struct stat stat;
	ssize_t n;

	*size_ret = 0;
	if (fstat(STDIN_FILENO, &stat))
		return swlbr_error_errno(errno, "%s", name);
	if (S_ISFIFO(stat.st_mode))
		return peek_pipe(STDIN_FILENO, name, data, max, size_ret);
	if (!S_ISREG(stat.st_mode))
		return NULL;
	n = pread(STDIN_FILENO, data, max, lseek(STDIN_FILENO, 0, SEEK_CUR));
	if (n < 0)
		return swlbr_error_errno(errno, "%s", name);
	*size_ret = (size_t)n;
	return NULL;
}

struct swlbr_error *infile_peek(const char *path, uint8_t *data, size_t max, size_t *size_ret)
{
	struct swlbr_error *error;
	struct stat stat_of;
	int fd;

	*size_ret = 0;
	/* A named pipe is not opened: its writer would take our closing of it for the end. */
	if (stat(path, &stat_of))
		return swlbr_error_errno(errno, "%s", path);
	if (S_ISDIR(stat_of.st_mode))
		return swlbr_error_errno(EISDIR, "%s", path);
	if (!S_ISREG(stat_of.st_mode))
		return NULL;
	error = open_for_reading(path, &fd, &stat_of);
	if (error)
		return error;
	if (S_ISREG(stat_of.st_mode))
		error = read_full(fd, path, data, max, size_ret);
	close(fd);
	return error;
}

struct swlbr_error *infile_peek_text(const char *path, uint8_t *data, size_t max, size_t *size_ret)
{
	return strcmp(path, "-") ? infile_peek(path, data, max, size_ret)
				 : peek_standard_input(data, max, size_ret);
}
