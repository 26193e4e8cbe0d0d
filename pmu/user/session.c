// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "session.h"

uint64_t session_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

struct swlbr_error *session_lost(struct session *session, pid_t pid, const struct image *image,
				 uint64_t since, const char *why)
{
	struct swlbr_event_time when = { .pid = pid, .tid = pid, .time = session_now() };
	struct recorder_summary *summary = session->summary;
	static const struct swlbr_build_id none;

	summary->lost++;
	if (summary->nr_notes < RECORDER_MAX_NOTES) {
		char **note = &summary->note[summary->nr_notes];
		int n = since ? asprintf(note, "process %d: %s: %s; up to %.1f ms are missing", pid,
					 image ? image->path : "?", why,
					 (double)(when.time - since) / 1e6)
			      : asprintf(note, "process %d: %s: %s", pid, image ? image->path : "?",
					 why);

		if (n >= 0)
			summary->nr_notes++;
	}
	return swlbr_perfdata_write_lost(session->writer, &when, image ? &image->build_id : &none,
					 since, why);
}

void recorder_summary_deinit(struct recorder_summary *summary)
{
	for (size_t i = 0; i < summary->nr_notes; i++)
		free(summary->note[i]);
	for (size_t i = 0; i < summary->nr_events; i++)
		free(summary->events[i].name);
	free(summary->events);
	free(summary->program);
	free(summary->refusal);
}
