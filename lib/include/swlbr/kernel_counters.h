/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_KERNEL_COUNTERS_H
#define SWLBR_KERNEL_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <swlbr/elf.h>
#include <swlbr/error.h>

/**
 * struct swlbr_kernel_counters - a copy of a kernel's /sys/kernel/debug/swlbr/counters
 *
 * The format is pmu/include/uapi/linux/swlbr.h's.
 */
struct swlbr_kernel_counters {
	struct swlbr_build_id build_id; /* of its vmlinux; size 0: it has none */
	uint32_t engine;		/* enum swlbr_engine */
	bool since_boot;		/* they were never reset */
	bool has_load_offset;
	uint64_t load_offset; /* run-time addresses less those of vmlinux */
	uint64_t before_perf; /* sum of what was counted before perf existed; 0: not told */
	uint64_t nr;
	uint64_t *values; /* by the counters' indices, summed over CPUs */
};

/** True if the file at @path begins as one. */
struct swlbr_error *swlbr_kernel_counters_probe(const char *path, bool *is_counters_ret);

/** Read the file at @path. Freed by swlbr_kernel_counters_destroy(). */
struct swlbr_error *swlbr_kernel_counters_read(const char *path,
					       struct swlbr_kernel_counters **ret);

/** As swlbr_kernel_counters_read() on @size bytes in memory; @name stands for them in messages. */
struct swlbr_error *swlbr_kernel_counters_read_memory(const char *name, const void *data,
						      size_t size,
						      struct swlbr_kernel_counters **ret);

/** NULL is fine. */
void swlbr_kernel_counters_destroy(struct swlbr_kernel_counters *counters);

#endif
