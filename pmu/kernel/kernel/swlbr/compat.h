/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels that scripts/kernel-graft.sh knows. In a kernel's own tree this
 * file would not be.
 */
#ifndef _SWLBR_COMPAT_H
#define _SWLBR_COMPAT_H

#include <linux/perf_event.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
static inline void swlbr_save_raw(struct perf_sample_data *data, struct perf_event *event,
				  struct perf_raw_record *raw)
{
	perf_sample_save_raw_data(data, event, raw);
}

static inline void swlbr_save_stack(struct perf_sample_data *data, struct perf_event *event,
				    struct perf_branch_stack *stack)
{
	perf_sample_save_brstack(data, event, stack, NULL);
}

/* Whether the one who asks for @event may profile the kernel: 0 or an error. */
static inline int swlbr_allow_kernel(struct perf_event *event)
{
	return perf_allow_kernel();
}

/* Whether a BPF program decides which samples are written, and overflow_handler does not ask it. */
static inline bool swlbr_has_prog(struct perf_event *event)
{
	return event->prog;
}
#else
static inline void swlbr_save_raw(struct perf_sample_data *data, struct perf_event *event,
				  struct perf_raw_record *raw)
{
	data->raw = raw;
	data->sample_flags |= PERF_SAMPLE_RAW;
}

static inline void swlbr_save_stack(struct perf_sample_data *data, struct perf_event *event,
				    struct perf_branch_stack *stack)
{
	data->br_stack = stack;
	data->sample_flags |= PERF_SAMPLE_BRANCH_STACK;
}

static inline int swlbr_allow_kernel(struct perf_event *event)
{
	return perf_allow_kernel(&event->attr);
}

static inline bool swlbr_has_prog(struct perf_event *event)
{
	return false;
}
#endif

#endif /* _SWLBR_COMPAT_H */
