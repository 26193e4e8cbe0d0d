/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of the kernel beside our counters: opened through libperf with branch stacks where the
 * machine has them, on the same threads, their records written into the same file.
 */
#ifndef SWLBR_USER_KERNEL_EVENTS_H
#define SWLBR_USER_KERNEL_EVENTS_H

#include "session.h"

struct perf_evlist;
struct kernel_event_id;

struct kernel_events {
	struct session *session;
	struct perf_evlist *evlist;	  /* NULL: none is open */
	struct recorder_summary *summary; /* its events are those that are open */
	struct kernel_event_id *ids;	  /* sorted */
	size_t nr_ids, nr_cpus, nr_threads;
	int timer; /* to be polled: readable when buffers are to be emptied; -1: nothing is open */
};

/*
 * Open the events of session->options->events for @tids and all that they will start, before
 * anything is written to the file. They count from @tids' next exec if @at_exec, else from
 * kernel_events_enable(). What cannot be had is told, and left out.
 */
struct swlbr_error *kernel_events_open(struct kernel_events *events, struct session *session,
				       const pid_t *tids, size_t nr_tids, bool at_exec);
/* The same for all threads of the processes of session->options->pids. */
struct swlbr_error *kernel_events_attach(struct kernel_events *events, struct session *session);
void kernel_events_enable(struct kernel_events *events);
void kernel_events_disable(struct kernel_events *events);

/* Move what is in the kernel's buffers to the file; also when @timer is readable. */
struct swlbr_error *kernel_events_drain(struct kernel_events *events);
/*
 * After kernel_events_disable(): drain, and write a PERF_RECORD_LOST for what was lost without the
 * kernel's having told, for it tells with the next record of the same buffer (PERF_FORMAT_LOST,
 * Linux 6.0).
 */
struct swlbr_error *kernel_events_finish(struct kernel_events *events);
void kernel_events_deinit(struct kernel_events *events);

#endif
