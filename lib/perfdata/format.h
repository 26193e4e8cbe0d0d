/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_PERFDATA_FORMAT_H
#define SWLBR_PERFDATA_FORMAT_H

/*
 * The perf.data file format. Sources: tools/perf/Documentation/perf.data-file-format.txt,
 * tools/perf/util/header.h, tools/lib/perf/include/perf/event.h and include/uapi/linux/perf_event.h
 * of Linux 6.1; COMPRESSED2 and branch counters: the same of Linux 6.16.
 */
#include <stdint.h>

#define PERFDATA_MAGIC	       0x32454c4946524550ULL /* "PERFILE2" */
#define PERFDATA_MAGIC_SWAPPED 0x50455246494c4532ULL /* written on the other byte order */

/** Bits of perfdata_header.features. */
enum perfdata_feature {
	PERFDATA_TRACING_DATA = 1,
	PERFDATA_BUILD_ID = 2,
	PERFDATA_HOSTNAME = 3,
	PERFDATA_OSRELEASE = 4,
	PERFDATA_VERSION = 5,
	PERFDATA_ARCH = 6,
	PERFDATA_NRCPUS = 7,
	PERFDATA_CPUDESC = 8,
	PERFDATA_CPUID = 9,
	PERFDATA_TOTAL_MEM = 10,
	PERFDATA_CMDLINE = 11,
	PERFDATA_EVENT_DESC = 12,
	PERFDATA_BRANCH_STACK = 15,
	PERFDATA_PMU_MAPPINGS = 16,
	PERFDATA_SAMPLE_TIME = 21,
	PERFDATA_COMPRESSED = 27,
	PERFDATA_CLOCK_DATA = 29,
	PERFDATA_FEATURES = 256,
};

/** A part of the file: bytes from its beginning. */
struct perfdata_section {
	uint64_t offset, size;
};

/**
 * What the file begins with. The table of the features (one section for each bit set, in the order
 * of the bits) stands right behind @data.
 */
struct perfdata_header {
	uint64_t magic;
	uint64_t size;	    /* of this header; a pipe's header has only @magic and @size: 16 */
	uint64_t attr_size; /* bytes of one attr, the section of its ids included */
	struct perfdata_section attrs, data, event_types;
	uint64_t features[PERFDATA_FEATURES / 64];
};

#define PERFDATA_PIPE_HEADER_SIZE 16

/* Records that perf itself makes up, beside the kernel's PERF_RECORD_*. */
enum perfdata_record {
	PERFDATA_RECORD_HEADER_ATTR = 64,
	PERFDATA_RECORD_TRACING_DATA = 66, /* its header's size leaves out the data that follow */
	PERFDATA_RECORD_BUILD_ID = 67,
	PERFDATA_RECORD_FINISHED_ROUND = 68,
	PERFDATA_RECORD_AUXTRACE_INFO = 70,
	PERFDATA_RECORD_AUXTRACE = 71, /* its header's size leaves out the trace that follows */
	PERFDATA_RECORD_EVENT_UPDATE = 78,
	PERFDATA_RECORD_HEADER_FEATURE = 80,
	PERFDATA_RECORD_COMPRESSED = 81,
	PERFDATA_RECORD_COMPRESSED2 = 83, /* the size of the data is in it, before them */
};

/* perf_record_event_update.type: a name for the event with that id. */
#define PERFDATA_EVENT_UPDATE_NAME 2

/* What perf_event.h of Linux 6.1 lacks: the branch stack is followed by its counters. */
#define PERFDATA_BRANCH_COUNTERS (1ULL << 19)

/* perf's strings are a u32 length, then the text padded with zeroes to a multiple of this. */
#define PERFDATA_STRING_ALIGN 64

/* PERF_RECORD_MISC_BUILD_ID_SIZE: an entry of the BUILD_ID feature tells the size of its id. */
#define PERFDATA_MISC_BUILD_ID_SIZE (1 << 15)

#endif
