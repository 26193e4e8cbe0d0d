// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Functions that something else than direct calls of this binary may run. */
#include <elf.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "builder.h"

static struct swlbr_error *note(struct builder *builder, uint64_t vaddr)
{
	struct swlbr_error *error = builder_grow(&builder->taken, &builder->max_taken,
						 builder->nr_taken, sizeof(*builder->taken));

	if (!error)
		builder->taken[builder->nr_taken++] = vaddr;
	return error;
}

struct swlbr_error *builder_note_addresses(struct builder *builder)
{
	const struct function_graph *graph = &builder->graph;

	for (uint32_t i = 0; i < graph->nr_insns; i++) {
		const struct arch_insn *insn = &graph->insns[i];
		uint64_t vaddr = (uint64_t)(insn->op == ARCH_OP_ADDRESS ? insn->disp : insn->imm);
		struct swlbr_error *error;

		if (insn->op != ARCH_OP_CONST && insn->op != ARCH_OP_STORE &&
		    insn->op != ARCH_OP_PUSH && insn->op != ARCH_OP_ADDRESS)
			continue;
		if (insn->op == ARCH_OP_ADDRESS &&
		    (insn->base != ARCH_NO_REGISTER || insn->index != ARCH_NO_REGISTER))
			continue;
		if (!memory_image_is_code(&builder->image, vaddr))
			continue;
		error = note(builder, vaddr);
		if (error)
			return error;
	}
	return NULL;
}

/* Words at @data, of @vaddr on, that are addresses of code. */
static struct swlbr_error *note_words(struct builder *builder, uint64_t vaddr, const uint8_t *data,
				      size_t size)
{
	uint64_t offset = -vaddr & 7;

	for (; offset < size && size - offset >= 8; offset += 8) {
		struct swlbr_error *error;
		uint64_t word;

		memcpy(&word, data + offset, sizeof(word));
		word = le64toh(word);
		if (!word || !memory_image_is_code(&builder->image, word))
			continue;
		error = note(builder, word);
		if (error)
			return error;
	}
	return NULL;
}

/* Sections may tell data from code where the segment does not: that of a kernel's code has both. */
static struct swlbr_error *note_section(struct builder *builder,
					const struct swlbr_elf_section *section)
{
	const uint8_t *data;

	if (!(section->flags & SHF_ALLOC) || (section->flags & SHF_EXECINSTR) ||
	    section->type == SHT_NOBITS || !memory_image_is_code(&builder->image, section->vaddr))
		return NULL;
	data = memory_image_at(&builder->image, section->vaddr, section->size);
	return data ? note_words(builder, section->vaddr, data, section->size) : NULL;
}

/* Words of data that are addresses of code, but for what the profile runtime keeps. */
static struct swlbr_error *note_data(struct builder *builder)
{
	const struct swlbr_elf_section *profile =
		swlbr_elf_section(builder->elf, "__llvm_prf_data");
	const struct swlbr_elf_section *sections;
	size_t nr = swlbr_elf_sections(builder->elf, &sections);
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < builder->image.nr_segments; i++) {
		const struct memory_segment *segment = &builder->image.segments[i];
		uint64_t end = profile ? profile->vaddr - segment->vaddr : segment->size;

		if (segment->flags & PF_X)
			continue;
		if (end >= segment->size) {
			error = note_words(builder, segment->vaddr, segment->data, segment->size);
			continue;
		}
		error = note_words(builder, segment->vaddr, segment->data, end);
		end += profile->size;
		if (!error && end < segment->size)
			error = note_words(builder, segment->vaddr + end, segment->data + end,
					   segment->size - end);
	}
	for (size_t i = 0; !error && i < nr; i++)
		error = note_section(builder, &sections[i]);
	return error;
}

static struct swlbr_error *note_exports(struct builder *builder)
{
	const struct swlbr_elf_section *dynsym = swlbr_elf_section(builder->elf, ".dynsym");
	struct swlbr_elf_symbol *symbols;
	struct swlbr_error *error;
	size_t nr;

	if (!dynsym)
		return NULL;
	error = swlbr_elf_symbols_of(builder->elf, SHT_DYNSYM, &symbols, &nr);
	for (size_t i = 0; !error && i < nr; i++)
		error = note(builder, symbols[i].vaddr);
	free(symbols);
	return error;
}

static int by_address(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

struct swlbr_error *builder_find_address_taken(struct builder *builder)
{
	struct swlbr_branch_map *map = builder->map;
	struct swlbr_error *error = note_data(builder);

	if (!error)
		error = note_exports(builder);
	if (error || !builder->nr_taken)
		return error;
	qsort(builder->taken, builder->nr_taken, sizeof(*builder->taken), by_address);
	for (size_t i = 0; i < map->nr_functions; i++)
		map->functions[i].address_taken =
			bsearch(&map->functions[i].start, builder->taken, builder->nr_taken,
				sizeof(*builder->taken), by_address) != NULL;
	return NULL;
}
