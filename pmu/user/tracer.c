// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec_filter.h"
#include "tracer.h"
#include "unmap.h"

#define I386_EXIT_GROUP 252
#define SCAN_INTERVAL	100000000ULL /* ns between looks for newly loaded libraries */
#define LISTEN		(-1)	     /* task->pending_signal: it was in a group stop */

static long trace_options(const struct tracer *tracer)
{
	return PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXIT |
	       (tracer->listener < 0 ? PTRACE_O_TRACECLONE : 0);
}

static void resume(struct task *task, int signal)
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

static struct swlbr_event_time event_time(const struct process *process)
{
	return (struct swlbr_event_time){ .pid = process->pid,
					  .tid = process->pid,
					  .time = session_now() };
}

static struct swlbr_error *write_comm(struct tracer *tracer, const struct process *process,
				      bool exec)
{
	struct swlbr_event_time when = event_time(process);
	char comm[64];

	if (!task_read_proc(process->pid, "comm", comm, sizeof(comm)))
		comm[0] = 0;
	comm[strcspn(comm, "\n")] = 0;
	return swlbr_perfdata_write_comm(tracer->session.writer, &when, comm, exec);
}

static struct swlbr_error *seize_error(pid_t pid)
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

	if (ptrace(PTRACE_SEIZE, pid, 0, trace_options(tracer)))
		return seize_error(pid);
	memory = memory_create();
	process = memory ? process_add(&tracer->tasks, pid, getpid(), memory) : NULL;
	if (!process || !task_add(&tracer->tasks, pid, process))
		return swlbr_error_no_memory();
	tracer->session.summary->processes++;
	return NULL;
}

/* True if @tid is inside an exec; *@unsure: it is running, ask again. */
static bool exec_running(pid_t tid, bool *unsure)
{
	struct task_call call;
	enum task_place place = task_call(tid, &call);

	*unsure = place == TASK_RUNNING;
	return *unsure ||
	       (place == TASK_IN_CALL && (call.nr == SYS_execve || call.nr == SYS_execveat));
}

/* A process has an exec under way: none of its threads may be seized, for the kernel would wait. */
static bool exec_in_flight(struct process *process)
{
	bool unsure;

	if (process->exec_tid && !exec_running(process->exec_tid, &unsure))
		process->exec_tid = 0;
	return process->exec_tid != 0;
}

static struct swlbr_error *seize_thread(struct tracer *tracer, struct process *process, pid_t tid)
{
	if (ptrace(PTRACE_SEIZE, tid, 0, trace_options(tracer)))
		return NULL; /* it is ending, or a tracer of its own program has it */
	return task_add(&tracer->tasks, tid, process) ? NULL : swlbr_error_no_memory();
}

/* Seize every thread that lives and is not traced yet, those included that appear meanwhile. */
static struct swlbr_error *seize_threads(struct tracer *tracer, struct process *process)
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
			error = seize_thread(tracer, process, tid[i]);
			found |= tracer->tasks.nr_tasks > before;
		}
		free(tid);
	}
	return error;
}

struct census {
	size_t alive; /* threads that run user code */
	size_t dying; /* killed, but not yet out of it */
};

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

	in_exec = (tid == process->exec_tid || process->ending) && exec_running(tid, &unsure);
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

static struct census take_census(struct tracer *tracer, struct process *process)
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
				resume(task, 0);
			}
}

/* A thread of @process is in its exit stop, through which memory can still be read. */
static struct swlbr_error *check_exits(struct tracer *tracer, struct process *process,
				       const struct task *task)
{
	struct swlbr_error *error = NULL;
	const struct task *exec_task;
	struct census census;

	process->ending |= ends_process(task);
	census = take_census(tracer, process);
	if (census.alive) { /* a thread ends, the process does not */
		if (tracer->listener >= 0 && !exec_in_flight(process))
			error = seize_threads(tracer, process);
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

static struct swlbr_error *on_exit_stop(struct tracer *tracer, struct task *task)
{
	struct process *process = task->process;

	if (!process) {
		resume(task, 0);
		return NULL;
	}
	if (tracer->listener < 0 && task->tid != process->pid && process->nr_tasks > 1 &&
	    !thread_state(task->tid).killed && thread_state(process->pid).state != 'Z') {
		task->exiting = true; /* one thread of many that are all traced */
		resume(task, 0);
		return NULL;
	}
	task->in_exit_stop = true;
	tracer->nr_held++;
	return check_exits(tracer, process, task);
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

static struct swlbr_error *on_new(struct tracer *tracer, struct task *parent, int event)
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
			resume(parent, 0);
			return NULL;
		}
		task = task_add(&tracer->tasks, tid, NULL);
		if (!task)
			return swlbr_error_no_memory();
	}
	if (task->process) { /* adopted */
		resume(parent, 0);
		return NULL;
	}
	task->starting = false;
	if (event == PTRACE_EVENT_CLONE && thread_state(tid).tgid == parent->process->pid) {
		task->process = parent->process;
		task->process->nr_tasks++;
	} else {
		error = new_process(tracer, parent->process, task, parent->tid, event);
	}
	resume(task, 0);
	resume(parent, 0);
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
		error = write_comm(tracer, task->process, false);
	if (!error)
		error = memory_scan(&tracer->session, memory, task->tid, task->tid, true);
	resume(task, 0);
	return error;
}

/* Ticks that a new task waits for its parent's event after its parent is gone. */
#define ORPHAN_TICKS 3

static struct swlbr_error *adopt_orphans(struct tracer *tracer)
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

static void note_program(struct tracer *tracer, pid_t pid)
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

static struct swlbr_error *on_exec(struct tracer *tracer, struct task *task)
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
	note_program(tracer, process->pid);
	if (!error)
		error = write_comm(tracer, process, true);
	if (!error)
		error = memory_scan(&tracer->session, process->memory, process->pid, task->tid,
				    false);
	resume(task, 0);
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

static struct swlbr_error *on_end(struct tracer *tracer, struct task *task, int status)
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

/* include/linux/errno.h: how an interrupted system call goes on after a signal's handler. */
#define ERESTARTSYS    512
#define ERESTARTNOINTR 513

/*
 * A signal interrupted a call that the filter held. Without us the call could not have been, and
 * would not have failed with EINTR: have it restarted whatever the handler's flags are. A munmap
 * that we have let go on was not carried out either: before Linux 6.17 a signal that comes before
 * we receive the call interrupts it, if we answer before its thread runs.
 */
static void restart_held_call(const struct task *task)
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
		return task ? on_end(tracer, task, status) : NULL;
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
		return on_exit_stop(tracer, task);
	case PTRACE_EVENT_EXEC:
		return on_exec(tracer, task);
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		return on_new(tracer, task, event);
	case PTRACE_EVENT_STOP:
		if (!task->starting)
			resume(task, is_group_stop(signal) ? LISTEN : 0);
		return NULL;
	default:
		if (signal_storm_count(&task->signals, session_now()))
			tell_signal_storm(tracer, tid, signal);
		if (tracer->listener >= 0)
			restart_held_call(task);
		resume(task, signal);
		return NULL;
	}
}

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

	if (take_census(tracer, process).alive > 1)
		error = seize_threads(tracer, process);
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
		if (exec_in_flight(process) && process->exec_tid != (pid_t)notif->pid)
			return hold_call(tracer, notif);
		if (!task)
			error = seize_thread(tracer, process, (pid_t)notif->pid);
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
			error = check_exits(tracer, task->process, task);
	}
	return error;
}

bool tracer_is_waiting(const struct tracer *tracer)
{
	return tracer->nr_held || tracer->waiting;
}

/* A thread through which the memory of @process can be read. */
static pid_t reading_thread(const struct tracer *tracer, const struct process *process)
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
		error = adopt_orphans(tracer);
	for (; process && !error; process = process->next) {
		struct memory *memory = process->memory;
		pid_t tid = reading_thread(tracer, process);

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
	if (ptrace(PTRACE_SEIZE, pid, 0, trace_options(tracer)))
		return seize_error(pid);
	memory = memory_create();
	process = memory ? process_add(&tracer->tasks, pid, state.ppid, memory) : NULL;
	if (!process || !task_add(&tracer->tasks, pid, process))
		return swlbr_error_no_memory();
	tracer->session.summary->processes++;
	note_program(tracer, pid);
	error = seize_threads(tracer, process);
	interrupt_process(tracer, process);
	if (!error)
		error = wait_stopped(tracer);
	process = process_find(&tracer->tasks, pid);
	if (error || !process)
		return error;
	error = write_comm(tracer, process, false);
	if (!error)
		error = memory_scan(&tracer->session, process->memory, pid,
				    reading_thread(tracer, process), true);
	process->stopped = false;
	for (size_t i = 0; i < 1024; i++)
		for (struct task *task = tracer->tasks.bucket[i]; task; task = task->next)
			if (task->process == process && task->in_stop)
				resume(task, task->pending_signal);
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
		pid_t tid = reading_thread(tracer, process);

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
