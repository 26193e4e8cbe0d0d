// SPDX-License-Identifier: GPL-2.0-only
/* What happens to the threads that are traced, one after another, and the tick. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "tracer_parts.h"

#define SCAN_INTERVAL 100000000ULL /* ns between looks for newly loaded libraries */

static void tell_signal_storm(struct tracer *tracer, pid_t tid, int signal)
{
	char line[200];

	if (!tracer->session.options->tell || tracer->storm_told)
		return;
	tracer->storm_told = true;
	snprintf(
		line, sizeof(line),
		"thread %d: more than 1000 signals a second (now signal %d): each stops it until the recorder has seen it; it may hardly get on",
		tid, signal);
	tracer->session.options->tell(line);
}

static bool is_group_stop(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

struct swlbr_error *tracer_event(struct tracer *tracer, pid_t tid, int status)
{
	struct task *task = task_find(&tracer->tasks, tid);
	int event = status >> 16, signal;

	if (!WIFSTOPPED(status))
		return task ? tracer_on_end(tracer, task, status) : NULL;
	if (!task) { /* a new one, before its parent's event */
		task = task_add(&tracer->tasks, tid, NULL);
		if (!task)
			return swlbr_error_no_memory();
		task->starting = true;
		tracer->any_starting = true;
		return NULL;
	}
	signal = WSTOPSIG(status);
	switch (event) {
	case PTRACE_EVENT_EXIT:
		return tracer_on_exit_stop(tracer, task);
	case PTRACE_EVENT_EXEC:
		return tracer_on_exec(tracer, task);
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		return tracer_on_new(tracer, task, event);
	case PTRACE_EVENT_STOP:
		if (!task->starting)
			tracer_resume(task, is_group_stop(signal) ? LISTEN : 0);
		return NULL;
	default:
		if (signal_storm_count(&task->signals, session_now()))
			tell_signal_storm(tracer, tid, signal);
		if (tracer->listener >= 0)
			tracer_restart_held_call(task);
		tracer_resume(task, signal);
		return NULL;
	}
}

struct swlbr_error *tracer_recheck(struct tracer *tracer)
{
	struct waiting_call *calls = tracer->waiting;
	struct swlbr_error *error = NULL;

	tracer->waiting = NULL;
	while (calls) {
		struct waiting_call *call = calls;

		calls = call->next;
		if (!error)
			error = tracer_call(tracer, &call->notif);
		free(call);
	}
	for (size_t i = 0; !error && tracer->nr_held && i < 1024; i++) {
		struct task *task = tracer->tasks.bucket[i];

		while (task && !task->in_exit_stop)
			task = task->next;
		if (task)
			error = tracer_check_exits(tracer, task->process, task);
	}
	return error;
}

bool tracer_is_waiting(const struct tracer *tracer)
{
	return tracer->nr_held || tracer->waiting;
}

/* A thread through which the memory of @process can be read. */
pid_t tracer_reading_thread(const struct tracer *tracer, const struct process *process)
{
	const struct task *leader = task_find(&tracer->tasks, process->pid);
	pid_t *tid, found = 0;
	size_t nr;

	if (leader && !leader->exiting)
		return process->pid;
	nr = thread_list(process->pid, &tid);
	for (size_t i = 0; i < nr && !found; i++)
		if (tid[i] != process->pid)
			found = tid[i];
	free(tid);
	return found;
}

struct swlbr_error *tracer_sweep(struct tracer *tracer, uint64_t budget)
{
	struct swlbr_error *error = NULL;
	uint64_t now = session_now(), until = now + budget;
	struct process *process = tracer->next_sweep ? tracer->next_sweep : tracer->tasks.processes;

	if (tracer->any_starting)
		error = tracer_adopt_orphans(tracer);
	for (; process && !error; process = process->next) {
		struct memory *memory = process->memory;
		pid_t tid = tracer_reading_thread(tracer, process);

		if (session_now() >= until)
			break;
		if (!tid || process->exec_tid)
			continue;
		if (now >= memory->next_scan) {
			error = memory_scan(&tracer->session, memory, process->pid, tid, false);
			memory->next_scan = now + SCAN_INTERVAL;
		}
		if (!error && memory->areas)
			error = memory_sweep(&tracer->session, memory, tid, budget);
	}
	tracer->next_sweep = process;
	return error;
}

void tracer_deinit(struct tracer *tracer)
{
	for (size_t i = 0; i < 1024; i++)
		while (tracer->tasks.bucket[i])
			task_remove(&tracer->tasks, tracer->tasks.bucket[i]);
	while (tracer->tasks.processes)
		process_remove(&tracer->tasks, tracer->tasks.processes);
	while (tracer->waiting) {
		struct waiting_call *call = tracer->waiting;

		tracer->waiting = call->next;
		free(call);
	}
	image_cache_deinit(&tracer->session.images);
}
