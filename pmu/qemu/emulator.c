// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulator.h"

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* Where execvp() would find @name; @path is of PATH_MAX bytes. */
static struct swlbr_error *find_in_path(const char *name, char *path)
{
	const char *list = getenv("PATH");

	if (strchr(name, '/')) {
		snprintf(path, PATH_MAX, "%s", name);
		if (is_program(path))
			return NULL;
		return swlbr_error_errno(access(path, X_OK) ? errno : EACCES, "%s", name);
	}
	for (; list; list = strchr(list, ':') ? strchr(list, ':') + 1 : NULL) {
		int size = (int)strcspn(list, ":");

		snprintf(path, PATH_MAX, "%.*s%s%s", size, list, size ? "/" : "./", name);
		if (is_program(path))
			return NULL;
	}
	return swlbr_error_errno(ENOENT, "%s", name);
}

static struct swlbr_error *find_qemu(const struct guest_machine *machine, const char *program,
				     char *path)
{
	struct swlbr_error *error;
	char name[64];

	snprintf(name, sizeof(name), "qemu-%s", machine->target);
	error = find_in_path(name, path);
	if (!error)
		return NULL;
	swlbr_error_destroy(error);
	return swlbr_error_create(
		SWLBR_ERROR_NOT_FOUND,
		"%s: its emulator %s is not in PATH (Debian 12: package qemu-user)", program, name);
}

/* In the emulator's options a comma is written twice. */
static void put_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == ',')
			putc(',', out);
		putc(*text, out);
	}
}

static char *plugin_text(const struct emulate_options *options, const char *socket_path)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	put_escaped(out, options->plugin);
	fputs(",socket=", out);
	put_escaped(out, socket_path);
	if (options->sysroot) {
		fputs(",sysroot=", out);
		put_escaped(out, options->sysroot);
	}
	fprintf(out, ",recorder=%d,mode=%s,depth=%" PRIu32 ",period=%" PRIu64 ",filter=%" PRIu32,
		getpid(), options->counts ? "counts" : "lbr", options->depth, options->info.period,
		options->kinds);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* The command of a machine's emulator, with the plugin; freed by free(). */
static char **machine_command(const struct emulator *emulator, char *text, char *const *argv)
{
	size_t argc = 0;
	char **command;

	while (argv[argc])
		argc++;
	command = calloc(argc + 3, sizeof(*command));
	if (!command)
		return NULL;
	command[0] = (char *)emulator->qemu;
	command[1] = (char *)"-plugin";
	command[2] = text;
	memcpy(command + 3, argv + 1, (argc - 1) * sizeof(*command));
	return command;
}

/* Runs @command in a child; errors of its exec come back through a pipe. */
static struct swlbr_error *spawn(char *const *command, const sigset_t *mask, pid_t *pid_ret)
{
	int pipe_fds[2], failure = 0;
	ssize_t size;
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC))
		return swlbr_error_errno(errno, "pipe");
	pid = fork();
	if (!pid) {
		sigprocmask(SIG_SETMASK, mask, NULL);
		execv(command[0], command);
		failure = errno;
		_exit(write(pipe_fds[1], &failure, sizeof(failure)) < 0 ? 127 : 126);
	}
	failure = errno;
	close(pipe_fds[1]);
	size = pid < 0 ? (ssize_t)sizeof(failure) : read(pipe_fds[0], &failure, sizeof(failure));
	close(pipe_fds[0]);
	if (size != sizeof(failure)) {
		*pid_ret = pid;
		return NULL;
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return swlbr_error_errno(failure, "%s", command[0]);
}

/* The command is an emulator of a whole machine. */
static struct swlbr_error *find_machine(struct emulator *emulator)
{
	static const char prefix[] = "qemu-system-";
	const char *slash = strrchr(emulator->path, '/');
	const char *name = slash ? slash + 1 : emulator->path;

	memcpy(emulator->qemu, emulator->path, sizeof(emulator->qemu));
	if (!strncmp(name, prefix, sizeof(prefix) - 1))
		emulator->program.machine = guest_machine_of_target(name + sizeof(prefix) - 1);
	if (emulator->program.machine)
		return NULL;
	return swlbr_error_create(
		SWLBR_ERROR_UNSUPPORTED,
		"%s: with a kernel the command must be qemu-system-x86_64 or qemu-system-aarch64",
		emulator->path);
}

struct swlbr_error *emulator_find(const struct emulate_options *options, struct emulator *ret)
{
	struct swlbr_error *error = find_in_path(options->command[0], ret->path);
	int failure;

	memset(&ret->program, 0, sizeof(ret->program));
	if (error)
		return error;
	if (options->kernel)
		return find_machine(ret);
	failure = guest_program_find(ret->path, options->sysroot, &ret->program);
	if (failure && failure != ENOEXEC)
		return swlbr_error_errno(failure, "%s", ret->path);
	if (failure)
		return swlbr_error_create(
			SWLBR_ERROR_UNSUPPORTED,
			"%s: not a program that can be emulated (64-bit ELF of x86-64 or aarch64, or a script for one)",
			ret->path);
	return find_qemu(ret->program.machine, ret->path, ret->qemu);
}

struct swlbr_error *emulator_start(const struct emulator *emulator,
				   const struct emulate_options *options, const char *socket_path,
				   const sigset_t *mask, pid_t *pid_ret)
{
	char *text = plugin_text(options, socket_path), **command = NULL;
	struct swlbr_error *error;

	if (text && options->kernel)
		command = machine_command(emulator, text, options->command);
	else if (text)
		command = guest_program_command(&emulator->program, emulator->qemu, text,
						options->sysroot, emulator->path, options->command);
	error = command ? spawn(command, mask, pid_ret) : swlbr_error_no_memory();
	free(command);
	free(text);
	return error;
}
