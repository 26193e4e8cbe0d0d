// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "bb_addr_map.h"
#include "elf_image.h"

static struct swlbr_error *add_block(struct bb_addr_map *map, const struct bb_block *block)
{
	struct bb_block *grown =
		array_grow(map->blocks, map->nr_blocks, &map->max_blocks, sizeof(*grown));

	if (!grown)
		return swlbr_error_no_memory();
	map->blocks = grown;
	map->blocks[map->nr_blocks++] = *block;
	return NULL;
}

static struct swlbr_error *add_function(struct bb_addr_map *map, const struct bb_function *function)
{
	struct bb_function *grown =
		array_grow(map->functions, map->nr_functions, &map->max_functions, sizeof(*grown));

	if (!grown)
		return swlbr_error_no_memory();
	map->functions = grown;
	map->functions[map->nr_functions++] = *function;
	return NULL;
}

/* Numbers that LLVM keeps in 32 bits. */
static struct swlbr_error *read_u32(struct cursor *cursor, const char *what, uint32_t *ret)
{
	uint64_t value = 0;
	struct swlbr_error *error = cursor_uleb128(cursor, what, &value);

	if (!error && value > UINT32_MAX)
		error = cursor_error(cursor, "%s of %llu", what, (unsigned long long)value);
	*ret = (uint32_t)value;
	return error;
}

static struct swlbr_error *read_address(struct cursor *cursor, const char *what, bool is_64,
					uint64_t *ret)
{
	uint32_t narrow = 0;
	struct swlbr_error *error;

	if (is_64)
		return cursor_u64(cursor, what, ret);
	error = cursor_u32(cursor, what, &narrow);
	*ret = narrow;
	return error;
}

/* What a block's size is counted from: the end of its last call. */
static struct swlbr_error *read_calls(struct cursor *cursor, uint64_t *end_ret)
{
	uint32_t nr, step;
	struct swlbr_error *error = read_u32(cursor, "number of call sites", &nr);

	*end_ret = 0;
	for (uint32_t i = 0; !error && i < nr; i++) {
		error = read_u32(cursor, "call site", &step);
		*end_ret += step;
	}
	return error;
}

/* @end: of the block before; moves on. */
static struct swlbr_error *read_block(struct cursor *cursor, uint32_t features, uint64_t *end,
				      struct bb_block *block)
{
	uint32_t skip = 0, size = 0;
	uint64_t calls_end = 0;
	struct swlbr_error *error;

	error = read_u32(cursor, "block id", &block->id);
	if (!error)
		error = read_u32(cursor, "start of a block", &skip);
	if (!error && (features & BB_CALL_SITES))
		error = read_calls(cursor, &calls_end);
	if (!error)
		error = read_u32(cursor, "size of a block", &size);
	if (!error)
		error = read_u32(cursor, "metadata of a block", &block->flags);
	if (!error && (features & BB_HASH))
		error = cursor_bytes(cursor, "hash of a block", sizeof(uint64_t), NULL);
	if (error)
		return error;
	block->size = calls_end + size;
	if (__builtin_add_overflow(*end, skip, &block->start) ||
	    __builtin_add_overflow(block->start, block->size, end))
		return cursor_error(cursor, "a block ends past the last address");
	return NULL;
}

static struct swlbr_error *read_range(struct bb_addr_map *map, struct cursor *cursor, bool is_64,
				      uint32_t features, bool is_first,
				      struct bb_function *function)
{
	struct bb_block block = { .function = (uint32_t)map->nr_functions };
	struct swlbr_error *error;
	uint64_t address = 0;
	uint32_t nr = 0;

	error = read_address(cursor, "address of a function", is_64, &address);
	if (is_first)
		function->entry = address;
	if (!error)
		error = read_u32(cursor, "number of blocks", &nr);
	if (features & BB_NO_BLOCKS)
		return error;
	for (uint32_t i = 0; !error && i < nr; i++) {
		error = read_block(cursor, features, &address, &block);
		if (!error)
			error = add_block(map, &block);
	}
	return error;
}

/* What the compiler thought of how often things run: stepped over. */
static struct swlbr_error *skip_analysis(struct cursor *cursor, uint32_t features, size_t nr_blocks)
{
	struct swlbr_error *error = NULL;
	uint64_t value;

	if (features & BB_ENTRY_COUNT)
		error = cursor_uleb128(cursor, "entry count", &value);
	for (size_t i = 0; !error && i < nr_blocks; i++) {
		uint64_t nr = 0;

		if (features & BB_FREQUENCY)
			error = cursor_uleb128(cursor, "frequency of a block", &value);
		if (!error && (features & BB_PROBABILITY))
			error = cursor_uleb128(cursor, "number of successors", &nr);
		for (uint64_t j = 0; !error && j < nr; j++) {
			error = cursor_uleb128(cursor, "successor", &value);
			if (!error)
				error = cursor_uleb128(cursor, "probability of a successor",
						       &value);
		}
	}
	return error;
}

static struct swlbr_error *read_header(struct cursor *cursor, uint16_t *features_ret)
{
	struct swlbr_error *error;
	uint8_t version = 0, narrow = 0;
	uint32_t known;

	error = cursor_u8(cursor, "version", &version);
	if (error)
		return error;
	if (version < BB_ADDR_MAP_MIN_VERSION || version > BB_ADDR_MAP_MAX_VERSION)
		return swlbr_error_create(
			SWLBR_ERROR_UNSUPPORTED,
			"%s: version %u of the basic block address map is not supported, %d to %d are (at offset %llu)",
			cursor->file, version, BB_ADDR_MAP_MIN_VERSION, BB_ADDR_MAP_MAX_VERSION,
			(unsigned long long)cursor_offset(cursor) - 1);
	if (version >= 5) {
		error = cursor_u16(cursor, "features", features_ret);
	} else {
		error = cursor_u8(cursor, "features", &narrow);
		*features_ret = narrow;
	}
	known = BB_CALL_SITES - 1;
	if (version >= 3)
		known |= BB_CALL_SITES;
	if (version >= 4)
		known |= BB_HASH;
	if (!error && (*features_ret & ~known))
		return swlbr_error_create(
			SWLBR_ERROR_UNSUPPORTED,
			"%s: the basic block address map has features that are not known in its version %u: 0x%x (before offset %llu)",
			cursor->file, version, *features_ret & ~known,
			(unsigned long long)cursor_offset(cursor));
	return error;
}

static struct swlbr_error *read_function(struct bb_addr_map *map, struct cursor *cursor, bool is_64)
{
	struct bb_function function = { .first_block = map->nr_blocks };
	struct swlbr_error *error;
	uint16_t features = 0;
	uint32_t ranges = 1;

	error = read_header(cursor, &features);
	if (!error && (features & BB_MULTI_RANGE))
		error = read_u32(cursor, "number of ranges", &ranges);
	if (!error && !ranges)
		error = cursor_error(cursor, "a function without code");
	for (uint32_t i = 0; !error && i < ranges; i++)
		error = read_range(map, cursor, is_64, features, !i, &function);
	function.nr_blocks = map->nr_blocks - function.first_block;
	if (!error)
		error = skip_analysis(cursor, features, function.nr_blocks);
	if (error || !function.nr_blocks)
		return error;
	if (map->blocks[function.first_block].start != function.entry)
		return cursor_error(cursor, "the function at 0x%llx does not begin with a block",
				    (unsigned long long)function.entry);
	return add_function(map, &function);
}

struct swlbr_error *bb_addr_map_parse(struct bb_addr_map *map, struct cursor *cursor, bool is_64)
{
	struct swlbr_error *error = NULL;

	while (!error && cursor_left(cursor) && map->nr_blocks < UINT32_MAX)
		error = read_function(map, cursor, is_64);
	return error;
}

static struct swlbr_error *read_section(const struct swlbr_elf *elf,
					const struct swlbr_elf_section *section,
					struct bb_addr_map *map)
{
	struct cursor cursor = { .file = elf->path,
				 .size = section->size,
				 .base = section->offset,
				 .big_endian = elf->big_endian };
	struct swlbr_error *error = NULL;
	uint8_t *data;

	if (section->flags & SHF_COMPRESSED)
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "%s: %s is compressed, which is not supported", elf->path,
					  section->name);
	if (section->offset > elf->file_size || section->size > elf->file_size - section->offset)
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: truncated: %s ends at byte %llu, the file has %llu",
					  elf->path, section->name,
					  (unsigned long long)(section->offset + section->size),
					  (unsigned long long)elf->file_size);
	data = malloc(section->size + 1);
	if (!data)
		return swlbr_error_no_memory();
	for (uint64_t done = 0; !error && done < section->size;) {
		ssize_t n = pread(elf->fd, data + done, section->size - done,
				  (off_t)(section->offset + done));

		if (n > 0)
			done += (uint64_t)n;
		else if (!n)
			error = swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: truncated at byte %llu",
						   elf->path,
						   (unsigned long long)(section->offset + done));
		else if (errno != EINTR)
			error = swlbr_error_errno(errno, "%s", elf->path);
	}
	cursor.data = data;
	if (!error)
		error = bb_addr_map_parse(map, &cursor, elf->is_64);
	free(data);
	return error;
}

/* The linker writes addresses near 0 for functions that it has removed. */
static void drop_removed(const struct swlbr_elf *elf, struct bb_addr_map *map)
{
	uint64_t lowest = UINT64_MAX;
	size_t kept = 0;

	for (size_t i = 0; i < elf->nr_segments; i++)
		if ((elf->segments[i].flags & PF_X) && elf->segments[i].vaddr < lowest)
			lowest = elf->segments[i].vaddr;
	for (size_t i = 0; i < map->nr_functions; i++) {
		struct bb_function *function = &map->functions[i];

		if (function->entry < lowest || !function->entry)
			continue;
		for (size_t j = 0; j < function->nr_blocks; j++)
			map->blocks[function->first_block + j].function = (uint32_t)kept;
		map->functions[kept++] = *function;
	}
	map->nr_functions = kept;
}

struct swlbr_error *bb_addr_map_read(const struct swlbr_elf *elf, struct bb_addr_map *map)
{
	struct swlbr_error *error = NULL;
	bool found = false, old = false;

	*map = (struct bb_addr_map){ 0 };
	if (elf->type == ET_REL)
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "%s: an object file, whose addresses are not known yet",
					  elf->path);
	for (size_t i = 0; !error && i < elf->nr_sections; i++) {
		old |= elf->sections[i].type == SHT_LLVM_BB_ADDR_MAP_V0;
		if (elf->sections[i].type != SHT_LLVM_BB_ADDR_MAP)
			continue;
		found = true;
		error = read_section(elf, &elf->sections[i], map);
	}
	if (!error && !found && old)
		error = swlbr_error_create(
			SWLBR_ERROR_UNSUPPORTED,
			"%s: its basic block address map is of the first form (version 0), of clang 14 and older; build with a newer clang",
			elf->path);
	else if (!error && !found)
		error = swlbr_error_create(
			SWLBR_ERROR_NOT_FOUND,
			"%s: no basic block address map (.llvm_bb_addr_map) in it; build with clang's -fbasic-block-address-map, or -fbasic-block-sections=labels before clang 19, and do not strip it",
			elf->path);
	if (error) {
		bb_addr_map_free(map);
		return error;
	}
	drop_removed(elf, map);
	return NULL;
}

void bb_addr_map_free(struct bb_addr_map *map)
{
	free(map->functions);
	free(map->blocks);
	*map = (struct bb_addr_map){ 0 };
}
