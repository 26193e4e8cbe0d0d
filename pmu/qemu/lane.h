/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the plugin inside the emulator and the recorder outside share: a lane for each thread of an
 * emulated program, in memory that outlives the thread (a memfd, sent to the recorder through its
 * socket). So what was recorded is there whatever ends the program, and no descriptor of the
 * program is held.
 *
 * A lane is a header, a ring of records, and (for exact counts) a table of runs. The plugin writes
 * @head, the recorder @tail; records are published by moving @head, and the plugin waits while the
 * ring is full. A run is straight-line code: it starts where a taken branch led, ends at the next
 * taken branch, and is known by both and the branch's target.
 */
#ifndef SWLBR_QEMU_LANE_H
#define SWLBR_QEMU_LANE_H

#include <stdint.h>

#define LANE_MAGIC	 0x312d656e616c7773ULL
#define LANE_HEADER_SIZE 4096
#define LANE_MAX_RING	 (1 << 20)
#define LANE_MAX_RECORD	 (1 << 15)
#define LANE_MAX_DEPTH	 64
#define LANE_MAX_RUNS	 (1 << 24)

enum lane_mode { LANE_LBR, LANE_COUNTS };

/*
 * A guest address and the mapping it is in: counts have no time, and after a dlclose something else
 * may be at an address. Mapping 0 is none that has a file.
 */
#define LANE_ADDRESS_BITS 48
/* The mapping that all code has where a whole machine is emulated. */
#define LANE_IMAGE 1
static inline uint64_t lane_location(uint64_t address, uint16_t mapping)
{
	return (address & ((1ULL << LANE_ADDRESS_BITS) - 1)) | (uint64_t)mapping
								       << LANE_ADDRESS_BITS;
}

/** Locations of a run's first and last instruction, and of the branch's target (0: no branch). */
struct lane_run {
	uint64_t start, last, to, nr;
};

#define LANE_SAVED_RUNS 16

struct lane {
	uint64_t magic;
	uint32_t mode; /* enum lane_mode */
	uint32_t ring_size;
	uint64_t process; /* tells program images apart: after an exec the pid is the same */
	uint32_t pid, tid;
	uint32_t max_runs;
	_Alignas(64) uint64_t head; /* bytes ever written into the ring */
	uint32_t nr_runs;	    /* entries of the table that are there */
	uint32_t closed;	    /* the thread has ended */
	uint64_t lost_runs;	    /* executions that found the table full */
	uint64_t lost_threads;	    /* of the process, which got no lane of their own */
	/*
	 * The run that goes on; and those that signals interrupted, innermost last. They end with
	 * the program.
	 */
	uint64_t open_start, open_last;
	uint32_t nr_saved;
	struct {
		uint64_t start, last;
	} saved[LANE_SAVED_RUNS];
	_Alignas(64) uint64_t tail; /* bytes ever read from the ring */
	uint32_t waiting; /* the plugin waits for @tail to move (a futex on its low half) */
};

enum lane_record_type {
	LANE_RECORD_START = 1, /* struct lane_start, then the program's path */
	LANE_RECORD_MAPPING,   /* struct lane_mapping, then the file's path */
	LANE_RECORD_COMM,      /* the name */
	LANE_RECORD_SAMPLE,    /* struct lane_sample, then its entries */
	LANE_RECORD_EXEC,      /* the path of what now runs outside the emulator */
	LANE_RECORD_NO_EXEC,   /* the exec failed after all */
};

/** What a record starts with. Records are multiples of 8 bytes; texts are padded with zeroes. */
struct lane_record {
	uint32_t type;
	uint32_t size; /* bytes, with this header */
	uint64_t time; /* CLOCK_MONOTONIC, ns */
};

enum lane_start_kind { LANE_START_IMAGE, LANE_START_FORK, LANE_START_THREAD };

/** The first record of a lane. */
struct lane_start {
	uint32_t kind;	     /* enum lane_start_kind */
	uint32_t ppid, ptid; /* who made it: of a fork */
	uint32_t reserved;
};

struct lane_mapping {
	uint64_t start, length, offset; /* guest address, bytes; offset in the file */
	uint64_t inode;
	uint32_t major, minor;
	uint32_t id;
	uint32_t reserved;
};

struct lane_entry {
	uint64_t from, to;
};

struct lane_sample {
	uint64_t ip;
	uint64_t period; /* taken branches since the sample before */
	uint64_t nr;	 /* entries, newest first */
};

#endif
