/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_EDGEPROFILE_COMM_TIMES_H
#define SWLBR_EDGEPROFILE_COMM_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <swlbr/error.h>

/** What threads were called at what time, for --comm. */
struct comm_times {
	struct comm_time *events;
	size_t nr, max;
};

/** @tid is called @comm from @time on. */
struct swlbr_error *comm_times_add(struct comm_times *times, uint64_t time, pid_t tid,
				   const char *comm);
/** @tid begins with the name of @parent. */
struct swlbr_error *comm_times_fork(struct comm_times *times, uint64_t time, pid_t tid,
				    pid_t parent);
/** Put all in order, to be asked for the names in @list. */
struct swlbr_error *comm_times_finish(struct comm_times *times, const char *const *list, size_t nr);
/** Has the thread a listed name at that time? */
bool comm_times_listed(const struct comm_times *times, uint64_t time, pid_t tid);
void comm_times_clear(struct comm_times *times);

#endif
