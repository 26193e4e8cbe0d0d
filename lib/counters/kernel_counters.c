// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What a kernel with CONFIG_SWLBR exports: its counters behind a header. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <swlbr/kernel_counters.h>

#include "base/cursor.h"
#include "base/infile.h"
#include "pmu/include/uapi/linux/swlbr.h"

/* The part of the header that all of version 1 have. */
#define HEADER_SIZE offsetof(struct swlbr_header, before_perf)

_Static_assert(SWLBR_ID_SIZE == SWLBR_BUILD_ID_SIZE, "build-ids have one size");

/* A header in the byte order of the file; the cursor's is set by its version. */
static struct swlbr_error *read_header(struct cursor *cursor, struct swlbr_header *header)
{
	const uint8_t *magic = cursor_take(cursor, SWLBR_MAGIC_SIZE), *id;

	if (!magic || memcmp(magic, SWLBR_MAGIC, SWLBR_MAGIC_SIZE))
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: not the counters of a kernel (at offset 0)",
					  cursor->file);
	header->version = cursor_take_u32(cursor);
	if (header->version == bswap_32(SWLBR_FORMAT_VERSION)) {
		cursor->big_endian = !cursor->big_endian;
		header->version = SWLBR_FORMAT_VERSION;
	}
	header->header_size = cursor_take_u32(cursor);
	header->record_size = cursor_take_u32(cursor);
	header->nr_cntrs = cursor_take_u32(cursor);
	header->nr_records = cursor_take_u64(cursor);
	header->kind = cursor_take_u32(cursor);
	header->engine = cursor_take_u32(cursor);
	header->flags = cursor_take_u32(cursor);
	header->build_id_size = cursor_take_u32(cursor);
	id = cursor_take(cursor, SWLBR_ID_SIZE);
	if (id)
		memcpy(header->build_id, id, SWLBR_ID_SIZE);
	cursor_take_u32(cursor);
	header->load_offset = cursor_take_u64(cursor);
	if (header->header_size >= sizeof(*header))
		header->before_perf = cursor_take_u64(cursor);
	if (cursor->overrun)
		return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: truncated in its header",
					  cursor->file);
	return NULL;
}

static struct swlbr_error *check_header(const struct cursor *cursor,
					const struct swlbr_header *header)
{
	if (header->version != SWLBR_FORMAT_VERSION)
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "%s: version %u is not known (1 is)", cursor->file,
					  header->version);
	if (header->kind != SWLBR_KIND_COUNTERS)
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "%s: has records of kind %u, not counters", cursor->file,
					  header->kind);
	if (header->header_size < HEADER_SIZE || header->header_size > cursor->size)
		return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: header of %u bytes",
					  cursor->file, header->header_size);
	if (header->nr_cntrs < 1 || header->record_size < 8 || header->record_size % 8)
		return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: records of %u bytes",
					  cursor->file, header->record_size);
	if (header->build_id_size > SWLBR_ID_SIZE)
		return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: build-id of %u bytes",
					  cursor->file, header->build_id_size);
	if (header->nr_records > (cursor->size - header->header_size) / header->record_size)
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: truncated: %zu bytes for %llu counters",
					  cursor->file, cursor->size,
					  (unsigned long long)header->nr_records);
	return NULL;
}

static struct swlbr_error *read_values(struct cursor *cursor, const struct swlbr_header *header,
				       struct swlbr_kernel_counters *counters)
{
	counters->values = calloc(header->nr_records + 1, sizeof(*counters->values));
	if (!counters->values)
		return swlbr_error_no_memory();
	counters->nr = header->nr_records;
	for (uint64_t i = 0; i < counters->nr; i++) {
		cursor->at = header->header_size + i * header->record_size;
		counters->values[i] = cursor_take_u64(cursor);
	}
	return NULL;
}

struct swlbr_error *swlbr_kernel_counters_read_memory(const char *name, const void *data,
						      size_t size,
						      struct swlbr_kernel_counters **ret)
{
	struct cursor cursor = { .file = name, .data = data, .size = size };
	struct swlbr_kernel_counters *counters;
	struct swlbr_header header = { 0 };
	struct swlbr_error *error;

	error = read_header(&cursor, &header);
	if (!error)
		error = check_header(&cursor, &header);
	if (error)
		return error;
	counters = calloc(1, sizeof(*counters));
	if (!counters)
		return swlbr_error_no_memory();
	counters->build_id.size = (uint8_t)header.build_id_size;
	memcpy(counters->build_id.bytes, header.build_id, header.build_id_size);
	counters->engine = header.engine;
	counters->since_boot = header.flags & SWLBR_SINCE_BOOT;
	counters->has_load_offset = header.flags & SWLBR_HAS_LOAD_OFFSET;
	counters->load_offset = header.load_offset;
	counters->before_perf = header.before_perf;
	error = read_values(&cursor, &header, counters);
	if (error) {
		swlbr_kernel_counters_destroy(counters);
		return error;
	}
	*ret = counters;
	return NULL;
}

struct swlbr_error *swlbr_kernel_counters_read(const char *path, struct swlbr_kernel_counters **ret)
{
	struct swlbr_error *error;
	uint8_t *data;
	size_t size;

	error = infile_read(path, &data, &size);
	if (error)
		return error;
	error = swlbr_kernel_counters_read_memory(path, data, size, ret);
	free(data);
	return error;
}

struct swlbr_error *swlbr_kernel_counters_probe(const char *path, bool *is_counters_ret)
{
	uint8_t bytes[SWLBR_MAGIC_SIZE];
	struct swlbr_error *error;
	size_t size;

	error = infile_peek(path, bytes, sizeof(bytes), &size);
	if (!error)
		*is_counters_ret = size == sizeof(bytes) &&
				   !memcmp(bytes, SWLBR_MAGIC, sizeof(bytes));
	return error;
}

void swlbr_kernel_counters_destroy(struct swlbr_kernel_counters *counters)
{
	if (!counters)
		return;
	free(counters->values);
	free(counters);
}
