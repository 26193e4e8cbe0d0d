// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>

#include "base/array.h"
#include "edgeprofile/address_space.h"

enum space_event_kind { EVENT_MAP, EVENT_FORK, EVENT_EXEC };

struct space_event {
	uint64_t time, order;
	enum space_event_kind kind;
	pid_t pid, parent;
	uint64_t start, size, delta;
	bool hole;
};

/*
 * A hostile file could make forks inherit more than there is memory. What is not inherited is not
 * mapped, and counted as such.
 */
#define MAX_INHERITED (2 * 1024 * 1024)
/* Mappings over one another that are looked at for one address; a hostile file has more. */
#define MAX_OVERLAPS 512

/* What images find that have found nothing yet. */
static const struct mapping no_mapping;

static struct swlbr_error *add_event(struct address_spaces *spaces, struct space_event event)
{
	struct space_event *grown =
		array_grow(spaces->events, spaces->nr_events, &spaces->max_events, sizeof(*grown));

	if (!grown)
		return swlbr_error_no_memory();
	spaces->events = grown;
	event.order = spaces->next_order++;
	spaces->events[spaces->nr_events++] = event;
	return NULL;
}

struct swlbr_error *address_spaces_map(struct address_spaces *spaces, uint64_t time, pid_t pid,
				       uint64_t start, uint64_t size, uint64_t place)
{
	if (size > UINT64_MAX - start)
		size = UINT64_MAX - start;
	if (!size)
		return NULL;
	return add_event(spaces, (struct space_event){ .time = time,
						       .kind = EVENT_MAP,
						       .pid = pid,
						       .start = start,
						       .size = size,
						       .delta = place - start,
						       .hole = place == PLACE_NONE });
}

struct swlbr_error *address_spaces_fork(struct address_spaces *spaces, uint64_t time, pid_t pid,
					pid_t parent)
{
	return add_event(spaces, (struct space_event){
					 .time = time,
					 .kind = EVENT_FORK,
					 .pid = pid,
					 .parent = parent,
				 });
}

struct swlbr_error *address_spaces_exec(struct address_spaces *spaces, uint64_t time, pid_t pid)
{
	return add_event(spaces,
			 (struct space_event){ .time = time, .kind = EVENT_EXEC, .pid = pid });
}

static struct process **find_process(const struct address_spaces *spaces, pid_t pid)
{
	size_t mask = ((size_t)1 << spaces->table_log2) - 1;
	size_t at = (uint32_t)pid * 0x9e3779b1U >> (32 - spaces->table_log2);

	while (spaces->table[at] && spaces->table[at]->pid != pid)
		at = (at + 1) & mask;
	return &spaces->table[at];
}

static struct swlbr_error *grow_table(struct address_spaces *spaces)
{
	struct process **old = spaces->table;
	size_t size = old ? (size_t)1 << spaces->table_log2 : 0;
	unsigned int log2 = old ? spaces->table_log2 + 1 : 6;

	spaces->table = calloc((size_t)1 << log2, sizeof(struct process *));
	if (!spaces->table) {
		spaces->table = old;
		return swlbr_error_no_memory();
	}
	spaces->table_log2 = log2;
	for (size_t i = 0; i < size; i++) {
		if (old[i])
			*find_process(spaces, old[i]->pid) = old[i];
	}
	free(old);
	return NULL;
}

static struct swlbr_error *get_process(struct address_spaces *spaces, pid_t pid,
				       struct process **ret)
{
	struct process **slot;

	if (!spaces->table || spaces->nr_processes >= ((size_t)1 << spaces->table_log2) / 2) {
		struct swlbr_error *error = grow_table(spaces);

		if (error)
			return error;
	}
	slot = find_process(spaces, pid);
	if (!*slot) {
		*slot = calloc(1, sizeof(**slot));
		if (!*slot)
			return swlbr_error_no_memory();
		(*slot)->pid = pid;
		spaces->nr_processes++;
	}
	*ret = *slot;
	return NULL;
}

static struct swlbr_error *new_image(struct address_spaces *spaces, struct process *process,
				     uint64_t begin, struct image **ret)
{
	struct image *image = calloc(1, sizeof(*image)), **grown;

	grown = reallocarray(process->images, process->nr + 1, sizeof(*grown));
	if (grown)
		process->images = grown;
	if (!image || !grown) {
		free(image);
		return swlbr_error_no_memory();
	}
	image->begin = begin;
	image->last = &no_mapping;
	image->next = spaces->images;
	spaces->images = image;
	grown[process->nr++] = image;
	*ret = image;
	return NULL;
}

static struct swlbr_error *add_mapping(struct image *image, const struct mapping *mapping)
{
	struct mapping *grown = array_grow(image->mappings, image->nr, &image->max, sizeof(*grown));

	if (!grown)
		return swlbr_error_no_memory();
	image->mappings = grown;
	image->mappings[image->nr++] = *mapping;
	image->last = &no_mapping;
	image->dirty = true;
	return NULL;
}

/* The image gets its own copy of what it had from its parent. */
static struct swlbr_error *inherit(struct address_spaces *spaces, struct image *image)
{
	const struct image *origin = image->origin;
	struct swlbr_error *error = NULL;

	image->origin = NULL;
	for (size_t i = 0; origin && !error && i < origin->nr; i++) {
		if (origin->mappings[i].from_time > image->origin_time)
			continue;
		if (spaces->nr_inherited++ >= MAX_INHERITED)
			break;
		error = add_mapping(image, &origin->mappings[i]);
	}
	return error;
}

static struct swlbr_error *apply(struct address_spaces *spaces, const struct space_event *event)
{
	struct process *process, *parent = NULL;
	struct swlbr_error *error;
	struct image *image;

	if (event->kind == EVENT_FORK) {
		error = get_process(spaces, event->parent, &parent);
		if (error)
			return error;
	}
	error = get_process(spaces, event->pid, &process);
	if (!error && (event->kind != EVENT_MAP || !process->nr))
		error = new_image(spaces, process, event->kind == EVENT_MAP ? 0 : event->time,
				  &image);
	if (error)
		return error;
	image = process->images[process->nr - 1];
	if (event->kind == EVENT_FORK && parent->nr) {
		struct image *origin = parent->images[parent->nr - 1];

		image->origin = origin->origin ? origin->origin : origin;
		image->origin_time = origin->origin ? origin->origin_time : event->time;
	}
	if (event->kind != EVENT_MAP)
		return NULL;
	error = inherit(spaces, image);
	return error ? error
		     : add_mapping(image, &(struct mapping){
						  .start = event->start,
						  .size = event->size,
						  .from_time = event->time,
						  .order = event->order,
						  .delta = event->delta,
						  .hole = event->hole,
					  });
}

static int by_time(const void *left, const void *right)
{
	const struct space_event *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static bool is_newer(const struct mapping *a, const struct mapping *b)
{
	return a->from_time != b->from_time ? a->from_time > b->from_time : a->order > b->order;
}

static int by_start(const void *left, const void *right)
{
	const struct mapping *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return is_newer(a, b) - is_newer(b, a);
}

/*
 * Where two mappings overlap, the older one is not to be trusted once the newer is there. Returns
 * how many were looked at.
 */
static uint64_t find_safe_times(struct image *image)
{
	uint64_t work = image->nr;

	for (size_t i = 0; i < image->nr; i++)
		image->mappings[i].safe_time = UINT64_MAX - image->mappings[i].from_time;
	for (size_t i = 0; i < image->nr; i++) {
		struct mapping *left = &image->mappings[i];
		size_t steps = 0;

		for (size_t j = i + 1; j < image->nr; j++) {
			struct mapping *right = &image->mappings[j], *older = left, *newer = right;

			if (right->start - left->start >= left->size)
				break;
			if (++steps > MAX_OVERLAPS) {
				left->safe_time = 0;
				break;
			}
			work++;
			if (is_newer(left, right)) {
				older = right;
				newer = left;
			}
			if (newer->from_time - older->from_time < older->safe_time)
				older->safe_time = newer->from_time - older->from_time;
		}
	}
	return work;
}

struct swlbr_error *image_prepare(struct address_spaces *spaces, struct image *image)
{
	uint64_t max_end = 0, *ends = reallocarray(image->max_end, image->nr, sizeof(*ends));

	if (!ends)
		return swlbr_error_no_memory();
	image->max_end = ends;
	qsort(image->mappings, image->nr, sizeof(*image->mappings), by_start);
	for (size_t i = 0; i < image->nr; i++) {
		uint64_t end = image->mappings[i].start + image->mappings[i].size;

		max_end = end > max_end ? end : max_end;
		ends[i] = max_end;
	}
	spaces->work += find_safe_times(image);
	image->last = &no_mapping;
	image->dirty = false;
	return NULL;
}

struct swlbr_error *address_spaces_update(struct address_spaces *spaces)
{
	struct swlbr_error *error = NULL;

	if (spaces->nr_events > 1)
		qsort(spaces->events, spaces->nr_events, sizeof(*spaces->events), by_time);
	for (size_t i = 0; !error && i < spaces->nr_events; i++)
		error = apply(spaces, &spaces->events[i]);
	spaces->nr_events = 0;
	return error;
}

struct process *address_spaces_process(const struct address_spaces *spaces, pid_t pid)
{
	return spaces->table ? *find_process(spaces, pid) : NULL;
}

struct image *process_image(const struct process *process, uint64_t *time)
{
	size_t low = 0, high = process->nr;
	struct image *image;

	if (!high)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (process->images[middle]->begin <= *time)
			low = middle + 1;
		else
			high = middle;
	}
	/* What came before the first is taken for part of it. */
	image = process->images[low ? low - 1 : 0];
	if (!image->origin)
		return image;
	if (*time > image->origin_time)
		*time = image->origin_time;
	return image->origin;
}

uint64_t image_find(struct image *image, uint64_t address, uint64_t time)
{
	const struct mapping *best = NULL;
	size_t low = 0, high = image->nr, steps = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (image->mappings[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	while (low && image->max_end[low - 1] > address && steps++ < MAX_OVERLAPS) {
		const struct mapping *mapping = &image->mappings[--low];

		if (address - mapping->start < mapping->size && mapping->from_time <= time &&
		    (!best || is_newer(mapping, best)))
			best = mapping;
	}
	if (!best || best->hole)
		return PLACE_NONE;
	image->last = best;
	return address + best->delta;
}

void address_spaces_clear(struct address_spaces *spaces)
{
	for (size_t i = 0; spaces->table && i < (size_t)1 << spaces->table_log2; i++) {
		if (spaces->table[i])
			free(spaces->table[i]->images);
		free(spaces->table[i]);
	}
	while (spaces->images) {
		struct image *image = spaces->images;

		spaces->images = image->next;
		free(image->mappings);
		free(image->max_end);
		free(image);
	}
	free(spaces->table);
	free(spaces->events);
	*spaces = (struct address_spaces){ 0 };
}
