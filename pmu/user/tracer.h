/* SPDX-License-Identifier: GPL-2.0-only */
/* Follow threads and processes; take the last snapshot of each program image before it is gone. */
#ifndef SWLBR_USER_TRACER_H
#define SWLBR_USER_TRACER_H

#include <linux/seccomp.h>

#include "task.h"

/* A call that waits for another thread's exec to be over. */
struct waiting_call {
	struct waiting_call *next;
	struct seccomp_notif notif;
};

struct tracer {
	struct session session;
	struct task_table tasks;
	int listener;	/* of the exec filter, -1: none, then all threads are traced */
	pid_t child;	/* the program that was run, 0: attached */
	size_t nr_held; /* threads held in their exit stop */
	struct waiting_call *waiting;
	struct process *next_sweep;
	bool storm_told;   /* that a thread gets too many signals */
	bool any_starting; /* a new task may wait for its parent's event */
};

/* Seize @tid, a new process's only thread, or an attached process with all its threads. */
struct swlbr_error *tracer_seize_child(struct tracer *tracer, pid_t pid);
struct swlbr_error *tracer_attach(struct tracer *tracer, pid_t pid);

/* A status that waitpid() gave for @tid. */
struct swlbr_error *tracer_event(struct tracer *tracer, pid_t tid, int status);
/* A call that the exec filter holds. */
struct swlbr_error *tracer_call(struct tracer *tracer, const struct seccomp_notif *notif);
/* Look again at what is held or waits; call every millisecond while tracer_is_waiting(). */
struct swlbr_error *tracer_recheck(struct tracer *tracer);
bool tracer_is_waiting(const struct tracer *tracer);
/* One tick: snapshots of running processes, for at most @budget ns of processor time. */
struct swlbr_error *tracer_sweep(struct tracer *tracer, uint64_t budget);
/* Last snapshots of all that runs, and let it go. */
struct swlbr_error *tracer_detach_all(struct tracer *tracer);
void tracer_deinit(struct tracer *tracer);

#endif
