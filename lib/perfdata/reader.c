// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Reading a perf.data: header, feature sections, and record after record. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfdata/reader.h"

#define WINDOW_SIZE (1024 * 1024)
/* A header without feature bits, as perf wrote in 2010. */
#define OLD_HEADER_SIZE 72
/* Bounds the memory a hostile file can make us take: no real section comes near. */
#define MAX_SECTION_SIZE (64 * 1024 * 1024)

/* Returns 0, an errno, or -1 if the file ends before @size bytes. */
static int read_all(int fd, void *buffer, size_t size, uint64_t offset)
{
	uint8_t *to = buffer;

	while (size) {
		ssize_t n = pread(fd, to, size, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : -1;
		to += n;
		offset += n;
		size -= n;
	}
	return 0;
}

static struct swlbr_error *read_at(struct swlbr_perfdata *file, void *buffer, size_t size,
				   uint64_t offset)
{
	int err = read_all(file->fd, buffer, size, offset);

	if (err > 0)
		return swlbr_error_errno(err, "%s: cannot read at offset %" PRIu64, file->path,
					 offset);
	if (err)
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: the file ends within %zu bytes at offset %" PRIu64,
					  file->path, size, offset);
	return NULL;
}

static bool section_in_file(const struct swlbr_perfdata *file, struct perfdata_section section)
{
	return section.offset <= file->size && section.size <= file->size - section.offset;
}

struct swlbr_error *swlbr_reader_section(struct swlbr_perfdata *file,
					 struct perfdata_section section, const char *what,
					 uint8_t **data_ret)
{
	struct swlbr_error *error;
	uint8_t *data;

	if (!section_in_file(file, section))
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: %s at offset %" PRIu64 ", size %" PRIu64
					  ", end after the file, which has %" PRIu64 " bytes",
					  file->path, what, section.offset, section.size,
					  file->size);
	if (section.size > MAX_SECTION_SIZE)
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "%s: %s at offset %" PRIu64 " are too large: %" PRIu64
					  " bytes",
					  file->path, what, section.offset, section.size);
	data = malloc(section.size ? section.size : 1);
	if (!data)
		return swlbr_error_no_memory();
	error = read_at(file, data, section.size, section.offset);
	if (error) {
		free(data);
		return error;
	}
	*data_ret = data;
	return NULL;
}

static bool is_magic(uint64_t magic)
{
	return magic == PERFDATA_MAGIC || magic == PERFDATA_MAGIC_SWAPPED;
}

static struct perfdata_section cursor_section(struct cursor *cursor)
{
	struct perfdata_section section;

	section.offset = cursor_u64(cursor);
	section.size = cursor_u64(cursor);
	return section;
}

static struct swlbr_error *read_header(struct swlbr_perfdata *file)
{
	uint8_t data[sizeof(struct perfdata_header)] = { 0 };
	size_t size = file->size < sizeof(data) ? file->size : sizeof(data);
	struct cursor cursor = { .data = data, .size = sizeof(data) };
	struct perfdata_header *header = &file->header;
	struct swlbr_error *error = read_at(file, data, size, 0);

	if (error)
		return error;
	if (size >= 8 && !memcmp(data, "PERFFILE", 8))
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "%s: a perf.data of the first version (perf before 3.5)",
					  file->path);
	header->magic = cursor_u64(&cursor);
	if (size < 8 || !is_magic(header->magic))
		return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: not a perf.data", file->path);
	file->swap = cursor.swap = header->magic == PERFDATA_MAGIC_SWAPPED;
	header->size = cursor_u64(&cursor);
	if (size >= PERFDATA_PIPE_HEADER_SIZE && header->size == PERFDATA_PIPE_HEADER_SIZE)
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "%s: written through a pipe (perf record -o -): this is "
					  "not supported yet, use 'perf record -o FILE'",
					  file->path);
	if (header->size > size ||
	    (header->size < sizeof(*header) && header->size != OLD_HEADER_SIZE))
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: a header of %" PRIu64 " bytes in a file of %" PRIu64,
					  file->path, header->size, file->size);
	cursor.size = header->size;
	header->attr_size = cursor_u64(&cursor);
	header->attrs = cursor_section(&cursor);
	header->data = cursor_section(&cursor);
	header->event_types = cursor_section(&cursor);
	for (size_t i = 0; cursor_left(&cursor) && i < PERFDATA_FEATURES / 64; i++)
		header->features[i] = cursor_u64(&cursor);
	return NULL;
}

static struct swlbr_error *check_data(const struct swlbr_perfdata *file)
{
	const struct perfdata_section *data = &file->header.data;

	if (!section_in_file(file, *data))
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: truncated: the records end at offset %" PRIu64
					  ", the file at %" PRIu64,
					  file->path, data->offset + data->size, file->size);
	if (!data->size && data->offset < file->size && !file->header.features[0])
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: the recording was not finished: the size of the "
					  "records in the header is 0",
					  file->path);
	return NULL;
}

/* Read the sections that matter here from behind the data. */
static struct swlbr_error *read_features(struct swlbr_perfdata *file)
{
	const struct perfdata_header *header = &file->header;
	struct perfdata_section table = { header->data.offset + header->data.size, 0 }, section;
	struct perfdata_section event_desc = { 0 }, tracing_data = { 0 };
	struct swlbr_error *error;
	struct cursor cursor;
	uint8_t *data;

	for (size_t i = 0; i < PERFDATA_FEATURES / 64; i++)
		table.size += __builtin_popcountll(header->features[i]) * sizeof(section);
	error = swlbr_reader_section(file, table, "the table of features", &data);
	if (error)
		return error;
	cursor = (struct cursor){ .data = data, .size = table.size, .swap = file->swap };
	for (int bit = 0; bit < PERFDATA_FEATURES; bit++) {
		if (!(header->features[bit / 64] >> bit % 64 & 1))
			continue;
		section = cursor_section(&cursor);
		if (bit == PERFDATA_EVENT_DESC)
			event_desc = section;
		else if (bit == PERFDATA_TRACING_DATA)
			tracing_data = section;
	}
	free(data);
	if (event_desc.size)
		error = swlbr_reader_event_desc(file, event_desc);
	if (!error && tracing_data.size)
		error = swlbr_reader_tracing_data(file, tracing_data);
	return error;
}

struct swlbr_error *swlbr_perfdata_probe(const char *path, bool *is_perfdata_ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint64_t magic;
	int err;

	if (fd < 0)
		return swlbr_error_errno(errno, "%s: cannot open", path);
	err = read_all(fd, &magic, sizeof(magic), 0);
	close(fd);
	if (err > 0 && err != ESPIPE)
		return swlbr_error_errno(err, "%s: cannot read", path);
	*is_perfdata_ret = !err && is_magic(magic);
	return NULL;
}

struct swlbr_error *swlbr_perfdata_open_fd(int fd, const char *path, struct swlbr_perfdata **ret)
{
	struct swlbr_perfdata *file = calloc(1, sizeof(*file));
	struct swlbr_error *error = NULL;
	struct stat st;

	if (!file)
		return swlbr_error_no_memory();
	file->path = strdup(path);
	file->window = malloc(WINDOW_SIZE);
	file->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (!file->path || !file->window)
		error = swlbr_error_no_memory();
	else if (file->fd < 0 || fstat(file->fd, &st) < 0)
		error = swlbr_error_errno(errno, "%s", path);
	else if (S_ISDIR(st.st_mode))
		error = swlbr_error_errno(EISDIR, "%s", path);
	else if (!S_ISREG(st.st_mode))
		error = swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					   "%s: not a file that can be sought in: reading a "
					   "perf.data from a pipe is not supported yet",
					   path);
	if (!error) {
		file->size = st.st_size;
		error = read_header(file);
	}
	if (!error)
		error = check_data(file);
	if (!error)
		error = swlbr_reader_events(file);
	if (!error)
		error = read_features(file);
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
	/* Not to wait for the writer of a pipe that would be refused anyway. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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

/* Make @size bytes (a record at most) at @offset, which are inside the data, be in the window. */
static struct swlbr_error *window_at(struct swlbr_perfdata *file, uint64_t offset, size_t size,
				     const uint8_t **ret)
{
	uint64_t end = file->header.data.offset + file->header.data.size;
	size_t wanted = end - offset < WINDOW_SIZE ? end - offset : WINDOW_SIZE;
	struct swlbr_error *error;

	if (offset < file->window_start || offset - file->window_start > file->window_size ||
	    size > file->window_size - (offset - file->window_start)) {
		file->window_size = 0;
		error = read_at(file, file->window, wanted, offset);
		if (error)
			return error;
		file->window_start = offset;
		file->window_size = wanted;
	}
	*ret = file->window + (offset - file->window_start);
	return NULL;
}

/* What sample_id_all puts at the end of records that are no samples. */
static void decode_sample_id(struct cursor *cursor, const struct reader_event *event,
			     struct swlbr_record *record)
{
	uint64_t type = event->sample_type;
	uint64_t words = !!(type & PERF_SAMPLE_TID) + !!(type & PERF_SAMPLE_TIME) +
			 !!(type & PERF_SAMPLE_ID) + !!(type & PERF_SAMPLE_STREAM_ID) +
			 !!(type & PERF_SAMPLE_CPU) + !!(type & PERF_SAMPLE_IDENTIFIER);

	if (!event->sample_id_all || words * sizeof(uint64_t) > cursor->size)
		return;
	cursor->size -= words * sizeof(uint64_t);
	struct cursor id = {
		.data = cursor->data + cursor->size,
		.size = words * sizeof(uint64_t),
		.swap = cursor->swap,
	};
	if (type & PERF_SAMPLE_TID) {
		record->pid = cursor_u32(&id);
		record->tid = cursor_u32(&id);
	}
	if (type & PERF_SAMPLE_TIME)
		record->time = cursor_u64(&id);
}

static void decode_mmap(struct cursor *cursor, uint16_t misc, struct swlbr_record *record)
{
	record->pid = cursor_u32(cursor);
	record->tid = cursor_u32(cursor);
	record->mmap2.start = cursor_u64(cursor);
	record->mmap2.length = cursor_u64(cursor);
	record->mmap2.offset = cursor_u64(cursor);
	record->mmap2.prot = misc & PERF_RECORD_MISC_MMAP_DATA ? PROT_READ : PROT_READ | PROT_EXEC;
	if (record->type == PERF_RECORD_MMAP2) {
		struct swlbr_build_id *id = &record->mmap2.build_id;
		const uint8_t *binary = cursor_bytes(cursor, 24);

		if (binary && misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
			id->size = binary[0] < SWLBR_BUILD_ID_SIZE ? binary[0]
								   : SWLBR_BUILD_ID_SIZE;
			memcpy(id->bytes, binary + 4, id->size);
		}
		record->mmap2.prot = cursor_u32(cursor);
		cursor_u32(cursor); /* flags */
	}
	record->mmap2.path = cursor_string(cursor);
	record->kind = SWLBR_RECORD_MMAP2;
}

static void decode_comm(struct cursor *cursor, uint16_t misc, struct swlbr_record *record)
{
	record->pid = cursor_u32(cursor);
	record->tid = cursor_u32(cursor);
	record->comm.comm = cursor_string(cursor);
	record->comm.exec = misc & PERF_RECORD_MISC_COMM_EXEC;
	record->kind = SWLBR_RECORD_COMM;
}

static void decode_task(struct cursor *cursor, struct swlbr_record *record)
{
	record->pid = cursor_u32(cursor);
	record->task.ppid = cursor_u32(cursor);
	record->tid = cursor_u32(cursor);
	record->task.ptid = cursor_u32(cursor);
	record->time = cursor_u64(cursor);
	record->kind = record->type == PERF_RECORD_FORK ? SWLBR_RECORD_FORK : SWLBR_RECORD_EXIT;
}

static void skip_read(struct cursor *cursor, uint64_t format)
{
	uint64_t words = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
	uint64_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			 !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	uint64_t nr = 1;

	if (format & PERF_FORMAT_GROUP)
		nr = cursor_u64(cursor);
	/* A count that is too large must not become small by overflowing. */
	if (nr > UINT16_MAX)
		nr = UINT16_MAX;
	cursor_skip(cursor, (times + nr * words) * sizeof(uint64_t));
}

/* Decode a sample of a swlbr tracepoint, in the order of man perf_event_open. */
static struct swlbr_error *decode_sample(struct swlbr_perfdata *file, struct cursor *cursor,
					 const struct reader_event *event,
					 struct swlbr_record *record)
{
	uint64_t type = event->sample_type, nr;
	const uint8_t *raw;
	uint32_t size;

	cursor_skip(cursor, 8 * (!!(type & PERF_SAMPLE_IDENTIFIER) + !!(type & PERF_SAMPLE_IP)));
	if (type & PERF_SAMPLE_TID) {
		record->pid = cursor_u32(cursor);
		record->tid = cursor_u32(cursor);
	}
	if (type & PERF_SAMPLE_TIME)
		record->time = cursor_u64(cursor);
	cursor_skip(cursor, 8 * (!!(type & PERF_SAMPLE_ADDR) + !!(type & PERF_SAMPLE_ID) +
				 !!(type & PERF_SAMPLE_STREAM_ID) + !!(type & PERF_SAMPLE_CPU) +
				 !!(type & PERF_SAMPLE_PERIOD)));
	if (type & PERF_SAMPLE_READ)
		skip_read(cursor, event->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		nr = cursor_u64(cursor);
		cursor_skip(cursor, (nr > UINT16_MAX ? UINT16_MAX : nr) * sizeof(uint64_t));
	}
	if (!(type & PERF_SAMPLE_RAW))
		return NULL;
	size = cursor_u32(cursor);
	raw = cursor_bytes(cursor, size);
	return raw ? swlbr_reader_row(file, event, raw, size, record) : NULL;
}

static struct swlbr_error *decode(struct swlbr_perfdata *file, struct cursor *cursor, uint16_t misc,
				  struct swlbr_record *record)
{
	const struct reader_event *event = NULL;

	if (record->type < PERF_RECORD_MAX)
		event = swlbr_reader_event_of(file, record->type, cursor->data, cursor->size);
	if (record->type == PERF_RECORD_SAMPLE) {
		if (event && event->kind != SWLBR_RECORD_OTHER)
			return decode_sample(file, cursor, event, record);
		return NULL;
	}
	if (event)
		decode_sample_id(cursor, event, record);
	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		decode_mmap(cursor, misc, record);
		break;
	case PERF_RECORD_COMM:
		decode_comm(cursor, misc, record);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		decode_task(cursor, record);
		break;
	case PERFDATA_RECORD_COMPRESSED:
	case PERFDATA_RECORD_COMPRESSED2:
		return swlbr_error_create(
			SWLBR_ERROR_UNSUPPORTED,
			"compressed records (perf record -z) are not supported yet");
	}
	return NULL;
}

/* Bytes from a record to the next: its own, and those of a trace that AUXTRACE announces. */
static struct swlbr_error *record_extent(struct swlbr_perfdata *file, struct cursor cursor,
					 uint32_t type, uint16_t size, uint64_t *extent_ret)
{
	uint64_t left = file->header.data.offset + file->header.data.size - file->position;
	uint64_t trace = type == PERFDATA_RECORD_AUXTRACE ? cursor_u64(&cursor) : 0;

	if (trace > left - size)
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "a trace of %" PRIu64 " bytes is cut off", trace);
	*extent_ret = size + trace;
	return NULL;
}

struct swlbr_error *swlbr_perfdata_next(struct swlbr_perfdata *file, struct swlbr_record *record,
					bool *end_ret)
{
	uint64_t end = file->header.data.offset + file->header.data.size, extent;
	struct swlbr_record result = { .offset = file->position };
	struct cursor cursor = { .size = sizeof(struct perf_event_header), .swap = file->swap };
	struct swlbr_error *error;
	uint16_t misc, size;

	*end_ret = file->position == end;
	if (*end_ret)
		return NULL;
	if (end - file->position < cursor.size)
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: the last record is cut off at offset %" PRIu64,
					  file->path, file->position);
	error = window_at(file, file->position, cursor.size, &cursor.data);
	if (error)
		return error;
	result.type = cursor_u32(&cursor);
	misc = cursor_u16(&cursor);
	size = cursor_u16(&cursor);
	if (size < sizeof(struct perf_event_header) || size > end - file->position)
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: a record of %u bytes at offset %" PRIu64, file->path,
					  size, file->position);
	error = window_at(file, file->position, size, &cursor.data);
	if (error)
		return error;
	cursor.data += sizeof(struct perf_event_header);
	cursor.size = size - sizeof(struct perf_event_header);
	cursor.position = 0;
	error = record_extent(file, cursor, result.type, size, &extent);
	if (!error)
		error = decode(file, &cursor, misc, &result);
	if (!error && cursor.overrun)
		error = swlbr_error_create(SWLBR_ERROR_FORMAT, "a record of type %u is cut off",
					   result.type);
	if (error)
		return swlbr_error_prefix(error, "%s: at offset %" PRIu64, file->path,
					  file->position);
	file->position += extent;
	*record = result;
	return NULL;
}
