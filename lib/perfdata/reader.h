/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_PERFDATA_READER_INTERNAL_H
#define SWLBR_PERFDATA_READER_INTERNAL_H

#include <linux/perf_event.h>
#include <swlbr/perfdata.h>

#include "base/cursor.h"
#include "perfdata/format.h"

struct tep_event;
struct tep_format_field;
struct tep_handle;
struct ZSTD_DCtx_s;

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

#define READER_NONE 0xff

/** One event of the file: what of its attr is needed to take its samples apart. */
struct reader_event {
	uint32_t type;
	uint64_t config, sample_type, read_format, branch_sample_type;
	bool sample_id_all;
	char *name; /* NULL if the file does not tell */
	/*
	 * Where things are in a sample's body, in 64-bit words, or READER_NONE; @variable is where
	 * the fields of variable size begin.
	 */
	uint8_t ip, tid, time, cpu, period, variable;
	/* A swlbr tracepoint, else SWLBR_RECORD_SAMPLE; fields it does not have are NULL. */
	enum swlbr_record_kind kind;
	const struct tep_format_field *fields[READER_FIELDS];
};

/** Which event the samples with this id are of. */
struct reader_id {
	uint64_t id;
	size_t event;
};

/** A PMU, of the PMU_MAPPINGS feature. */
struct reader_pmu {
	uint32_t type;
	char *name;
};

/** Records that were compressed: a buffer that is filled and emptied. */
struct reader_inflate {
	struct ZSTD_DCtx_s *context;
	uint8_t *data; /* INFLATE_SIZE, page aligned */
	size_t at, end;
	/* What is left of the compressed record; in the window, which does not move meanwhile. */
	const uint8_t *input;
	size_t input_size;
	bool pending;	   /* more may come without input */
	uint64_t offset;   /* of the compressed record */
	uint64_t produced; /* bytes that it gave */
};

struct swlbr_perfdata {
	char *path;
	int fd;
	uint64_t size; /* of the file */
	bool big_endian, swap, pipe, unfinished, skip_samples;
	bool read_once; /* what records say of events and binaries is known */
	struct perfdata_header header;
	uint64_t end; /* of the records */
	struct reader_event *events;
	size_t nr_events, max_events;
	struct reader_id *ids;
	size_t nr_ids;
	bool ids_sorted;
	struct reader_id last_id;
	struct reader_pmu *pmus;
	size_t nr_pmus;
	struct swlbr_perfdata_binary *binaries;
	size_t nr_binaries;
	char *arch, *os_release;
	char **notes;
	size_t nr_notes;
	struct tep_handle *tep;
	uint64_t position; /* of the next record */
	/* A part of the file, at a multiple of the page size, in memory at such a one too. */
	uint8_t *window;
	uint64_t window_start;
	size_t window_size;
	struct reader_inflate inflate;
	/* What the last record's pointers point to, if not into the window. */
	uint64_t values[UINT16_MAX / sizeof(uint64_t)];
	char text[UINT16_MAX + 1];
};

/* reader_source.c: the bytes of the file. */

/* Read a whole section into memory that the caller frees; @what names it in errors. */
struct swlbr_error *swlbr_reader_section(struct swlbr_perfdata *file,
					 struct perfdata_section section, const char *what,
					 uint8_t **data_ret);
struct swlbr_error *swlbr_reader_read(struct swlbr_perfdata *file, void *buffer, size_t size,
				      uint64_t offset);
/* Make the window hold @size bytes at @offset, at most 64 KB. */
struct swlbr_error *swlbr_reader_fill(struct swlbr_perfdata *file, uint64_t offset, size_t size);
/* A descriptor of a file with all that can be read from @fd, which cannot be sought in. */
struct swlbr_error *swlbr_reader_spool(int fd, const char *path, int *fd_ret);

/* reader_inflate.c: compressed records. */

/* Take the compressed data of a record. */
struct swlbr_error *swlbr_reader_inflate(struct swlbr_perfdata *file, struct cursor *cursor,
					 uint32_t type);
/* The next record that was compressed; @data_ret is NULL when more input is needed. */
struct swlbr_error *swlbr_reader_inflated(struct swlbr_perfdata *file, const uint8_t **data_ret);
void swlbr_reader_inflate_reset(struct swlbr_perfdata *file);
void swlbr_reader_inflate_free(struct swlbr_perfdata *file);

/* reader_features.c: the feature sections, and the records that stand for them in a pipe. */
struct swlbr_error *swlbr_reader_features(struct swlbr_perfdata *file);
struct swlbr_error *swlbr_reader_pipe_record(struct swlbr_perfdata *file,
					     const struct perf_event_header *header,
					     struct cursor cursor, uint64_t trailing);
void swlbr_reader_free_features(struct swlbr_perfdata *file);
/* Keep a line for swlbr_perfdata_note(). Takes @error. */
void swlbr_reader_note(struct swlbr_perfdata *file, struct swlbr_error *error);

/* reader_events.c */

/* Read attrs and ids. */
struct swlbr_error *swlbr_reader_events(struct swlbr_perfdata *file);
/* Add the event of a HEADER_ATTR record. */
struct swlbr_error *swlbr_reader_add_event(struct swlbr_perfdata *file, struct cursor *cursor);
/* Take the names of the events from an EVENT_DESC section. */
struct swlbr_error *swlbr_reader_event_desc(struct swlbr_perfdata *file, struct cursor *cursor);
/* The event a record belongs to, by what is in the record; NULL if that names none. */
const struct reader_event *swlbr_reader_event_of(struct swlbr_perfdata *file, uint32_t type,
						 const uint8_t *body, size_t size);
/* NULL if there is none with that id. */
struct reader_event *swlbr_reader_event_by_id(struct swlbr_perfdata *file, uint64_t id);

/* reader_records.c: decode one record whose body @cursor is on; @record has what its header says. */
struct swlbr_error *swlbr_reader_decode(struct swlbr_perfdata *file, struct cursor *cursor,
					struct swlbr_record *record);
/* reader_sample.c */
struct swlbr_error *swlbr_reader_sample(struct swlbr_perfdata *file, struct cursor *cursor,
					const struct reader_event *event,
					struct swlbr_record *record);

/* Read the formats of the swlbr tracepoints from the TRACING_DATA section. */
struct swlbr_error *swlbr_reader_tracing_data(struct swlbr_perfdata *file,
					      struct perfdata_section section);
/* Find the formats of the tracepoints among the events. */
struct swlbr_error *swlbr_reader_bind_events(struct swlbr_perfdata *file);
/* Decode a row; @raw is what follows the size of PERF_SAMPLE_RAW. Errors name no place. */
struct swlbr_error *swlbr_reader_row(struct swlbr_perfdata *file, const struct reader_event *event,
				     const uint8_t *raw, size_t size, struct swlbr_record *record);
void swlbr_reader_free_tracepoints(struct swlbr_perfdata *file);

static inline struct cursor reader_cursor(const struct swlbr_perfdata *file, const uint8_t *data,
					  size_t size)
{
	return (struct cursor){
		.file = file->path,
		.data = data,
		.size = size,
		.big_endian = file->big_endian,
	};
}

#endif
