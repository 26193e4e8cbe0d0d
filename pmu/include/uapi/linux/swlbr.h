/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Counters and arcs between kernel and user space.
 *
 * A file is a header and records of one size. Sizes are in the header: a reader steps by them, and
 * takes of a header or record what it knows. Numbers are in the byte order of the machine that
 * wrote them, which @version shows.
 */
#ifndef _UAPI_LINUX_SWLBR_H
#define _UAPI_LINUX_SWLBR_H

#include <linux/types.h>

/* The first bytes of a file, without a NUL. */
#define SWLBR_MAGIC		"SWLBRARC"
#define SWLBR_MAGIC_SIZE	8
#define SWLBR_FORMAT_VERSION	1
#define SWLBR_ID_SIZE		20

/**
 * enum swlbr_kind - what the records of a file are
 * @SWLBR_KIND_ARCS: struct swlbr_arc
 * @SWLBR_KIND_COUNTERS: the values of an engine's counters alone, counter after counter
 * @SWLBR_KIND_LINES: struct swlbr_line, by counter
 */
enum swlbr_kind {
	SWLBR_KIND_ARCS = 1,
	SWLBR_KIND_COUNTERS = 2,
	SWLBR_KIND_LINES = 3,
};

/**
 * enum swlbr_engine_id - who keeps the counters
 * @SWLBR_ENGINE_CLANG: code built by clang -fprofile-generate
 */
enum swlbr_engine_id {
	SWLBR_ENGINE_CLANG = 1,
};

/* Counters: nothing was taken away from them since the machine was switched on. */
#define SWLBR_SINCE_BOOT	(1U << 0)
/* @load_offset is known; it is kept from those who may not see the kernel's addresses. */
#define SWLBR_HAS_LOAD_OFFSET	(1U << 1)

/**
 * struct swlbr_header - begins a file
 * @magic: SWLBR_MAGIC
 * @version: SWLBR_FORMAT_VERSION; another one means other fields
 * @header_size: bytes to the first record, a multiple of 8
 * @record_size: bytes from one record to the next, a multiple of 8
 * @nr_cntrs: values in @cntrs of a record
 * @nr_records: how many records follow
 * @kind: enum swlbr_kind
 * @engine: enum swlbr_engine_id
 * @flags: SWLBR_SINCE_BOOT and so on
 * @build_id_size: bytes of @build_id, 0 if the binary has none
 * @build_id: of the binary that the addresses or counters are of
 * @reserved: 0
 * @load_offset: addresses at run time less those of the binary's symbols
 * @before_perf: of counters from boot on, how much was counted before perf could have recorded it,
 *	summed over all; 0 for others
 */
struct swlbr_header {
	__u8	magic[SWLBR_MAGIC_SIZE];
	__u32	version;
	__u32	header_size;
	__u32	record_size;
	__u32	nr_cntrs;
	__u64	nr_records;
	__u32	kind;
	__u32	engine;
	__u32	flags;
	__u32	build_id_size;
	__u8	build_id[SWLBR_ID_SIZE];
	__u32	reserved;
	__u64	load_offset;
	__u64	before_perf;
};

/**
 * struct swlbr_arc - how often control went from one address to another
 * @from: address of the branch
 * @to: address of its target
 * @nr: how often
 * @cntrs: what else was counted on the way; the header has their number
 */
struct swlbr_arc {
	__u64	from;
	__u64	to;
	__u64	nr;
	__u64	cntrs[];
};

/**
 * struct swlbr_line - a straight line of code that a counter counts, and the branches at its ends
 * @counter: its index
 * @into_kind: PERF_BR_* of the branch that goes into it
 * @out_kind: PERF_BR_* of the branch that ends it
 * @reserved: 0
 * @into_from: address of the branch into it
 * @into_to: address of its first instruction
 * @out_from: address of the branch that ends it, its last instruction
 * @out_to: where that goes
 *
 * Addresses are relative to the binary's _text, and so the same wherever it is loaded.
 */
struct swlbr_line {
	__u32	counter;
	__u8	into_kind;
	__u8	out_kind;
	__u16	reserved;
	__u32	into_from;
	__u32	into_to;
	__u32	out_from;
	__u32	out_to;
};

/**
 * struct swlbr_delta - how often a counter was incremented
 * @counter: its index
 * @nr: how often; what does not fit is in more of these
 */
struct swlbr_delta {
	__u32	counter;
	__u32	nr;
};

/**
 * struct swlbr_raw - what a sample of the PMU has in PERF_SAMPLE_RAW
 * @nr: number of @deltas
 * @deltas: what was counted since the event's last sample on that CPU, exactly
 *
 * Counters with nothing to tell are left out. One may come several times.
 */
struct swlbr_raw {
	__u32			nr;
	struct swlbr_delta	deltas[];
};

#endif /* _UAPI_LINUX_SWLBR_H */
