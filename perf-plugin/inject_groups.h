/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a recording of a kernel's counters says of intervals of time and of threads: samples in
 * groups, each of which is to have a flow of its own.
 */
#ifndef PERF_SWLBR_INJECT_GROUPS_H
#define PERF_SWLBR_INJECT_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <swlbr/error.h>
#include <swlbr/perfdata.h>

/* A sample: when and of whom, and the sum of its increments. */
struct inject_sample {
	uint64_t time; /* ns */
	uint64_t count;
	pid_t pid, tid;
	uint32_t cpu;
	uint32_t number;	   /* in the order of the file */
	uint32_t interval, thread; /* its group; thread UINT32_MAX: of what counts for little */
};

struct inject_delta {
	uint32_t counter;
	uint64_t nr;
};

struct inject_group {
	const struct inject_sample *samples; /* by time */
	size_t nr_samples;
	uint64_t count; /* of all samples */
	struct inject_delta *deltas;
	size_t nr_deltas, max_deltas;
};

struct inject_groups {
	struct inject_sample *samples;
	size_t nr_samples, max_samples;
	uint32_t *group_of; /* per sample, in the order of the file */
	struct inject_group *groups;
	size_t nr_groups;
	uint64_t count; /* of all samples */
};

/* Note a sample of the counters. */
struct swlbr_error *inject_groups_add(struct inject_groups *groups,
				      const struct swlbr_perfdata *file,
				      const struct swlbr_record *record);

/*
 * After the last one: group them by intervals of @length ns and, in these, by thread. At most
 * @max_threads groups are of a thread alone; what counts for less is together in one group of the
 * interval.
 */
struct swlbr_error *inject_groups_make(struct inject_groups *groups, uint64_t length,
				       unsigned int max_threads);

/* Add the increments of the sample that was noted as number @number to its group. */
struct swlbr_error *inject_groups_add_deltas(struct inject_groups *groups, uint32_t number,
					     const struct swlbr_perfdata *file,
					     const struct swlbr_record *record);

void inject_groups_deinit(struct inject_groups *groups);

#endif
