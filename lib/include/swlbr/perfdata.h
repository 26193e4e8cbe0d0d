/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_PERFDATA_H
#define SWLBR_PERFDATA_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <swlbr/elf.h>
#include <swlbr/error.h>

/** A perf.data opened for reading. */
struct swlbr_perfdata;

enum swlbr_record_kind {
	SWLBR_RECORD_OTHER, /* skipped by size; only header fields are set */
	SWLBR_RECORD_MMAP2, /* or MMAP, which older recordings have and which lacks a build-id */
	SWLBR_RECORD_COMM,
	SWLBR_RECORD_FORK,
	SWLBR_RECORD_EXIT,
	SWLBR_RECORD_COUNTERS, /* the swlbr tracepoints, decoded by field name */
	SWLBR_RECORD_VALUE,
	SWLBR_RECORD_LOST_COUNTS,
	SWLBR_RECORD_ARC,
	SWLBR_RECORD_SAMPLE,	    /* of any other event */
	SWLBR_RECORD_LOST,	    /* records or samples that the kernel had no room for */
	SWLBR_RECORD_THROTTLE,	    /* the kernel stopped the event for a while */
	SWLBR_RECORD_AUXTRACE_INFO, /* a hardware trace is in the file */
};

/**
 * An entry of a branch stack, as the kernel has it (struct perf_branch_entry): address of the
 * branch instruction, and of its target.
 */
struct swlbr_branch {
	uint64_t from, to, flags;
};

/**
 * In the stacks of counters: code without counters, whatever binary it is in. No program can have
 * anything there (it is below vm.mmap_min_addr); the process has a mapping that names it, since
 * readers take a stack with an address outside of all mappings for damaged.
 */
#define SWLBR_NO_COUNTERS_ADDRESS 0x1000
#define SWLBR_NO_COUNTERS_SIZE	  0x1000
#define SWLBR_NO_COUNTERS_PATH	  "[no counters]"

#define SWLBR_BRANCH_MISPREDICTED  (1 << 0)
#define SWLBR_BRANCH_CYCLES(flags) ((flags) >> 4 & 0xffff) /* since the branch before; 0: unknown */
#define SWLBR_BRANCH_SPEC(flags)   ((flags) >> 24 & 3)
#define SWLBR_BRANCH_WRONG_PATH	   1 /* of SWLBR_BRANCH_SPEC: taken by speculation that was undone */

/**
 * One record. Pointers stay valid until the next call of swlbr_perfdata_next(). The build-id of a
 * row has size 20 always: rows have zeroes after a shorter one, so compare all 20 bytes.
 */
struct swlbr_record {
	enum swlbr_record_kind kind;
	uint32_t type;	 /* PERF_RECORD_* */
	uint16_t misc;	 /* PERF_RECORD_MISC_* */
	uint64_t offset; /* in the file; of a compressed record, of what it is compressed in */
	pid_t pid, tid;
	uint64_t time; /* ns */
	union {
		struct {
			uint64_t start, length, offset;
			uint32_t prot;			/* PROT_*; of MMAP only what it tells */
			struct swlbr_build_id build_id; /* size 0: none recorded */
			const char *path;
		} mmap2;
		struct {
			const char *comm;
			bool exec;
		} comm;
		struct {
			pid_t ppid, ptid;
		} task; /* FORK, EXIT */
		struct {
			struct swlbr_build_id build_id;
			uint32_t engine;
			uint64_t first;
			uint32_t nr;
			const uint64_t *value; /* aligned, host byte order */
		} counters;
		struct {
			struct swlbr_build_id build_id;
			uint32_t engine;
			uint64_t function;
			uint32_t value_kind, site;
			uint64_t value, nr;
		} value;
		struct {
			struct swlbr_build_id build_id;
			uint64_t since;
			const char *why;
		} lost;
		struct {
			struct swlbr_build_id build_id;
			uint32_t kind;	   /* SWLBR_ARC_* of perfdata_writer.h */
			uint64_t from, to; /* ELF virtual addresses */
			uint64_t nr;
			bool exact;
		} arc;
		struct {
			uint32_t event;	     /* index, see swlbr_perfdata_event() */
			uint32_t nr_callers; /* length of the call chain, 0: none */
			bool has_stack;
			uint32_t nr;			  /* entries of the branch stack */
			const struct swlbr_branch *stack; /* newest first, host byte order */
			uint64_t ip, period;
			uint32_t cpu; /* 0 if it does not tell */
			uint32_t raw_size;
			const uint8_t *raw; /* as the file has it, or NULL */
		} sample;
		uint64_t nr_lost;    /* LOST */
		uint32_t trace_type; /* AUXTRACE_INFO: SWLBR_TRACE_* */
	};
};

/* What traces a file; numbered as perf's PERF_AUXTRACE_*. */
#define SWLBR_TRACE_INTEL_PT  1
#define SWLBR_TRACE_INTEL_BTS 2
#define SWLBR_TRACE_CS_ETM    3
#define SWLBR_TRACE_ARM_SPE   4

/** What a file says of one of its events. */
struct swlbr_perfdata_event {
	const char *name; /* "swlbr/branches/", "cycles:u", …; NULL if the file does not tell */
	const char *pmu;  /* name of the PMU of that type; NULL if the file does not tell */
	uint32_t type;	  /* of perf_event_attr, as the rest */
	uint64_t config, sample_type, branch_sample_type;
	bool has_time; /* all its records tell their time */
};

/** A row of the BUILD_ID feature: a binary and its build-id. */
struct swlbr_perfdata_binary {
	const char *path;
	struct swlbr_build_id build_id;
	bool kernel; /* the kernel, or a module of it */
};

/** True if the first bytes of the file at @path are a perf.data's magic (either byte order). */
struct swlbr_error *swlbr_perfdata_probe(const char *path, bool *is_perfdata_ret);

/**
 * Open @path ("-" is standard input). Freed by swlbr_perfdata_close(). Both byte orders, what was
 * written through a pipe, and compressed records are read; what comes through a pipe is first
 * copied to a temporary file. A file without swlbr events is fine. Memory is bounded whatever the
 * file says; errors name the file and, where there is one, the offset.
 */
struct swlbr_error *swlbr_perfdata_open(const char *path, struct swlbr_perfdata **ret);
/** As swlbr_perfdata_open() on an open descriptor, which is duplicated; @path names it in errors. */
struct swlbr_error *swlbr_perfdata_open_fd(int fd, const char *path, struct swlbr_perfdata **ret);
void swlbr_perfdata_close(struct swlbr_perfdata *file);

/**
 * The next record in file order; @end_ret is set after the last. After an error the file can only
 * be rewound or closed.
 */
struct swlbr_error *swlbr_perfdata_next(struct swlbr_perfdata *file, struct swlbr_record *record,
					bool *end_ret);

/**
 * What a sample of the kernel's PMU swlbr has in its raw part: counter number @index there, and what
 * was added to it. False past the last, or if there is nothing of that kind.
 */
bool swlbr_perfdata_delta(const struct swlbr_perfdata *file, const struct swlbr_record *record,
			  uint32_t index, uint32_t *counter_ret, uint32_t *nr_ret);

/** Begin anew with the first record; @skip_samples: pass over samples of any kind. */
void swlbr_perfdata_rewind(struct swlbr_perfdata *file, bool skip_samples);

/** Name of event @index ("swlbr/branches/", "swlbr:counters", …), or NULL past the last. */
const char *swlbr_perfdata_event_name(const struct swlbr_perfdata *file, size_t index);

/*
 * What is known of the file. Of a file written through a pipe it is known when the records that
 * say it have been read. Strings live as long as the file is open.
 */

/** False past the last. */
bool swlbr_perfdata_event(const struct swlbr_perfdata *file, size_t index,
			  struct swlbr_perfdata_event *ret);
/** False past the last. */
bool swlbr_perfdata_binary(const struct swlbr_perfdata *file, size_t index,
			   struct swlbr_perfdata_binary *ret);
/** The machine (uname -m) that it was recorded on, or NULL. */
const char *swlbr_perfdata_arch(const struct swlbr_perfdata *file);
/** The kernel's release that it was recorded on, or NULL. */
const char *swlbr_perfdata_os_release(const struct swlbr_perfdata *file);
/** True if the recorder was not ended properly: the header does not tell where the records end. */
bool swlbr_perfdata_unfinished(const struct swlbr_perfdata *file);
/** A line about a damaged part that was passed over, or NULL past the last. */
const char *swlbr_perfdata_note(const struct swlbr_perfdata *file, size_t index);

#endif
