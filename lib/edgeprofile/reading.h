/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_EDGEPROFILE_READING_H
#define SWLBR_EDGEPROFILE_READING_H

#include <swlbr/perfdata.h>

#include "edgeprofile/comm_times.h"
#include "edgeprofile/stacks.h"

/** What to do with the samples of an event. */
struct event_use {
	enum swlbr_source source;
	bool wanted, call_stack, with_ranges, counts_taken;
};

/** A perf.data whose stacks are being read. */
struct reading {
	struct swlbr_stacks *stacks;
	struct swlbr_perfdata *file;
	struct address_spaces spaces;
	struct comm_times comms;
	struct event_use *events;
	size_t nr_events;
	struct swlbr_perfdata_binary *ids; /* of the BUILD_ID feature, by path */
	size_t nr_ids;
	bool by_time;	 /* records tell their time; else their order in the file is taken for it */
	uint64_t newest; /* time of the records so far */
	bool maps_no_counters; /* SWLBR_NO_COUNTERS_ADDRESS stands for code without counters */
	/* Of the last sample. */
	pid_t pid;
	struct process *process, *kernel;
};

/* stacks_sides.c: what processes mapped and when, and what else is told beside the samples. */

struct swlbr_error *reading_find_ids(struct reading *reading);
struct swlbr_error *reading_add_side(struct reading *reading, const struct swlbr_record *record);
/** All of the file. Damage is left for the reading of samples to tell. */
struct swlbr_error *reading_read_sides(struct reading *reading);
/** What was written through a pipe tells of events and binaries between the records: read it. */
struct swlbr_error *reading_read_pipe(struct swlbr_perfdata *file);
/** True if all records can be put in order by their time. */
bool reading_has_times(const struct swlbr_perfdata *file);

/* stacks_samples.c: whose a stack is, and where its entries are. */

struct swlbr_error *reading_find_events(struct reading *reading);
struct swlbr_error *reading_add_sample(struct reading *reading, const struct swlbr_record *record);
/** The same for the stack alone, of an event used so. */
struct swlbr_error *reading_add_stack(struct reading *reading, const struct swlbr_record *record,
				      const struct event_use *event, uint64_t time);
/** Where an event of that name has its branches from. */
enum swlbr_source reading_source_of(const char *name);

/* So on the machines that have branch stacks. */
static inline bool is_kernel(uint64_t address)
{
	return address >> 63;
}

#endif
