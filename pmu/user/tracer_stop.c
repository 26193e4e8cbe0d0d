// SPDX-License-Identifier: GPL-2.0-only
/* Stopping processes as a whole: to attach to one, and at the end. */
#include <errno.h>
#include <poll.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "tracer_parts.h"

static void interrupt_process(struct tracer *tracer, struct process *process)
{
	process->stopped = true;
	for (size_t i = 0; i < 1024; i++)
		for (struct task *task = tracer->tasks.bucket[i]; task; task = task->next)
			if (task->process == process && !task->in_stop && !task->in_exit_stop)
				ptrace(PTRACE_INTERRUPT, task->tid, 0, 0);
}

static size_t count_running(const struct tracer *tracer)
{
	size_t nr = 0;

	for (size_t i = 0; i < 1024; i++)
		for (struct task *task = tracer->tasks.bucket[i]; task; task = task->next)
			if (task->process && task->process->stopped && !task->in_stop &&
			    !task->in_exit_stop && !task->exiting)
				nr++;
	return nr;
}

/*
 * Handle events until every thread of the processes being stopped has stopped. A thread in a vfork
 * or deep in the kernel cannot; it runs no user code, and after a second it is let be.
 */
static struct swlbr_error *wait_stopped(struct tracer *tracer)
{
	uint64_t until = session_now() + 1000000000;
	struct swlbr_error *error = NULL;

	while (!error && count_running(tracer) && session_now() < until) {
		int status;
		pid_t tid = waitpid(-1, &status, __WALL | WNOHANG);

		if (tid > 0)
			error = tracer_event(tracer, tid, status);
		else if (tid < 0)
			break;
		else
			poll(NULL, 0, 1);
	}
	return error;
}

struct swlbr_error *tracer_attach(struct tracer *tracer, pid_t pid)
{
	struct thread_state state = thread_state(pid);
	struct swlbr_error *error;
	struct process *process;
	struct memory *memory;

	if (!state.state)
		return swlbr_error_errno(ESRCH, "process %d", pid);
	if (state.tgid != pid)
		return swlbr_error_create(SWLBR_ERROR_NOT_FOUND,
					  "process %d: is a thread of process %d", pid, state.tgid);
	if (ptrace(PTRACE_SEIZE, pid, 0, tracer_options(tracer)))
		return tracer_seize_error(pid);
	memory = memory_create();
	process = memory ? process_add(&tracer->tasks, pid, state.ppid, memory) : NULL;
	if (!process || !task_add(&tracer->tasks, pid, process))
		return swlbr_error_no_memory();
	tracer->session.summary->processes++;
	tracer_note_program(tracer, pid);
	error = tracer_seize_threads(tracer, process);
	interrupt_process(tracer, process);
	if (!error)
		error = wait_stopped(tracer);
	process = process_find(&tracer->tasks, pid);
	if (error || !process)
		return error;
	error = tracer_write_comm(tracer, process, false);
	if (!error)
		error = memory_scan(&tracer->session, process->memory, pid,
				    tracer_reading_thread(tracer, process), true);
	process->stopped = false;
	for (size_t i = 0; i < 1024; i++)
		for (struct task *task = tracer->tasks.bucket[i]; task; task = task->next)
			if (task->process == process && task->in_stop)
				tracer_resume(task, task->pending_signal);
	return error;
}

struct swlbr_error *tracer_detach_all(struct tracer *tracer)
{
	struct swlbr_error *error;

	for (struct process *process = tracer->tasks.processes; process; process = process->next)
		interrupt_process(tracer, process);
	error = wait_stopped(tracer);
	for (struct process *process = tracer->tasks.processes; process && !error;
	     process = process->next) {
		pid_t tid = tracer_reading_thread(tracer, process);

		if (!process->memory->areas && process->memory->refs > 1)
			continue;
		if (tid)
			error = memory_snapshot(&tracer->session, process->memory, process->pid,
						tid);
		if (!error)
			error = memory_finish(&tracer->session, process->memory, process->pid, 0,
					      UINT64_MAX);
	}
	for (size_t i = 0; i < 1024; i++)
		for (struct task *task = tracer->tasks.bucket[i]; task; task = task->next)
			ptrace(PTRACE_DETACH, task->tid, 0,
			       (long)(task->pending_signal > 0 ? task->pending_signal : 0));
	return error;
}
