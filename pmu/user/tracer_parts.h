/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the tracer share: each tracer_*.c is one. */
#ifndef SWLBR_USER_TRACER_PARTS_H
#define SWLBR_USER_TRACER_PARTS_H

#include "tracer.h"

#define LISTEN (-1) /* task->pending_signal: it was in a group stop */

/* tracer_threads.c */

/* For PTRACE_SEIZE. */
long tracer_options(const struct tracer *tracer);
/* Let a thread that has stopped go on, with @signal; it waits where its process is being stopped. */
void tracer_resume(struct task *task, int signal);
/* Why PTRACE_SEIZE of @pid failed, from errno. */
struct swlbr_error *tracer_seize_error(pid_t pid);
struct swlbr_error *tracer_seize_thread(struct tracer *tracer, struct process *process, pid_t tid);
/* Seize every thread that lives and is not traced yet, those included that appear meanwhile. */
struct swlbr_error *tracer_seize_threads(struct tracer *tracer, struct process *process);
/* True if @tid is inside an exec; *@unsure: it is running, ask again. */
bool tracer_exec_running(pid_t tid, bool *unsure);
/* A process has an exec under way: none of its threads may be seized, for the kernel would wait. */
bool tracer_exec_in_flight(struct process *process);

/* tracer_exits.c */

struct census {
	size_t alive; /* threads that run user code */
	size_t dying; /* killed, but not yet out of it */
};

/* The threads of @process that are not in their exit stop. */
struct census tracer_take_census(struct tracer *tracer, struct process *process);
/* A thread of @process is in its exit stop, through which memory can still be read. */
struct swlbr_error *tracer_check_exits(struct tracer *tracer, struct process *process,
				       const struct task *task);
struct swlbr_error *tracer_on_exit_stop(struct tracer *tracer, struct task *task);

/* tracer_processes.c */

struct swlbr_error *tracer_write_comm(struct tracer *tracer, const struct process *process,
				      bool exec);
void tracer_note_program(struct tracer *tracer, pid_t pid);
struct swlbr_error *tracer_on_new(struct tracer *tracer, struct task *parent, int event);
struct swlbr_error *tracer_adopt_orphans(struct tracer *tracer);
struct swlbr_error *tracer_on_exec(struct tracer *tracer, struct task *task);
struct swlbr_error *tracer_on_end(struct tracer *tracer, struct task *task, int status);

/* tracer_calls.c: after a signal, which @task is about to be given. */
void tracer_restart_held_call(const struct task *task);

/* tracer.c */

/* A thread through which the memory of @process can be read. */
pid_t tracer_reading_thread(const struct tracer *tracer, const struct process *process);

#endif
