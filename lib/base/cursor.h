/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_BASE_CURSOR_H
#define SWLBR_BASE_CURSOR_H

#include <byteswap.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <swlbr/error.h>

/**
 * struct cursor - a place in bytes that came from a file
 *
 * Every read is checked against the end. There are two ways to read: the cursor_…() functions
 * return an error that names the file, what was to be read, and the offset in the file, and leave
 * the cursor where it was; the cursor_take_…() functions give zeroes past the end and set @overrun,
 * which is to be looked at once in the end. @data is borrowed.
 */
struct cursor {
	const char *file;
	const uint8_t *data;
	size_t size;   /* bytes at @data */
	size_t at;     /* next byte to read; never more than @size */
	uint64_t base; /* offset of data[0] in the file */
	bool big_endian;
	bool overrun; /* a cursor_take_…() went past the end */
};

static inline size_t cursor_left(const struct cursor *cursor)
{
	return cursor->size - cursor->at;
}

/** Offset in the file of the next byte. */
static inline uint64_t cursor_offset(const struct cursor *cursor)
{
	return cursor->base + cursor->at;
}

/** Unsigned integers of 1 to 8 bytes in the byte order of the cursor. @what names the field. */
struct swlbr_error *cursor_u8(struct cursor *cursor, const char *what, uint8_t *ret);
struct swlbr_error *cursor_u16(struct cursor *cursor, const char *what, uint16_t *ret);
struct swlbr_error *cursor_u32(struct cursor *cursor, const char *what, uint32_t *ret);
struct swlbr_error *cursor_u64(struct cursor *cursor, const char *what, uint64_t *ret);
/** Unsigned LEB128 of at most 64 bits. */
struct swlbr_error *cursor_uleb128(struct cursor *cursor, const char *what, uint64_t *ret);

/** Step over @size bytes and give where they are; NULL for @ret only steps. */
struct swlbr_error *cursor_bytes(struct cursor *cursor, const char *what, uint64_t size,
				 const uint8_t **ret);

/** Step over @size bytes; @ret is a cursor on them alone. */
struct swlbr_error *cursor_sub(struct cursor *cursor, const char *what, uint64_t size,
			       struct cursor *ret);

/** Move to @at, a position in @data. */
struct swlbr_error *cursor_seek(struct cursor *cursor, const char *what, uint64_t at);

static inline bool cursor_swaps(const struct cursor *cursor)
{
	return cursor->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/** The next @size bytes, or NULL if there are not so many. */
static inline const uint8_t *cursor_take(struct cursor *cursor, uint64_t size)
{
	const uint8_t *bytes = cursor->data + cursor->at;

	if (size > cursor_left(cursor)) {
		cursor->overrun = true;
		cursor->at = cursor->size;
		return NULL;
	}
	cursor->at += size;
	return bytes;
}

static inline uint16_t cursor_take_u16(struct cursor *cursor)
{
	const uint8_t *bytes = cursor_take(cursor, sizeof(uint16_t));
	uint16_t value = 0;

	if (bytes)
		memcpy(&value, bytes, sizeof(value));
	return cursor_swaps(cursor) ? bswap_16(value) : value;
}

static inline uint32_t cursor_take_u32(struct cursor *cursor)
{
	const uint8_t *bytes = cursor_take(cursor, sizeof(uint32_t));
	uint32_t value = 0;

	if (bytes)
		memcpy(&value, bytes, sizeof(value));
	return cursor_swaps(cursor) ? bswap_32(value) : value;
}

static inline uint64_t cursor_take_u64(struct cursor *cursor)
{
	const uint8_t *bytes = cursor_take(cursor, sizeof(uint64_t));
	uint64_t value = 0;

	if (bytes)
		memcpy(&value, bytes, sizeof(value));
	return cursor_swaps(cursor) ? bswap_64(value) : value;
}

static inline uint8_t cursor_take_u8(struct cursor *cursor)
{
	const uint8_t *byte = cursor_take(cursor, 1);

	return byte ? *byte : 0;
}

/* Bytes of a LEB128: ten hold 64 bits, some writers pad; a longer one is damage. */
#define CURSOR_MAX_LEB128 100

/** The bits of a LEB128, of which those past the 64th are dropped; *@shift_ret: how many it had. */
static inline uint64_t cursor_take_leb128(struct cursor *cursor, unsigned int *shift_ret)
{
	uint64_t value = 0;
	uint8_t byte = 0x80;

	*shift_ret = 0;
	for (unsigned int i = 0; byte & 0x80; i++) {
		byte = cursor_take_u8(cursor);
		if (i == CURSOR_MAX_LEB128)
			cursor->overrun = true;
		if (cursor->overrun)
			return 0;
		if (*shift_ret < 64)
			value |= (uint64_t)(byte & 0x7f) << *shift_ret;
		*shift_ret += 7;
	}
	return value;
}

static inline uint64_t cursor_take_uleb128(struct cursor *cursor)
{
	unsigned int shift;

	return cursor_take_leb128(cursor, &shift);
}

static inline int64_t cursor_take_sleb128(struct cursor *cursor)
{
	unsigned int shift;
	uint64_t value = cursor_take_leb128(cursor, &shift);

	if (shift && shift < 64 && value >> (shift - 1))
		value |= ~0ULL << shift;
	return (int64_t)value;
}

/** The string that ends with the next NUL, which is passed too; NULL if there is none. */
static inline const char *cursor_take_string(struct cursor *cursor)
{
	const char *start = (const char *)cursor->data + cursor->at;
	size_t length = cursor_left(cursor) ? strnlen(start, cursor_left(cursor)) : 0;

	return (const char *)cursor_take(cursor, length + 1);
}

/** A SWLBR_ERROR_FORMAT about the next byte: "FILE: <formatted> (at offset N)". */
struct swlbr_error *cursor_error(const struct cursor *cursor, const char *format, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull));

#endif
