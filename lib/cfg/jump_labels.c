// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>

#include "jump_labels.h"

/* Both ends are 32 bits from where they stand; then the key follows. */
#define ENTRY_SIZE 16
#define TARGET_AT  4

static int by_code(const void *left, const void *right)
{
	const struct jump_label *a = left, *b = right;

	return (a->code > b->code) - (a->code < b->code);
}

struct swlbr_error *jump_labels_find(struct swlbr_elf *elf, const struct memory_image *image,
				     struct jump_labels *ret)
{
	struct swlbr_elf_symbol start, stop;
	uint64_t size;

	*ret = (struct jump_labels){ 0 };
	if (!swlbr_elf_symbol(elf, "__start___jump_table", &start) ||
	    !swlbr_elf_symbol(elf, "__stop___jump_table", &stop) || stop.vaddr <= start.vaddr)
		return NULL;
	size = stop.vaddr - start.vaddr;
	if (!memory_image_at(image, start.vaddr, size))
		return NULL;
	ret->labels = calloc(size / ENTRY_SIZE + 1, sizeof(*ret->labels));
	if (!ret->labels)
		return swlbr_error_no_memory();
	for (uint64_t at = start.vaddr; stop.vaddr - at >= ENTRY_SIZE; at += ENTRY_SIZE) {
		uint32_t code = 0, target = 0;

		memory_image_u32(image, at, &code);
		memory_image_u32(image, at + TARGET_AT, &target);
		ret->labels[ret->nr++] = (struct jump_label){
			.code = at + (uint64_t)(int32_t)code,
			.target = at + TARGET_AT + (uint64_t)(int32_t)target,
		};
	}
	qsort(ret->labels, ret->nr, sizeof(*ret->labels), by_code);
	return NULL;
}

void jump_labels_deinit(struct jump_labels *labels)
{
	free(labels->labels);
}

uint64_t jump_labels_target(const struct jump_labels *labels, uint64_t code)
{
	const struct jump_label key = { .code = code }, *found;

	if (!labels || !labels->nr)
		return 0;
	found = bsearch(&key, labels->labels, labels->nr, sizeof(key), by_code);
	return found ? found->target : 0;
}
