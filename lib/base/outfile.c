// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Output files that appear whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/outfile.h"

#define BUFFER_SIZE    (64 * 1024)
#define MAX_SYMLINKS   40
#define TEMP_NAME_SIZE 32

struct swlbr_outfile {
	char *path;			/* as given, for messages */
	char *name;			/* of the target, in the directory @dir */
	int dir;			/* -1 if @copy */
	int fd;				/* of the growing file */
	int copy_to;			/* open descriptor that gets the copy, or -1: @path */
	bool copy;			/* the target is no regular file */
	char temp_name[TEMP_NAME_SIZE]; /* of @fd in @dir; "" while it has no name */
	unsigned int flags;
	int failed;	  /* errno of a write that failed */
	uint64_t flushed; /* bytes handed to the kernel */
	size_t buffered;
	uint8_t buffer[BUFFER_SIZE];
};

/* Returns 0 or an errno. */
static int write_all(int fd, const uint8_t *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : EIO;
		data += n;
		size -= n;
	}
	return 0;
}

static struct swlbr_error *write_error(const struct swlbr_outfile *file, int errnum)
{
	return swlbr_error_errno(errnum, "%s: cannot write", file->path);
}

/* Hand bytes to the kernel; a failure is remembered, so that commit cannot succeed after it. */
static struct swlbr_error *append(struct swlbr_outfile *file, const void *data, size_t size)
{
	if (!file->failed)
		file->failed = write_all(file->fd, data, size);
	if (file->failed)
		return write_error(file, file->failed);
	file->flushed += size;
	return NULL;
}

static struct swlbr_error *flush(struct swlbr_outfile *file)
{
	size_t size = file->buffered;

	file->buffered = 0;
	return append(file, file->buffer, size);
}

/* A name that no other process takes; "." first, so that globs do not see it. */
static void make_temp_name(char name[TEMP_NAME_SIZE])
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number)) {
		static uint64_t counter;

		number = (uint64_t)getpid() << 32 |
			 __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
	}
	snprintf(name, TEMP_NAME_SIZE, ".swlbr-%016llx", (unsigned long long)number);
}

/* True if open(O_TMPFILE) failed because the file system or kernel does not have it. */
static bool no_tmpfile(int errnum)
{
	return errnum == EOPNOTSUPP || errnum == EISDIR || errnum == EINVAL;
}

/* linkat() of an unnamed file needs /proc, or a capability that few have. */
static bool can_link_unnamed(int fd)
{
	char proc[64];

	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	return access(proc, F_OK) == 0;
}

/* Create the file to write to in @dir, without a name if possible; -1 and errno on failure. */
static int create_temp(int dir, mode_t mode, char temp_name[TEMP_NAME_SIZE])
{
	int fd = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);

	temp_name[0] = '\0';
	if (fd >= 0) {
		if (can_link_unnamed(fd))
			return fd;
		close(fd);
	} else if (!no_tmpfile(errno)) {
		return -1;
	}
	for (int tries = 0; tries < 100; tries++) {
		make_temp_name(temp_name);
		fd = openat(dir, temp_name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			break;
	}
	temp_name[0] = '\0';
	return -1;
}

/*
 * Split @path into an open directory and a name, following symbolic links of the last component.
 * @proc_ret is set for a link in /proc, as /dev/stdout is one: those cannot be replaced.
 */
static struct swlbr_error *resolve(const char *path, int *dir_ret, char **name_ret, bool *proc_ret)
{
	char current[PATH_MAX], link[PATH_MAX];
	int dir = AT_FDCWD, next;
	const char *name;
	struct statfs fs;
	ssize_t length;

	if (snprintf(current, sizeof(current), "%s", path) >= (int)sizeof(current))
		return swlbr_error_errno(ENAMETOOLONG, "%s", path);
	for (int links = 0; links <= MAX_SYMLINKS; links++) {
		char *slash = strrchr(current, '/');
		const char *parent = ".";

		name = current;
		if (slash) {
			parent = slash == current ? "/" : current;
			name = slash + 1;
			*slash = '\0';
		}
		next = openat(dir, parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dir != AT_FDCWD)
			close(dir);
		if (next < 0)
			return swlbr_error_errno(errno, "%s: cannot open its directory", path);
		dir = next;
		length = readlinkat(dir, name, link, sizeof(link) - 1);
		if (length < 0) {
			*name_ret = strdup(name);
			if (!*name_ret) {
				close(dir);
				return swlbr_error_no_memory();
			}
			*dir_ret = dir;
			return NULL;
		}
		if (fstatfs(dir, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC) {
			close(dir);
			*proc_ret = true;
			return NULL;
		}
		link[length] = '\0';
		strcpy(current, link);
	}
	close(dir);
	return swlbr_error_errno(ELOOP, "%s", path);
}

/* The copy's source: in TMPDIR or /tmp, never with a name for longer than a moment. */
static struct swlbr_error *open_copy(struct swlbr_outfile *file)
{
	const char *tmp = getenv("TMPDIR");
	char temp_name[TEMP_NAME_SIZE];
	int dir;

	if (!tmp || !*tmp)
		tmp = "/tmp";
	dir = open(tmp, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return swlbr_error_errno(errno, "%s: cannot open the temporary directory %s",
					 file->path, tmp);
	file->copy = true;
	file->fd = create_temp(dir, 0600, temp_name);
	if (file->fd >= 0 && temp_name[0])
		unlinkat(dir, temp_name, 0);
	close(dir);
	if (file->fd < 0)
		return swlbr_error_errno(errno, "%s: cannot create a temporary file in %s",
					 file->path, tmp);
	return NULL;
}

static struct swlbr_error *open_target(struct swlbr_outfile *file)
{
	mode_t mode = file->flags & SWLBR_OUTFILE_PRIVATE ? 0600 : 0666;
	struct swlbr_error *error;
	bool in_proc = false;
	struct stat st;

	if (!strcmp(file->path, "-")) {
		file->copy_to = STDOUT_FILENO;
		return open_copy(file);
	}
	if (stat(file->path, &st) < 0) {
		if (errno != ENOENT)
			return swlbr_error_errno(errno, "%s", file->path);
	} else if (S_ISDIR(st.st_mode)) {
		return swlbr_error_errno(EISDIR, "%s", file->path);
	} else {
		bool kept = S_ISREG(st.st_mode) && file->flags & SWLBR_OUTFILE_KEEP_OLD;

		if (!kept && access(file->path, W_OK) < 0)
			return write_error(file, errno);
		if (!S_ISREG(st.st_mode))
			return open_copy(file);
	}
	error = resolve(file->path, &file->dir, &file->name, &in_proc);
	if (error)
		return error;
	if (in_proc)
		return open_copy(file);
	if (!*file->name)
		return swlbr_error_errno(*file->path ? EISDIR : ENOENT, "%s",
					 *file->path ? file->path : "(empty path)");
	file->fd = create_temp(file->dir, mode, file->temp_name);
	if (file->fd < 0)
		return swlbr_error_errno(errno, "%s: cannot create a file in its directory",
					 file->path);
	return NULL;
}

struct swlbr_error *swlbr_outfile_open_flags(const char *path, unsigned int flags,
					     struct swlbr_outfile **ret)
{
	struct swlbr_outfile *file = malloc(sizeof(*file));
	struct swlbr_error *error;

	if (!file)
		return swlbr_error_no_memory();
	memset(file, 0, offsetof(struct swlbr_outfile, buffer));
	file->dir = file->fd = file->copy_to = -1;
	file->flags = flags;
	file->path = strdup(path);
	error = file->path ? open_target(file) : swlbr_error_no_memory();
	if (error) {
		swlbr_outfile_discard(file);
		return error;
	}
	*ret = file;
	return NULL;
}

struct swlbr_error *swlbr_outfile_open(const char *path, struct swlbr_outfile **ret)
{
	return swlbr_outfile_open_flags(path, 0, ret);
}

struct swlbr_error *swlbr_outfile_write(struct swlbr_outfile *file, const void *data, size_t size)
{
	struct swlbr_error *error;

	if (size > BUFFER_SIZE - file->buffered || file->failed) {
		error = flush(file);
		if (error)
			return error;
	}
	if (size >= BUFFER_SIZE)
		return append(file, data, size);
	if (size)
		memcpy(file->buffer + file->buffered, data, size);
	file->buffered += size;
	return NULL;
}

struct swlbr_error *swlbr_outfile_pwrite(struct swlbr_outfile *file, uint64_t offset,
					 const void *data, size_t size)
{
	struct swlbr_error *error = flush(file);
	const uint8_t *from = data;

	while (!error && size) {
		ssize_t n = pwrite(file->fd, from, size, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			file->failed = n ? errno : EIO;
			return write_error(file, file->failed);
		}
		from += n;
		offset += n;
		size -= n;
	}
	return error;
}

uint64_t swlbr_outfile_offset(const struct swlbr_outfile *file)
{
	return file->flushed + file->buffered;
}

static struct swlbr_error *copy_out(struct swlbr_outfile *file)
{
	struct swlbr_error *error = NULL;
	int to = file->copy_to, errnum;
	ssize_t n;

	if (to < 0) {
		to = open(file->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
		if (to < 0)
			return swlbr_error_errno(errno, "%s: cannot open", file->path);
	}
	for (uint64_t done = 0; !error && done < file->flushed; done += n) {
		n = pread(file->fd, file->buffer, BUFFER_SIZE, done);
		if (n > 0) {
			errnum = write_all(to, file->buffer, n);
			if (errnum)
				error = write_error(file, errnum);
		} else if (n < 0 && errno == EINTR) {
			n = 0;
		} else {
			error = swlbr_error_errno(n ? errno : EIO, "%s: cannot copy", file->path);
		}
	}
	if (to != file->copy_to && close(to) < 0 && !error)
		error = write_error(file, errno);
	return error;
}

/* Give the unnamed file a temporary name: linkat() does not replace, rename does. */
static struct swlbr_error *link_temp(struct swlbr_outfile *file)
{
	char proc[64];

	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", file->fd);
	for (int tries = 0; tries < 100; tries++) {
		make_temp_name(file->temp_name);
		if (linkat(AT_FDCWD, proc, file->dir, file->temp_name, AT_SYMLINK_FOLLOW) == 0)
			return NULL;
		if (errno != EEXIST)
			break;
	}
	file->temp_name[0] = '\0';
	return swlbr_error_errno(errno, "%s: cannot create", file->path);
}

/* Move the old target to NAME.old; @old_ret is set to that name if there was one. */
static struct swlbr_error *move_old(struct swlbr_outfile *file, char **old_ret)
{
	char *old;

	if (asprintf(&old, "%s.old", file->name) < 0)
		return swlbr_error_no_memory();
	if (renameat(file->dir, file->name, file->dir, old) == 0) {
		*old_ret = old;
		return NULL;
	}
	free(old);
	if (errno == ENOENT)
		return NULL;
	return swlbr_error_errno(errno, "%s: cannot rename it to %s.old", file->path, file->name);
}

static struct swlbr_error *rename_in(struct swlbr_outfile *file)
{
	struct swlbr_error *error = NULL;
	char *old = NULL;
	int fd = file->fd;

	if (!file->temp_name[0]) {
		error = link_temp(file);
		if (error)
			return error;
	}
	/* Some file systems report only here that they could not write. */
	file->fd = -1;
	if (close(fd) < 0)
		return write_error(file, errno);
	if (file->flags & SWLBR_OUTFILE_KEEP_OLD) {
		error = move_old(file, &old);
		if (error)
			return error;
	}
	if (renameat(file->dir, file->temp_name, file->dir, file->name) < 0) {
		error = swlbr_error_errno(errno, "%s: cannot create", file->path);
		if (old)
			renameat(file->dir, old, file->dir, file->name);
	} else {
		file->temp_name[0] = '\0';
	}
	free(old);
	return error;
}

struct swlbr_error *swlbr_outfile_commit(struct swlbr_outfile *file)
{
	struct swlbr_error *error = flush(file);

	if (!error)
		error = file->copy ? copy_out(file) : rename_in(file);
	swlbr_outfile_discard(file);
	return error;
}

void swlbr_outfile_discard(struct swlbr_outfile *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	if (file->temp_name[0])
		unlinkat(file->dir, file->temp_name, 0);
	if (file->dir >= 0)
		close(file->dir);
	free(file->name);
	free(file->path);
	free(file);
}
