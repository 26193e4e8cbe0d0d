// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Compressed records (perf record -z). Their data are one stream of zstd over all of them, which
 * unpacks to records; a record may begin in one of them and end in the next.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <zstd.h>

#include "perfdata/reader.h"
#include "perfdata/source.h"

#define INFLATE_SIZE (512 * 1024)
/*
 * What one compressed record, of at most 64 KB, may unpack to. perf compresses no more at once than
 * a ring buffer holds; a file that claims more wants to waste our time.
 */
#define MAX_PRODUCED (256 * 1024 * 1024)

static struct swlbr_error *inflate_error(const struct swlbr_perfdata *file, const char *what)
{
	return swlbr_error_create(SWLBR_ERROR_FORMAT,
				  "%s: compressed record at offset %" PRIu64 ": %s", file->path,
				  file->inflate.offset, what);
}

struct swlbr_error *swlbr_reader_inflate(struct swlbr_perfdata *file, struct cursor *cursor,
					 uint32_t type)
{
	struct reader_inflate *inflate = &file->inflate;
	uint64_t size = cursor_left(cursor);

	if (!inflate->context) {
		inflate->context = ZSTD_createDCtx();
		inflate->data = aligned_alloc(READER_PAGE_SIZE, INFLATE_SIZE);
		if (!inflate->context || !inflate->data)
			return swlbr_error_no_memory();
	}
	inflate->offset = file->position;
	inflate->produced = 0;
	if (type == PERFDATA_RECORD_COMPRESSED2) {
		size = cursor_take_u64(cursor);
		if (size > cursor_left(cursor))
			return inflate_error(file, "its data are cut off");
	}
	inflate->input = cursor->data + cursor->at;
	inflate->input_size = size;
	inflate->pending = true;
	return NULL;
}

/* Unpack until the buffer is full or nothing more comes. */
static struct swlbr_error *unpack(struct swlbr_perfdata *file)
{
	struct reader_inflate *inflate = &file->inflate;
	ZSTD_inBuffer in = { inflate->input, inflate->input_size, 0 };
	ZSTD_outBuffer out = { inflate->data, INFLATE_SIZE, 0 };

	/* Records are aligned: what is left moves to the beginning. */
	memmove(inflate->data, inflate->data + inflate->at, inflate->end - inflate->at);
	out.pos = inflate->end - inflate->at;
	inflate->at = 0;
	inflate->end = out.pos;
	while (inflate->pending && out.pos < out.size) {
		size_t before = out.pos, consumed = in.pos;
		size_t result = ZSTD_decompressStream(inflate->context, &out, &in);

		if (ZSTD_isError(result))
			return inflate_error(file, ZSTD_getErrorName(result));
		inflate->produced += out.pos - before;
		inflate->pending = out.pos == out.size || in.pos < in.size;
		if (out.pos == before && in.pos == consumed)
			inflate->pending = false;
	}
	inflate->input += in.pos;
	inflate->input_size -= in.pos;
	inflate->end = out.pos;
	if (inflate->produced > MAX_PRODUCED)
		return inflate_error(file, "it unpacks to more than 256 MB");
	return NULL;
}

struct swlbr_error *swlbr_reader_inflated(struct swlbr_perfdata *file, const uint8_t **data_ret)
{
	struct reader_inflate *inflate = &file->inflate;

	*data_ret = NULL;
	for (;;) {
		size_t left = inflate->end - inflate->at;
		struct swlbr_error *error;

		if (left >= sizeof(struct perf_event_header)) {
			struct cursor cursor =
				reader_cursor(file, inflate->data + inflate->at, left);
			uint16_t size;

			cursor_take(&cursor, 6);
			size = cursor_take_u16(&cursor);
			if (size < sizeof(struct perf_event_header))
				return inflate_error(file, "a record in it has a wrong size");
			if (size <= left) {
				*data_ret = inflate->data + inflate->at;
				inflate->at += size;
				return NULL;
			}
		}
		if (!inflate->pending)
			return NULL;
		error = unpack(file);
		if (error)
			return error;
	}
}

void swlbr_reader_inflate_reset(struct swlbr_perfdata *file)
{
	struct reader_inflate *inflate = &file->inflate;

	if (inflate->context)
		ZSTD_DCtx_reset(inflate->context, ZSTD_reset_session_only);
	inflate->at = inflate->end = inflate->input_size = 0;
	inflate->pending = false;
}

void swlbr_reader_inflate_free(struct swlbr_perfdata *file)
{
	ZSTD_freeDCtx(file->inflate.context);
	free(file->inflate.data);
}
