// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Events of the kernel in a perf.data: their attrs, and their records as the kernel made them. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "perfdata/writer.h"

/* Where SAMPLE_TYPE puts things in a sample, and from the end of any other record. */
#define SAMPLE_IDENTIFIER 8
#define SAMPLE_TIME	  32
#define SAMPLE_FIXED	  56
#define TRAILER_SIZE	  32
#define TRAILER_TIME	  24
#define TRAILER_ID	  8

/* Fields that would stand between the others or need to be understood. */
#define NOT_SAMPLE_TYPE \
	(PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_READ)

struct swlbr_error *swlbr_perfdata_writer_add_event(struct swlbr_perfdata_writer *writer,
						    const struct perf_event_attr *attr,
						    const char *name, uint64_t *id_ret)
{
	struct writer_kernel_event *event;

	if ((attr->sample_type & (SAMPLE_TYPE | NOT_SAMPLE_TYPE)) != SAMPLE_TYPE ||
	    !attr->sample_id_all || !attr->use_clockid || attr->clockid != CLOCK_MONOTONIC ||
	    writer->header.data.offset)
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "%s: event %s does not fit into the file", writer->path,
					  name);
	event = reallocarray(writer->kernel_events, writer->nr_kernel_events + 1, sizeof(*event));
	if (!event)
		return swlbr_error_no_memory();
	writer->kernel_events = event;
	event += writer->nr_kernel_events;
	event->attr = *attr;
	event->attr.size = ATTR_SIZE;
	event->name = strdup(name);
	if (!event->name)
		return swlbr_error_no_memory();
	*id_ret = writer_kernel_event_id(writer->nr_kernel_events++);
	return NULL;
}

/* Offset of the event's id among a record's own fields, 0 if it has none there. */
static size_t own_id_offset(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_LOST: /* id, lost */
		return 8;
	case PERF_RECORD_THROTTLE: /* time, id, stream_id */
	case PERF_RECORD_UNTHROTTLE:
		return 16;
	default:
		return 0;
	}
}

static void put_at(struct swlbr_perfdata_writer *writer, size_t offset, uint64_t value)
{
	memcpy(writer->record + offset, &value, sizeof(value));
}

/* A time that readers were told not to expect any more becomes the earliest that they do. */
static uint64_t fix_time(struct swlbr_perfdata_writer *writer, size_t offset)
{
	uint64_t time;

	memcpy(&time, writer->record + offset, sizeof(time));
	time = swlbr_writer_note_time(writer, time);
	put_at(writer, offset, time);
	return time;
}

struct swlbr_error *swlbr_perfdata_write_kernel_record(struct swlbr_perfdata_writer *writer,
						       const struct perf_event_header *record,
						       uint64_t id)
{
	bool sample = record->type == PERF_RECORD_SAMPLE;
	size_t size = record->size, own_id = own_id_offset(record->type);
	size_t least = sample ? SAMPLE_FIXED : sizeof(*record) + TRAILER_SIZE;

	if (own_id)
		least += own_id; /* and id itself, in place of the header */
	if (size < least || size % 8)
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: a record of type %u and %zu bytes from the kernel",
					  writer->path, record->type, size);
	writer->used = 0;
	swlbr_writer_put(writer, record, size);
	if (sample) {
		put_at(writer, SAMPLE_IDENTIFIER, id);
		swlbr_writer_note_sample(writer, fix_time(writer, SAMPLE_TIME));
		return swlbr_writer_end(writer);
	}
	if (own_id)
		put_at(writer, own_id, id);
	fix_time(writer, size - TRAILER_TIME);
	put_at(writer, size - TRAILER_ID, id);
	return swlbr_writer_end(writer);
}
