/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The map of basic blocks that clang leaves in a binary (-fbasic-block-address-map): section
 * .llvm_bb_addr_map. Its layout is in LLVM's docs/Extensions.rst ("SHT_LLVM_BB_ADDR_MAP"). An entry
 * is of one function: u8 version, the features (u8; u16 from version 5 on), and then ULEB128s but
 * for addresses and hashes:
 *
 *   [ranges, if BB_MULTI_RANGE]
 *   for each range: address of it, blocks
 *     for each block: id, start (from the end of the block before), [call sites, and the end of each
 *     from the place before], size (from the last of these), metadata, [u64 hash]
 *   [entry count] [for each block: [frequency] [successors: id and probability of each]]
 *
 * clang 19 writes version 2, clang 22 version 5.
 */
#ifndef SWLBR_BINARY_BB_ADDR_MAP_H
#define SWLBR_BINARY_BB_ADDR_MAP_H

#include <swlbr/elf.h>

#include "base/cursor.h"

/* Section types (llvm/BinaryFormat/ELF.h). */
#define SHT_LLVM_BB_ADDR_MAP_V0 0x6fff4c08
#define SHT_LLVM_BB_ADDR_MAP	0x6fff4c0a

#define BB_ADDR_MAP_MIN_VERSION 2
#define BB_ADDR_MAP_MAX_VERSION 5

enum bb_addr_map_feature {
	BB_ENTRY_COUNT = 1 << 0,
	BB_FREQUENCY = 1 << 1,
	BB_PROBABILITY = 1 << 2,
	BB_MULTI_RANGE = 1 << 3,
	BB_NO_BLOCKS = 1 << 4,	/* ranges without their blocks */
	BB_CALL_SITES = 1 << 5, /* from version 3 on */
	BB_HASH = 1 << 6,	/* from version 4 on */
};

/* A block's metadata. */
enum bb_flag {
	BB_HAS_RETURN = 1 << 0,
	BB_HAS_TAIL_CALL = 1 << 1,
	BB_IS_LANDING_PAD = 1 << 2,
	BB_CAN_FALL_THROUGH = 1 << 3,
	BB_HAS_INDIRECT_BRANCH = 1 << 4,
};

struct bb_block {
	uint64_t start, size;
	uint32_t id; /* what the compiler calls it */
	uint32_t function;
	uint32_t flags; /* enum bb_flag */
};

/** The blocks of a function are next to each other, the entry first. */
struct bb_function {
	uint64_t entry;
	size_t first_block, nr_blocks;
};

/** Zeroed is empty. */
struct bb_addr_map {
	struct bb_function *functions;
	struct bb_block *blocks;
	size_t nr_functions, max_functions, nr_blocks, max_blocks;
};

/**
 * Add the functions of a section's bytes, at @cursor, to @map. Functions without blocks are left
 * out. @is_64: of addresses.
 */
struct swlbr_error *bb_addr_map_parse(struct bb_addr_map *map, struct cursor *cursor, bool is_64);

/**
 * Read the map of @elf. SWLBR_ERROR_NOT_FOUND, with the flag to build with, if there is none.
 * Functions that the linker has removed, below all code, are left out.
 */
struct swlbr_error *bb_addr_map_read(const struct swlbr_elf *elf, struct bb_addr_map *map);
void bb_addr_map_free(struct bb_addr_map *map);

#endif
