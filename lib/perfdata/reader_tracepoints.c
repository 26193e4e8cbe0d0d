// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The swlbr:* tracepoints of a perf.data, decoded by the formats that the file itself carries. */
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>

#include "perfdata/reader.h"

/* A format file of the kernel is a few kilobytes. */
#define MAX_FORMAT_SIZE (64 * 1024)

static const char *const field_names[READER_FIELDS] = {
	[FIELD_BUILD_ID] = "build_id", [FIELD_ENGINE] = "engine",
	[FIELD_FIRST] = "first",       [FIELD_NR] = "nr",
	[FIELD_VALUE] = "value",       [FIELD_FUNCTION] = "function",
	[FIELD_KIND] = "kind",	       [FIELD_SITE] = "site",
	[FIELD_SINCE] = "since",       [FIELD_WHY] = "why",
	[FIELD_FROM] = "from",	       [FIELD_TO] = "to",
	[FIELD_EXACT] = "exact",
};

#define BIT(field) (1U << (field))

/* The tracepoints known here, and the fields without which a row means nothing. */
static const struct {
	const char *name;
	enum swlbr_record_kind kind;
	unsigned int required;
	enum reader_field array; /* the field that is an array of variable length, or none */
} tracepoints[] = {
	{
		"counters",
		SWLBR_RECORD_COUNTERS,
		BIT(FIELD_BUILD_ID) | BIT(FIELD_FIRST) | BIT(FIELD_VALUE),
		FIELD_VALUE,
	},
	{
		"value",
		SWLBR_RECORD_VALUE,
		BIT(FIELD_BUILD_ID) | BIT(FIELD_FUNCTION) | BIT(FIELD_KIND) | BIT(FIELD_SITE) |
			BIT(FIELD_VALUE) | BIT(FIELD_NR),
		READER_FIELDS,
	},
	{
		"lost",
		SWLBR_RECORD_LOST_COUNTS,
		BIT(FIELD_BUILD_ID) | BIT(FIELD_WHY),
		FIELD_WHY,
	},
	{
		"arc",
		SWLBR_RECORD_ARC,
		BIT(FIELD_BUILD_ID) | BIT(FIELD_KIND) | BIT(FIELD_FROM) | BIT(FIELD_TO) |
			BIT(FIELD_NR),
		READER_FIELDS,
	},
};

/* Whether @field is what rows have in that place: a number, or bytes, or an array by reference. */
static bool field_fits(const struct tep_format_field *field, enum reader_field name,
		       enum reader_field array)
{
	bool dynamic = field->flags & TEP_FIELD_IS_DYNAMIC;

	if (field->offset < 0 || field->size <= 0)
		return false;
	if (name == FIELD_BUILD_ID)
		return !dynamic && field->size <= SWLBR_BUILD_ID_SIZE;
	if (name == array)
		return dynamic && field->size == 4 &&
		       (name != FIELD_VALUE || field->elementsize == sizeof(uint64_t));
	return !(field->flags & TEP_FIELD_IS_ARRAY) && field->size <= 8 &&
	       !(field->size & (field->size - 1));
}

static struct swlbr_error *bind_event(struct swlbr_perfdata *file, struct reader_event *event,
				      struct tep_event *format)
{
	for (size_t i = 0; i < sizeof(tracepoints) / sizeof(*tracepoints); i++) {
		if (strcmp(format->name, tracepoints[i].name))
			continue;
		for (int field = 0; field < READER_FIELDS; field++) {
			struct tep_format_field *found = tep_find_field(format, field_names[field]);

			if (found && field_fits(found, field, tracepoints[i].array))
				event->fields[field] = found;
			else if (found || tracepoints[i].required & BIT(field))
				return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
							  "%s: event swlbr:%s has %s field '%s'",
							  file->path, format->name,
							  found ? "an unknown form of" : "no",
							  field_names[field]);
		}
		event->kind = tracepoints[i].kind;
	}
	return NULL;
}

/* The lines of a format file up to its print fmt, as the kernel and our writer write them. */
#define WORD	     "[A-Za-z_][A-Za-z0-9_]*"
#define WORDS	     WORD "( " WORD ")*"
#define ARRAY	     "(__data_loc|__rel_loc) " WORDS "\\[\\] " WORD
#define SCALAR	     WORDS " " WORD "(\\[[0-9]{1,5}\\])?"
#define NUMBER(name) "\t" name ":[0-9]{1,5};"
#define FORMAT_LINE                                        \
	"^(name: " WORD "|ID: [0-9]{1,5}|format:|"         \
	"\tfield:(" ARRAY "|" SCALAR ");" NUMBER("offset") \
		NUMBER("size") "(" NUMBER("signed") ")?|)$"

/*
 * True if all lines of @text are such lines, and first come its name and ID: libtraceevent 1.7
 * follows NULL pointers on some texts that are not.
 */
static bool format_is_plain(const regex_t *line, char *text)
{
	static const char *const head[] = { "name: ", "ID: ", "format:" };
	size_t nr = 0;
	bool plain = true;

	while (plain && text) {
		char *end = strchr(text, '\n');

		if (end)
			*end = '\0';
		if (nr < sizeof(head) / sizeof(*head))
			plain = !strncmp(text, head[nr], strlen(head[nr]));
		else
			plain = !*text || *text == '\t';
		plain = plain && strlen(text) < 256 && regexec(line, text, 0, NULL, 0) == 0;
		nr++;
		if (end)
			*end++ = '\n';
		text = end;
	}
	return plain && nr > sizeof(head) / sizeof(*head);
}

/* Give @text, the format file of an event of system swlbr, to libtraceevent. */
static struct swlbr_error *parse_format(struct swlbr_perfdata *file, const regex_t *line,
					const uint8_t *text, uint64_t size)
{
	/* How to print a row is for people; its parser is large, and the file is not trusted. */
	static const char no_print_fmt[] = "\nprint fmt: \"\"\n";
	const uint8_t *print_fmt = memmem(text, size, "\nprint fmt:", 11);
	enum tep_errno err;
	char *copy;

	if (size > MAX_FORMAT_SIZE)
		return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: an event format of %llu bytes",
					  file->path, (unsigned long long)size);
	if (print_fmt)
		size = print_fmt - text;
	copy = malloc(size + sizeof(no_print_fmt));
	if (!copy)
		return swlbr_error_no_memory();
	memcpy(copy, text, size);
	copy[size] = '\0';
	err = TEP_ERRNO__READ_FORMAT_FAILED;
	if (strlen(copy) == size && format_is_plain(line, copy)) {
		memcpy(copy + size, no_print_fmt, sizeof(no_print_fmt));
		err = tep_parse_event(file->tep, copy, size + sizeof(no_print_fmt) - 1, "swlbr");
	}
	free(copy);
	if (err == TEP_ERRNO__MEM_ALLOC_FAILED)
		return swlbr_error_no_memory();
	if (err)
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: the format of a swlbr event cannot be understood",
					  file->path);
	return NULL;
}

/* The layout is that of tools/perf/util/trace-event-read.c. */
static struct swlbr_error *parse_tracing_data(struct swlbr_perfdata *file, const regex_t *line,
					      struct cursor *cursor)
{
	const uint8_t *magic = cursor_take(cursor, 10);
	struct swlbr_error *error = NULL;
	uint32_t nr;

	if (!magic || memcmp(magic, "\x17\x08\x44tracing", 10))
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: the tracing data has a wrong magic number",
					  file->path);
	cursor_take_string(cursor);	/* version */
	cursor_take(cursor, 1 + 1 + 4); /* endian, size of long, size of a page */
	cursor_take(cursor, sizeof("header_page"));
	cursor_take(cursor, cursor_take_u64(cursor));
	cursor_take(cursor, sizeof("header_event"));
	cursor_take(cursor, cursor_take_u64(cursor));
	for (nr = cursor_take_u32(cursor); nr && !cursor->overrun; nr--) /* ftrace's own events */
		cursor_take(cursor, cursor_take_u64(cursor));
	for (nr = cursor_take_u32(cursor); nr && !cursor->overrun; nr--) {
		const char *system = cursor_take_string(cursor);
		bool ours = system && !strcmp(system, "swlbr");

		for (uint32_t i = cursor_take_u32(cursor); i && !error && !cursor->overrun; i--) {
			uint64_t size = cursor_take_u64(cursor);
			const uint8_t *text = cursor_take(cursor, size);

			if (ours && text)
				error = parse_format(file, line, text, size);
		}
		if (error)
			return error;
	}
	if (cursor->overrun)
		return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: the tracing data is cut off",
					  file->path);
	return NULL;
}

struct swlbr_error *swlbr_reader_bind_events(struct swlbr_perfdata *file)
{
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && file->tep && i < file->nr_events; i++) {
		struct reader_event *event = &file->events[i];
		struct tep_event *format;

		if (event->kind != SWLBR_RECORD_SAMPLE || event->type != PERF_TYPE_TRACEPOINT ||
		    event->config > UINT16_MAX)
			continue;
		format = tep_find_event(file->tep, event->config);
		if (!format)
			continue;
		if (!event->name && asprintf(&event->name, "swlbr:%s", format->name) < 0) {
			event->name = NULL;
			error = swlbr_error_no_memory();
		} else {
			error = bind_event(file, event, format);
		}
	}
	return error;
}

struct swlbr_error *swlbr_reader_tracing_data(struct swlbr_perfdata *file,
					      struct perfdata_section section)
{
	struct swlbr_error *error;
	struct cursor cursor;
	uint8_t *data;
	regex_t line;

	if (file->tep)
		return NULL;
	error = swlbr_reader_section(file, section, "tracing data", &data);
	if (error)
		return error;
	if (regcomp(&line, FORMAT_LINE, REG_EXTENDED | REG_NOSUB)) {
		free(data);
		return swlbr_error_no_memory();
	}
	cursor = (struct cursor){
		.data = data,
		.size = section.size,
		.big_endian = file->big_endian,
	};
	tep_set_loglevel(TEP_LOG_NONE);
	file->tep = tep_alloc();
	error = file->tep ? parse_tracing_data(file, &line, &cursor) : swlbr_error_no_memory();
	regfree(&line);
	free(data);
	return error ? error : swlbr_reader_bind_events(file);
}

void swlbr_reader_free_tracepoints(struct swlbr_perfdata *file)
{
	tep_free(file->tep);
}

/* A row while it is decoded; @bad is set when a field is not inside it. */
struct row {
	struct swlbr_perfdata *file;
	const struct reader_event *event;
	const uint8_t *raw;
	size_t size;
	bool bad;
};

static struct cursor row_cursor(const struct row *row)
{
	return (struct cursor){
		.data = row->raw,
		.size = row->size,
		.big_endian = row->file->big_endian,
	};
}

/* The number in field @name, 0 if the event has none of that name. */
static uint64_t row_number(struct row *row, enum reader_field name)
{
	const struct tep_format_field *field = row->event->fields[name];
	struct cursor cursor = row_cursor(row);
	uint64_t value = 0;

	if (!field)
		return 0;
	cursor_take(&cursor, field->offset);
	switch (field->size) {
	case 1: {
		const uint8_t *byte = cursor_take(&cursor, 1);

		value = byte ? *byte : 0;
		break;
	}
	case 2:
		value = cursor_take_u16(&cursor);
		break;
	case 4:
		value = cursor_take_u32(&cursor);
		break;
	case 8:
		value = cursor_take_u64(&cursor);
		break;
	}
	row->bad = row->bad || cursor.overrun;
	return value;
}

/* The bytes of an array of variable length, given by a __data_loc or __rel_loc field. */
static const uint8_t *row_array(struct row *row, enum reader_field name, size_t *size_ret)
{
	const struct tep_format_field *field = row->event->fields[name];
	struct cursor cursor = row_cursor(row);
	uint32_t location = row_number(row, name);
	const uint8_t *bytes;

	cursor_take(&cursor, location & 0xffff);
	if (field->flags & TEP_FIELD_IS_RELATIVE)
		cursor_take(&cursor, (uint64_t)field->offset + field->size);
	*size_ret = location >> 16;
	bytes = cursor_take(&cursor, *size_ret);
	row->bad = row->bad || cursor.overrun;
	return row->bad ? NULL : bytes;
}

static void row_build_id(struct row *row, struct swlbr_build_id *id)
{
	const struct tep_format_field *field = row->event->fields[FIELD_BUILD_ID];
	struct cursor cursor = row_cursor(row);
	const uint8_t *bytes;

	cursor_take(&cursor, field->offset);
	bytes = cursor_take(&cursor, field->size);
	row->bad = row->bad || !bytes;
	if (!bytes)
		return;
	memcpy(id->bytes, bytes, field->size);
	id->size = SWLBR_BUILD_ID_SIZE;
	id->digest = bytes[0] == 0xd1 && field->size > 1 && bytes[1] == 0x9e;
}

static void row_counters(struct row *row, struct swlbr_record *record)
{
	struct swlbr_perfdata *file = row->file;
	struct cursor cursor = { .big_endian = file->big_endian };

	record->counters.engine = row_number(row, FIELD_ENGINE);
	record->counters.first = row_number(row, FIELD_FIRST);
	cursor.data = row_array(row, FIELD_VALUE, &cursor.size);
	if (row->bad)
		return;
	record->counters.nr = cursor.size / sizeof(uint64_t);
	if (row->event->fields[FIELD_NR] && row_number(row, FIELD_NR) != record->counters.nr)
		row->bad = true;
	if (record->counters.first > UINT64_MAX - record->counters.nr)
		row->bad = true;
	for (uint32_t i = 0; i < record->counters.nr; i++)
		file->values[i] = cursor_take_u64(&cursor);
	record->counters.value = file->values;
}

static void row_value(struct row *row, struct swlbr_record *record)
{
	record->value.engine = row_number(row, FIELD_ENGINE);
	record->value.function = row_number(row, FIELD_FUNCTION);
	record->value.value_kind = row_number(row, FIELD_KIND);
	record->value.site = row_number(row, FIELD_SITE);
	record->value.value = row_number(row, FIELD_VALUE);
	record->value.nr = row_number(row, FIELD_NR);
}

static void row_lost(struct row *row, struct swlbr_record *record)
{
	size_t size;
	const uint8_t *why = row_array(row, FIELD_WHY, &size);

	record->lost.since = row_number(row, FIELD_SINCE);
	if (row->bad)
		return;
	memcpy(row->file->text, why, size);
	row->file->text[size] = '\0';
	record->lost.why = row->file->text;
}

static void row_arc(struct row *row, struct swlbr_record *record)
{
	record->arc.kind = row_number(row, FIELD_KIND);
	record->arc.from = row_number(row, FIELD_FROM);
	record->arc.to = row_number(row, FIELD_TO);
	record->arc.nr = row_number(row, FIELD_NR);
	record->arc.exact = row_number(row, FIELD_EXACT) != 0;
}

struct swlbr_error *swlbr_reader_row(struct swlbr_perfdata *file, const struct reader_event *event,
				     const uint8_t *raw, size_t size, struct swlbr_record *record)
{
	struct row row = { file, event, raw, size, false };
	struct swlbr_build_id id = { 0 };

	row_build_id(&row, &id);
	switch (event->kind) {
	case SWLBR_RECORD_COUNTERS:
		record->counters.build_id = id;
		row_counters(&row, record);
		break;
	case SWLBR_RECORD_VALUE:
		record->value.build_id = id;
		row_value(&row, record);
		break;
	case SWLBR_RECORD_ARC:
		record->arc.build_id = id;
		row_arc(&row, record);
		break;
	default:
		record->lost.build_id = id;
		row_lost(&row, record);
		break;
	}
	if (row.bad)
		return swlbr_error_create(SWLBR_ERROR_FORMAT, "a row of %s is damaged",
					  event->name ? event->name : "a swlbr event");
	record->kind = event->kind;
	return NULL;
}
