// SPDX-License-Identifier: GPL-2.0-only
/* A cursor never leaves its bytes, and says where it stopped. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"

#include "check.h"

/* True if @error is one and its message is @text; destroys it. */
static bool says(struct swlbr_error *error, const char *text)
{
	bool same = error && !strcmp(error->message, text);

	if (!same)
		printf("# got: %s\n", error ? error->message : "(success)");
	swlbr_error_destroy(error);
	return same;
}

static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

static void test_integers(void)
{
	struct cursor cursor = { .file = "f", .data = bytes, .size = sizeof(bytes), .base = 100 };
	uint16_t u16 = 0;
	uint32_t u32 = 0;
	uint64_t u64 = 0;
	uint8_t u8 = 0;
	bool fine;

	fine = !cursor_u8(&cursor, "a", &u8) && !cursor_u16(&cursor, "b", &u16) &&
	       !cursor_u32(&cursor, "c", &u32) && !cursor_u64(&cursor, "d", &u64);
	check(fine && u8 == 1 && u16 == 0x0302 && u32 == 0x07060504 && u64 == 0x0f0e0d0c0b0a0908,
	      "little-endian integers");
	check(cursor_left(&cursor) == 0 && cursor_offset(&cursor) == 115, "position at the end");
	check(says(cursor_u8(&cursor, "flag", &u8),
		   "f: flag cut off: 0 of 1 bytes are there (at offset 115)"),
	      "reading past the end names file and offset");
	cursor.at = 0;
	cursor.big_endian = true;
	fine = !cursor_u8(&cursor, "a", &u8) && !cursor_u16(&cursor, "b", &u16) &&
	       !cursor_u32(&cursor, "c", &u32) && !cursor_u64(&cursor, "d", &u64);
	check(fine && u16 == 0x0203 && u32 == 0x04050607 && u64 == 0x08090a0b0c0d0e0f,
	      "big-endian integers");
}

static void test_failed_read_stays(void)
{
	struct cursor cursor = { .file = "f", .data = bytes, .size = 7 };
	uint64_t u64 = 5;

	swlbr_error_destroy(cursor_u64(&cursor, "word", &u64));
	check(cursor.at == 0 && u64 == 5, "a failed read changes nothing");
	check(says(cursor_bytes(&cursor, "blob", UINT64_MAX, NULL),
		   "f: blob cut off: 7 of 18446744073709551615 bytes are there (at offset 0)"),
	      "a size near 2^64 does not wrap");
}

static void test_sub(void)
{
	struct cursor cursor = { .file = "f", .data = bytes, .size = sizeof(bytes), .at = 3 }, sub;
	uint32_t u32 = 0;

	check(!cursor_sub(&cursor, "part", 3, &sub) && cursor.at == 6 && sub.size == 3,
	      "a part is stepped over");
	check(says(cursor_u32(&sub, "word", &u32),
		   "f: word cut off: 3 of 4 bytes are there (at offset 3)"),
	      "a part ends before its file does");
	check(!cursor_seek(&cursor, "x", 15) &&
		      says(cursor_seek(&cursor, "x", 16),
			   "f: x would be at offset 16, past the end at 15 (at offset 15)"),
	      "seeking stops at the end");
}

static void test_uleb128(void)
{
	static const uint8_t good[] = { 0xe5, 0x8e, 0x26 };
	static const uint8_t largest[] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1
	};
	static const uint8_t too_large[] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2
	};
	static const uint8_t endless[] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
					   0x80, 0x80, 0x80, 0x80, 0x80, 0x00 };
	struct cursor cursor = { .file = "f", .data = good, .size = sizeof(good) };
	uint64_t value = 0;

	check(!cursor_uleb128(&cursor, "n", &value) && value == 624485 && cursor.at == 3,
	      "uleb128 of three bytes");
	cursor = (struct cursor){ .file = "f", .data = largest, .size = sizeof(largest) };
	check(!cursor_uleb128(&cursor, "n", &value) && value == UINT64_MAX, "the largest uleb128");
	cursor = (struct cursor){ .file = "f", .data = too_large, .size = sizeof(too_large) };
	check(says(cursor_uleb128(&cursor, "n", &value),
		   "f: n: number of more than 64 bits (at offset 0)"),
	      "a uleb128 of 65 bits is refused");
	cursor = (struct cursor){ .file = "f", .data = endless, .size = sizeof(endless) };
	check(says(cursor_uleb128(&cursor, "n", &value),
		   "f: n: number of more than 64 bits (at offset 0)"),
	      "a uleb128 of 12 bytes is refused");
	cursor = (struct cursor){ .file = "f", .data = good, .size = 2 };
	check(says(cursor_uleb128(&cursor, "n", &value),
		   "f: n cut off: 0 of 1 bytes are there (at offset 2)") &&
		      cursor.at == 0,
	      "a uleb128 cut off");
}

static bool takes(const uint8_t *data, size_t size, uint64_t u, int64_t s, size_t at)
{
	struct cursor one = { .file = "file", .data = data, .size = size }, other = one;

	return cursor_take_uleb128(&one) == u && cursor_take_sleb128(&other) == s && one.at == at &&
	       other.at == at && !one.overrun && !other.overrun;
}

static void test_take_leb128(void)
{
	static const uint8_t three[] = { 0xe5, 0x8e, 0x26 }, minus[] = { 0x80, 0x7f };
	static const uint8_t padded[] = { 0x83, 0x80, 0x80, 0x00 };
	static uint8_t endless[1000];
	struct cursor cursor = { .file = "file", .data = endless, .size = sizeof(endless) };

	check(takes(three, 3, 624485, 624485, 3), "LEB128 of three bytes, both kinds");
	check(takes(minus, 2, 16256, -128, 2), "signed LEB128 below 0");
	check(takes(padded, 4, 3, 3, 4), "LEB128 with padding");
	memset(endless, 0x80, sizeof(endless));
	check(cursor_take_uleb128(&cursor) == 0 && cursor.overrun && cursor.at < 200,
	      "a LEB128 without end is not read to it");
}

int main(void)
{
	test_integers();
	test_failed_read_stays();
	test_sub();
	test_uleb128();
	test_take_leb128();
	return failures != 0;
}
