// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What a perf.data says about itself: the feature sections behind the records, and in what was
 * written through a pipe the records that stand for them.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "perfdata/reader.h"

/* Bounds for a hostile file. */
#define MAX_BINARIES (1 << 20)
#define MAX_PMUS     (1 << 12)
#define MAX_NOTES    100

void swlbr_reader_note(struct swlbr_perfdata *file, struct swlbr_error *error)
{
	char **grown = NULL;

	if (file->nr_notes < MAX_NOTES)
		grown = reallocarray(file->notes, file->nr_notes + 1, sizeof(*grown));
	if (grown) {
		file->notes = grown;
		grown[file->nr_notes] = strdup(error->message);
		file->nr_notes += grown[file->nr_notes] != NULL;
	}
	swlbr_error_destroy(error);
}

/* A string as perf writes it: its padded length, then the text. */
static struct swlbr_error *read_string(struct cursor *cursor, char **ret)
{
	uint32_t length = cursor_take_u32(cursor);
	const uint8_t *text = cursor_take(cursor, length);

	if (!text || *ret)
		return NULL;
	*ret = strndup((const char *)text, length);
	return *ret ? NULL : swlbr_error_no_memory();
}

static struct swlbr_error *read_pmus(struct swlbr_perfdata *file, struct cursor *cursor)
{
	uint32_t nr = cursor_take_u32(cursor);

	for (uint32_t i = 0; i < nr && i < MAX_PMUS && !cursor->overrun; i++) {
		struct reader_pmu pmu = { .type = cursor_take_u32(cursor) }, *grown;
		struct swlbr_error *error = read_string(cursor, &pmu.name);

		if (error)
			return error;
		if (!pmu.name)
			break;
		grown = reallocarray(file->pmus, file->nr_pmus + 1, sizeof(*grown));
		if (!grown) {
			free(pmu.name);
			return swlbr_error_no_memory();
		}
		file->pmus = grown;
		grown[file->nr_pmus++] = pmu;
	}
	return NULL;
}

/* Without a size 20 bytes are there, and a shorter id has zeroes after it. */
static void read_build_id(const uint8_t *bytes, bool has_size, struct swlbr_build_id *id)
{
	id->size = SWLBR_BUILD_ID_SIZE;
	if (has_size && bytes[SWLBR_BUILD_ID_SIZE] < SWLBR_BUILD_ID_SIZE)
		id->size = bytes[SWLBR_BUILD_ID_SIZE];
	memcpy(id->bytes, bytes, id->size);
	while (!has_size && id->size >= 4 && !memcmp(id->bytes + id->size - 4, "\0\0\0\0", 4))
		id->size -= 4;
}

/* The body of an entry of the BUILD_ID feature, which is a BUILD_ID record in a pipe. */
static struct swlbr_error *add_binary(struct swlbr_perfdata *file, struct cursor *cursor,
				      uint16_t misc)
{
	struct swlbr_perfdata_binary binary = { 0 }, *grown;
	const uint8_t *id;
	const char *path;

	cursor_take_u32(cursor); /* pid: of a guest's kernel */
	id = cursor_take(cursor, 24);
	path = cursor_take_string(cursor);
	if (!path || file->nr_binaries >= MAX_BINARIES)
		return NULL;
	read_build_id(id, misc & PERFDATA_MISC_BUILD_ID_SIZE, &binary.build_id);
	if (!(file->nr_binaries & (file->nr_binaries - 1))) {
		size_t max = file->nr_binaries ? 2 * file->nr_binaries : 1;

		grown = reallocarray(file->binaries, max, sizeof(*grown));
		if (!grown)
			return swlbr_error_no_memory();
		file->binaries = grown;
	}
	binary.kernel = (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	binary.path = strdup(path);
	if (!binary.path)
		return swlbr_error_no_memory();
	file->binaries[file->nr_binaries++] = binary;
	return NULL;
}

static struct swlbr_error *read_build_ids(struct swlbr_perfdata *file, struct cursor *cursor)
{
	struct swlbr_error *error = NULL;

	while (!error && cursor_left(cursor) >= sizeof(struct perf_event_header)) {
		struct cursor entry = *cursor;
		uint16_t misc, size;

		cursor_take_u32(&entry);
		misc = cursor_take_u16(&entry);
		size = cursor_take_u16(&entry);
		if (size < sizeof(struct perf_event_header) || !cursor_take(cursor, size)) {
			cursor->overrun = true;
			break;
		}
		entry.size = cursor->at;
		error = add_binary(file, &entry, misc);
		cursor->overrun = cursor->overrun || entry.overrun;
	}
	return error;
}

static const char *feature_name(uint64_t bit)
{
	switch (bit) {
	case PERFDATA_TRACING_DATA:
		return "tracing data";
	case PERFDATA_BUILD_ID:
		return "build-ids";
	case PERFDATA_OSRELEASE:
		return "name of the kernel";
	case PERFDATA_ARCH:
		return "name of the machine";
	case PERFDATA_EVENT_DESC:
		return "event descriptions";
	case PERFDATA_PMU_MAPPINGS:
		return "names of PMUs";
	}
	return NULL;
}

static struct swlbr_error *read_feature(struct swlbr_perfdata *file, uint64_t bit,
					struct cursor *cursor)
{
	switch (bit) {
	case PERFDATA_BUILD_ID:
		return read_build_ids(file, cursor);
	case PERFDATA_OSRELEASE:
		return read_string(cursor, &file->os_release);
	case PERFDATA_ARCH:
		return read_string(cursor, &file->arch);
	case PERFDATA_EVENT_DESC:
		return swlbr_reader_event_desc(file, cursor);
	case PERFDATA_PMU_MAPPINGS:
		return read_pmus(file, cursor);
	}
	return NULL;
}

/* Damage in what only helps is noted; without the tracing data the swlbr events mean nothing. */
static struct swlbr_error *read_section(struct swlbr_perfdata *file, uint64_t bit,
					struct perfdata_section section)
{
	struct swlbr_error *error;
	struct cursor cursor;
	uint8_t *data;

	if (!feature_name(bit) || !section.size)
		return NULL;
	if (bit == PERFDATA_TRACING_DATA)
		return swlbr_reader_tracing_data(file, section);
	error = swlbr_reader_section(file, section, feature_name(bit), &data);
	if (error) {
		if (error->code == SWLBR_ERROR_NO_MEMORY)
			return error;
		swlbr_reader_note(file, error);
		return NULL;
	}
	cursor = reader_cursor(file, data, section.size);
	cursor.base = section.offset;
	error = read_feature(file, bit, &cursor);
	if (!error && cursor.overrun)
		swlbr_reader_note(
			file, swlbr_error_create(SWLBR_ERROR_FORMAT,
						 "%s: %s at offset %" PRIu64 " are cut off",
						 file->path, feature_name(bit), section.offset));
	free(data);
	return error;
}

struct swlbr_error *swlbr_reader_features(struct swlbr_perfdata *file)
{
	const struct perfdata_header *header = &file->header;
	struct perfdata_section table = { file->end, 0 };
	struct swlbr_error *error;
	struct cursor cursor;
	uint8_t *data;

	for (size_t i = 0; i < PERFDATA_FEATURES / 64; i++)
		table.size +=
			__builtin_popcountll(header->features[i]) * sizeof(struct perfdata_section);
	if (!table.size)
		return NULL;
	error = swlbr_reader_section(file, table, "the table of features", &data);
	if (error)
		return error;
	cursor = reader_cursor(file, data, table.size);
	for (int bit = 0; !error && bit < PERFDATA_FEATURES; bit++) {
		struct perfdata_section section;

		if (!(header->features[bit / 64] >> bit % 64 & 1))
			continue;
		section.offset = cursor_take_u64(&cursor);
		section.size = cursor_take_u64(&cursor);
		error = read_section(file, bit, section);
	}
	free(data);
	return error;
}

/* EVENT_UPDATE: only names matter here. */
static struct swlbr_error *rename_event(struct swlbr_perfdata *file, struct cursor *cursor)
{
	uint64_t type = cursor_take_u64(cursor), id = cursor_take_u64(cursor);
	struct reader_event *event = swlbr_reader_event_by_id(file, id);
	const char *name;

	if (type != PERFDATA_EVENT_UPDATE_NAME || !event)
		return NULL;
	name = cursor_take_string(cursor);
	if (!name)
		return NULL;
	free(event->name);
	event->name = strdup(name);
	return event->name ? NULL : swlbr_error_no_memory();
}

struct swlbr_error *swlbr_reader_pipe_record(struct swlbr_perfdata *file,
					     const struct perf_event_header *header,
					     struct cursor cursor, uint64_t trailing)
{
	struct swlbr_error *error = NULL;

	switch (header->type) {
	case PERFDATA_RECORD_HEADER_ATTR:
		error = swlbr_reader_add_event(file, &cursor);
		if (!error)
			error = swlbr_reader_bind_events(file);
		break;
	case PERFDATA_RECORD_TRACING_DATA:
		if (trailing)
			return swlbr_reader_tracing_data(
				file,
				(struct perfdata_section){
					cursor_offset(&cursor) + cursor_left(&cursor), trailing });
		break;
	case PERFDATA_RECORD_BUILD_ID:
		error = add_binary(file, &cursor, header->misc);
		break;
	case PERFDATA_RECORD_EVENT_UPDATE:
		error = rename_event(file, &cursor);
		break;
	case PERFDATA_RECORD_HEADER_FEATURE:
		error = read_feature(file, cursor_take_u64(&cursor), &cursor);
		break;
	}
	if (!error && cursor.overrun)
		error = swlbr_error_create(SWLBR_ERROR_FORMAT, "a record of type %u is cut off",
					   header->type);
	return error;
}

bool swlbr_perfdata_binary(const struct swlbr_perfdata *file, size_t index,
			   struct swlbr_perfdata_binary *ret)
{
	if (index < file->nr_binaries)
		*ret = file->binaries[index];
	return index < file->nr_binaries;
}

const char *swlbr_perfdata_arch(const struct swlbr_perfdata *file)
{
	return file->arch;
}

const char *swlbr_perfdata_os_release(const struct swlbr_perfdata *file)
{
	return file->os_release;
}

const char *swlbr_perfdata_note(const struct swlbr_perfdata *file, size_t index)
{
	return index < file->nr_notes ? file->notes[index] : NULL;
}

void swlbr_reader_free_features(struct swlbr_perfdata *file)
{
	for (size_t i = 0; i < file->nr_binaries; i++)
		free((char *)file->binaries[i].path);
	for (size_t i = 0; i < file->nr_pmus; i++)
		free(file->pmus[i].name);
	for (size_t i = 0; i < file->nr_notes; i++)
		free(file->notes[i]);
	free(file->binaries);
	free(file->pmus);
	free(file->notes);
	free(file->arch);
	free(file->os_release);
}
