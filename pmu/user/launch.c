// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec_filter.h"
#include "launch.h"

/* What dlclose calls: the loader of @command if it is an ELF file, else the usual one. */
static int find_unmap(const char *command)
{
	static const char *const usual[] = { "/lib64/ld-linux-x86-64.so.2",
					     "/lib/ld-linux-aarch64.so.1" };
	struct swlbr_elf *elf;
	struct swlbr_error *error = swlbr_elf_open(command, &elf);
	int at = -1;

	if (!error) {
		if (swlbr_elf_interp(elf))
			at = exec_filter_loader_unmap(swlbr_elf_interp(elf));
		swlbr_elf_close(elf);
	}
	swlbr_error_destroy(error);
	for (size_t i = 0; at < 0 && i < 2; i++)
		at = exec_filter_loader_unmap(usual[i]);
	return at;
}

static void run_child(char *const *command, const sigset_t *mask, int unmap_at, int parent)
{
	int word, failure;

	if (read(parent, &word, sizeof(word)) != sizeof(word))
		_exit(127);
	word = exec_filter_install(unmap_at);
	if (write(parent, &word, sizeof(word)) != sizeof(word) ||
	    read(parent, &word, sizeof(word)) != sizeof(word))
		_exit(127);
	setenv("LLVM_PROFILE_FILE", "/dev/null", 0);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(command[0], command);
	failure = errno;
	if (write(parent, &failure, sizeof(failure)) < 0)
		_exit(127);
	_exit(failure == ENOENT ? 127 : 126);
}

static int fetch_listener(pid_t pid, int fd)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), listener;

	if (pidfd < 0)
		return -1;
	listener = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	close(pidfd);
	return listener;
}

struct swlbr_error *launch_start(struct tracer *tracer, char *const *command, const sigset_t *mask,
				 struct launch *launch)
{
	int sockets[2], unmap_at = find_unmap(command[0]), word = 0;
	struct swlbr_error *error;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return swlbr_error_errno(errno, "%s", command[0]);
	launch->socket = sockets[0];
	launch->pid = fork();
	if (launch->pid < 0) {
		close(sockets[1]);
		return swlbr_error_errno(errno, "%s: fork", command[0]);
	}
	if (!launch->pid) {
		close(sockets[0]);
		run_child(command, mask, unmap_at, sockets[1]);
	}
	close(sockets[1]);
	tracer->child = launch->pid;
	tracer->listener = 0; /* meant to be there: threads need no tracing */
	error = tracer_seize_child(tracer, launch->pid);
	if (error) {
		kill(launch->pid, SIGKILL);
		waitpid(launch->pid, NULL, 0);
		return error;
	}
	tracer->listener = -1;
	if (write(launch->socket, &word, sizeof(word)) == sizeof(word) &&
	    read(launch->socket, &word, sizeof(word)) == sizeof(word) && word >= 0)
		tracer->listener = fetch_listener(launch->pid, word);
	return NULL;
}

void launch_go(struct launch *launch)
{
	int word = 0;

	if (write(launch->socket, &word, sizeof(word)) < 0)
		return; /* the child is gone; its end tells */
}

int launch_exec_error(struct launch *launch)
{
	int failure = 0;

	if (launch->socket < 0)
		return 0;
	if (recv(launch->socket, &failure, sizeof(failure), MSG_DONTWAIT) != sizeof(failure))
		failure = 0;
	close(launch->socket);
	launch->socket = -1;
	return failure;
}
