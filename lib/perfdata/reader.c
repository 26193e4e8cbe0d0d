// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Reading a perf.data: opening it, and record after record. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfdata/reader.h"
#include "perfdata/source.h"

/* A header without feature bits, as perf wrote in 2010. */
#define OLD_HEADER_SIZE 72

static bool is_magic(uint64_t magic)
{
	return magic == PERFDATA_MAGIC || magic == PERFDATA_MAGIC_SWAPPED;
}

static struct perfdata_section take_section(struct cursor *cursor)
{
	struct perfdata_section section;

	section.offset = cursor_take_u64(cursor);
	section.size = cursor_take_u64(cursor);
	return section;
}

/* Magic and size of the header; the rest, if there is one, stays to be taken. */
static struct swlbr_error *read_magic(struct swlbr_perfdata *file, struct cursor *cursor,
				      size_t size)
{
	struct perfdata_header *header = &file->header;

	if (size >= 8 && !memcmp(cursor->data, "PERFFILE", 8))
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "%s: a perf.data of the first version (perf before 3.5)",
					  file->path);
	memcpy(&header->magic, cursor_take(cursor, 8), sizeof(header->magic));
	if (size < 8 || !is_magic(header->magic))
		return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: not a perf.data (at offset 0)",
					  file->path);
	file->swap = header->magic == PERFDATA_MAGIC_SWAPPED;
	file->big_endian = file->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	cursor->big_endian = file->big_endian;
	header->size = cursor_take_u64(cursor);
	file->pipe = size >= PERFDATA_PIPE_HEADER_SIZE && header->size == PERFDATA_PIPE_HEADER_SIZE;
	if (!file->pipe && (header->size > size ||
			    (header->size < sizeof(*header) && header->size != OLD_HEADER_SIZE)))
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: a header of %" PRIu64 " bytes in a file of %" PRIu64
					  " (at offset 8)",
					  file->path, header->size, file->size);
	return NULL;
}

static struct swlbr_error *read_header(struct swlbr_perfdata *file)
{
	uint8_t data[sizeof(struct perfdata_header)] = { 0 };
	size_t size = file->size < sizeof(data) ? file->size : sizeof(data);
	struct cursor cursor = reader_cursor(file, data, sizeof(data));
	struct perfdata_header *header = &file->header;
	struct swlbr_error *error = swlbr_reader_read(file, data, size, 0);

	if (!error)
		error = read_magic(file, &cursor, size);
	if (error)
		return error;
	if (file->pipe) {
		header->data.offset = PERFDATA_PIPE_HEADER_SIZE;
		header->data.size = file->size - PERFDATA_PIPE_HEADER_SIZE;
		return NULL;
	}
	cursor.size = header->size < sizeof(data) ? header->size : sizeof(data);
	header->attr_size = cursor_take_u64(&cursor);
	header->attrs = take_section(&cursor);
	header->data = take_section(&cursor);
	header->event_types = take_section(&cursor);
	for (size_t i = 0; cursor_left(&cursor) && i < PERFDATA_FEATURES / 64; i++)
		header->features[i] = cursor_take_u64(&cursor);
	return NULL;
}

/* Where the records end, by the header and by the file. */
static struct swlbr_error *find_end(struct swlbr_perfdata *file)
{
	const struct perfdata_section *data = &file->header.data;

	if (data->offset > file->size || data->size > UINT64_MAX - data->offset)
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: truncated: the records end at offset %" PRIu64
					  ", the file at %" PRIu64,
					  file->path, data->offset + data->size, file->size);
	file->unfinished = !data->size && data->offset < file->size && !file->header.features[0];
	file->end = file->unfinished ? file->size : data->offset + data->size;
	return NULL;
}

struct swlbr_error *swlbr_perfdata_probe(const char *path, bool *is_perfdata_ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint64_t magic = 0;
	size_t done = 0;
	int err;

	if (fd < 0)
		return swlbr_error_errno(errno, "%s: cannot open", path);
	err = swlbr_reader_pread(fd, &magic, sizeof(magic), 0, &done);
	close(fd);
	if (err && err != ESPIPE)
		return swlbr_error_errno(err, "%s: cannot read", path);
	*is_perfdata_ret = done == sizeof(magic) && is_magic(magic);
	return NULL;
}

static struct swlbr_error *open_descriptor(struct swlbr_perfdata *file, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return swlbr_error_errno(errno, "%s", file->path);
	if (S_ISDIR(st.st_mode))
		return swlbr_error_errno(EISDIR, "%s", file->path);
	if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) {
		struct swlbr_error *error = swlbr_reader_spool(fd, file->path, &file->fd);

		if (error)
			return error;
	} else if (S_ISREG(st.st_mode)) {
		file->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	} else {
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "%s: not a file that can be read", file->path);
	}
	if (file->fd < 0 || fstat(file->fd, &st) < 0)
		return swlbr_error_errno(errno, "%s", file->path);
	file->size = st.st_size;
	return NULL;
}

struct swlbr_error *swlbr_perfdata_open_fd(int fd, const char *path, struct swlbr_perfdata **ret)
{
	struct swlbr_perfdata *file = calloc(1, sizeof(*file));
	struct swlbr_error *error;

	if (!file)
		return swlbr_error_no_memory();
	file->fd = -1;
	file->path = strdup(path);
	file->window = aligned_alloc(READER_PAGE_SIZE, READER_WINDOW_SIZE);
	error = file->path && file->window ? open_descriptor(file, fd) : swlbr_error_no_memory();
	if (!error)
		error = read_header(file);
	if (!error)
		error = find_end(file);
	if (!error && !file->pipe)
		error = swlbr_reader_events(file);
	/* Of a file that is cut off nothing is left behind the records. */
	if (!error && !file->pipe && file->end <= file->size)
		error = swlbr_reader_features(file);
	if (error) {
		swlbr_perfdata_close(file);
		return error;
	}
	file->position = file->header.data.offset;
	*ret = file;
	return NULL;
}

struct swlbr_error *swlbr_perfdata_open(const char *path, struct swlbr_perfdata **ret)
{
	struct swlbr_error *error;
	int fd;

	if (!strcmp(path, "-"))
		return swlbr_perfdata_open_fd(STDIN_FILENO, "standard input", ret);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return swlbr_error_errno(errno, "%s: cannot open", path);
	error = swlbr_perfdata_open_fd(fd, path, ret);
	close(fd);
	return error;
}

void swlbr_perfdata_close(struct swlbr_perfdata *file)
{
	if (!file)
		return;
	swlbr_reader_free_tracepoints(file);
	swlbr_reader_free_features(file);
	swlbr_reader_inflate_free(file);
	for (size_t i = 0; i < file->nr_events; i++)
		free(file->events[i].name);
	free(file->events);
	free(file->ids);
	free(file->window);
	free(file->path);
	if (file->fd >= 0)
		close(file->fd);
	free(file);
}

void swlbr_perfdata_rewind(struct swlbr_perfdata *file, bool skip_samples)
{
	file->read_once = file->read_once || file->position != file->header.data.offset;
	file->position = file->header.data.offset;
	file->skip_samples = skip_samples;
	swlbr_reader_inflate_reset(file);
}

bool swlbr_perfdata_unfinished(const struct swlbr_perfdata *file)
{
	return file->unfinished;
}

static struct swlbr_error *truncated(const struct swlbr_perfdata *file)
{
	return swlbr_error_create(SWLBR_ERROR_FORMAT,
				  "%s: truncated: the records end at offset %" PRIu64
				  ", the file at %" PRIu64
				  "; the last whole record ends at %" PRIu64,
				  file->path, file->end, file->size, file->position);
}

/* The bytes of the file from @offset, through the window; the caller has checked the file's end. */
static inline struct swlbr_error *window_at(struct swlbr_perfdata *file, uint64_t offset,
					    size_t size, const uint8_t **ret)
{
	if (offset < file->window_start || offset - file->window_start + size > file->window_size) {
		struct swlbr_error *error = swlbr_reader_fill(file, offset, size);

		if (error)
			return error;
	}
	*ret = file->window + (offset - file->window_start);
	return NULL;
}

static void read_event_header(const struct swlbr_perfdata *file, const uint8_t *data,
			      struct perf_event_header *header)
{
	memcpy(header, data, sizeof(*header));
	if (file->swap) {
		header->type = bswap_32(header->type);
		header->misc = bswap_16(header->misc);
		header->size = bswap_16(header->size);
	}
}

/* Bytes that follow a record and that its header does not count; @cursor is on its body. */
static struct swlbr_error *trailing_size(struct swlbr_perfdata *file, struct cursor cursor,
					 uint32_t type, uint64_t *ret)
{
	uint64_t left, size = 0;

	*ret = 0;
	if (type == PERFDATA_RECORD_AUXTRACE)
		size = cursor_take_u64(&cursor);
	else if (type == PERFDATA_RECORD_TRACING_DATA && file->pipe)
		size = cursor_take_u32(&cursor);
	if (!size)
		return NULL;
	left = file->end - cursor.base - cursor.size;
	if (size > left)
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "a trace of %" PRIu64 " bytes is cut off", size);
	*ret = size;
	return NULL;
}

/* Decode the record at @data, which is whole. */
static struct swlbr_error *decode(struct swlbr_perfdata *file, const uint8_t *data,
				  const struct perf_event_header *header,
				  struct swlbr_record *record)
{
	struct cursor cursor = reader_cursor(file, data, header->size);
	struct swlbr_error *error;

	cursor.at = sizeof(*header);
	*record = (struct swlbr_record){
		.type = header->type,
		.misc = header->misc,
		.offset = file->position,
	};
	error = swlbr_reader_decode(file, &cursor, record);
	if (!error && cursor.overrun)
		error = swlbr_error_create(SWLBR_ERROR_FORMAT, "a record of type %u is cut off",
					   header->type);
	return error;
}

/* The record at the file's position: what is in it into @record, or to be inflated. */
static struct swlbr_error *next_in_file(struct swlbr_perfdata *file, struct swlbr_record *record,
					bool *found_ret)
{
	uint64_t end = file->end < file->size ? file->end : file->size, trailing;
	struct perf_event_header header;
	struct swlbr_error *error;
	struct cursor cursor;
	const uint8_t *data;

	if (file->position > end || end - file->position < sizeof(header))
		return file->end > file->size
			       ? truncated(file)
			       : swlbr_error_create(
					 SWLBR_ERROR_FORMAT,
					 "%s: the last record is cut off at offset %" PRIu64,
					 file->path, file->position);
	error = window_at(file, file->position, sizeof(header), &data);
	if (error)
		return error;
	read_event_header(file, data, &header);
	if (file->end > file->size && header.size > end - file->position)
		return truncated(file);
	if (header.size < sizeof(header) || header.size > end - file->position)
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: a record of %u bytes at offset %" PRIu64, file->path,
					  header.size, file->position);
	if (header.type == PERF_RECORD_SAMPLE && file->skip_samples) {
		file->position += header.size;
		return NULL;
	}
	error = window_at(file, file->position, header.size, &data);
	if (error)
		return error;
	cursor = reader_cursor(file, data, header.size);
	cursor.base = file->position;
	cursor.at = sizeof(header);
	error = trailing_size(file, cursor, header.type, &trailing);
	if (!error && (header.type == PERFDATA_RECORD_COMPRESSED ||
		       header.type == PERFDATA_RECORD_COMPRESSED2)) {
		error = swlbr_reader_inflate(file, &cursor, header.type);
		if (error)
			return error;
	} else if (!error) {
		error = decode(file, data, &header, record);
		*found_ret = !error;
	}
	if (!error && file->pipe && !file->read_once)
		error = swlbr_reader_pipe_record(file, &header, cursor, trailing);
	if (error)
		return swlbr_error_prefix(error, "%s: at offset %" PRIu64, file->path,
					  file->position);
	file->position += header.size + trailing;
	return NULL;
}

/* A record that was compressed. */
static struct swlbr_error *next_inflated(struct swlbr_perfdata *file, struct swlbr_record *record,
					 bool *found_ret)
{
	struct perf_event_header header;
	struct swlbr_error *error;
	const uint8_t *data;

	error = swlbr_reader_inflated(file, &data);
	if (error || !data)
		return error;
	read_event_header(file, data, &header);
	if (header.type == PERF_RECORD_SAMPLE && file->skip_samples)
		return NULL;
	if (header.type >= PERFDATA_RECORD_HEADER_ATTR &&
	    header.type <= PERFDATA_RECORD_COMPRESSED2 &&
	    header.type != PERFDATA_RECORD_FINISHED_ROUND)
		error = swlbr_error_create(SWLBR_ERROR_FORMAT, "a record of type %u in it",
					   header.type);
	else
		error = decode(file, data, &header, record);
	if (error)
		return swlbr_error_prefix(error, "%s: compressed record at offset %" PRIu64,
					  file->path, file->inflate.offset);
	record->offset = file->inflate.offset;
	*found_ret = true;
	return NULL;
}

struct swlbr_error *swlbr_perfdata_next(struct swlbr_perfdata *file, struct swlbr_record *record,
					bool *end_ret)
{
	struct reader_inflate *inflate = &file->inflate;
	struct swlbr_error *error = NULL;
	bool found = false;

	*end_ret = false;
	while (!error && !found) {
		if (inflate->pending ||
		    inflate->end - inflate->at >= sizeof(struct perf_event_header)) {
			size_t before = inflate->at;

			error = next_inflated(file, record, &found);
			if (error || found || inflate->at != before || inflate->pending)
				continue;
		}
		if (file->position != file->end) {
			error = next_in_file(file, record, &found);
			continue;
		}
		if (inflate->at != inflate->end)
			return swlbr_error_create(SWLBR_ERROR_FORMAT,
						  "%s: the compressed records end within a record "
						  "(at offset %" PRIu64 ")",
						  file->path, file->position);
		*end_ret = true;
		file->read_once = true;
		return NULL;
	}
	return error;
}
