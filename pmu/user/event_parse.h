/* SPDX-License-Identifier: GPL-2.0-only */
/* perf's spelling of the kernel's events. */
#ifndef SWLBR_USER_EVENT_PARSE_H
#define SWLBR_USER_EVENT_PARSE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#include <swlbr/error.h>

/* An event that was asked for. */
struct event_request {
	char *name; /* as it was spelled */
	/* type, config…, exclude_*, precise_ip, and sample_period or freq with sample_freq */
	struct perf_event_attr attr;
	bool modified; /* exclude_* are the user's */
	char *missing; /* what of it this machine does not have, or NULL */
};

struct event_list {
	struct event_request *requests;
	size_t nr;
};

/*
 * Add the events of @text, separated by commas:
 *	cycles, cpu-clock, page-faults and perf's other hardware and software events,
 *	rNNN (a raw event in hex), PMU/term,…/ and NAME/period=N/ or NAME/freq=HZ/,
 *	each with modifiers: cycles:u, cpu/event=0x3c/k, branches:pp
 * Terms are config, config1, config2, period, freq and what sysfs tells of the PMU: fields of its
 * `format` and names of its `events`. A PMU that this machine lacks is no error: it is noted.
 */
struct swlbr_error *event_list_parse(struct event_list *list, const char *text);
void event_list_deinit(struct event_list *list);

#endif
