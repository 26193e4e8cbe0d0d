// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Records that are no samples: what tasks do, what they map, what was lost. */
#include <sys/mman.h>

#include "perfdata/reader.h"

/* What sample_id_all puts at the end of records that are no samples. */
static void decode_sample_id(struct cursor *cursor, const struct reader_event *event,
			     struct swlbr_record *record)
{
	uint64_t type = event->sample_type;
	uint64_t words = !!(type & PERF_SAMPLE_TID) + !!(type & PERF_SAMPLE_TIME) +
			 !!(type & PERF_SAMPLE_ID) + !!(type & PERF_SAMPLE_STREAM_ID) +
			 !!(type & PERF_SAMPLE_CPU) + !!(type & PERF_SAMPLE_IDENTIFIER);
	struct cursor id = *cursor;

	if (!event->sample_id_all || words * sizeof(uint64_t) > cursor_left(cursor))
		return;
	cursor->size -= words * sizeof(uint64_t);
	id.at = cursor->size;
	if (type & PERF_SAMPLE_TID) {
		record->pid = cursor_take_u32(&id);
		record->tid = cursor_take_u32(&id);
	}
	if (type & PERF_SAMPLE_TIME)
		record->time = cursor_take_u64(&id);
}

static void decode_mmap(struct cursor *cursor, struct swlbr_record *record)
{
	record->pid = cursor_take_u32(cursor);
	record->tid = cursor_take_u32(cursor);
	record->mmap2.start = cursor_take_u64(cursor);
	record->mmap2.length = cursor_take_u64(cursor);
	record->mmap2.offset = cursor_take_u64(cursor);
	record->mmap2.prot = record->misc & PERF_RECORD_MISC_MMAP_DATA ? PROT_READ
								       : PROT_READ | PROT_EXEC;
	if (record->type == PERF_RECORD_MMAP2) {
		struct swlbr_build_id *id = &record->mmap2.build_id;
		const uint8_t *binary = cursor_take(cursor, 24);

		if (binary && record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
			id->size = binary[0] < SWLBR_BUILD_ID_SIZE ? binary[0]
								   : SWLBR_BUILD_ID_SIZE;
			memcpy(id->bytes, binary + 4, id->size);
		}
		record->mmap2.prot = cursor_take_u32(cursor);
		cursor_take_u32(cursor); /* flags */
	}
	record->mmap2.path = cursor_take_string(cursor);
	record->kind = SWLBR_RECORD_MMAP2;
}

static void decode_comm(struct cursor *cursor, struct swlbr_record *record)
{
	record->pid = cursor_take_u32(cursor);
	record->tid = cursor_take_u32(cursor);
	record->comm.comm = cursor_take_string(cursor);
	record->comm.exec = record->misc & PERF_RECORD_MISC_COMM_EXEC;
	record->kind = SWLBR_RECORD_COMM;
}

static void decode_task(struct cursor *cursor, struct swlbr_record *record)
{
	record->pid = cursor_take_u32(cursor);
	record->task.ppid = cursor_take_u32(cursor);
	record->tid = cursor_take_u32(cursor);
	record->task.ptid = cursor_take_u32(cursor);
	record->time = cursor_take_u64(cursor);
	record->kind = record->type == PERF_RECORD_FORK ? SWLBR_RECORD_FORK : SWLBR_RECORD_EXIT;
}

static void decode_lost(struct cursor *cursor, struct swlbr_record *record)
{
	if (record->type == PERF_RECORD_LOST)
		cursor_take_u64(cursor); /* id of the event */
	record->nr_lost = cursor_take_u64(cursor);
	record->kind = SWLBR_RECORD_LOST;
}

struct swlbr_error *swlbr_reader_decode(struct swlbr_perfdata *file, struct cursor *cursor,
					struct swlbr_record *record)
{
	const struct reader_event *event = NULL;

	if (record->type < PERFDATA_RECORD_HEADER_ATTR)
		event = swlbr_reader_event_of(file, record->type, cursor->data + cursor->at,
					      cursor_left(cursor));
	if (record->type == PERF_RECORD_SAMPLE)
		return event ? swlbr_reader_sample(file, cursor, event, record) : NULL;
	if (event)
		decode_sample_id(cursor, event, record);
	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		decode_mmap(cursor, record);
		break;
	case PERF_RECORD_COMM:
		decode_comm(cursor, record);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		decode_task(cursor, record);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		decode_lost(cursor, record);
		break;
	case PERF_RECORD_THROTTLE:
		record->kind = SWLBR_RECORD_THROTTLE;
		break;
	case PERFDATA_RECORD_AUXTRACE_INFO:
		record->trace_type = cursor_take_u32(cursor);
		record->kind = SWLBR_RECORD_AUXTRACE_INFO;
		break;
	}
	return NULL;
}
