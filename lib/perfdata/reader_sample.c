// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Samples: the fields before the branch stack, and it. What comes after it (registers, the user's
 * stack, weights, AUX data …) is not looked at. The order is that of perf_event_open(2).
 */
#include "perfdata/reader.h"
#include "pmu/include/uapi/linux/swlbr.h"

/* One word of the body; the caller knows that it is there. */
static inline uint64_t word_at(const struct swlbr_perfdata *file, const uint8_t *body,
			       uint8_t index)
{
	uint64_t value;

	memcpy(&value, body + index * sizeof(value), sizeof(value));
	return file->swap ? bswap_64(value) : value;
}

static inline uint32_t half_at(const struct swlbr_perfdata *file, const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return file->swap ? bswap_32(value) : value;
}

/* Step over @nr things of @size bytes each; a number too large must not become small. */
static void skip_array(struct cursor *cursor, uint64_t nr, size_t size)
{
	cursor_take(cursor, nr > UINT32_MAX ? UINT64_MAX : nr * size);
}

static void skip_read(struct cursor *cursor, uint64_t format)
{
	uint64_t words = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
	uint64_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			 !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	uint64_t nr = 1;

	if (format & PERF_FORMAT_GROUP)
		nr = cursor_take_u64(cursor);
	skip_array(cursor, times, sizeof(uint64_t));
	skip_array(cursor, nr, words * sizeof(uint64_t));
}

/*
 * The bits of perf_branch_entry count from the other end in a file of big-endian order: here to
 * the layout of little endian, for the fields that matter.
 */
static uint64_t flags_of_big_endian(uint64_t flags)
{
	uint64_t mispredicted = flags >> 63, cycles = flags >> 44 & 0xffff, spec = flags >> 38 & 3;

	return mispredicted | cycles << 4 | spec << 24;
}

/* Copy the stack, in this machine's order, to memory that is aligned. */
static const struct swlbr_branch *copy_stack(struct swlbr_perfdata *file, struct cursor cursor,
					     size_t nr)
{
	uint64_t *copy = file->values;

	for (size_t i = 0; i < nr * 3; i++)
		copy[i] = cursor_take_u64(&cursor);
	for (size_t i = 0; file->big_endian && i < nr; i++)
		copy[3 * i + 2] = flags_of_big_endian(copy[3 * i + 2]);
	return (const struct swlbr_branch *)copy;
}

static void read_stack(struct swlbr_perfdata *file, struct cursor *cursor,
		       const struct reader_event *event, struct swlbr_record *record)
{
	uint64_t nr = cursor_take_u64(cursor);
	struct cursor entries;

	if (event->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		cursor_take_u64(cursor);
	entries = *cursor;
	skip_array(cursor, nr, sizeof(struct swlbr_branch));
	if (cursor->overrun)
		return;
	record->sample.has_stack = true;
	record->sample.nr = nr;
	record->sample.stack = (const struct swlbr_branch *)(entries.data + entries.at);
	if (file->big_endian || file->swap || (uintptr_t)record->sample.stack % sizeof(uint64_t))
		record->sample.stack = copy_stack(file, entries, nr);
}

bool swlbr_perfdata_delta(const struct swlbr_perfdata *file, const struct swlbr_record *record,
			  uint32_t index, uint32_t *counter_ret, uint32_t *nr_ret)
{
	const size_t head = sizeof(struct swlbr_raw), size = sizeof(struct swlbr_delta);
	const uint8_t *at;
	uint32_t nr;

	if (record->kind != SWLBR_RECORD_SAMPLE || record->sample.raw_size < head)
		return false;
	nr = half_at(file, record->sample.raw);
	if (index >= nr || nr > (record->sample.raw_size - head) / size)
		return false;
	at = record->sample.raw + head + index * size;
	*counter_ret = half_at(file, at);
	*nr_ret = half_at(file, at + sizeof(uint32_t));
	return true;
}

struct swlbr_error *swlbr_reader_sample(struct swlbr_perfdata *file, struct cursor *cursor,
					const struct reader_event *event,
					struct swlbr_record *record)
{
	uint64_t type = event->sample_type;
	const uint8_t *body = cursor->data + cursor->at, *raw;
	uint32_t size;

	if (!cursor_take(cursor, event->variable * sizeof(uint64_t)))
		return NULL;
	if (event->tid != READER_NONE) {
		record->pid = half_at(file, body + event->tid * sizeof(uint64_t));
		record->tid = half_at(file, body + event->tid * sizeof(uint64_t) + 4);
	}
	if (event->time != READER_NONE)
		record->time = word_at(file, body, event->time);
	if (event->kind == SWLBR_RECORD_SAMPLE) {
		record->kind = SWLBR_RECORD_SAMPLE;
		record->sample.event = event - file->events;
		if (event->ip != READER_NONE)
			record->sample.ip = word_at(file, body, event->ip);
		if (event->cpu != READER_NONE)
			record->sample.cpu = half_at(file, body + event->cpu * sizeof(uint64_t));
		if (event->period != READER_NONE)
			record->sample.period = word_at(file, body, event->period);
	}
	if (type & PERF_SAMPLE_READ)
		skip_read(cursor, event->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		uint64_t nr = cursor_take_u64(cursor);

		skip_array(cursor, nr, sizeof(uint64_t));
		if (event->kind == SWLBR_RECORD_SAMPLE)
			record->sample.nr_callers = nr;
	}
	if (type & PERF_SAMPLE_RAW) {
		size = cursor_take_u32(cursor);
		raw = cursor_take(cursor, size);
		if (raw && event->kind != SWLBR_RECORD_SAMPLE)
			return swlbr_reader_row(file, event, raw, size, record);
		if (raw) {
			record->sample.raw = raw;
			record->sample.raw_size = size;
		}
	}
	if (type & PERF_SAMPLE_BRANCH_STACK && event->kind == SWLBR_RECORD_SAMPLE)
		read_stack(file, cursor, event, record);
	return NULL;
}
