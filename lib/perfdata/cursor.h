/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_PERFDATA_CURSOR_H
#define SWLBR_PERFDATA_CURSOR_H

#include <byteswap.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/**
 * struct cursor - reading forward through bytes that are not trusted
 *
 * A read past the end gives zeroes and sets @overrun, which is to be looked at once in the end;
 * nothing outside the bytes is ever touched.
 */
struct cursor {
	const uint8_t *data;
	size_t size, position;
	bool swap; /* numbers are in the other byte order */
	bool overrun;
};

static inline size_t cursor_left(const struct cursor *cursor)
{
	return cursor->size - cursor->position;
}

/* The next @size bytes, or NULL if there are not so many. */
static inline const uint8_t *cursor_bytes(struct cursor *cursor, uint64_t size)
{
	const uint8_t *bytes = cursor->data + cursor->position;

	if (size > cursor_left(cursor)) {
		cursor->overrun = true;
		cursor->position = cursor->size;
		return NULL;
	}
	cursor->position += size;
	return bytes;
}

static inline void cursor_skip(struct cursor *cursor, uint64_t size)
{
	cursor_bytes(cursor, size);
}

static inline uint16_t cursor_u16(struct cursor *cursor)
{
	const uint8_t *bytes = cursor_bytes(cursor, sizeof(uint16_t));
	uint16_t value = 0;

	if (bytes)
		memcpy(&value, bytes, sizeof(value));
	return cursor->swap ? bswap_16(value) : value;
}

static inline uint32_t cursor_u32(struct cursor *cursor)
{
	const uint8_t *bytes = cursor_bytes(cursor, sizeof(uint32_t));
	uint32_t value = 0;

	if (bytes)
		memcpy(&value, bytes, sizeof(value));
	return cursor->swap ? bswap_32(value) : value;
}

static inline uint64_t cursor_u64(struct cursor *cursor)
{
	const uint8_t *bytes = cursor_bytes(cursor, sizeof(uint64_t));
	uint64_t value = 0;

	if (bytes)
		memcpy(&value, bytes, sizeof(value));
	return cursor->swap ? bswap_64(value) : value;
}

/* The string that ends with the next NUL, which is passed too; NULL if there is none. */
static inline const char *cursor_string(struct cursor *cursor)
{
	const char *start = (const char *)cursor->data + cursor->position;
	size_t length = cursor_left(cursor) ? strnlen(start, cursor_left(cursor)) : 0;

	return (const char *)cursor_bytes(cursor, length + 1);
}

#endif
