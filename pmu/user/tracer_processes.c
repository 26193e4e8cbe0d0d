// SPDX-License-Identifier: GPL-2.0-only
/* Processes begin, run other programs, and end. */
#include <errno.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracer_parts.h"

static struct swlbr_event_time event_time(const struct process *process)
{
	return (struct swlbr_event_time){ .pid = process->pid,
					  .tid = process->pid,
					  .time = session_now() };
}

struct swlbr_error *tracer_write_comm(struct tracer *tracer, const struct process *process,
				      bool exec)
{
	struct swlbr_event_time when = event_time(process);
	char comm[64];

	if (!task_read_proc(process->pid, "comm", comm, sizeof(comm)))
		comm[0] = 0;
	comm[strcspn(comm, "\n")] = 0;
	return swlbr_perfdata_write_comm(tracer->session.writer, &when, comm, exec);
}

static bool shares_memory(pid_t a, pid_t b, int event)
{
	long compared = syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0);

	return compared < 0 ? event == PTRACE_EVENT_VFORK : compared == 0;
}

static struct swlbr_error *new_process(struct tracer *tracer, struct process *parent,
				       struct task *task, pid_t ptid, int event)
{
	struct memory *memory = NULL;
	struct swlbr_error *error = NULL;
	struct swlbr_event_time when;

	if (shares_memory(ptid, task->tid, event))
		memory = memory_get(parent->memory);
	else
		error = memory_fork(&tracer->session, parent->memory, task->tid, &memory);
	if (error)
		return error;
	task->process = process_add(&tracer->tasks, task->tid, parent->pid, memory);
	if (!task->process)
		return swlbr_error_no_memory();
	task->process->nr_tasks = 1;
	tracer->session.summary->processes++;
	when = event_time(task->process);
	return swlbr_perfdata_write_fork(tracer->session.writer, &when, parent->pid, ptid);
}

struct swlbr_error *tracer_on_new(struct tracer *tracer, struct task *parent, int event)
{
	struct swlbr_error *error = NULL;
	unsigned long message = 0;
	struct task *task;
	pid_t tid;

	ptrace(PTRACE_GETEVENTMSG, parent->tid, 0, &message);
	tid = (pid_t)message;
	task = task_find(&tracer->tasks, tid);
	if (!task) { /* its first stop is under way */
		int status;

		if (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status)) {
			tracer_resume(parent, 0);
			return NULL;
		}
		task = task_add(&tracer->tasks, tid, NULL);
		if (!task)
			return swlbr_error_no_memory();
	}
	if (task->process) { /* adopted */
		tracer_resume(parent, 0);
		return NULL;
	}
	task->starting = false;
	if (event == PTRACE_EVENT_CLONE && thread_state(tid).tgid == parent->process->pid) {
		task->process = parent->process;
		task->process->nr_tasks++;
	} else {
		error = new_process(tracer, parent->process, task, parent->tid, event);
	}
	tracer_resume(task, 0);
	tracer_resume(parent, 0);
	return error;
}

/*
 * A new process whose parent was killed before its event came: it has not run yet, and what it has
 * inherited is not its own.
 */
static struct swlbr_error *adopt(struct tracer *tracer, struct task *task)
{
	struct memory *memory = memory_create();
	struct swlbr_event_time when;
	struct swlbr_error *error;

	task->process = memory ? process_add(&tracer->tasks, task->tid,
					     thread_state(task->tid).ppid, memory)
			       : NULL;
	if (!task->process)
		return swlbr_error_no_memory();
	task->starting = false;
	task->process->nr_tasks = 1;
	tracer->session.summary->processes++;
	when = event_time(task->process);
	error = swlbr_perfdata_write_fork(tracer->session.writer, &when, task->process->ppid,
					  task->process->ppid);
	if (!error)
		error = tracer_write_comm(tracer, task->process, false);
	if (!error)
		error = memory_scan(&tracer->session, memory, task->tid, task->tid, true);
	tracer_resume(task, 0);
	return error;
}

/* Ticks that a new task waits for its parent's event after its parent is gone. */
#define ORPHAN_TICKS 3

struct swlbr_error *tracer_adopt_orphans(struct tracer *tracer)
{
	struct swlbr_error *error = NULL;

	tracer->any_starting = false;
	for (size_t i = 0; !error && i < 1024; i++)
		for (struct task *task = tracer->tasks.bucket[i]; !error && task;
		     task = task->next) {
			struct thread_state state;

			if (!task->starting || task->process)
				continue;
			tracer->any_starting = true;
			state = thread_state(task->tid);
			if (!state.state || state.tgid != task->tid ||
			    process_find(&tracer->tasks, state.ppid))
				continue;
			if (++task->orphan_ticks >= ORPHAN_TICKS)
				error = adopt(tracer, task);
		}
	return error;
}

static struct swlbr_error *finish_before_exec(struct tracer *tracer, struct process *process)
{
	struct swlbr_error *error = NULL;

	if (process->memory->refs > 1)
		return NULL; /* a vfork child: its parent has the memory */
	for (const struct area *area = process->memory->areas; !error && area; area = area->next)
		if (!process->exec_seen)
			error = session_lost(&tracer->session, process->pid, area->image,
					     area->last_time,
					     "exec of an attached process: its memory was gone");
	return error ? error
		     : memory_finish(&tracer->session, process->memory, process->pid, 0,
				     UINT64_MAX);
}

void tracer_note_program(struct tracer *tracer, pid_t pid)
{
	char path[64], target[4096];
	ssize_t n;

	if (tracer->session.summary->program)
		return;
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, target, sizeof(target) - 1);
	if (n > 0)
		tracer->session.summary->program = strndup(target, (size_t)n);
}

struct swlbr_error *tracer_on_exec(struct tracer *tracer, struct task *task)
{
	struct process *process = task->process;
	unsigned long former = 0;
	struct swlbr_error *error;
	struct task *other;

	ptrace(PTRACE_GETEVENTMSG, task->tid, 0, &former);
	other = (pid_t)former == task->tid ? NULL : task_find(&tracer->tasks, (pid_t)former);
	if (other && other->process == process)
		task_remove(&tracer->tasks, other);
	if (task->in_exit_stop)
		tracer->nr_held--;
	task->in_exit_stop = task->exiting = false;
	error = finish_before_exec(tracer, process);
	memory_put(process->memory);
	process->memory = memory_create();
	process->exec_tid = 0;
	process->exec_seen = false;
	process->ending = false;
	if (!process->memory)
		return error ? error : swlbr_error_no_memory();
	tracer_note_program(tracer, process->pid);
	if (!error)
		error = tracer_write_comm(tracer, process, true);
	if (!error)
		error = memory_scan(&tracer->session, process->memory, process->pid, task->tid,
				    false);
	tracer_resume(task, 0);
	return error;
}

static struct swlbr_error *on_process_end(struct tracer *tracer, struct process *process)
{
	struct swlbr_event_time when = event_time(process);
	struct swlbr_error *error = NULL;

	if (process->memory->refs == 1 && process->memory->areas) {
		for (struct area *area = process->memory->areas; !error && area; area = area->next)
			if (!area->leaving.tid)
				error = session_lost(
					&tracer->session, process->pid, area->image,
					area->last_time,
					"killed while it was stopped: its memory was gone");
		if (!error)
			error = memory_finish(&tracer->session, process->memory, process->pid, 0,
					      UINT64_MAX);
	}
	if (!error)
		error = swlbr_perfdata_write_exit(tracer->session.writer, &when, process->ppid,
						  process->ppid);
	if (tracer->next_sweep == process)
		tracer->next_sweep = process->next;
	process_remove(&tracer->tasks, process);
	return error;
}

struct swlbr_error *tracer_on_end(struct tracer *tracer, struct task *task, int status)
{
	struct process *process = task->process;
	struct recorder_summary *summary = tracer->session.summary;

	if (task->tid == tracer->child) {
		summary->child_ended = true;
		summary->child_status = status;
		summary->child_end = session_now();
	}
	if (task->in_exit_stop)
		tracer->nr_held--;
	task_remove(&tracer->tasks, task);
	return process && !process->nr_tasks ? on_process_end(tracer, process) : NULL;
}
