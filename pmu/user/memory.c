// SPDX-License-Identifier: GPL-2.0-only
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <swlbr/flow.h>

#include "memory.h"
#include "profile/llvm_profile_format.h"
#include "remote.h"
#include "stacks.h"
#include "unmap.h"

struct memory *memory_create(void)
{
	struct memory *memory = calloc(1, sizeof(*memory));

	if (memory)
		memory->refs = 1;
	return memory;
}

struct memory *memory_get(struct memory *memory)
{
	memory->refs++;
	return memory;
}

void memory_put(struct memory *memory)
{
	if (!memory || --memory->refs)
		return;
	while (memory->areas) {
		struct area *area = memory->areas;

		memory->areas = area->next;
		area_destroy(area);
	}
	free(memory->known);
	free(memory);
}

static bool is_known(const struct memory *memory, const struct map *map)
{
	for (size_t i = 0; i < memory->nr_known; i++) {
		const struct known_map *known = &memory->known[i];

		if (known->start == map->start && known->end == map->end &&
		    known->offset == map->offset && known->inode == map->inode)
			return true;
	}
	return false;
}

static struct swlbr_error *write_mapping(struct session *session, pid_t pid, pid_t tid,
					 const struct map *map, const struct image *image)
{
	struct swlbr_event_time when = { .pid = pid, .tid = tid, .time = session_now() };
	struct swlbr_mapping mapping = {
		.start = map->start,
		.length = map->end - map->start,
		.offset = map->offset,
		.prot = map->prot,
		.flags = map->shared ? MAP_SHARED : MAP_PRIVATE,
		.build_id = image->is_elf ? &image->build_id : NULL,
		.path = image->path,
	};

	return swlbr_perfdata_write_mmap2(session->writer, &when, &mapping);
}

/* The lowest mapping of @image around @map gives the load bias. */
static uint64_t find_load_bias(const struct maps *maps, const struct map *map,
			       const struct image *image)
{
	uint64_t span = image->end_vaddr - image->first_vaddr;

	for (const struct map *low = maps->map; low < map; low++)
		if (low->inode == map->inode && low->major == map->major &&
		    low->minor == map->minor && low->offset == image->first_offset &&
		    map->start - low->start < span)
			return low->start - image->first_vaddr;
	return map->start - image->first_vaddr;
}

static struct swlbr_error *add_area(struct session *session, struct memory *memory, pid_t pid,
				    pid_t tid, struct image *image, uint64_t load_bias,
				    bool inherited)
{
	struct swlbr_error *error;
	struct area *area;

	for (area = memory->areas; area; area = area->next)
		if (area->image == image && area->load_bias == load_bias) {
			area->seen = true;
			return NULL;
		}
	error = area_create(image, load_bias, &area);
	if (error)
		return error;
	area->seen = true;
	area->next = memory->areas;
	memory->areas = area;
	if (!memory->recorded) {
		memory->recorded = true;
		session->summary->live++;
	}
	return inherited ? area_inherit(session, area, pid, tid) : NULL;
}

static struct swlbr_error *tell_refusal(struct session *session, pid_t pid, struct image *image)
{
	image->refusal_told = true;
	if (!session->summary->refusal)
		session->summary->refusal = strdup(image->refusal);
	return session_lost(session, pid, image, 0, image->refusal);
}

static bool is_still_mapped(pid_t tid, const struct map *map)
{
	struct swlbr_error *error;
	struct maps now;
	bool found = false;

	error = maps_read(tid, &now);
	if (error) {
		swlbr_error_destroy(error);
		return false;
	}
	for (size_t i = 0; i < now.nr && !found; i++)
		found = now.map[i].start == map->start && now.map[i].inode == map->inode;
	maps_deinit(&now);
	return found;
}

/* *@again_ret: it could not be looked at now. */
static struct swlbr_error *scan_map(struct session *session, struct memory *memory, pid_t pid,
				    pid_t tid, const struct maps *maps, const struct map *map,
				    bool inherited, bool *again_ret)
{
	struct swlbr_error *error;
	struct image *image;

	error = image_cache_get(&session->images, tid, maps, map, &image);
	if (error)
		return error;
	*again_ret = image->try_again;
	if (image->try_again && !is_still_mapped(tid, map))
		return NULL; /* it went meanwhile */
	if (!is_known(memory, map)) {
		error = write_mapping(session, pid, tid, map, image);
		if (error)
			return error;
	}
	if (image->refusal && !image->refusal_told)
		return tell_refusal(session, pid, image);
	if (!image->counters)
		return NULL;
	return add_area(session, memory, pid, tid, image, find_load_bias(maps, map, image),
			inherited);
}

/* An area whose mapping went unseen between two scans ends with its last snapshot. */
static struct swlbr_error *drop_vanished(struct session *session, struct memory *memory, pid_t pid)
{
	for (struct area *area = memory->areas, *next; area; area = next) {
		uint64_t start = area->load_bias + area->image->first_vaddr;
		struct swlbr_error *error;

		next = area->next;
		if (area->seen)
			continue;
		error = session_lost(session, pid, area->image, area->last_time,
				     "unmapped between two snapshots");
		if (!error)
			error = memory_finish(session, memory, pid, start,
					      area->load_bias + area->image->end_vaddr);
		if (error)
			return error;
	}
	return NULL;
}

static struct swlbr_error *remember_maps(struct memory *memory, const struct maps *maps)
{
	struct known_map *known = reallocarray(memory->known, maps->nr + 1, sizeof(*known));

	if (!known)
		return swlbr_error_no_memory();
	memory->known = known;
	memory->nr_known = 0;
	for (size_t i = 0; i < maps->nr; i++)
		if (maps->map[i].prot & PROT_EXEC && maps->map[i].inode)
			known[memory->nr_known++] =
				(struct known_map){ maps->map[i].start, maps->map[i].end,
						    maps->map[i].offset, maps->map[i].inode };
	return NULL;
}

/* A new library at the same place must be seen. */
static void forget_maps(struct memory *memory, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < memory->nr_known;)
		if (memory->known[i].start < end && memory->known[i].end > start)
			memory->known[i] = memory->known[--memory->nr_known];
		else
			i++;
}

static bool all_known(const struct memory *memory, const struct maps *maps)
{
	size_t nr = 0;

	for (size_t i = 0; i < maps->nr; i++) {
		if (!(maps->map[i].prot & PROT_EXEC) || !maps->map[i].inode)
			continue;
		if (!is_known(memory, &maps->map[i]))
			return false;
		nr++;
	}
	return nr == memory->nr_known;
}

static uint64_t raw_header_size(unsigned int version)
{
	uint64_t words = 0;

	for (size_t i = 0; i < PROFRAW_HEADER_WORDS; i++)
		words += profraw_header_since[i] <= version;
	return 8 * words;
}

/*
 * Continuous mode maps the .profraw and counts there. A stripped binary does not say where its bias
 * variable is; the mapped file tells by its header.
 */
static void find_moved_counters(struct memory *memory, pid_t tid, const struct maps *maps)
{
	for (struct area *area = memory->areas; area; area = area->next) {
		const struct swlbr_counters *counters = area->image->counters;

		for (size_t i = 0; !counters->bias_vaddr && !area->moved && i < maps->nr; i++) {
			const struct map *map = &maps->map[i];
			uint64_t word[PROFRAW_NR_COUNTERS + 1], at;

			if (!map->shared || !(map->prot & PROT_WRITE) || !map->inode ||
			    map->end - map->start < sizeof(word) ||
			    !remote_read(tid, map->start, word, sizeof(word)) ||
			    word[PROFRAW_MAGIC] != PROFRAW_MAGIC_64 ||
			    word[PROFRAW_VERSION] != counters->version_word ||
			    word[PROFRAW_NR_DATA] != counters->nr_functions ||
			    word[PROFRAW_NR_COUNTERS] != counters->nr_counters)
				continue;
			at = raw_header_size(counters->version) + word[PROFRAW_BINARY_IDS_SIZE] +
			     counters->data.size + word[PROFRAW_PADDING_BEFORE_COUNTERS];
			if (at < map->end - map->start)
				area->moved = map->start + at;
		}
	}
}

struct swlbr_error *memory_scan(struct session *session, struct memory *memory, pid_t pid,
				pid_t tid, bool inherited)
{
	struct swlbr_error *error;
	struct maps maps;

	unmap_check(memory);
	error = maps_read(tid, &maps);
	if (error) { /* the process is gone: nothing more to see */
		swlbr_error_destroy(error);
		return NULL;
	}
	error = maps.nr ? unmap_finish(session, memory, pid, &maps) : NULL;
	find_moved_counters(memory, tid, &maps);
	if (error || !maps.nr || all_known(memory, &maps)) {
		maps_deinit(&maps);
		return error;
	}
	for (struct area *area = memory->areas; area; area = area->next)
		area->seen = false;
	for (size_t i = 0; !error && i < maps.nr; i++) {
		bool again = false;

		if (!(maps.map[i].prot & PROT_EXEC) || !maps.map[i].inode)
			continue;
		error = scan_map(session, memory, pid, tid, &maps, &maps.map[i], inherited, &again);
		if (again)
			maps.map[i].inode = 0; /* not to be remembered */
	}
	if (!error)
		error = drop_vanished(session, memory, pid);
	if (!error)
		error = remember_maps(memory, &maps);
	maps_deinit(&maps);
	return error;
}

struct swlbr_error *memory_fork(struct session *session, const struct memory *parent, pid_t pid,
				struct memory **ret)
{
	struct memory *memory = memory_create();
	struct swlbr_error *error = NULL;

	if (!memory)
		return swlbr_error_no_memory();
	memory->known = calloc(parent->nr_known + 1, sizeof(*memory->known));
	if (!memory->known)
		error = swlbr_error_no_memory();
	else if (parent->nr_known)
		memcpy(memory->known, parent->known, parent->nr_known * sizeof(*memory->known));
	memory->nr_known = memory->known ? parent->nr_known : 0;
	for (const struct area *area = parent->areas; !error && area; area = area->next)
		if (area->leaving.tid) /* the scan tells whether the child has it */
			forget_maps(memory, area->leaving.start, area->leaving.end);
		else if (area_address(area, pid) == area_static_address(area))
			error = add_area(session, memory, pid, pid, area->image, area->load_bias,
					 true);
		else
			error = session_lost(
				session, pid, area->image, 0,
				"continuous mode: shares its parent's counters; what it runs after its parent's end is missing");
	if (!error) /* what the parent loaded since its last scan */
		error = memory_scan(session, memory, pid, pid, true);
	*ret = memory;
	return error;
}

struct swlbr_error *memory_snapshot(struct session *session, struct memory *memory, pid_t pid,
				    pid_t tid)
{
	struct swlbr_error *error = memory_scan(session, memory, pid, tid, false);

	for (struct area *area = memory->areas; !error && area; area = area->next)
		if (!area->leaving.tid)
			error = area_snapshot(session, area, pid, tid);
	return error;
}

static uint64_t processor_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* False: not the whole snapshot, since its time is over or the memory gone. */
static struct swlbr_error *sweep_area(struct session *session, struct area *area, pid_t tid,
				      uint64_t until, bool *whole_ret)
{
	uint64_t address = area_address(area, tid);
	int pagemap = address == area_static_address(area) ? remote_pagemap_open(tid) : -1;
	struct swlbr_error *error = NULL;
	bool read = true;

	while (!error && read && area->sweep < area->last.nr_blocks) {
		size_t nr = area->last.nr_blocks - area->sweep;

		if (nr > AREA_BATCH)
			nr = AREA_BATCH;
		error = area_read_blocks(area, tid, pagemap, address, area->sweep, nr, &read);
		area->sweep += nr;
		if (processor_time() > until)
			break;
	}
	if (pagemap >= 0)
		close(pagemap);
	*whole_ret = !error && read && area->sweep >= area->last.nr_blocks;
	if (!*whole_ret)
		return error;
	area->sweep = 0;
	area->last_time = session_now();
	session->summary->snapshots++;
	return history_end_interval(&area->history, area->last_time);
}

struct swlbr_error *memory_sweep(struct session *session, struct memory *memory, pid_t tid,
				 uint64_t budget)
{
	uint64_t until = processor_time() + budget;
	struct swlbr_error *error = NULL;
	bool whole = true;

	for (struct area *area = memory->areas; !error && whole && area; area = area->next)
		if (!area->leaving.tid)
			error = sweep_area(session, area, tid, until, &whole);
	return error;
}

static bool area_inside(const struct area *area, uint64_t start, uint64_t end)
{
	uint64_t at = area->image->counters->counters.vaddr + area->load_bias;

	return at >= start && at < end;
}

struct swlbr_error *memory_finish(struct session *session, struct memory *memory, pid_t pid,
				  uint64_t start, uint64_t end)
{
	struct swlbr_error *error = NULL;

	for (struct area **link = &memory->areas; *link && !error;) {
		struct area *area = *link;

		if (!area_inside(area, start, end)) {
			link = &area->next;
			continue;
		}
		error = area_finish(session, area, pid);
		*link = area->next;
		area_destroy(area);
	}
	forget_maps(memory, start, end);
	if (!memory->areas && memory->recorded) {
		memory->recorded = false;
		session->summary->live--;
	}
	return error;
}
