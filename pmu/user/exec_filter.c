// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <swlbr/elf.h>

#include "exec_filter.h"

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "no seccomp architecture for this machine"
#endif

/* i386 numbers (arch/x86/entry/syscalls/syscall_32.tbl), for 32-bit programs on x86-64. */
#define I386_FORK     2
#define I386_EXECVE   11
#define I386_CLONE    120
#define I386_VFORK    190
#define I386_EXECVEAT 358
#define I386_CLONE3   435

struct program {
	struct sock_filter code[64];
	unsigned short length;
};

static void emit(struct program *program, unsigned short code, unsigned int k)
{
	program->code[program->length++] = (struct sock_filter)BPF_STMT(code, k);
}

static void load(struct program *program, size_t offset)
{
	emit(program, BPF_LD | BPF_W | BPF_ABS, (unsigned int)offset);
}

/* What follows, up to end_if(), runs only if the accumulator equals @value. */
static unsigned short begin_if(struct program *program, unsigned int value)
{
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, value);
	return program->length - 1;
}

static void end_if(struct program *program, unsigned short begin)
{
	program->code[begin].jf = (unsigned char)(program->length - begin - 1);
}

static void on_call(struct program *program, unsigned int call, unsigned int action)
{
	unsigned short begin = begin_if(program, call);

	emit(program, BPF_RET | BPF_K, action);
	end_if(program, begin);
}

/* clone() of a process, not of a thread. */
static void on_clone(struct program *program, unsigned int call)
{
	unsigned short begin = begin_if(program, call);

	load(program, offsetof(struct seccomp_data, args[0]));
	emit(program, BPF_ALU | BPF_AND | BPF_K, CLONE_THREAD);
	on_call(program, 0, SECCOMP_RET_USER_NOTIF);
	emit(program, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	end_if(program, begin);
}

static void on_native_calls(struct program *program, int unmap_at)
{
	unsigned short begin;

	load(program, offsetof(struct seccomp_data, nr));
	on_call(program, SYS_execve, SECCOMP_RET_USER_NOTIF);
	on_call(program, SYS_execveat, SECCOMP_RET_USER_NOTIF);
#ifdef SYS_fork
	on_call(program, SYS_fork, SECCOMP_RET_USER_NOTIF);
	on_call(program, SYS_vfork, SECCOMP_RET_USER_NOTIF);
#endif
	/* Its flags are in memory, out of a filter's reach; libraries fall back to clone(). */
	on_call(program, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
	on_clone(program, SYS_clone);
	if (unmap_at >= 0) {
		begin = begin_if(program, SYS_munmap);
		load(program, offsetof(struct seccomp_data, instruction_pointer));
		emit(program, BPF_ALU | BPF_AND | BPF_K, 0xfff);
		on_call(program, (unsigned int)unmap_at, SECCOMP_RET_USER_NOTIF);
		end_if(program, begin);
	}
}

#ifdef __x86_64__
static void on_i386_calls(struct program *program)
{
	load(program, offsetof(struct seccomp_data, nr));
	on_call(program, I386_FORK, SECCOMP_RET_USER_NOTIF);
	on_call(program, I386_VFORK, SECCOMP_RET_USER_NOTIF);
	on_call(program, I386_EXECVE, SECCOMP_RET_USER_NOTIF);
	on_call(program, I386_EXECVEAT, SECCOMP_RET_USER_NOTIF);
	on_call(program, I386_CLONE3, SECCOMP_RET_ERRNO | ENOSYS);
	on_clone(program, I386_CLONE);
	emit(program, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
}
#endif

/* Linux 5.19: a call that we have received is not interrupted by signals that do not kill. */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

static int install(const struct sock_fprog *fprog)
{
	unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER |
			      SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;

	for (;;) {
		int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, fprog);

		if (listener < 0 && errno == EINVAL && flags != SECCOMP_FILTER_FLAG_NEW_LISTENER) {
			flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
		} else if (listener < 0 && errno == EACCES) {
			/* Costs nothing more: programs under ptrace do not gain privileges either. */
			if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
			    (listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags,
						     fprog)) >= 0 ||
			    errno != EINVAL)
				return listener;
		} else {
			return listener;
		}
	}
}

int exec_filter_install(int unmap_at)
{
	struct program program = { .length = 0 };
	struct sock_fprog fprog = { .filter = program.code };
	unsigned short begin;

#ifdef __x86_64__
	load(&program, offsetof(struct seccomp_data, arch));
	begin = begin_if(&program, AUDIT_ARCH_I386);
	on_i386_calls(&program);
	end_if(&program, begin);
#endif
	load(&program, offsetof(struct seccomp_data, arch));
	begin = begin_if(&program, NATIVE_ARCH);
	on_native_calls(&program, unmap_at);
	end_if(&program, begin);
	emit(&program, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	fprog.len = program.length;
	return install(&fprog);
}

#ifdef __x86_64__
/* mov $SYS_munmap,%eax; syscall */
static const unsigned char unmap_code[] = { 0xb8, SYS_munmap, 0, 0, 0, 0x0f, 0x05 };
#else
/* mov x8,#SYS_munmap; svc #0 */
static const unsigned char unmap_code[] = { 0xe8, 0x1a, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
#endif

int exec_filter_loader_unmap(const char *path)
{
	const struct swlbr_elf_section *text;
	struct swlbr_elf *elf;
	unsigned char *code = NULL, *found, *again = NULL;
	int at = -1;
	struct swlbr_error *error = swlbr_elf_open(path, &elf);

	if (error) {
		swlbr_error_destroy(error);
		return -1;
	}
	text = swlbr_elf_section(elf, ".text");
	if (text && text->size < 1 << 24)
		code = malloc(text->size);
	if (code && !(error = swlbr_elf_read(elf, text->vaddr, code, text->size))) {
		found = memmem(code, text->size, unmap_code, sizeof(unmap_code));
		if (found)
			again = memmem(found + 1, (size_t)(code + text->size - found - 1),
				       unmap_code, sizeof(unmap_code));
		if (found && !again)
			at = (int)((text->vaddr + (uint64_t)(found - code) + sizeof(unmap_code)) &
				   0xfff);
	}
	swlbr_error_destroy(error);
	free(code);
	swlbr_elf_close(elf);
	return at;
}

enum filter_call exec_filter_call(const struct seccomp_notif *notif)
{
	int nr = notif->data.nr;

	if (notif->data.arch == AUDIT_ARCH_I386)
		return nr == I386_EXECVE || nr == I386_EXECVEAT ? FILTER_EXEC : FILTER_FORK;
	switch (nr) {
	case SYS_execve:
	case SYS_execveat:
		return FILTER_EXEC;
	case SYS_munmap:
		return FILTER_UNMAP;
#ifdef SYS_fork
	case SYS_fork:
	case SYS_vfork:
#endif
	case SYS_clone:
		return FILTER_FORK;
	default:
		return FILTER_OTHER;
	}
}

bool exec_filter_escapes(const struct seccomp_notif *notif)
{
	uint64_t flags = notif->data.args[0];

	if (notif->data.arch == AUDIT_ARCH_I386 ? notif->data.nr != I386_CLONE
						: notif->data.nr != SYS_clone)
		return false;
	return flags & CLONE_UNTRACED || (!(flags & CLONE_VFORK) && (flags & CSIGNAL) != SIGCHLD);
}

bool exec_filter_continue(int listener, uint64_t id)
{
	struct seccomp_notif_resp response = { .id = id,
					       .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };

	return !ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static void keep(int listener, int alive)
{
	struct pollfd end = { .fd = alive, .events = POLLIN };
	struct pollfd calls = { .fd = listener, .events = POLLIN };

	while (poll(&end, 1, -1) < 0 && errno == EINTR)
		;
	while (poll(&calls, 1, -1) >= 0 || errno == EINTR) {
		struct seccomp_notif notif = { 0 };

		if (calls.revents & POLLIN && !ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &notif))
			exec_filter_continue(listener, notif.id);
		else if (calls.revents & (POLLHUP | POLLERR))
			return; /* no program under the filter is left */
	}
}

void exec_filter_start_keeper(int listener, int *alive_ret)
{
	int alive[2];

	*alive_ret = -1;
	if (pipe2(alive, O_CLOEXEC))
		return;
	*alive_ret = alive[1];
	/* Twice, so that it is nobody's child and gives no SIGCHLD. */
	if (!fork()) {
		if (fork())
			_exit(0);
		setsid();
		close(alive[1]);
		if (listener != 3)
			dup2(listener, 3);
		if (alive[0] != 4)
			dup2(alive[0], 4);
		close_range(5, ~0U, 0);
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		keep(3, 4);
		_exit(0);
	}
	close(alive[0]);
}
