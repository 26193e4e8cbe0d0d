/* SPDX-License-Identifier: GPL-2.0-only */
/* Branch stacks of each group of samples, walks through what it counted. */
#ifndef PERF_SWLBR_INJECT_WALKS_H
#define PERF_SWLBR_INJECT_WALKS_H

#include <stdint.h>

#include <swlbr/branch_map.h>
#include <swlbr/flow.h>
#include <swlbr/perfdata_writer.h>

#include "inject_groups.h"

struct inject_walks {
	struct swlbr_perfdata_writer *writer;
	const struct inject_groups *groups; /* with their increments */
	uint64_t start;			    /* of the kernel's code at run time */
	uint64_t offset;		    /* run-time addresses less those of vmlinux */
	uint64_t period;    /* taken branches to a stack; 0: for about 20,000 stacks, and set */
	uint64_t nr_stacks; /* written */
};

/*
 * @counters: of the whole recording, of @map's; @whole: their flow. Each counter of a group is below
 * @map's nr_counters.
 */
struct swlbr_error *inject_walks_write(struct inject_walks *walks,
				       const struct swlbr_branch_map *map, const uint64_t *counters,
				       const struct swlbr_flow_result *whole);

#endif
