/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_KERNEL_LINES_H
#define SWLBR_KERNEL_LINES_H

#include <stddef.h>
#include <stdint.h>

#include <swlbr/branch_map.h>

/**
 * struct swlbr_kernel_lines - what a kernel is told of its counters
 *
 * For each counter, the straight lines of code that it counts and the branches at their ends, as
 * the bytes that /sys/kernel/debug/swlbr/lines takes (pmu/include/uapi/linux/swlbr.h).
 */
struct swlbr_kernel_lines {
	uint8_t *data;
	size_t size;
	size_t nr; /* lines */
	uint64_t nr_counters, nr_with_line;
};

/**
 * Make the lines of the vmlinux @elf, whose map and counters are given. Freed by
 * swlbr_kernel_lines_deinit(). SWLBR_ERROR_UNSUPPORTED if it has no per-CPU counters.
 */
struct swlbr_error *swlbr_kernel_lines_make(struct swlbr_elf *elf,
					    const struct swlbr_counters *counters,
					    const struct swlbr_branch_map *map,
					    struct swlbr_kernel_lines *ret);

void swlbr_kernel_lines_deinit(struct swlbr_kernel_lines *lines);

#endif
