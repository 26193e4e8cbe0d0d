/* SPDX-License-Identifier: GPL-2.0-only */
/* The value profile of a process: lists of (value, count) per site, in its memory. */
#ifndef SWLBR_USER_VALUE_LISTS_H
#define SWLBR_USER_VALUE_LISTS_H

#include <sys/types.h>

#include <swlbr/counters.h>

struct value_entry {
	uint32_t function, site;
	uint16_t kind;
	uint64_t value, nr; /* value as it is in memory: calls have run-time addresses */
};

struct value_lists {
	struct value_entry *entry; /* by function, kind, site; then list order */
	size_t nr;
};

/* Read all lists of @counters at @load_bias in thread @tid. */
struct swlbr_error *value_lists_read(pid_t tid, const struct swlbr_counters *counters,
				     uint64_t load_bias, struct value_lists *lists);
void value_lists_deinit(struct value_lists *lists);

/* The count that @base has for the site and value of @entry; 0 if it has none. */
uint64_t value_lists_count(const struct value_lists *base, const struct value_entry *entry);

#endif
