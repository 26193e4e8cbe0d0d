// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Reading of bytes that nobody vouches for. */
#include <stdarg.h>
#include <stdio.h>

#include "base/cursor.h"

struct swlbr_error *cursor_error(const struct cursor *cursor, const char *format, ...)
{
	char message[512];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: %s (at offset %llu)", cursor->file,
				  message, (unsigned long long)cursor_offset(cursor));
}

struct swlbr_error *cursor_bytes(struct cursor *cursor, const char *what, uint64_t size,
				 const uint8_t **ret)
{
	if (size > cursor_left(cursor))
		return cursor_error(cursor, "%s cut off: %llu of %llu bytes are there", what,
				    (unsigned long long)cursor_left(cursor),
				    (unsigned long long)size);
	if (ret)
		*ret = cursor->data + cursor->at;
	cursor->at += size;
	return NULL;
}

static struct swlbr_error *read_integer(struct cursor *cursor, const char *what, unsigned int size,
					uint64_t *ret)
{
	const uint8_t *bytes;
	struct swlbr_error *error = cursor_bytes(cursor, what, size, &bytes);
	uint64_t value = 0;

	if (error)
		return error;
	for (unsigned int i = 0; i < size; i++)
		value |= (uint64_t)bytes[cursor->big_endian ? size - 1 - i : i] << 8 * i;
	*ret = value;
	return NULL;
}

struct swlbr_error *cursor_u8(struct cursor *cursor, const char *what, uint8_t *ret)
{
	uint64_t value = 0;
	struct swlbr_error *error = read_integer(cursor, what, sizeof(*ret), &value);

	if (!error)
		*ret = (uint8_t)value;
	return error;
}

struct swlbr_error *cursor_u16(struct cursor *cursor, const char *what, uint16_t *ret)
{
	uint64_t value = 0;
	struct swlbr_error *error = read_integer(cursor, what, sizeof(*ret), &value);

	if (!error)
		*ret = (uint16_t)value;
	return error;
}

struct swlbr_error *cursor_u32(struct cursor *cursor, const char *what, uint32_t *ret)
{
	uint64_t value = 0;
	struct swlbr_error *error = read_integer(cursor, what, sizeof(*ret), &value);

	if (!error)
		*ret = (uint32_t)value;
	return error;
}

struct swlbr_error *cursor_u64(struct cursor *cursor, const char *what, uint64_t *ret)
{
	return read_integer(cursor, what, sizeof(*ret), ret);
}

struct swlbr_error *cursor_uleb128(struct cursor *cursor, const char *what, uint64_t *ret)
{
	struct cursor ahead = *cursor;
	uint64_t value = 0;

	for (unsigned int shift = 0;; shift += 7) {
		struct swlbr_error *error;
		uint8_t byte = 0;

		error = cursor_u8(&ahead, what, &byte);
		if (error)
			return error;
		if (shift >= 64 || (uint64_t)(byte & 0x7f) << shift >> shift != (byte & 0x7f))
			return cursor_error(cursor, "%s: number of more than 64 bits", what);
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	*cursor = ahead;
	*ret = value;
	return NULL;
}

struct swlbr_error *cursor_sub(struct cursor *cursor, const char *what, uint64_t size,
			       struct cursor *ret)
{
	struct cursor sub = *cursor;
	struct swlbr_error *error;

	sub.base = cursor_offset(cursor);
	sub.at = 0;
	error = cursor_bytes(cursor, what, size, &sub.data);
	if (error)
		return error;
	sub.size = size;
	*ret = sub;
	return NULL;
}

struct swlbr_error *cursor_seek(struct cursor *cursor, const char *what, uint64_t at)
{
	if (at > cursor->size)
		return cursor_error(cursor, "%s would be at offset %llu, past the end at %llu",
				    what, (unsigned long long)(cursor->base + at),
				    (unsigned long long)(cursor->base + cursor->size));
	cursor->at = at;
	return NULL;
}
