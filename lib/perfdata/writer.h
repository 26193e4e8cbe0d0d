/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_PERFDATA_WRITER_INTERNAL_H
#define SWLBR_PERFDATA_WRITER_INTERNAL_H

#include <linux/perf_event.h>
#include <stdio.h>

#include <swlbr/perfdata_writer.h>

#include "base/outfile.h"
#include "perfdata/format.h"

/* Bytes of a perf_event_attr in the file: what every perf since 5.13 reads (PERF_ATTR_SIZE_VER7). */
#define ATTR_SIZE 128

/* The fields that samples of all events have; with sample_id_all other records end with them. */
#define SAMPLE_TYPE                                                                     \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

/* The ids of samples are 1 + their event's index here. */
enum writer_event {
	EVENT_BRANCHES,
	EVENT_COUNTERS,
	EVENT_VALUE,
	EVENT_LOST,
	EVENT_ARC,
	WRITER_EVENTS,
};

/** A tracepoint that the file describes in its TRACING_DATA. */
struct writer_tracepoint {
	const char *name;   /* "swlbr:…" without "swlbr:" */
	const char *fields; /* lines of the format file after the common fields */
	const char *print_fmt;
};

/** A binary with a build-id, for the BUILD_ID feature. */
struct writer_binary {
	struct swlbr_build_id build_id;
	char *path;
};

/** Where a binary's code is mapped in a process. */
struct writer_mapping {
	pid_t pid;
	uint8_t id[SWLBR_BUILD_ID_SIZE];
	uint64_t start;
};

/** An event of the kernel, whose records are written as they are. */
struct writer_kernel_event {
	struct perf_event_attr attr;
	char *name;
};

struct swlbr_perfdata_writer {
	struct swlbr_outfile *file;
	char *path; /* for messages */
	int argc;
	char **argv;
	char *version;
	char *emulated; /* the emulated machine, or NULL */
	bool of_kernel;
	int nr_events; /* the first ones of enum writer_event */
	struct perf_event_attr attrs[WRITER_EVENTS];
	struct writer_kernel_event *kernel_events;
	size_t nr_kernel_events;
	struct perfdata_header header; /* header.data.offset is 0 until the head is written */
	uint64_t start_monotonic, start_realtime; /* ns, the same moment on two clocks */
	uint64_t first_sample, last_sample;	  /* ns */
	uint64_t newest, promised, flushed;	  /* ns, see swlbr_perfdata_write_round() */
	struct writer_binary *binaries;
	size_t nr_binaries;
	struct writer_mapping *mappings; /* of living processes */
	size_t nr_mappings, max_mappings;
	size_t used; /* bytes of @record */
	/* The record being put together; sizes are 16 bit. */
	_Alignas(8) uint8_t record[UINT16_MAX + 1];
};

extern const struct writer_tracepoint swlbr_writer_tracepoints[WRITER_EVENTS];

/* Every event has one id: those of enum writer_event 1…, and after them the kernel's. */
static inline uint64_t writer_event_id(enum writer_event event)
{
	return 1 + event;
}

static inline uint64_t writer_kernel_event_id(size_t index)
{
	return 1 + WRITER_EVENTS + index;
}

/* config of the attr and common_type of the rows of tracepoint @event. */
static inline uint16_t writer_tracepoint_id(enum writer_event event)
{
	return 64000 + event;
}

/* A name for people: "swlbr/branches/", "swlbr:counters", … */
void swlbr_writer_event_name(const struct swlbr_perfdata_writer *writer, enum writer_event event,
			     char name[32]);

/* The time to write for a record: never before what a reader has already been told to flush. */
uint64_t swlbr_writer_note_time(struct swlbr_perfdata_writer *writer, uint64_t time);
/* A sample of this time is in the file. */
void swlbr_writer_note_sample(struct swlbr_perfdata_writer *writer, uint64_t time);

/* Start a record of @type; what follows is appended by swlbr_writer_put…(). */
void swlbr_writer_begin(struct swlbr_perfdata_writer *writer, uint32_t type, uint16_t misc);
void swlbr_writer_put(struct swlbr_perfdata_writer *writer, const void *data, size_t size);
void swlbr_writer_put_u32(struct swlbr_perfdata_writer *writer, uint32_t value);
void swlbr_writer_put_u64(struct swlbr_perfdata_writer *writer, uint64_t value);
/* Zeroes until the record's size is a multiple of 8. */
void swlbr_writer_pad(struct swlbr_perfdata_writer *writer);
/* Start a PERF_RECORD_SAMPLE of @event with all that stands before RAW or BRANCH_STACK. */
void swlbr_writer_begin_sample(struct swlbr_perfdata_writer *writer, enum writer_event event,
			       const struct swlbr_event_time *when, uint64_t ip, uint64_t period);
/* Fill in the record's size and append it to the file. */
struct swlbr_error *swlbr_writer_end(struct swlbr_perfdata_writer *writer);

/* Note that code of binary @id is mapped at @start. */
struct swlbr_error *swlbr_writer_mapping_add(struct swlbr_perfdata_writer *writer, pid_t pid,
					     const struct swlbr_build_id *id, uint64_t start);
/* A new process has its parent's mappings. */
struct swlbr_error *swlbr_writer_mapping_fork(struct swlbr_perfdata_writer *writer, pid_t pid,
					      pid_t ppid);
/* The process has ended, or runs another program now. */
void swlbr_writer_mapping_forget(struct swlbr_perfdata_writer *writer, pid_t pid);
/* An address in the code of @id in that process; 0 if none was noted. */
uint64_t swlbr_writer_mapping_start(const struct swlbr_perfdata_writer *writer, pid_t pid,
				    const struct swlbr_build_id *id);

/* A PMU type number that no PMU of this machine has. */
uint32_t swlbr_writer_free_pmu_type(void);

/* Write the feature table and the sections at the end of the data; sets the header's bits. */
struct swlbr_error *swlbr_writer_features(struct swlbr_perfdata_writer *writer);

/* The contents of the TRACING_DATA section. */
void swlbr_writer_tracing_data(FILE *out);

#endif
