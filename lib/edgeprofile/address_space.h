/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_EDGEPROFILE_ADDRESS_SPACE_H
#define SWLBR_EDGEPROFILE_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <swlbr/error.h>

/*
 * What every process had mapped at what time. Records of a perf.data need not be in the order of
 * time (each processor has its own buffer): what is added is gathered, and put in order when
 * address_spaces_update() is called. Nothing may be added afterwards that is older than what was
 * added before.
 */

/**
 * A place: index of a binary, and offset in its file. Both in one number, since they are the keys
 * of the tables that count.
 */
#define PLACE_OFFSET_BITS 40
#define PLACE_OFFSET_MASK ((1ULL << PLACE_OFFSET_BITS) - 1)
#define PLACE_NONE	  UINT64_MAX
#define PLACE_MAX_BINARY  ((1U << (64 - PLACE_OFFSET_BITS)) - 2)

/** A mapping of a binary. It holds until a later one takes its place. */
struct mapping {
	uint64_t start, size;
	uint64_t from_time;
	uint64_t safe_time; /* for so long after from_time no other mapping overlaps it */
	uint64_t delta;	    /* address + delta is the place */
	uint64_t order;	    /* among those of the same time */
	bool hole;	    /* of no binary */
};

/** What a process has mapped from its fork or exec on. */
struct image {
	uint64_t begin;
	/* After a fork: as in @origin at time @origin_time, until it maps something itself. */
	struct image *origin;
	uint64_t origin_time;
	struct mapping *mappings; /* by start address, unless @dirty */
	uint64_t *max_end;	  /* of the mappings up to and with this one */
	size_t nr, max;
	bool dirty;		    /* image_prepare() is needed */
	const struct mapping *last; /* found last; never NULL */
	struct image *next;	    /* all images */
};

/** A process, by pid; what follows an exec, or a new process of the same pid, is a new image. */
struct process {
	pid_t pid;
	struct image **images; /* in order of time */
	size_t nr;
};

struct address_spaces {
	struct space_event *events; /* until they are put in order */
	size_t nr_events, max_events;
	struct process **table; /* by hash of pid, open addressing */
	size_t nr_processes;
	unsigned int table_log2;
	struct image *images;
	size_t nr_inherited; /* mappings copied for forks */
	uint64_t next_order;
	uint64_t work; /* mappings that were put in order, each time counted */
};

/* The kernel's mappings are those of this pid. */
#define KERNEL_PID (-1)

/** @place is of the mapping's first byte, PLACE_NONE if it is of no binary. */
struct swlbr_error *address_spaces_map(struct address_spaces *spaces, uint64_t time, pid_t pid,
				       uint64_t start, uint64_t size, uint64_t place);
struct swlbr_error *address_spaces_fork(struct address_spaces *spaces, uint64_t time, pid_t pid,
					pid_t parent);
struct swlbr_error *address_spaces_exec(struct address_spaces *spaces, uint64_t time, pid_t pid);

/** Put in order what was added since the last time. */
struct swlbr_error *address_spaces_update(struct address_spaces *spaces);

/** NULL for a process without mappings. */
struct process *address_spaces_process(const struct address_spaces *spaces, pid_t pid);

/** What @process had mapped at @time, which changes to the time to ask the image for. */
struct image *process_image(const struct process *process, uint64_t *time);

/** Make an image that is dirty ready to be asked. */
struct swlbr_error *image_prepare(struct address_spaces *spaces, struct image *image);

/** The place of @address, or PLACE_NONE. */
uint64_t image_find(struct image *image, uint64_t address, uint64_t time);

static inline uint64_t image_place(struct image *image, uint64_t address, uint64_t time)
{
	const struct mapping *last = image->last;

	if (address - last->start < last->size && time - last->from_time < last->safe_time)
		return address + last->delta;
	return image_find(image, address, time);
}

/** Frees what is in it, and makes it empty. */
void address_spaces_clear(struct address_spaces *spaces);

#endif
