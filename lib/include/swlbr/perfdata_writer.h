/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_PERFDATA_WRITER_H
#define SWLBR_PERFDATA_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <swlbr/elf.h>
#include <swlbr/error.h>

/**
 * A perf.data being written. Nothing is seen at its path before swlbr_perfdata_writer_commit():
 * the file grows without a name (O_TMPFILE, or a temporary name where that is not possible).
 * Times are nanoseconds of CLOCK_MONOTONIC.
 */
struct swlbr_perfdata_writer;

/** What the header says of the recording. Strings are copied. */
struct swlbr_perfdata_info {
	int argc; /* the recorder's command line */
	const char *const *argv;
	const char *version; /* "swlbr 0.1" */
	uint64_t period;     /* taken branches per stack, attr.sample_period of event 0 */
	/*
	 * Of an emulated LBR: QEMU's name of the emulated machine ("aarch64"), NULL for others. The
	 * only event is then SWLBR_EVENT_EMULATED.
	 */
	const char *emulated;
	uint64_t branch_filter; /* PERF_SAMPLE_BRANCH_*, 0 for any */
};

/** Names of event 0, by which readers tell the sources of branch stacks apart. */
#define SWLBR_EVENT_BRANCHES "swlbr/branches/"
#define SWLBR_EVENT_EMULATED "swlbr/emulated-branches/"

/** The task and moment a record belongs to. */
struct swlbr_event_time {
	pid_t pid, tid;
	uint64_t time; /* ns */
	uint32_t cpu;
};

/** A file mapping, as PERF_RECORD_MMAP2 has it. */
struct swlbr_mapping {
	uint64_t start, length, offset; /* bytes; offset in the file */
	uint32_t prot, flags;		/* PROT_*, MAP_* */
	/* NULL, empty or a digest: maj/min/ino/generation 0 are written instead */
	const struct swlbr_build_id *build_id;
	const char *path;
};

/** "-" is standard output, if that is a file: readers of pipes want another form. */
struct swlbr_error *swlbr_perfdata_writer_open(const char *path,
					       const struct swlbr_perfdata_info *info,
					       struct swlbr_perfdata_writer **ret);

struct swlbr_error *swlbr_perfdata_write_comm(struct swlbr_perfdata_writer *writer,
					      const struct swlbr_event_time *when, const char *comm,
					      bool exec);
/** @when is the child's; @ppid and @ptid who made it. */
struct swlbr_error *swlbr_perfdata_write_fork(struct swlbr_perfdata_writer *writer,
					      const struct swlbr_event_time *when, pid_t ppid,
					      pid_t ptid);
struct swlbr_error *swlbr_perfdata_write_exit(struct swlbr_perfdata_writer *writer,
					      const struct swlbr_event_time *when, pid_t ppid,
					      pid_t ptid);
/** Also notes the build-id for the BUILD_ID feature (digests are not written there). */
struct swlbr_error *swlbr_perfdata_write_mmap2(struct swlbr_perfdata_writer *writer,
					       const struct swlbr_event_time *when,
					       const struct swlbr_mapping *mapping);
/**
 * All stacks and rows are of a kernel: @build_id its vmlinux's, @start and @length its code at run
 * time, which begins with the symbol @symbol ("_text"). Before the first of them.
 */
struct swlbr_error *swlbr_perfdata_write_kernel(struct swlbr_perfdata_writer *writer,
						const struct swlbr_event_time *when,
						const struct swlbr_build_id *build_id,
						uint64_t start, uint64_t length,
						const char *symbol);
/** The mapping of SWLBR_NO_COUNTERS_ADDRESS, in the process of @when. */
struct swlbr_error *swlbr_perfdata_write_no_counters(struct swlbr_perfdata_writer *writer,
						     const struct swlbr_event_time *when);
/** swlbr:counters rows for counters first…first+nr-1; zero stretches are left out, rows split. */
struct swlbr_error *swlbr_perfdata_write_counters(struct swlbr_perfdata_writer *writer,
						  const struct swlbr_event_time *when,
						  const struct swlbr_build_id *build_id,
						  uint32_t engine, uint64_t first, uint64_t nr,
						  const uint64_t *values);

/** One row of swlbr:value. */
struct swlbr_value_row {
	uint64_t function; /* index of the data record */
	uint32_t kind, site;
	uint64_t
		value; /* indirect call: ELF virtual address of the target, 0 if it is not in this binary */
	uint64_t nr;
};
struct swlbr_error *swlbr_perfdata_write_value(struct swlbr_perfdata_writer *writer,
					       const struct swlbr_event_time *when,
					       const struct swlbr_build_id *build_id,
					       uint32_t engine, const struct swlbr_value_row *row);
/** swlbr:lost: executions after @since (ns, the last snapshot) may be missing; @why in words. */
struct swlbr_error *swlbr_perfdata_write_lost(struct swlbr_perfdata_writer *writer,
					      const struct swlbr_event_time *when,
					      const struct swlbr_build_id *build_id, uint64_t since,
					      const char *why);

/* Kinds of swlbr:arc. */
#define SWLBR_ARC_BRANCH 0 /* a taken branch: the branch instruction, and its target */
#define SWLBR_ARC_RANGE	 1 /* straight-line code: its first and last instruction */
#define SWLBR_ARC_CALL	 2 /* a call from code without counters: from is 0 */

/** One row of swlbr:arc: totals of a process image, in ELF virtual addresses. */
struct swlbr_arc_row {
	uint32_t kind;
	uint64_t from, to, nr;
	bool exact; /* counted, not a guess */
};
/** @ip: an address in the process that the row is about. */
struct swlbr_error *swlbr_perfdata_write_arc(struct swlbr_perfdata_writer *writer,
					     const struct swlbr_event_time *when, uint64_t ip,
					     const struct swlbr_build_id *build_id,
					     const struct swlbr_arc_row *row);

/** One taken branch of a branch stack: address of the branch instruction, and of its target. */
struct swlbr_branch_entry {
	uint64_t from, to;
};

/**
 * A sample of swlbr/branches/: @entries[0] is the newest branch, @period the taken branches that
 * the sample stands for. Up to 2,000 entries (perf's own limit for a stack is lower).
 */
struct swlbr_error *swlbr_perfdata_write_stack(struct swlbr_perfdata_writer *writer,
					       const struct swlbr_event_time *when, uint64_t ip,
					       uint64_t period, size_t nr,
					       const struct swlbr_branch_entry *entries);

/**
 * Tell readers that they may process what is older than the newest record at the round before
 * (PERF_RECORD_FINISHED_ROUND), so that they need not hold the whole file in order to sort it.
 * A record that comes later all the same with an older time is written with that time as its own.
 * Without rounds records may come in any order.
 */
struct swlbr_error *swlbr_perfdata_write_round(struct swlbr_perfdata_writer *writer);

/** Set attr.sample_period of event 0: the taken branches that a stack stands for. */
struct swlbr_error *swlbr_perfdata_writer_set_period(struct swlbr_perfdata_writer *writer,
						     uint64_t period);

struct perf_event_attr;
struct perf_event_header;

/**
 * Have an event of the kernel in the file besides. @attr is as perf_event_open(2) took it, its
 * sample_type with IDENTIFIER, IP, TID, TIME, CPU and PERIOD and with none of ADDR, ID, STREAM_ID
 * and READ, sample_id_all set, and its clock CLOCK_MONOTONIC; @name is what EVENT_DESC calls it.
 * Both are copied. Only before the first record: the head of the file names all events. *@id_ret is
 * what swlbr_perfdata_write_kernel_record() wants.
 */
struct swlbr_error *swlbr_perfdata_writer_add_event(struct swlbr_perfdata_writer *writer,
						    const struct perf_event_attr *attr,
						    const char *name, uint64_t *id_ret);

/**
 * A record as the kernel wrote it to the ring buffer of the event added as @id: a SAMPLE, MMAP,
 * MMAP2, COMM, FORK, EXIT, LOST, LOST_SAMPLES, THROTTLE or UNTHROTTLE. Its identifiers, which are
 * the kernel's, are replaced by @id; nothing else is changed.
 */
struct swlbr_error *swlbr_perfdata_write_kernel_record(struct swlbr_perfdata_writer *writer,
						       const struct perf_event_header *record,
						       uint64_t id);

/** Bytes written so far. */
uint64_t swlbr_perfdata_writer_size(const struct swlbr_perfdata_writer *writer);

/**
 * Write the feature sections and the header, keep an older file as PATH.old (as perf record does),
 * give the file its name, and free @writer. On error nothing is at the path that was not before.
 */
struct swlbr_error *swlbr_perfdata_writer_commit(struct swlbr_perfdata_writer *writer);

/** Throw the file away and free @writer; NULL is fine. */
void swlbr_perfdata_writer_discard(struct swlbr_perfdata_writer *writer);

#endif
