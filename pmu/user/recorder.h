/* SPDX-License-Identifier: GPL-2.0-only */
/* Record the counters of running programs, from outside them. */
#ifndef SWLBR_USER_RECORDER_H
#define SWLBR_USER_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <swlbr/error.h>
#include <swlbr/perfdata_writer.h>

struct recorder_summary;
struct event_list;

struct recorder_options {
	const char *output;
	struct swlbr_perfdata_info info;
	double frequency;     /* snapshots per second */
	uint64_t period;      /* taken branches a stack stands for; 0: about 20,000 stacks a file */
	unsigned int depth;   /* branches of a stack, up to RECORDER_MAX_DEPTH */
	char *const *command; /* argv of the program to run, or NULL */
	const pid_t *pids;    /* else the processes to attach to */
	size_t nr_pids;
	const struct event_list *events; /* of the kernel, to record besides; or NULL */
	/* Called with a line that the user should see at once, or NULL. */
	void (*tell)(const char *line);
	/* Called about four times a second, and with @state for a line that should stay. */
	void (*progress)(const struct recorder_summary *summary, const char *state);
};

#define RECORDER_MAX_NOTES 16
#define RECORDER_MAX_DEPTH 64

/* An event of the kernel that was recorded. */
struct recorder_event {
	char *name;
	uint64_t id; /* in the file */
	uint64_t samples;
	uint64_t lost;	    /* records that the kernel could not hand over */
	uint64_t throttled; /* times that the kernel stopped it for a moment */
};

struct recorder_summary {
	uint64_t start, end; /* ns */
	uint64_t child_end;  /* ns; when the program that was run had ended */
	uint64_t processes, images, binaries, snapshots;
	uint64_t live;	     /* processes being recorded now */
	uint64_t executions; /* sum of all counters, saturating */
	uint64_t stacks;     /* branch stacks written */
	/* Of all binaries: taken branches, those that no guess is in; executions of blocks, and those
	 * by which counters disagreed. */
	double branches, exact_branches, blocks, moved;
	uint64_t bytes; /* of the output */
	bool child_ended;
	int child_status;		/* as wait() gives it */
	int stop_signal;		/* the signal that ended the recording, or 0 */
	uint64_t lost;			/* rows of swlbr:lost */
	char *note[RECORDER_MAX_NOTES]; /* what was lost and why, a line each */
	size_t nr_notes;
	struct recorder_event *events;
	size_t nr_events;
	char *program; /* path of the first program run */
	char *refusal; /* why the first binary with unreadable counters was not read */
};

/*
 * Record until the program and its descendants have ended, or SIGINT or SIGTERM. @summary is
 * filled in even on error; its strings are freed by recorder_summary_deinit().
 */
struct swlbr_error *recorder_run(const struct recorder_options *options,
				 struct recorder_summary *summary);
void recorder_summary_deinit(struct recorder_summary *summary);

#endif
