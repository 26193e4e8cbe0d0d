// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The events of a perf.data: attrs, ids, names, and which event a record belongs to. */
#include <stdlib.h>

#include "perfdata/reader.h"

/* Bytes of the first published perf_event_attr, PERF_ATTR_SIZE_VER0. */
#define MIN_ATTR_SIZE 64
/* sample_id_all among the bit fields of perf_event_attr: from the low end, on big endian the high. */
#define SAMPLE_ID_ALL_BIT 18
/* More than any machine has; what bounds the memory of a reader of a hostile file. */
#define MAX_EVENTS (1 << 16)
#define MAX_IDS	   (1 << 22)

static bool file_is_big_endian(const struct swlbr_perfdata *file)
{
	return (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != file->swap;
}

static void read_attr(const struct swlbr_perfdata *file, struct cursor *cursor,
		      struct reader_event *event)
{
	uint64_t bits;

	event->type = cursor_u32(cursor);
	cursor_u32(cursor); /* size */
	event->config = cursor_u64(cursor);
	cursor_u64(cursor); /* sample_period or sample_freq */
	event->sample_type = cursor_u64(cursor);
	event->read_format = cursor_u64(cursor);
	bits = cursor_u64(cursor);
	event->sample_id_all =
		bits >> (file_is_big_endian(file) ? 63 - SAMPLE_ID_ALL_BIT : SAMPLE_ID_ALL_BIT) & 1;
	event->kind = SWLBR_RECORD_OTHER;
}

static struct swlbr_error *read_ids(struct swlbr_perfdata *file, size_t event,
				    struct perfdata_section section)
{
	size_t nr = section.size / sizeof(uint64_t);
	struct swlbr_error *error;
	struct reader_id *ids;
	struct cursor cursor;
	uint8_t *data;

	if (!nr)
		return NULL;
	if (nr > MAX_IDS - file->nr_ids)
		return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: more than %d ids of events",
					  file->path, MAX_IDS);
	error = swlbr_reader_section(file, section, "ids of an event", &data);
	if (error)
		return error;
	ids = reallocarray(file->ids, file->nr_ids + nr, sizeof(*ids));
	if (!ids) {
		free(data);
		return swlbr_error_no_memory();
	}
	file->ids = ids;
	cursor = (struct cursor){ .data = data, .size = section.size, .swap = file->swap };
	for (size_t i = 0; i < nr; i++)
		ids[file->nr_ids++] = (struct reader_id){ cursor_u64(&cursor), event };
	free(data);
	return NULL;
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
	struct cursor cursor;
	uint8_t *data;
	size_t nr;

	if (header->attr_size < MIN_ATTR_SIZE + sizeof(struct perfdata_section))
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: attrs of %llu bytes in the header", file->path,
					  (unsigned long long)header->attr_size);
	if (!header->attrs.size || header->attrs.size % header->attr_size)
		return swlbr_error_create(
			SWLBR_ERROR_FORMAT,
			"%s: %llu bytes of attrs in the header, of %llu bytes each", file->path,
			(unsigned long long)header->attrs.size,
			(unsigned long long)header->attr_size);
	nr = header->attrs.size / header->attr_size;
	if (nr > MAX_EVENTS)
		return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: more than %d events", file->path,
					  MAX_EVENTS);
	error = swlbr_reader_section(file, header->attrs, "attrs", &data);
	if (error)
		return error;
	file->events = calloc(nr, sizeof(*file->events));
	if (!file->events)
		error = swlbr_error_no_memory();
	cursor = (struct cursor){ .data = data, .size = header->attrs.size, .swap = file->swap };
	for (size_t i = 0; !error && i < nr; i++) {
		struct perfdata_section ids;

		cursor.position = i * header->attr_size;
		read_attr(file, &cursor, &file->events[file->nr_events++]);
		cursor.position = (i + 1) * header->attr_size - sizeof(ids);
		ids.offset = cursor_u64(&cursor);
		ids.size = cursor_u64(&cursor);
		error = read_ids(file, i, ids);
	}
	free(data);
	if (file->nr_ids)
		qsort(file->ids, file->nr_ids, sizeof(*file->ids), compare_ids);
	return error;
}

struct swlbr_error *swlbr_reader_event_desc(struct swlbr_perfdata *file,
					    struct perfdata_section section)
{
	struct swlbr_error *error;
	struct cursor cursor;
	uint8_t *data;
	uint32_t nr, attr_size;

	error = swlbr_reader_section(file, section, "event descriptions", &data);
	if (error)
		return error;
	cursor = (struct cursor){ .data = data, .size = section.size, .swap = file->swap };
	nr = cursor_u32(&cursor);
	attr_size = cursor_u32(&cursor);
	for (uint32_t i = 0; !error && i < nr && i < file->nr_events && !cursor.overrun; i++) {
		uint32_t nr_ids, length;
		const uint8_t *name;

		cursor_skip(&cursor, attr_size);
		nr_ids = cursor_u32(&cursor);
		length = cursor_u32(&cursor);
		name = cursor_bytes(&cursor, length);
		cursor_skip(&cursor, (uint64_t)nr_ids * sizeof(uint64_t));
		if (!name)
			break;
		free(file->events[i].name);
		file->events[i].name = strndup((const char *)name, length);
		if (!file->events[i].name)
			error = swlbr_error_no_memory();
	}
	if (!error && cursor.overrun)
		error = swlbr_error_create(SWLBR_ERROR_FORMAT,
					   "%s: event descriptions at offset %llu are cut off",
					   file->path, (unsigned long long)section.offset);
	free(data);
	return error;
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

const struct reader_event *swlbr_reader_event_of(const struct swlbr_perfdata *file, uint32_t type,
						 const uint8_t *body, size_t size)
{
	const struct reader_event *first = &file->events[0];
	struct cursor cursor = { .data = body, .size = size, .swap = file->swap };
	struct reader_id key, *found;
	int position;

	if (file->nr_events == 1)
		return first;
	if (type == PERF_RECORD_SAMPLE)
		position = id_position(first->sample_type);
	else
		position = first->sample_id_all ? id_position_from_end(first->sample_type) : -1;
	if (position < 0)
		return first;
	if (position * sizeof(uint64_t) > size)
		return NULL;
	cursor.position = type == PERF_RECORD_SAMPLE ? position * sizeof(uint64_t)
						     : size - position * sizeof(uint64_t);
	key.id = cursor_u64(&cursor);
	if (cursor.overrun)
		return NULL;
	/* perf gives records that it makes up itself no id. */
	if (!key.id && type != PERF_RECORD_SAMPLE)
		return first;
	if (!file->nr_ids)
		return NULL;
	found = bsearch(&key, file->ids, file->nr_ids, sizeof(*file->ids), compare_ids);
	return found ? &file->events[found->event] : NULL;
}

const char *swlbr_perfdata_event_name(const struct swlbr_perfdata *file, size_t index)
{
	if (index >= file->nr_events)
		return NULL;
	return file->events[index].name ? file->events[index].name : "(unnamed)";
}
