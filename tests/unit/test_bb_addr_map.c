// SPDX-License-Identifier: GPL-2.0-only
/* The map of basic blocks that clang leaves in a binary: of each version, and damaged. */
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "binary/bb_addr_map.h"
#include "check.h"

static void byte(struct buffer *buffer, unsigned int value)
{
	uint8_t one = (uint8_t)value;

	buffer_bytes(buffer, &one, 1);
}

static void header(struct buffer *buffer, unsigned int version, unsigned int features)
{
	byte(buffer, version);
	byte(buffer, features);
	if (version >= 5)
		byte(buffer, features >> 8);
}

static void block(struct buffer *buffer, uint32_t id, uint32_t skip, uint32_t size, uint32_t flags)
{
	buffer_uleb128(buffer, id);
	buffer_uleb128(buffer, skip);
	buffer_uleb128(buffer, size);
	buffer_uleb128(buffer, flags);
}

/* Two ranges: 0x1000 with blocks 0 and 300, after 3 bytes of padding; 0x5000 with block 7. */
static void two_ranges(struct buffer *buffer)
{
	header(buffer, 2, BB_MULTI_RANGE);
	buffer_uleb128(buffer, 2);
	buffer_u64(buffer, 0x1000);
	buffer_uleb128(buffer, 2);
	block(buffer, 0, 0, 0x10, BB_CAN_FALL_THROUGH);
	block(buffer, 300, 3, 0x200, BB_HAS_RETURN);
	buffer_u64(buffer, 0x5000);
	buffer_uleb128(buffer, 1);
	block(buffer, 7, 0, 5, BB_IS_LANDING_PAD);
}

/* Version 5, as clang 22 writes it: block 1 has calls that end 4 and 9 bytes from its start. */
static void call_sites(struct buffer *buffer)
{
	header(buffer, 5, BB_CALL_SITES);
	buffer_u64(buffer, 0x2000);
	buffer_uleb128(buffer, 2);
	buffer_uleb128(buffer, 0);
	buffer_uleb128(buffer, 0);
	buffer_uleb128(buffer, 0);
	buffer_uleb128(buffer, 6);
	buffer_uleb128(buffer, BB_CAN_FALL_THROUGH);
	buffer_uleb128(buffer, 1);
	buffer_uleb128(buffer, 2);
	buffer_uleb128(buffer, 2);
	buffer_uleb128(buffer, 4);
	buffer_uleb128(buffer, 5);
	buffer_uleb128(buffer, 3);
	buffer_uleb128(buffer, BB_HAS_RETURN);
}

/* Version 4 with hashes, and what the compiler thought of the function. */
static void hashes_and_analysis(struct buffer *buffer)
{
	header(buffer, 4, BB_HASH | BB_ENTRY_COUNT | BB_FREQUENCY | BB_PROBABILITY);
	buffer_u64(buffer, 0x3000);
	buffer_uleb128(buffer, 2);
	block(buffer, 0, 0, 4, BB_CAN_FALL_THROUGH);
	buffer_u64(buffer, 0x1122334455667788);
	block(buffer, 2, 0, 4, BB_HAS_RETURN);
	buffer_u64(buffer, 0x8877665544332211);
	buffer_uleb128(buffer, 1000);
	buffer_uleb128(buffer, 16);
	buffer_uleb128(buffer, 1);
	buffer_uleb128(buffer, 2);
	buffer_uleb128(buffer, 0x80000000);
	buffer_uleb128(buffer, 12);
	buffer_uleb128(buffer, 0);
}

static void one_block(struct buffer *buffer, unsigned int version, unsigned int features)
{
	header(buffer, version, features);
	buffer_u64(buffer, 0x4000);
	buffer_uleb128(buffer, 1);
	block(buffer, 0, 0, 1, 0);
}

static struct swlbr_error *parse(const void *data, size_t size, bool big_endian, bool is_64,
				 struct bb_addr_map *map)
{
	struct cursor cursor = {
		.file = "program", .data = data, .size = size, .base = 64, .big_endian = big_endian
	};

	*map = (struct bb_addr_map){ 0 };
	return bb_addr_map_parse(map, &cursor, is_64);
}

static void is_block(const struct bb_addr_map *map, size_t index, struct bb_block want)
{
	const struct bb_block *got = &map->blocks[index];

	check(index < map->nr_blocks && got->start == want.start && got->size == want.size &&
		      got->id == want.id && got->flags == want.flags &&
		      got->function == want.function,
	      "block %zu", index);
}

static void test_sound(void)
{
	struct buffer buffer = { 0 };
	struct bb_addr_map map;
	struct swlbr_error *error;

	two_ranges(&buffer);
	call_sites(&buffer);
	hashes_and_analysis(&buffer);
	one_block(&buffer, 3, 0);
	error = parse(buffer.data, buffer.size, false, true, &map);
	check(!error, "all versions together: %s", error ? error->message : "read");
	if (error || map.nr_functions != 4 || map.nr_blocks != 8) {
		check(false, "%zu functions, %zu blocks", map.nr_functions, map.nr_blocks);
		exit(1);
	}
	check(map.functions[0].entry == 0x1000 && map.functions[0].nr_blocks == 3,
	      "ranges are of one function");
	is_block(&map, 0, (struct bb_block){ 0x1000, 0x10, 0, 0, BB_CAN_FALL_THROUGH });
	is_block(&map, 1, (struct bb_block){ 0x1013, 0x200, 300, 0, BB_HAS_RETURN });
	is_block(&map, 2, (struct bb_block){ 0x5000, 5, 7, 0, BB_IS_LANDING_PAD });
	is_block(&map, 3, (struct bb_block){ 0x2000, 6, 0, 1, BB_CAN_FALL_THROUGH });
	is_block(&map, 4, (struct bb_block){ 0x2008, 12, 1, 1, BB_HAS_RETURN });
	is_block(&map, 5, (struct bb_block){ 0x3000, 4, 0, 2, BB_CAN_FALL_THROUGH });
	is_block(&map, 6, (struct bb_block){ 0x3004, 4, 2, 2, BB_HAS_RETURN });
	is_block(&map, 7, (struct bb_block){ 0x4000, 1, 0, 3, 0 });
	bb_addr_map_free(&map);
	buffer_free(&buffer);
}

static void test_narrow(void)
{
	static const uint8_t data[] = { 2, 0, 0, 1, 0x12, 0x34, 1, 0, 0, 9, 1 };
	struct bb_addr_map map;
	struct swlbr_error *error = parse(data, sizeof(data), true, false, &map);

	check(!error && map.nr_blocks == 1 && map.blocks[0].start == 0x11234 &&
		      map.blocks[0].size == 9,
	      "addresses of 32 bits, the high byte first");
	swlbr_error_destroy(error);
	bb_addr_map_free(&map);
}

/* Wherever it is cut, but between functions, an error says so. */
static void test_cut(void)
{
	struct buffer buffer = { 0 };
	struct bb_addr_map map;
	size_t ends[3], sound = 0, bad = 0;

	two_ranges(&buffer);
	ends[0] = buffer.size;
	call_sites(&buffer);
	ends[1] = buffer.size;
	hashes_and_analysis(&buffer);
	ends[2] = buffer.size;
	for (size_t size = 1; size <= buffer.size; size++) {
		uint8_t *copy = malloc(size);
		struct swlbr_error *error;
		bool whole = size == ends[0] || size == ends[1] || size == ends[2];

		memcpy(copy, buffer.data, size);
		error = parse(copy, size, false, true, &map);
		sound += !error && whole;
		bad += error && !whole && error->code == SWLBR_ERROR_FORMAT;
		swlbr_error_destroy(error);
		bb_addr_map_free(&map);
		free(copy);
	}
	check(sound == 3 && bad == buffer.size - 3, "cut anywhere: %zu errors of %zu", bad,
	      buffer.size - 3);
	buffer_free(&buffer);
}

static void refused(const struct buffer *buffer, enum swlbr_error_code code, const char *text)
{
	struct bb_addr_map map;
	struct swlbr_error *error = parse(buffer->data, buffer->size, false, true, &map);

	check(error && error->code == code && strstr(error->message, text), "refused: %s",
	      error ? error->message : "nothing");
	swlbr_error_destroy(error);
	bb_addr_map_free(&map);
}

static void test_versions(void)
{
	static const unsigned int versions[] = { 0, 1, 6, 255 };
	static const struct {
		unsigned int version, features;
	} unknown[] = {
		{ 2, BB_CALL_SITES }, { 3, BB_HASH }, { 4, 0x80 }, { 5, 0x80 }, { 5, 0x100 }
	};

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct buffer buffer = { 0 };

		one_block(&buffer, versions[i], 0);
		refused(&buffer, SWLBR_ERROR_UNSUPPORTED, "is not supported, 2 to 5 are");
		buffer_free(&buffer);
	}
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		struct buffer buffer = { 0 };

		one_block(&buffer, unknown[i].version, unknown[i].features);
		refused(&buffer, SWLBR_ERROR_UNSUPPORTED, "features that are not known");
		buffer_free(&buffer);
	}
}

/* Numbers that promise more than is there, or lead past the last address. */
static void test_numbers(void)
{
	struct buffer buffer = { 0 };

	header(&buffer, 2, 0);
	buffer_u64(&buffer, 0x1000);
	buffer_uleb128(&buffer, UINT32_MAX);
	block(&buffer, 0, 0, 1, 0);
	refused(&buffer, SWLBR_ERROR_FORMAT, "cut off");
	buffer.size = 0;
	header(&buffer, 2, 0);
	buffer_u64(&buffer, 0x1000);
	buffer_uleb128(&buffer, (uint64_t)UINT32_MAX + 1);
	refused(&buffer, SWLBR_ERROR_FORMAT, "number of blocks of 4294967296");
	buffer.size = 0;
	header(&buffer, 2, 0);
	buffer_u64(&buffer, UINT64_MAX - 4);
	buffer_uleb128(&buffer, 1);
	block(&buffer, 0, 0, 6, 0);
	refused(&buffer, SWLBR_ERROR_FORMAT, "past the last address");
	buffer.size = 0;
	header(&buffer, 2, BB_MULTI_RANGE);
	buffer_uleb128(&buffer, 0);
	refused(&buffer, SWLBR_ERROR_FORMAT, "without code");
	buffer.size = 0;
	header(&buffer, 2, 0);
	buffer_u64(&buffer, 0x1000);
	buffer_uleb128(&buffer, 1);
	block(&buffer, 0, 8, 6, 0);
	refused(&buffer, SWLBR_ERROR_FORMAT, "does not begin with a block");
	buffer_free(&buffer);
}

int main(void)
{
	test_sound();
	test_narrow();
	test_cut();
	test_versions();
	test_numbers();
	return failures != 0;
}
