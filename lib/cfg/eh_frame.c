// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>

#include "eh_frame.h"

/* .eh_frame_hdr: version, encodings of three fields, pointer to .eh_frame, count, table. */
#define HDR_VERSION	   1
#define ENC_PCREL_SDATA4   0x1b
#define ENC_UDATA4	   0x03
#define ENC_DATAREL_SDATA4 0x3b
#define HDR_TABLE	   12
#define ENTRY_SIZE	   8

/* A frame description entry: length, offset of its CIE, first address, bytes (here 4 each). */
#define FDE_PC_BEGIN 8
#define FDE_PC_RANGE 12

static uint64_t relative(const struct memory_image *image, uint64_t vaddr, uint64_t base)
{
	uint32_t offset = 0;

	memory_image_u32(image, vaddr, &offset);
	return base + (uint64_t)(int64_t)(int32_t)offset;
}

bool eh_frame_table(const struct swlbr_elf *elf, const struct memory_image *image,
		    struct eh_frame_table *ret)
{
	const struct swlbr_elf_section *hdr = swlbr_elf_section(elf, ".eh_frame_hdr");
	const uint8_t *head;

	if (!hdr || hdr->size < HDR_TABLE)
		return false;
	head = memory_image_at(image, hdr->vaddr, hdr->size);
	if (!head || head[0] != HDR_VERSION || head[1] != ENC_PCREL_SDATA4 ||
	    head[2] != ENC_UDATA4 || head[3] != ENC_DATAREL_SDATA4)
		return false;
	ret->vaddr = hdr->vaddr;
	memory_image_u32(image, hdr->vaddr + 8, &ret->nr);
	if (ret->nr > (hdr->size - HDR_TABLE) / ENTRY_SIZE)
		ret->nr = (uint32_t)((hdr->size - HDR_TABLE) / ENTRY_SIZE);
	return true;
}

static uint64_t row_of(const struct eh_frame_table *table, uint32_t i)
{
	return table->vaddr + HDR_TABLE + (uint64_t)i * ENTRY_SIZE;
}

uint64_t eh_frame_entry(const struct eh_frame_table *table, const struct memory_image *image,
			uint32_t i)
{
	return relative(image, row_of(table, i) + 4, table->vaddr);
}

struct swlbr_error *eh_frame_ranges(const struct swlbr_elf *elf, const struct memory_image *image,
				    struct code_ranges *ranges)
{
	struct eh_frame_table table;
	struct code_range *grown;

	if (!eh_frame_table(elf, image, &table))
		return NULL;
	grown = reallocarray(ranges->ranges, ranges->nr + table.nr + 1, sizeof(*grown));
	if (!grown)
		return swlbr_error_no_memory();
	ranges->ranges = grown;
	for (uint32_t i = 0; i < table.nr; i++) {
		uint64_t start = relative(image, row_of(&table, i), table.vaddr);
		uint64_t fde = eh_frame_entry(&table, image, i);
		uint32_t size = 0;

		/* The CIE may say that addresses are stored in another way: then size stays 0. */
		if (relative(image, fde + FDE_PC_BEGIN, fde + FDE_PC_BEGIN) == start)
			memory_image_u32(image, fde + FDE_PC_RANGE, &size);
		grown[ranges->nr++] = (struct code_range){ .start = start, .end = start + size };
	}
	return NULL;
}
