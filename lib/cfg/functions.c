// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "eh_frame.h"
#include "functions.h"

static struct swlbr_error *add_symbols(struct swlbr_elf *elf, struct code_ranges *ranges)
{
	struct swlbr_elf_symbol *symbols;
	size_t nr;
	struct swlbr_error *error = swlbr_elf_symbols(elf, &symbols, &nr);

	if (error)
		return error;
	ranges->ranges = calloc(nr + 1, sizeof(*ranges->ranges));
	if (!ranges->ranges) {
		free(symbols);
		return swlbr_error_no_memory();
	}
	for (size_t i = 0; i < nr; i++) {
		if (symbols[i].type != STT_FUNC && symbols[i].type != STT_GNU_IFUNC)
			continue;
		ranges->ranges[ranges->nr++] = (struct code_range){
			.start = symbols[i].vaddr,
			.end = symbols[i].vaddr + symbols[i].size,
			.name = symbols[i].name,
		};
	}
	free(symbols);
	return NULL;
}

/* By address; of ranges that begin together the one with a name, then the longest, comes first. */
static int by_start(const void *left, const void *right)
{
	const struct code_range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (!a->name != !b->name)
		return a->name ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return a->name ? strcmp(a->name, b->name) : 0;
}

/* Where a range that begins at @start must end at the latest: its section's end. */
static uint64_t section_end(const struct swlbr_elf *elf, uint64_t start)
{
	const struct swlbr_elf_section *sections;
	size_t nr = swlbr_elf_sections(elf, &sections);

	for (size_t i = 0; i < nr; i++) {
		if ((sections[i].flags & SHF_ALLOC) && start - sections[i].vaddr < sections[i].size)
			return sections[i].vaddr + sections[i].size;
	}
	return start;
}

/* Sorted, without duplicates, each ended by the next. */
static void tidy(const struct swlbr_elf *elf, const struct memory_image *image,
		 struct code_ranges *ranges)
{
	uint64_t limit = 0;
	size_t kept = 0;

	qsort(ranges->ranges, ranges->nr, sizeof(*ranges->ranges), by_start);
	for (size_t i = 0; i < ranges->nr; i++) {
		struct code_range *range = &ranges->ranges[i];
		struct code_range *last = kept ? &ranges->ranges[kept - 1] : NULL;

		if (!memory_image_is_code(image, range->start) ||
		    (last && range->start == last->start))
			continue;
		/* What .eh_frame knows inside of a symbol is the symbol's. */
		if (last && !range->name && range->start < last->end)
			continue;
		if (last && (last->end > range->start || last->end == last->start))
			last->end = range->start;
		ranges->ranges[kept++] = *range;
	}
	ranges->nr = kept;
	for (size_t i = 0; i < kept; i++) {
		struct code_range *range = &ranges->ranges[i];

		if (range->start >= limit)
			limit = section_end(elf, range->start);
		if (range->end > limit || range->end <= range->start)
			range->end = limit;
		if (i + 1 < kept && range->end > ranges->ranges[i + 1].start)
			range->end = ranges->ranges[i + 1].start;
	}
	/* Symbols outside of sections. */
	ranges->nr = 0;
	for (size_t i = 0; i < kept; i++) {
		if (ranges->ranges[i].end > ranges->ranges[i].start)
			ranges->ranges[ranges->nr++] = ranges->ranges[i];
	}
}

struct swlbr_error *code_ranges_find(struct swlbr_elf *elf, const struct memory_image *image,
				     struct code_ranges *ret)
{
	struct swlbr_error *error;

	*ret = (struct code_ranges){ 0 };
	error = add_symbols(elf, ret);
	if (!error)
		error = eh_frame_ranges(elf, image, ret);
	if (!error)
		tidy(elf, image, ret);
	return error;
}

void code_ranges_deinit(struct code_ranges *ranges)
{
	free(ranges->ranges);
}
