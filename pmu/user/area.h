/* SPDX-License-Identifier: GPL-2.0-only */
/* The counters of one binary in an address space. */
#ifndef SWLBR_USER_AREA_H
#define SWLBR_USER_AREA_H

#include "counter_copy.h"
#include "history.h"
#include "session.h"
#include "value_lists.h"

/* Blocks that are read at once. */
#define AREA_BATCH 64

/* A munmap of [start, end) that was held, and has been let go on. */
struct unmap_call {
	pid_t tid; /* 0: none */
	int nr;	   /* of the system call */
	uint64_t start, end;
	uint64_t used; /* processor time of the thread when it was held, ns */
};

struct area {
	struct area *next;
	struct image *image;
	uint64_t load_bias;
	struct counter_copy base, last;
	struct value_lists base_values, last_values;
	struct history history; /* from base to last */
	uint64_t last_time;	/* ns, of the last whole snapshot; 0: none */
	size_t sweep;		/* the next block of the snapshot under way */
	uint64_t moved; /* address of the counters in continuous mode, where no symbol tells */
	bool seen;	/* in the scan under way */
	struct unmap_call leaving; /* the last snapshot is taken */
	bool gone;		   /* by that call, which is over */
};

struct swlbr_error *area_create(struct image *image, uint64_t load_bias, struct area **ret);
void area_destroy(struct area *area);

/* Where the counters are: continuous mode moves them, and says how far in a variable. */
uint64_t area_address(const struct area *area, pid_t tid);
/* Where they are if it does not. */
uint64_t area_static_address(const struct area *area);

/*
 * Read the blocks from @first on, @nr of them and at most AREA_BATCH, those touched since the load.
 * @address: area_address(); @pagemap: as of remote_pages_touched(). @read_ret is made false if the
 * memory is gone.
 */
struct swlbr_error *area_read_blocks(struct area *area, pid_t tid, int pagemap, uint64_t address,
				     size_t first, size_t nr, bool *read_ret);

/* Counters and value lists as they are now. An unreadable process leaves what was read before. */
struct swlbr_error *area_snapshot(struct session *session, struct area *area, pid_t pid, pid_t tid);
/* The present counts are not ours to count. */
struct swlbr_error *area_inherit(struct session *session, struct area *area, pid_t pid, pid_t tid);

/* Write the rows of an area that is whole. */
struct swlbr_error *area_finish(struct session *session, struct area *area, pid_t pid);

#endif
