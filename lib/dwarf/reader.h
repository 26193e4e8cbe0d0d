/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_DWARF_READER_H
#define SWLBR_DWARF_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/**
 * struct dw_reader - a place in a debug section
 *
 * Every read is checked against the end. The first that does not fit sets @failed, and from then
 * on all reads give 0 and stay where they are: one look at @failed after a stretch of reads is
 * enough, and gigabytes of entries are not slowed down by an error for each field.
 */
struct dw_reader {
	const uint8_t *start, *at, *end;
	bool big_endian, failed;
};

static inline uint64_t dw_position(const struct dw_reader *reader)
{
	return (uint64_t)(reader->at - reader->start);
}

static inline bool dw_has(struct dw_reader *reader, uint64_t size)
{
	if (!reader->failed && size <= (uint64_t)(reader->end - reader->at))
		return true;
	reader->failed = true;
	return false;
}

static inline void dw_skip(struct dw_reader *reader, uint64_t size)
{
	if (dw_has(reader, size))
		reader->at += size;
}

/* An unsigned integer of @size bytes, 1 to 8. */
static inline uint64_t dw_uint(struct dw_reader *reader, unsigned int size)
{
	uint64_t value = 0;

	if (!dw_has(reader, size))
		return 0;
	if (reader->big_endian) {
		for (unsigned int i = 0; i < size; i++)
			value = value << 8 | reader->at[i];
	} else {
		for (unsigned int i = size; i-- > 0;)
			value = value << 8 | reader->at[i];
	}
	reader->at += size;
	return value;
}

/* Bits past the 64th are dropped, as other readers do; ten bytes hold 64 bits. */
static inline uint64_t dw_uleb(struct dw_reader *reader)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	for (;;) {
		uint8_t byte;

		if (!dw_has(reader, 1))
			return 0;
		byte = *reader->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
		shift += 7;
		if (shift > 700) { /* padding of that length is no number */
			reader->failed = true;
			return 0;
		}
	}
}

static inline int64_t dw_sleb(struct dw_reader *reader)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	for (;;) {
		uint8_t byte;

		if (!dw_has(reader, 1))
			return 0;
		byte = *reader->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80)) {
			if ((byte & 0x40) && shift < 64)
				value |= ~0ULL << shift;
			return (int64_t)value;
		}
		if (shift > 700) {
			reader->failed = true;
			return 0;
		}
	}
}

/* A string up to its NUL, over which the reader steps; NULL if there is no NUL. */
static inline const char *dw_string(struct dw_reader *reader)
{
	const char *string = (const char *)reader->at;
	const uint8_t *nul;

	if (reader->failed)
		return NULL;
	nul = memchr(reader->at, 0, (size_t)(reader->end - reader->at));
	if (!nul) {
		reader->failed = true;
		return NULL;
	}
	reader->at = nul + 1;
	return string;
}

/* The length that begins units and tables: 4 bytes, or 0xffffffff and 8. */
static inline uint64_t dw_initial_length(struct dw_reader *reader, uint8_t *offset_size_ret)
{
	uint64_t length = dw_uint(reader, 4);

	*offset_size_ret = 4;
	if (length == 0xffffffff) {
		*offset_size_ret = 8;
		length = dw_uint(reader, 8);
	} else if (length >= 0xfffffff0) { /* reserved */
		reader->failed = true;
	}
	return length;
}

#endif
