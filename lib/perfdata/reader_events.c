// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The events of a perf.data: attrs, ids, names, and which event a record belongs to. */
#include <stdlib.h>

#include "base/array.h"
#include "perfdata/reader.h"

/* Bytes of the first published perf_event_attr, PERF_ATTR_SIZE_VER0. */
#define MIN_ATTR_SIZE 64
/* sample_id_all among the bit fields of perf_event_attr: from the low end, on big endian the high. */
#define SAMPLE_ID_ALL_BIT 18
/* Offset of branch_sample_type in it. */
#define ATTR_BRANCH_SAMPLE_TYPE 72
/* More than any machine has; what bounds the memory of a reader of a hostile file. */
#define MAX_EVENTS (1 << 16)
#define MAX_IDS	   (1 << 22)

/* Where the fields of fixed size are; their order is that of perf_event_open(2). */
static void lay_out(struct reader_event *event)
{
	static const uint64_t order[] = {
		PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,	  PERF_SAMPLE_TID,
		PERF_SAMPLE_TIME,	PERF_SAMPLE_ADDR, PERF_SAMPLE_ID,
		PERF_SAMPLE_STREAM_ID,	PERF_SAMPLE_CPU,  PERF_SAMPLE_PERIOD,
	};
	uint8_t word = 0;

	event->ip = event->tid = event->time = event->cpu = event->period = READER_NONE;
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		if (!(event->sample_type & order[i]))
			continue;
		if (order[i] == PERF_SAMPLE_IP)
			event->ip = word;
		else if (order[i] == PERF_SAMPLE_TID)
			event->tid = word;
		else if (order[i] == PERF_SAMPLE_TIME)
			event->time = word;
		else if (order[i] == PERF_SAMPLE_CPU)
			event->cpu = word;
		else if (order[i] == PERF_SAMPLE_PERIOD)
			event->period = word;
		word++;
	}
	event->variable = word;
}

/* @cursor is on the attr alone: fields that its version does not have are not in it. */
static void read_attr(struct cursor *cursor, struct reader_event *event)
{
	uint64_t bits;

	*event = (struct reader_event){ .kind = SWLBR_RECORD_SAMPLE };
	event->type = cursor_take_u32(cursor);
	cursor_take_u32(cursor); /* size */
	event->config = cursor_take_u64(cursor);
	cursor_take_u64(cursor); /* sample_period or sample_freq */
	event->sample_type = cursor_take_u64(cursor);
	event->read_format = cursor_take_u64(cursor);
	bits = cursor_take_u64(cursor);
	event->sample_id_all =
		bits >> (cursor->big_endian ? 63 - SAMPLE_ID_ALL_BIT : SAMPLE_ID_ALL_BIT) & 1;
	cursor_take(cursor, ATTR_BRANCH_SAMPLE_TYPE - 48);
	if (cursor_left(cursor) >= sizeof(uint64_t))
		event->branch_sample_type = cursor_take_u64(cursor);
	lay_out(event);
}

static struct swlbr_error *new_event(struct swlbr_perfdata *file, struct reader_event **ret)
{
	struct reader_event *grown;

	if (file->nr_events >= MAX_EVENTS)
		return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: more than %d events", file->path,
					  MAX_EVENTS);
	grown = array_grow(file->events, file->nr_events, &file->max_events, sizeof(*grown));
	if (!grown)
		return swlbr_error_no_memory();
	file->events = grown;
	*ret = &file->events[file->nr_events++];
	**ret = (struct reader_event){ .kind = SWLBR_RECORD_SAMPLE };
	return NULL;
}

/* Add the ids that @cursor is on to @event. */
static struct swlbr_error *add_ids(struct swlbr_perfdata *file, size_t event, struct cursor *cursor)
{
	size_t nr = cursor_left(cursor) / sizeof(uint64_t);
	struct reader_id *ids;

	if (!nr)
		return NULL;
	if (nr > MAX_IDS - file->nr_ids)
		return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: more than %d ids of events",
					  file->path, MAX_IDS);
	ids = reallocarray(file->ids, file->nr_ids + nr, sizeof(*ids));
	if (!ids)
		return swlbr_error_no_memory();
	file->ids = ids;
	for (size_t i = 0; i < nr; i++)
		ids[file->nr_ids++] = (struct reader_id){ cursor_take_u64(cursor), event };
	file->ids_sorted = false;
	return NULL;
}

static struct swlbr_error *read_ids(struct swlbr_perfdata *file, size_t event,
				    struct perfdata_section section)
{
	struct swlbr_error *error;
	struct cursor cursor;
	uint8_t *data;

	if (!section.size)
		return NULL;
	error = swlbr_reader_section(file, section, "ids of an event", &data);
	if (error)
		return error;
	cursor = reader_cursor(file, data, section.size);
	error = add_ids(file, event, &cursor);
	free(data);
	return error;
}

static int compare_ids(const void *a, const void *b)
{
	const struct reader_id *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

struct swlbr_error *swlbr_reader_events(struct swlbr_perfdata *file)
{
	const struct perfdata_header *header = &file->header;
	struct swlbr_error *error;
	uint8_t *data;
	size_t nr;

	if (header->attr_size < MIN_ATTR_SIZE + sizeof(struct perfdata_section))
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: attrs of %llu bytes in the header (at offset 16)",
					  file->path, (unsigned long long)header->attr_size);
	if (!header->attrs.size || header->attrs.size % header->attr_size)
		return swlbr_error_create(
			SWLBR_ERROR_FORMAT,
			"%s: %llu bytes of attrs in the header, of %llu bytes each (at offset 24)",
			file->path, (unsigned long long)header->attrs.size,
			(unsigned long long)header->attr_size);
	nr = header->attrs.size / header->attr_size;
	error = swlbr_reader_section(file, header->attrs, "attrs", &data);
	if (error)
		return error;
	for (size_t i = 0; !error && i < nr; i++) {
		struct reader_event *event;
		struct perfdata_section ids;
		struct cursor cursor;

		error = new_event(file, &event);
		if (error)
			break;
		cursor = reader_cursor(file, data + i * header->attr_size,
				       header->attr_size - sizeof(ids));
		read_attr(&cursor, event);
		cursor.at = cursor.size;
		cursor.size += sizeof(ids);
		ids.offset = cursor_take_u64(&cursor);
		ids.size = cursor_take_u64(&cursor);
		error = read_ids(file, i, ids);
	}
	free(data);
	return error;
}

struct swlbr_error *swlbr_reader_add_event(struct swlbr_perfdata *file, struct cursor *cursor)
{
	struct reader_event *event;
	struct swlbr_error *error;
	struct cursor attr = *cursor;
	uint32_t size;

	cursor_take_u32(&attr);
	size = cursor_take_u32(&attr);
	if (!size) /* perf before 2.6.32 */
		size = MIN_ATTR_SIZE;
	attr = *cursor;
	if (size < MIN_ATTR_SIZE || !cursor_take(cursor, size))
		return swlbr_error_create(SWLBR_ERROR_FORMAT, "an attr of %u bytes", size);
	attr.size = cursor->at;
	error = new_event(file, &event);
	if (error)
		return error;
	read_attr(&attr, event);
	return add_ids(file, file->nr_events - 1, cursor);
}

struct swlbr_error *swlbr_reader_event_desc(struct swlbr_perfdata *file, struct cursor *cursor)
{
	uint32_t nr = cursor_take_u32(cursor), attr_size = cursor_take_u32(cursor);

	for (uint32_t i = 0; i < nr && i < file->nr_events && !cursor->overrun; i++) {
		uint32_t nr_ids, length;
		const uint8_t *name;

		cursor_take(cursor, attr_size);
		nr_ids = cursor_take_u32(cursor);
		length = cursor_take_u32(cursor);
		name = cursor_take(cursor, length);
		cursor_take(cursor, (uint64_t)nr_ids * sizeof(uint64_t));
		if (!name)
			break;
		free(file->events[i].name);
		file->events[i].name = strndup((const char *)name, length);
		if (!file->events[i].name)
			return swlbr_error_no_memory();
	}
	return NULL;
}

/*
 * Where the id stands, in 64-bit words from the beginning of a sample's body; -1 if it has none.
 * perf demands that it is at the same place for all events of a file.
 */
static int id_position(uint64_t sample_type)
{
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		return 0;
	if (!(sample_type & PERF_SAMPLE_ID))
		return -1;
	return !!(sample_type & PERF_SAMPLE_IP) + !!(sample_type & PERF_SAMPLE_TID) +
	       !!(sample_type & PERF_SAMPLE_TIME) + !!(sample_type & PERF_SAMPLE_ADDR);
}

/* The same for other records, in words from the end: 1 is the last. */
static int id_position_from_end(uint64_t sample_type)
{
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		return 1;
	if (!(sample_type & PERF_SAMPLE_ID))
		return -1;
	return 1 + !!(sample_type & PERF_SAMPLE_CPU) + !!(sample_type & PERF_SAMPLE_STREAM_ID);
}

struct reader_event *swlbr_reader_event_by_id(struct swlbr_perfdata *file, uint64_t id)
{
	struct reader_id key = { .id = id }, *found;

	if (!file->nr_ids)
		return NULL;
	if (!file->ids_sorted) {
		qsort(file->ids, file->nr_ids, sizeof(*file->ids), compare_ids);
		file->ids_sorted = true;
		file->last_id = file->ids[0];
	}
	if (file->last_id.id != id) {
		found = bsearch(&key, file->ids, file->nr_ids, sizeof(*file->ids), compare_ids);
		if (!found)
			return NULL;
		file->last_id = *found;
	}
	return &file->events[file->last_id.event];
}

const struct reader_event *swlbr_reader_event_of(struct swlbr_perfdata *file, uint32_t type,
						 const uint8_t *body, size_t size)
{
	const struct reader_event *first = file->events;
	struct cursor cursor = reader_cursor(file, body, size);
	int position;
	uint64_t id;

	if (file->nr_events <= 1)
		return file->nr_events ? first : NULL;
	if (type == PERF_RECORD_SAMPLE)
		position = id_position(first->sample_type);
	else
		position = first->sample_id_all ? id_position_from_end(first->sample_type) : -1;
	if (position < 0)
		return first;
	if (position * sizeof(uint64_t) > size)
		return NULL;
	cursor.at = type == PERF_RECORD_SAMPLE ? position * sizeof(uint64_t)
					       : size - position * sizeof(uint64_t);
	id = cursor_take_u64(&cursor);
	if (cursor.overrun)
		return NULL;
	/* perf gives records that it makes up itself no id. */
	if (!id && type != PERF_RECORD_SAMPLE)
		return first;
	return swlbr_reader_event_by_id(file, id);
}

/* All its records can be put in order by time. */
static bool has_time(const struct reader_event *event)
{
	return event->sample_id_all && event->sample_type & PERF_SAMPLE_TIME;
}

bool swlbr_perfdata_event(const struct swlbr_perfdata *file, size_t index,
			  struct swlbr_perfdata_event *ret)
{
	const struct reader_event *event;

	if (index >= file->nr_events)
		return false;
	event = &file->events[index];
	*ret = (struct swlbr_perfdata_event){
		.name = event->name,
		.type = event->type,
		.config = event->config,
		.sample_type = event->sample_type,
		.branch_sample_type = event->branch_sample_type,
		.has_time = has_time(event),
	};
	for (size_t i = 0; i < file->nr_pmus; i++) {
		if (file->pmus[i].type == event->type)
			ret->pmu = file->pmus[i].name;
	}
	return true;
}

const char *swlbr_perfdata_event_name(const struct swlbr_perfdata *file, size_t index)
{
	if (index >= file->nr_events)
		return NULL;
	return file->events[index].name ? file->events[index].name : "(unnamed)";
}
