/* SPDX-License-Identifier: GPL-2.0-only */
/* What all parts of a recording share. */
#ifndef SWLBR_USER_SESSION_H
#define SWLBR_USER_SESSION_H

#include <swlbr/perfdata_writer.h>

#include "image.h"
#include "recorder.h"
#include "stacks_list.h"

struct session {
	const struct recorder_options *options;
	struct recorder_summary *summary;
	struct swlbr_perfdata_writer *writer;
	struct image_cache images;
	struct stacks stacks;
};

/* CLOCK_MONOTONIC, ns. */
uint64_t session_now(void);

/*
 * Executions after @since (ns) may be missing from @image (NULL: from a whole process): a row of
 * swlbr:lost and a line of the summary.
 */
struct swlbr_error *session_lost(struct session *session, pid_t pid, const struct image *image,
				 uint64_t since, const char *why);

#endif
