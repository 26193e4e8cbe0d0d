/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_BASE_CURSOR_H
#define SWLBR_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <swlbr/error.h>

/**
 * struct cursor - a place in bytes that came from a file
 *
 * Every read is checked against the end; an error names the file, what was to be read, and the
 * offset in the file. A failed read leaves the cursor where it was. @data is borrowed.
 */
struct cursor {
	const char *file;
	const uint8_t *data;
	size_t size;   /* bytes at @data */
	size_t at;     /* next byte to read; never more than @size */
	uint64_t base; /* offset of data[0] in the file */
	bool big_endian;
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

/** A SWLBR_ERROR_FORMAT about the next byte: "FILE: <formatted> (at offset N)". */
struct swlbr_error *cursor_error(const struct cursor *cursor, const char *format, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull));

#endif
