/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An address space and the counter areas in it. Threads and vfork children share one; a fork makes
 * a new one, whose counts start from what it inherited.
 */
#ifndef SWLBR_USER_MEMORY_H
#define SWLBR_USER_MEMORY_H

#include "area.h"

struct known_map {
	uint64_t start, end, offset, inode;
};

struct memory {
	unsigned int refs; /* processes */
	struct area *areas;
	struct known_map *known;
	size_t nr_known;
	uint64_t next_scan; /* ns */
	bool recorded;	    /* counted in the summary */
};

struct memory *memory_create(void);
struct memory *memory_get(struct memory *memory);
/* Drop a reference; areas that are left are thrown away. */
void memory_put(struct memory *memory);

/*
 * Find what is mapped: writes MMAP2 rows of new executable mappings, makes areas for binaries with
 * counters. @inherited: the areas' present counts are not ours to count (attach, fork).
 */
struct swlbr_error *memory_scan(struct session *session, struct memory *memory, pid_t pid,
				pid_t tid, bool inherited);

/* After a fork: the child's memory, as it is in the stopped child. */
struct swlbr_error *memory_fork(struct session *session, const struct memory *parent, pid_t pid,
				struct memory **ret);

/* Copy all counters and value lists: the last snapshot so far. */
struct swlbr_error *memory_snapshot(struct session *session, struct memory *memory, pid_t pid,
				    pid_t tid);

/* Go on with a snapshot of the running process, for about @budget ns of processor time. */
struct swlbr_error *memory_sweep(struct session *session, struct memory *memory, pid_t tid,
				 uint64_t budget);

/* Write the rows of all areas, or of those inside [start, end), and forget them. */
struct swlbr_error *memory_finish(struct session *session, struct memory *memory, pid_t pid,
				  uint64_t start, uint64_t end);

#endif
