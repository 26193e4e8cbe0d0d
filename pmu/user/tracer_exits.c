// SPDX-License-Identifier: GPL-2.0-only
/* Threads that end are held until it is known whether their process does: then its counters are read. */
#include <stdlib.h>
#include <sys/syscall.h>

#include "tracer_parts.h"

#define I386_EXIT_GROUP 252

/*
 * True if the end of @task, which is in its exit stop, is the end of all threads: it was killed, or
 * called exit_group().
 */
static bool ends_process(const struct task *task)
{
	struct task_call call;

	if (thread_state(task->tid).killed)
		return true;
	return task_call(task->tid, &call) == TASK_IN_CALL &&
	       (call.nr == SYS_exit_group || call.nr == I386_EXIT_GROUP);
}

static void count_thread(struct process *process, pid_t tid, struct census *census)
{
	struct thread_state state;
	bool unsure, in_exec;

	in_exec = (tid == process->exec_tid || process->ending) &&
		  tracer_exec_running(tid, &unsure);
	if (in_exec && !unsure) {
		process->exec_tid = tid; /* it waits for the others to be gone */
		return;
	}
	if (tid == process->exec_tid && !in_exec)
		process->exec_tid = 0;
	state = thread_state(tid);
	if (!state.state || state.state == 'Z' || state.state == 'X' || state.exiting)
		return;
	if (state.killed || process->ending || tid == process->exec_tid)
		census->dying++;
	else
		census->alive++;
}

struct census tracer_take_census(struct tracer *tracer, struct process *process)
{
	struct census census = { 0 };
	pid_t *tid;
	size_t nr = thread_list(process->pid, &tid);

	for (size_t i = 0; i < nr; i++) {
		const struct task *task = task_find(&tracer->tasks, tid[i]);

		if (!task || (!task->exiting && !task->in_exit_stop))
			count_thread(process, tid[i], &census);
	}
	free(tid);
	return census;
}

/* Let those go that wait in their exit stop. */
static void release_exits(struct tracer *tracer, struct process *process)
{
	for (size_t i = 0; i < 1024; i++)
		for (struct task *task = tracer->tasks.bucket[i]; task; task = task->next)
			if (task->process == process && task->in_exit_stop) {
				task->in_exit_stop = false;
				task->exiting = true;
				tracer->nr_held--;
				tracer_resume(task, 0);
			}
}

/* A thread of @process is in its exit stop, through which memory can still be read. */
struct swlbr_error *tracer_check_exits(struct tracer *tracer, struct process *process,
				       const struct task *task)
{
	struct swlbr_error *error = NULL;
	const struct task *exec_task;
	struct census census;

	process->ending |= ends_process(task);
	census = tracer_take_census(tracer, process);
	if (census.alive) { /* a thread ends, the process does not */
		if (tracer->listener >= 0 && !tracer_exec_in_flight(process))
			error = tracer_seize_threads(tracer, process);
		if (!error && process->memory->refs == 1 &&
		    (task->tid == process->pid || thread_state(task->tid).killed)) {
			error = memory_snapshot(&tracer->session, process->memory, process->pid,
						task->tid);
			process->exec_seen = thread_state(task->tid).killed;
		}
		release_exits(tracer, process);
		return error;
	}
	if (census.dying)
		return NULL; /* held, until all are out of user code */
	if (process->memory->refs == 1) {
		error = memory_snapshot(&tracer->session, process->memory, process->pid, task->tid);
		exec_task = task_find(&tracer->tasks, process->exec_tid);
		process->exec_seen = true;
		if (!error && (!process->exec_tid || (exec_task && exec_task->in_exit_stop)))
			error = memory_finish(&tracer->session, process->memory, process->pid, 0,
					      UINT64_MAX);
	}
	release_exits(tracer, process);
	return error;
}

struct swlbr_error *tracer_on_exit_stop(struct tracer *tracer, struct task *task)
{
	struct process *process = task->process;

	if (!process) {
		tracer_resume(task, 0);
		return NULL;
	}
	if (tracer->listener < 0 && task->tid != process->pid && process->nr_tasks > 1 &&
	    !thread_state(task->tid).killed && thread_state(process->pid).state != 'Z') {
		task->exiting = true; /* one thread of many that are all traced */
		tracer_resume(task, 0);
		return NULL;
	}
	task->in_exit_stop = true;
	tracer->nr_held++;
	return tracer_check_exits(tracer, process, task);
}
