/* SPDX-License-Identifier: GPL-2.0-only */
/* The traced threads and their processes. */
#ifndef SWLBR_USER_TASK_H
#define SWLBR_USER_TASK_H

#include "memory.h"
#include "signal_storm.h"

struct process {
	struct process *next;
	pid_t pid, ppid;
	struct memory *memory;
	unsigned int nr_tasks; /* traced threads not yet reaped */
	pid_t exec_tid;	       /* the thread in an exec that we were told of, or 0 */
	bool ending;	       /* all its threads are being ended */
	bool exec_seen;	       /* the last snapshot was taken at an exec's entry */
	bool stopped;	       /* attaching: counts start when all threads are stopped */
};

struct task {
	struct task *next;
	pid_t tid;
	struct process *process;   /* NULL: new, its parent's event has not come yet */
	bool in_exit_stop;	   /* held there until the process is quiet */
	bool exiting;		   /* has passed it: runs no user code any more */
	bool starting;		   /* waits in its first stop for its parent's event */
	unsigned int orphan_ticks; /* for so long without a parent */
	bool in_stop;		   /* stopped, and left so */
	int pending_signal;	   /* to be delivered when it goes on */
	struct signal_storm signals;
};

struct task_table {
	struct task *bucket[1024];
	struct process *processes;
	size_t nr_tasks;
};

struct task *task_find(const struct task_table *table, pid_t tid);
/* NULL if there is no memory. @process gains a task. */
struct task *task_add(struct task_table *table, pid_t tid, struct process *process);
void task_remove(struct task_table *table, struct task *task);

struct process *process_find(const struct task_table *table, pid_t pid);
struct process *process_add(struct task_table *table, pid_t pid, pid_t ppid, struct memory *memory);
/* Takes it out of the table and drops its memory. */
void process_remove(struct task_table *table, struct process *process);

/* What /proc/TID/status and stat say of a thread. */
struct thread_state {
	pid_t tgid, ppid;
	char state;   /* 'Z', 'X', … ; 0: gone */
	bool exiting; /* in the kernel, on its way out */
	bool killed;  /* a SIGKILL is pending, or it died of a signal */
};
struct thread_state thread_state(pid_t tid);

/* The system call that a thread is in. */
struct task_call {
	int nr; /* -1: none */
	uint64_t arg[6];
};
enum task_place {
	TASK_IN_CALL,
	TASK_RUNNING, /* nobody can tell, for it is on a processor or waits for one: ask again */
	TASK_GONE,
};
/* *@ret is set where TASK_IN_CALL is returned. */
enum task_place task_call(pid_t tid, struct task_call *ret);

/* Read /proc/TID/@file into @text, which is terminated. False if there is nothing to read. */
bool task_read_proc(pid_t tid, const char *file, char *text, size_t size);

/* Thread ids of @pid, through any of its live threads; freed by the caller. 0 if it is gone. */
size_t thread_list(pid_t pid, pid_t **ret);

#endif
