/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_CFG_MEMORY_IMAGE_H
#define SWLBR_CFG_MEMORY_IMAGE_H

#include <swlbr/elf.h>

/** The stored parts of a binary's segments as the loader lays them at a load bias of 0. */
struct memory_image {
	struct memory_segment {
		uint64_t vaddr, size;
		uint32_t flags; /* PF_* */
		uint8_t *data;
	} * segments;
	size_t nr_segments;
	/* What is written by the loader only: constant when the program runs. */
	struct memory_range {
		uint64_t start, end;
	} relro[4];
	size_t nr_relro;
};

/**
 * SWLBR_ERROR_FORMAT where segments are so many, or overlap so much in the file, that no linker has
 * made them. Freed by memory_image_deinit(), also after errors.
 */
struct swlbr_error *memory_image_init(struct memory_image *image, struct swlbr_elf *elf);
void memory_image_deinit(struct memory_image *image);

/** Bytes of all segments. */
uint64_t memory_image_size(const struct memory_image *image);

/** The @size bytes at @vaddr, NULL if they are not all stored. */
const uint8_t *memory_image_at(const struct memory_image *image, uint64_t vaddr, size_t size);

/** The bytes from @vaddr to the end of their segment; @size_ret is 0 where there are none. */
const uint8_t *memory_image_from(const struct memory_image *image, uint64_t vaddr,
				 size_t *size_ret);

/** True if the running program cannot write to @vaddr. */
bool memory_image_is_constant(const struct memory_image *image, uint64_t vaddr);
bool memory_image_is_code(const struct memory_image *image, uint64_t vaddr);

/** Little-endian words. False if they are not stored. */
bool memory_image_u32(const struct memory_image *image, uint64_t vaddr, uint32_t *ret);
bool memory_image_u64(const struct memory_image *image, uint64_t vaddr, uint64_t *ret);

#endif
