// SPDX-License-Identifier: GPL-2.0-only
/* Reading the counters of one binary in one address space. */
#include <stdlib.h>
#include <unistd.h>

#include "area.h"
#include "remote.h"

#define BLOCK_SIZE (COUNTERS_PER_BLOCK * 8)

void area_destroy(struct area *area)
{
	counter_copy_deinit(&area->base);
	counter_copy_deinit(&area->last);
	history_deinit(&area->history);
	value_lists_deinit(&area->base_values);
	value_lists_deinit(&area->last_values);
	free(area);
}

struct swlbr_error *area_create(struct image *image, uint64_t load_bias, struct area **ret)
{
	struct area *area = calloc(1, sizeof(*area));
	struct swlbr_error *error;

	if (!area)
		return swlbr_error_no_memory();
	area->image = image;
	area->load_bias = load_bias;
	history_begin(&area->history, session_now());
	error = counter_copy_init(&area->base, image->counters->nr_counters);
	if (!error)
		error = counter_copy_init(&area->last, image->counters->nr_counters);
	if (error) {
		area_destroy(area);
		return error;
	}
	*ret = area;
	return NULL;
}

/* Where the counters are: continuous mode moves them, and says how far in a variable. */
uint64_t area_address(const struct area *area, pid_t tid)
{
	const struct swlbr_counters *counters = area->image->counters;
	uint64_t bias = 0;

	if (area->moved)
		return area->moved;
	if (counters->bias_vaddr)
		remote_read(tid, counters->bias_vaddr + area->load_bias, &bias, sizeof(bias));
	return counters->counters.vaddr + area->load_bias + bias;
}

uint64_t area_static_address(const struct area *area)
{
	return area->image->counters->counters.vaddr + area->load_bias;
}

/* Read the blocks from @first on, @nr of them and at most AREA_BATCH, those touched since the load. */
struct swlbr_error *area_read_blocks(struct area *area, pid_t tid, int pagemap, uint64_t address,
				     size_t first, size_t nr, bool *read_ret)
{
	static uint64_t buffer[AREA_BATCH * COUNTERS_PER_BLOCK];
	uint64_t start = address + first * BLOCK_SIZE;
	uint64_t page = start & ~(REMOTE_PAGE - 1);
	uint64_t left = area->last.nr - first * COUNTERS_PER_BLOCK;
	bool touched[AREA_BATCH + 2], any = false;
	size_t pages;

	if (left > nr * COUNTERS_PER_BLOCK)
		left = nr * COUNTERS_PER_BLOCK;
	pages = (start + left * 8 - page + REMOTE_PAGE - 1) / REMOTE_PAGE;
	remote_pages_touched(pagemap, page, pages, touched);
	for (size_t i = 0; i < pages; i++)
		any |= touched[i];
	if (!any)
		return NULL;
	if (!remote_read(tid, start, buffer, left * 8)) {
		*read_ret = false;
		return NULL;
	}
	for (size_t i = 0; i < nr && left; i++) {
		size_t some = left < COUNTERS_PER_BLOCK ? left : COUNTERS_PER_BLOCK;
		const uint64_t *now = buffer + i * COUNTERS_PER_BLOCK;
		struct swlbr_error *error =
			history_grow(&area->history, (first + i) * COUNTERS_PER_BLOCK,
				     counter_copy_block(&area->last, first + i), now, some);

		if (!error)
			error = counter_copy_store(&area->last, first + i, now, some);
		if (error)
			return error;
		left -= some;
	}
	return NULL;
}

static struct swlbr_error *area_read(struct area *area, pid_t tid, bool *read_ret)
{
	uint64_t address = area_address(area, tid);
	int pagemap = address == area_static_address(area) ? remote_pagemap_open(tid) : -1;
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && *read_ret && i < area->last.nr_blocks; i += AREA_BATCH)
		error = area_read_blocks(area, tid, pagemap, address, i,
					 area->last.nr_blocks - i < AREA_BATCH
						 ? area->last.nr_blocks - i
						 : AREA_BATCH,
					 read_ret);
	if (pagemap >= 0)
		close(pagemap);
	return error;
}

/* Counters and value lists as they are now. An unreadable process leaves what was read before. */
struct swlbr_error *area_snapshot(struct session *session, struct area *area, pid_t pid, pid_t tid)
{
	struct value_lists values;
	struct swlbr_error *error;
	bool read = true;

	error = area_read(area, tid, &read);
	if (!error && !read)
		return session_lost(session, pid, area->image, area->last_time,
				    "memory was gone before the last snapshot");
	if (!error)
		error = value_lists_read(tid, area->image->counters, area->load_bias, &values);
	if (error)
		return error;
	value_lists_deinit(&area->last_values);
	area->last_values = values;
	area->last_time = session_now();
	area->sweep = 0;
	session->summary->snapshots++;
	return history_end_interval(&area->history, area->last_time);
}

struct swlbr_error *area_inherit(struct session *session, struct area *area, pid_t pid, pid_t tid)
{
	struct swlbr_error *error = area_snapshot(session, area, pid, tid);

	if (!error)
		error = counter_copy_assign(&area->base, &area->last);
	history_begin(&area->history, session_now());
	if (!error) {
		area->base_values = area->last_values;
		area->last_values = (struct value_lists){ 0 };
	}
	return error;
}
