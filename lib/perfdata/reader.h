/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_PERFDATA_READER_INTERNAL_H
#define SWLBR_PERFDATA_READER_INTERNAL_H

#include <linux/perf_event.h>
#include <swlbr/perfdata.h>

#include "perfdata/cursor.h"
#include "perfdata/format.h"

struct tep_event;
struct tep_format_field;
struct tep_handle;

/* Fields of the swlbr tracepoints, by name. */
enum reader_field {
	FIELD_BUILD_ID,
	FIELD_ENGINE,
	FIELD_FIRST,
	FIELD_NR,
	FIELD_VALUE,
	FIELD_FUNCTION,
	FIELD_KIND,
	FIELD_SITE,
	FIELD_SINCE,
	FIELD_WHY,
	FIELD_FROM,
	FIELD_TO,
	FIELD_EXACT,
	READER_FIELDS,
};

/** One event of the file: what of its attr is needed to take its samples apart. */
struct reader_event {
	uint32_t type;
	uint64_t config, sample_type, read_format;
	bool sample_id_all;
	char *name; /* NULL if the file does not tell */
	/* A swlbr tracepoint, else SWLBR_RECORD_OTHER; fields it does not have are NULL. */
	enum swlbr_record_kind kind;
	const struct tep_format_field *fields[READER_FIELDS];
};

/** Which event the samples with this id are of. */
struct reader_id {
	uint64_t id;
	size_t event;
};

struct swlbr_perfdata {
	char *path;
	int fd;
	uint64_t size; /* of the file */
	bool swap;     /* the file is in the other byte order */
	struct perfdata_header header;
	struct reader_event *events;
	size_t nr_events;
	struct reader_id *ids; /* sorted */
	size_t nr_ids;
	struct tep_handle *tep;
	uint64_t position; /* of the next record */
	/* A part of the file. */
	uint8_t *window;
	uint64_t window_start;
	size_t window_size;
	/* What the last record's pointers point to, if not into the window. */
	uint64_t values[UINT16_MAX / sizeof(uint64_t)];
	char text[UINT16_MAX + 1];
};

/* Read a whole section into memory that the caller frees; @what names it in errors. */
struct swlbr_error *swlbr_reader_section(struct swlbr_perfdata *file,
					 struct perfdata_section section, const char *what,
					 uint8_t **data_ret);

/* Read attrs and ids. */
struct swlbr_error *swlbr_reader_events(struct swlbr_perfdata *file);
/* Take the names of the events from the EVENT_DESC section. */
struct swlbr_error *swlbr_reader_event_desc(struct swlbr_perfdata *file,
					    struct perfdata_section section);
/* The event a record belongs to, by what is in the record; NULL if that names none. */
const struct reader_event *swlbr_reader_event_of(const struct swlbr_perfdata *file, uint32_t type,
						 const uint8_t *body, size_t size);

/* Read the formats of the swlbr tracepoints from the TRACING_DATA section. */
struct swlbr_error *swlbr_reader_tracing_data(struct swlbr_perfdata *file,
					      struct perfdata_section section);
/* Decode a row; @raw is what follows the size of PERF_SAMPLE_RAW. Errors name no place. */
struct swlbr_error *swlbr_reader_row(struct swlbr_perfdata *file, const struct reader_event *event,
				     const uint8_t *raw, size_t size, struct swlbr_record *record);
void swlbr_reader_free_tracepoints(struct swlbr_perfdata *file);

#endif
