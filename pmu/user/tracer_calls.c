// SPDX-License-Identifier: GPL-2.0-only
/* Calls that the exec filter holds until what they would undo has been read. */
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "exec_filter.h"
#include "tracer_parts.h"
#include "unmap.h"

static struct swlbr_error *hold_call(struct tracer *tracer, const struct seccomp_notif *notif)
{
	struct waiting_call *call = malloc(sizeof(*call));

	if (!call)
		return swlbr_error_no_memory();
	call->notif = *notif;
	call->next = tracer->waiting;
	tracer->waiting = call;
	return NULL;
}

static struct swlbr_error *before_exec(struct tracer *tracer, struct process *process, pid_t tid)
{
	struct swlbr_error *error = NULL;

	if (tracer_take_census(tracer, process).alive > 1)
		error = tracer_seize_threads(tracer, process);
	if (!error && process->memory->refs == 1)
		error = memory_snapshot(&tracer->session, process->memory, process->pid, tid);
	process->exec_tid = tid;
	process->exec_seen = true;
	return error;
}

static struct swlbr_error *before_unmap(struct tracer *tracer, struct process *process,
					const struct seccomp_notif *notif)
{
	const struct unmap_call call = {
		.tid = (pid_t)notif->pid,
		.nr = notif->data.nr,
		.start = notif->data.args[0],
		.end = notif->data.args[0] + notif->data.args[1],
	};

	return unmap_begin(&tracer->session, process->memory, process->pid, &call);
}

struct swlbr_error *tracer_call(struct tracer *tracer, const struct seccomp_notif *notif)
{
	struct task *task = task_find(&tracer->tasks, (pid_t)notif->pid);
	enum filter_call call = exec_filter_call(notif);
	struct swlbr_error *error = NULL;
	struct process *process;

	process = task ? task->process
		       : process_find(&tracer->tasks, thread_state((pid_t)notif->pid).tgid);
	if (process && call == FILTER_UNMAP) {
		error = before_unmap(tracer, process, notif);
	} else if (process) {
		if (tracer_exec_in_flight(process) && process->exec_tid != (pid_t)notif->pid)
			return hold_call(tracer, notif);
		if (!task)
			error = tracer_seize_thread(tracer, process, (pid_t)notif->pid);
		if (!error && call == FILTER_EXEC)
			error = before_exec(tracer, process, (pid_t)notif->pid);
		else if (!error && exec_filter_escapes(notif))
			error = session_lost(
				&tracer->session, process->pid, NULL, 0,
				"a process made by clone() without SIGCHLD is not followed");
	}
	if (!exec_filter_continue(tracer->listener, notif->id) && process)
		unmap_cancel(process->memory, (pid_t)notif->pid);
	return error;
}

/* include/linux/errno.h: how an interrupted system call goes on after a signal's handler. */
#define ERESTARTSYS    512
#define ERESTARTNOINTR 513

/*
 * A signal interrupted a call that the filter held. Without us the call could not have been, and
 * would not have failed with EINTR: have it restarted whatever the handler's flags are. A munmap
 * that we have let go on was not carried out either: before Linux 6.17 a signal that comes before
 * we receive the call interrupts it, if we answer before its thread runs.
 */
void tracer_restart_held_call(const struct task *task)
{
#ifdef __x86_64__
	struct user_regs_struct regs;
	pid_t tid = task->tid;

	if (ptrace(PTRACE_GETREGS, tid, 0, &regs) || (long long)regs.rax != -ERESTARTSYS)
		return;
	if (regs.orig_rax == SYS_munmap && task->process)
		unmap_interrupted(task->process->memory, tid);
	switch (regs.orig_rax) {
	case SYS_execve:
	case SYS_execveat:
	case SYS_fork:
	case SYS_vfork:
	case SYS_clone:
	case SYS_munmap:
		regs.rax = (unsigned long long)-ERESTARTNOINTR;
		ptrace(PTRACE_SETREGS, tid, 0, &regs);
	}
#else
	(void)task;
#endif
}
