// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <sys/mman.h>

#include "task.h"
#include "unmap.h"

/*
 * What a thread's system call has cost it when it surely is over, and what it costs at most to be
 * killed before it is carried out: ns of processor time. To load a library takes ten times that.
 */
#define CALL_ATMOST 50000000
#define KILL_ATMOST 20000

static uint64_t processor_time_of(pid_t tid)
{
	char text[128];

	return task_read_proc(tid, "schedstat", text, sizeof(text)) ? strtoull(text, NULL, 10) : 0;
}

/*
 * True if the thread is not in that call any more. A thread that runs, or wants to, does not tell
 * in which call it is: it may long be back, or on its way into the munmap and kept from its
 * processor.
 */
static bool is_over(const struct unmap_call *call)
{
	struct task_call now;

	switch (task_call(call->tid, &now)) {
	case TASK_GONE:
		return true;
	case TASK_RUNNING:
		return processor_time_of(call->tid) - call->used > CALL_ATMOST;
	case TASK_IN_CALL:
		break;
	}
	if (now.nr != call->nr || now.arg[0] != call->start)
		return true;
	/* Killed in that call, or, at the same place again, in the next one before we heard of it. */
	return thread_state(call->tid).killed &&
	       processor_time_of(call->tid) - call->used > KILL_ATMOST;
}

static bool is_inside(const struct area *area, const struct unmap_call *call)
{
	uint64_t at = area_static_address(area);

	return at >= call->start && at < call->end;
}

struct swlbr_error *unmap_begin(struct session *session, struct memory *memory, pid_t pid,
				const struct unmap_call *call)
{
	struct swlbr_error *error = NULL;

	for (struct area *area = memory->areas; area; area = area->next)
		if (area->leaving.tid == call->tid || is_inside(area, call))
			area->gone = area->leaving.tid != 0;
	error = memory_scan(session, memory, pid, call->tid, false);
	for (struct area *area = memory->areas; !error && area; area = area->next)
		if (is_inside(area, call)) {
			error = area_snapshot(session, area, pid, call->tid);
			area->leaving = *call;
			area->leaving.used = processor_time_of(call->tid);
		}
	return error;
}

void unmap_cancel(struct memory *memory, pid_t tid)
{
	for (struct area *area = memory->areas; area; area = area->next)
		if (area->leaving.tid == tid)
			area->leaving.tid = 0;
}

void unmap_interrupted(struct memory *memory, pid_t tid)
{
	uint64_t used = processor_time_of(tid);

	for (struct area *area = memory->areas; area; area = area->next)
		if (area->leaving.tid == tid && used - area->leaving.used <= KILL_ATMOST)
			area->leaving.tid = 0;
}

void unmap_check(struct memory *memory)
{
	for (struct area *area = memory->areas; area; area = area->next)
		if (area->leaving.tid && !area->gone)
			area->gone = is_over(&area->leaving);
}

/*
 * By its code, as scans go: a list read while the munmap is under way may have the first mappings
 * of a binary and not its code any more (since Linux 6.17 each mapping is locked by itself).
 */
static bool is_mapped(const struct area *area, const struct maps *maps)
{
	const struct image *image = area->image;
	uint64_t start = area->load_bias + image->first_vaddr;
	uint64_t end = area->load_bias + image->end_vaddr;

	for (size_t i = 0; i < maps->nr; i++) {
		const struct map *map = &maps->map[i];

		if (map->prot & PROT_EXEC && map->start < end && map->end > start &&
		    map->inode == image->inode && map->major == image->major &&
		    map->minor == image->minor)
			return true;
	}
	return false;
}

struct swlbr_error *unmap_finish(struct session *session, struct memory *memory, pid_t pid,
				 const struct maps *maps)
{
	struct swlbr_error *error = NULL;

	for (struct area *area = memory->areas, *next; !error && area; area = next) {
		next = area->next;
		if (area->leaving.tid && (area->gone || !is_mapped(area, maps)))
			error = memory_finish(session, memory, pid,
					      area->load_bias + area->image->first_vaddr,
					      area->load_bias + area->image->end_vaddr);
	}
	return error;
}
