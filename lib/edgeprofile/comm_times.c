// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "edgeprofile/comm_times.h"

/* The kernel's TASK_COMM_LEN. */
#define COMM_SIZE 16

struct comm_time {
	uint64_t time;
	size_t order;
	pid_t tid, parent; /* parent: of a fork, else 0 */
	char comm[COMM_SIZE];
	bool listed;
};

static struct swlbr_error *add(struct comm_times *times, struct comm_time event)
{
	struct comm_time *grown = array_grow(times->events, times->nr, &times->max, sizeof(*grown));

	if (!grown)
		return swlbr_error_no_memory();
	times->events = grown;
	event.order = times->nr;
	times->events[times->nr++] = event;
	return NULL;
}

struct swlbr_error *comm_times_add(struct comm_times *times, uint64_t time, pid_t tid,
				   const char *comm)
{
	struct comm_time event = { .time = time, .tid = tid };

	strncpy(event.comm, comm, COMM_SIZE - 1);
	return add(times, event);
}

struct swlbr_error *comm_times_fork(struct comm_times *times, uint64_t time, pid_t tid,
				    pid_t parent)
{
	return add(times, (struct comm_time){ .time = time, .tid = tid, .parent = parent });
}

static int by_thread(const void *left, const void *right)
{
	const struct comm_time *a = left, *b = right;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* The last event of @tid at @time or before; NULL if there is none. */
static struct comm_time *find(const struct comm_times *times, uint64_t time, pid_t tid)
{
	size_t low = 0, high = times->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct comm_time *event = &times->events[middle];

		if (event->tid < tid || (event->tid == tid && event->time <= time))
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || times->events[low - 1].tid != tid)
		return NULL;
	return &times->events[low - 1];
}

/* Threads that make threads; a hostile file may have rings of them. */
#define MAX_ANCESTORS 64

struct swlbr_error *comm_times_finish(struct comm_times *times, const char *const *list, size_t nr)
{
	if (times->nr)
		qsort(times->events, times->nr, sizeof(*times->events), by_thread);
	for (size_t i = 0; i < times->nr; i++) {
		const struct comm_time *named = &times->events[i];

		for (int n = 0; named && named->parent && n < MAX_ANCESTORS; n++)
			named = find(times, named->time, named->parent);
		for (size_t j = 0; named && j < nr; j++) {
			if (!strncmp(named->comm, list[j], COMM_SIZE - 1))
				times->events[i].listed = true;
		}
	}
	return NULL;
}

bool comm_times_listed(const struct comm_times *times, uint64_t time, pid_t tid)
{
	const struct comm_time *event = find(times, time, tid);

	return event && event->listed;
}

void comm_times_clear(struct comm_times *times)
{
	free(times->events);
	*times = (struct comm_times){ 0 };
}
