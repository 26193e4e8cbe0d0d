// SPDX-License-Identifier: GPL-2.0-only
/* Threads: having them traced, and letting them go on. */
#include <errno.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracer_parts.h"

long tracer_options(const struct tracer *tracer)
{
	return PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXIT |
	       (tracer->listener < 0 ? PTRACE_O_TRACECLONE : 0);
}

void tracer_resume(struct task *task, int signal)
{
	if (task->process && task->process->stopped) {
		task->in_stop = true;
		task->pending_signal = signal;
		return;
	}
	task->in_stop = false;
	task->pending_signal = 0;
	if (signal == LISTEN)
		ptrace(PTRACE_LISTEN, task->tid, 0, 0);
	else
		ptrace(PTRACE_CONT, task->tid, 0, (long)signal);
}

struct swlbr_error *tracer_seize_error(pid_t pid)
{
	if (errno == EPERM)
		return swlbr_error_create(
			SWLBR_ERROR_SYSTEM,
			"process %d: no permission to trace it (another user's, already traced, or kernel.yama.ptrace_scope)",
			pid);
	return swlbr_error_errno(errno, "process %d", pid);
}

struct swlbr_error *tracer_seize_child(struct tracer *tracer, pid_t pid)
{
	struct memory *memory;
	struct process *process;

	if (ptrace(PTRACE_SEIZE, pid, 0, tracer_options(tracer)))
		return tracer_seize_error(pid);
	memory = memory_create();
	process = memory ? process_add(&tracer->tasks, pid, getpid(), memory) : NULL;
	if (!process || !task_add(&tracer->tasks, pid, process))
		return swlbr_error_no_memory();
	tracer->session.summary->processes++;
	return NULL;
}

/* True if @tid is inside an exec; *@unsure: it is running, ask again. */
bool tracer_exec_running(pid_t tid, bool *unsure)
{
	struct task_call call;
	enum task_place place = task_call(tid, &call);

	*unsure = place == TASK_RUNNING;
	return *unsure ||
	       (place == TASK_IN_CALL && (call.nr == SYS_execve || call.nr == SYS_execveat));
}

/* A process has an exec under way: none of its threads may be seized, for the kernel would wait. */
bool tracer_exec_in_flight(struct process *process)
{
	bool unsure;

	if (process->exec_tid && !tracer_exec_running(process->exec_tid, &unsure))
		process->exec_tid = 0;
	return process->exec_tid != 0;
}

struct swlbr_error *tracer_seize_thread(struct tracer *tracer, struct process *process, pid_t tid)
{
	if (ptrace(PTRACE_SEIZE, tid, 0, tracer_options(tracer)))
		return NULL; /* it is ending, or a tracer of its own program has it */
	return task_add(&tracer->tasks, tid, process) ? NULL : swlbr_error_no_memory();
}

/* Seize every thread that lives and is not traced yet, those included that appear meanwhile. */
struct swlbr_error *tracer_seize_threads(struct tracer *tracer, struct process *process)
{
	struct swlbr_error *error = NULL;
	bool found = true;

	while (found && !error) {
		pid_t *tid;
		size_t nr = thread_list(process->pid, &tid);

		found = false;
		for (size_t i = 0; !error && i < nr; i++) {
			size_t before = tracer->tasks.nr_tasks;

			if (task_find(&tracer->tasks, tid[i]))
				continue;
			error = tracer_seize_thread(tracer, process, tid[i]);
			found |= tracer->tasks.nr_tasks > before;
		}
		free(tid);
	}
	return error;
}
