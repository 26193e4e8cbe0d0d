// SPDX-License-Identifier: GPL-2.0-only
/* An output file appears whole or not at all. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

/* The file system of the test can O_TMPFILE; what if it could not? */
static bool without_tmpfile;
static int test_openat(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	va_start(args, flags);
	if (flags & (O_CREAT | O_TMPFILE))
		mode = va_arg(args, mode_t);
	va_end(args);
	if (without_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return openat(dir, path, flags, mode);
}
#define openat test_openat
#include "base/outfile.c"
#undef openat

#include "check.h"

/* True if @error is one and its message is @text; destroys it. */
static bool says(struct swlbr_error *error, const char *text)
{
	bool same = error && !strcmp(error->message, text);

	if (!same)
		printf("# got: %s\n", error ? error->message : "(success)");
	swlbr_error_destroy(error);
	return same;
}

static bool holds(const char *path, const char *text)
{
	char buffer[4096] = "";
	FILE *file = fopen(path, "r");
	size_t n;

	if (!file)
		return false;
	n = fread(buffer, 1, sizeof(buffer) - 1, file);
	fclose(file);
	return n == strlen(text) && !memcmp(buffer, text, n);
}

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(text, file) < 0 || fclose(file))
		abort();
}

/* Names in the current directory, "." and ".." left out. */
static int entries(void)
{
	DIR *dir = opendir(".");
	int n = -2;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Write @text to @path in one go. */
static struct swlbr_error *write_whole(const char *path, unsigned int flags, const char *text)
{
	struct swlbr_outfile *file;
	struct swlbr_error *error = swlbr_outfile_open_flags(path, flags, &file);

	if (error)
		return error;
	error = swlbr_outfile_write(file, text, strlen(text));
	if (error) {
		swlbr_outfile_discard(file);
		return error;
	}
	return swlbr_outfile_commit(file);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_mode & 07777;
}

static void test_replace(void)
{
	const char *how = without_tmpfile ? " (without O_TMPFILE)" : "";
	struct swlbr_outfile *file;
	int before;

	put("a", "old");
	before = entries();
	check(fine(swlbr_outfile_open("a", &file)) && fine(swlbr_outfile_write(file, "new", 3)) &&
		      holds("a", "old"),
	      "the old file stays until commit%s", how);
	if (!without_tmpfile)
		check(entries() == before, "an unfinished file has no name");
	check(fine(swlbr_outfile_commit(file)) && holds("a", "new") && entries() == before,
	      "commit replaces it and leaves nothing else%s", how);
	check(fine(swlbr_outfile_open("a", &file)) && fine(swlbr_outfile_write(file, "x", 1)),
	      "open again%s", how);
	swlbr_outfile_discard(file);
	check(holds("a", "new") && entries() == before, "discard leaves all as it was%s", how);
	check(fine(write_whole("a", SWLBR_OUTFILE_KEEP_OLD, "newer")) && holds("a", "newer") &&
		      holds("a.old", "new"),
	      "an old recording is kept as PATH.old%s", how);
	unlink("a");
	unlink("a.old");
	umask(027);
	check(fine(write_whole("m", 0, "")) && mode_of("m") == 0640, "mode follows the umask%s",
	      how);
	check(fine(write_whole("m", SWLBR_OUTFILE_PRIVATE, "")) && mode_of("m") == 0600,
	      "a recording is private%s", how);
	umask(022);
	unlink("m");
}

static void test_contents(void)
{
	static uint8_t data[300000];
	struct swlbr_outfile *file;
	struct swlbr_error *error = NULL;
	size_t sizes[] = { 1, 65535, 2, 65536, 70000, 0, 1000 }, done = 0;
	bool same = true;
	FILE *in;
	int c;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = i * 31 + i / 256;
	check(fine(swlbr_outfile_open("big", &file)), "open for writing in pieces");
	for (size_t i = 0; !error && i < sizeof(sizes) / sizeof(*sizes); i++) {
		error = swlbr_outfile_write(file, data + done, sizes[i]);
		done += sizes[i];
	}
	check(fine(error) && swlbr_outfile_offset(file) == done, "offset counts what was appended");
	memset(data + 65530, 0xee, 20);
	memset(data + done - 5, 0xdd, 5);
	check(fine(swlbr_outfile_pwrite(file, 65530, data + 65530, 20)) &&
		      fine(swlbr_outfile_pwrite(file, done - 5, data + done - 5, 5)) &&
		      swlbr_outfile_offset(file) == done,
	      "earlier bytes can be patched");
	data[done] = 0x77;
	check(fine(swlbr_outfile_write(file, data + done, 1)), "writing goes on at the end");
	done++;
	check(fine(swlbr_outfile_commit(file)), "commit");
	in = fopen("big", "r");
	for (size_t i = 0; i < done; i++)
		same = same && getc(in) == data[i];
	c = getc(in);
	fclose(in);
	check(same && c == EOF, "the file holds what was written");
	unlink("big");
}

/*
 * Devices of our own: a broken outfile.c run by root would replace those in /dev, and with them
 * break the machine.
 */
static void test_devices(void)
{
	if (mknod("full", S_IFCHR | 0666, makedev(1, 7)) ||
	    mknod("null", S_IFCHR | 0666, makedev(1, 3)) || access("full", W_OK)) {
		printf("skip devices need mknod\n");
	} else {
		check(says(write_whole("full", 0, "x"),
			   "full: cannot write: No space left on device"),
		      "a full device is reported");
		check(fine(write_whole("null", SWLBR_OUTFILE_KEEP_OLD, "x")) &&
			      access("null.old", F_OK) < 0,
		      "a device is written to, not replaced");
	}
	unlink("full");
	unlink("null");
}

static void test_odd_targets(void)
{
	char text[64] = "";
	int fd;

	mkdir("dir", 0755);
	check(says(write_whole("dir", 0, ""), "dir: Is a directory"), "a directory is refused");
	check(says(write_whole("dir/", 0, ""), "dir/: Is a directory"), "a directory/ is refused");
	check(says(write_whole("new/", 0, ""),
		   "new/: cannot open its directory: No such file or directory"),
	      "a name that ends in / is refused");
	check(says(write_whole("", 0, ""), "(empty path): No such file or directory"),
	      "an empty path is refused");
	check(says(write_whole("none/x", 0, ""),
		   "none/x: cannot open its directory: No such file or directory"),
	      "a missing directory is named");
	symlink("dir/real", "link");
	check(fine(write_whole("link", 0, "1")) && holds("dir/real", "1"),
	      "a dangling link makes what it points to");
	check(fine(write_whole("link", SWLBR_OUTFILE_KEEP_OLD, "2")) && holds("dir/real", "2") &&
		      holds("dir/real.old", "1") && readlink("link", text, sizeof(text)) == 8,
	      "a link stays a link");
	symlink("loop", "loop");
	check(says(write_whole("loop", 0, ""), "loop: Too many levels of symbolic links"),
	      "a loop of links is refused");
	mkfifo("fifo", 0600);
	fd = open("fifo", O_RDWR);
	check(fine(write_whole("fifo", 0, "through")) && read(fd, text, sizeof(text)) == 7 &&
		      !memcmp(text, "through", 7),
	      "a pipe gets the bytes at commit");
	close(fd);
	unlink("dir/real");
	unlink("dir/real.old");
	unlink("link");
	unlink("loop");
	unlink("fifo");
	rmdir("dir");
}

/* Runs @child in a process of its own; returns its wait status. */
static int in_child(void (*child)(void))
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		child();
		_exit(1);
	}
	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static void write_to_stdout(void)
{
	int fd = open("captured", O_WRONLY | O_CREAT, 0666);

	/* As /dev/stdout is. */
	symlink("/proc/self/fd/1", "stdout");
	dup2(fd, STDOUT_FILENO);
	_exit(!fine(write_whole("-", 0, "one ")) || !fine(write_whole("stdout", 0, "two")));
}

static void write_without_permission(void)
{
	if (setgid(65534) || setuid(65534))
		_exit(2);
	_exit(!says(write_whole("x", 0, ""),
		    "x: cannot create a file in its directory: Permission denied") ||
	      !says(write_whole("readonly", 0, ""), "readonly: cannot write: Permission denied"));
}

static void be_killed(void)
{
	struct swlbr_outfile *file;

	if (fine(swlbr_outfile_open("killed", &file)) && fine(swlbr_outfile_write(file, "x", 1)))
		raise(SIGKILL);
}

static void run_out_of_space(void)
{
	struct rlimit limit = { 100000, 100000 };
	static char data[200000];
	struct swlbr_outfile *file;

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	if (!fine(swlbr_outfile_open("toobig", &file)) ||
	    !says(swlbr_outfile_write(file, data, sizeof(data)),
		  "toobig: cannot write: File too large") ||
	    !says(swlbr_outfile_commit(file), "toobig: cannot write: File too large"))
		_exit(1);
	_exit(access("toobig", F_OK) == 0);
}

static void test_processes(void)
{
	int before, status;

	check(in_child(write_to_stdout) == 0 && holds("captured", "two"), "standard output");
	unlink("captured");
	unlink("stdout");
	if (!geteuid()) {
		put("readonly", "");
		chmod("readonly", 0444);
		check(in_child(write_without_permission) == 0,
		      "missing permission is reported at open");
		unlink("readonly");
	}
	before = entries();
	status = in_child(be_killed);
	check(WIFSIGNALED(status) && entries() == before, "SIGKILL leaves nothing");
	check(in_child(run_out_of_space) == 0 && entries() == before,
	      "a failed write fails the commit and leaves nothing");
}

int main(void)
{
	const char *tmp = getenv("TMPDIR");
	char dir[4096];

	snprintf(dir, sizeof(dir), "%s/swlbr-outfile-XXXXXX", tmp ? tmp : "/tmp");
	umask(022);
	if (!mkdtemp(dir) || chmod(dir, 0755) || chdir(dir))
		return 1;
	test_replace();
	without_tmpfile = true;
	test_replace();
	without_tmpfile = false;
	test_contents();
	test_devices();
	test_odd_targets();
	test_processes();
	check(entries() == 0, "nothing is left over");
	rmdir(dir);
	return failures != 0;
}
