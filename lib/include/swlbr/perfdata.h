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
};

/**
 * One record. Pointers stay valid until the next call of swlbr_perfdata_next(). The build-id of a
 * row has size 20 always: rows have zeroes after a shorter one, so compare all 20 bytes.
 */
struct swlbr_record {
	enum swlbr_record_kind kind;
	uint32_t type;	 /* PERF_RECORD_* */
	uint64_t offset; /* in the file */
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
	};
};

/** True if the first bytes of the file at @path are a perf.data's magic (either byte order). */
struct swlbr_error *swlbr_perfdata_probe(const char *path, bool *is_perfdata_ret);

/**
 * Open @path ("-" is standard input, if that is a file). Freed by swlbr_perfdata_close(). Both byte
 * orders are read; a file written through a pipe and compressed records are not supported yet. A
 * file without swlbr events is fine: all its records that are not of tasks or mappings are OTHER.
 * Memory is bounded whatever the file says; errors name the file and, where there is one, the offset.
 */
struct swlbr_error *swlbr_perfdata_open(const char *path, struct swlbr_perfdata **ret);
/** As swlbr_perfdata_open() on an open descriptor, which is duplicated; @path names it in errors. */
struct swlbr_error *swlbr_perfdata_open_fd(int fd, const char *path, struct swlbr_perfdata **ret);
void swlbr_perfdata_close(struct swlbr_perfdata *file);

/**
 * The next record in file order; @end_ret is set, and @record untouched, after the last. After an
 * error the file can only be closed.
 */
struct swlbr_error *swlbr_perfdata_next(struct swlbr_perfdata *file, struct swlbr_record *record,
					bool *end_ret);

/** Name of event @index ("swlbr/branches/", "swlbr:counters", …), or NULL past the last. */
const char *swlbr_perfdata_event_name(const struct swlbr_perfdata *file, size_t index);

#endif
