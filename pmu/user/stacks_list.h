/* SPDX-License-Identifier: GPL-2.0-only */
/* What process images have counted, kept until the end of the recording; see stacks.h. */
#ifndef SWLBR_USER_STACKS_LIST_H
#define SWLBR_USER_STACKS_LIST_H

#include <sys/types.h>

#include "history.h"

struct image;
struct swlbr_flow_target;

/* One process image of a binary. */
struct stacks_process {
	struct stacks_process *next;
	struct image *image;
	pid_t pid;
	uint64_t load_bias, end;     /* end: ns */
	struct history_entry *total; /* by counter */
	size_t nr_total;
	struct swlbr_flow_target *targets; /* of indirect calls */
	size_t nr_targets;
	struct history history;
};

struct stacks {
	struct stacks_process *processes; /* newest first */
	size_t nr_entries;		  /* in all of them */
};

#endif
