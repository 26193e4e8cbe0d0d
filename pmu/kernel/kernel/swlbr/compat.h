/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels that scripts/kernel-graft.sh knows. In a kernel's own tree this
 * file would not be.
 */
#ifndef _SWLBR_COMPAT_H
#define _SWLBR_COMPAT_H

#include <linux/perf_event.h>
#include <linux/version.h>

static inline void swlbr_save_raw(struct perf_sample_data *data, struct perf_event *event,
				  struct perf_raw_record *raw)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	perf_sample_save_raw_data(data, event, raw);
#else
	data->raw = raw;
	data->sample_flags |= PERF_SAMPLE_RAW;
#endif
}

static inline void swlbr_save_stack(struct perf_sample_data *data, struct perf_event *event,
				    struct perf_branch_stack *stack)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	perf_sample_save_brstack(data, event, stack, NULL);
#else
	data->br_stack = stack;
	data->sample_flags |= PERF_SAMPLE_BRANCH_STACK;
#endif
}

#endif /* _SWLBR_COMPAT_H */
