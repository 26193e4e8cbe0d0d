// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bolt.h"

bool bolt_call_before(const struct swlbr_branch_map *map, uint64_t address)
{
	uint32_t index = swlbr_branch_map_block_at(map, address - 1);
	const struct swlbr_map_block *block;

	if (index == SWLBR_NONE)
		return false;
	block = &map->blocks[index];
	return block->end == address && (block->end_kind == SWLBR_MAP_END_CALL ||
					 block->end_kind == SWLBR_MAP_END_INDIRECT_CALL);
}

/* BOLT goes through symbols by address, functions first, else as in the table. */
struct sorted {
	const struct swlbr_elf_symbol *symbol;
	size_t order;
};

static int by_address(const void *left, const void *right)
{
	const struct sorted *a = left, *b = right;
	bool a_function = a->symbol->type == STT_FUNC, b_function = b->symbol->type == STT_FUNC;

	if (a->symbol->vaddr != b->symbol->vaddr)
		return a->symbol->vaddr < b->symbol->vaddr ? -1 : 1;
	if (a_function != b_function)
		return a_function ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static int by_name(const void *left, const void *right)
{
	const struct sorted *a = *(struct sorted *const *)left, *b = *(struct sorted *const *)right;
	int order = strcmp(a->symbol->name, b->symbol->name);

	return order ? order : (a > b) - (a < b);
}

/*
 * Local symbols are numbered, since several may have one name: the first is NAME/1
 * (bolt/lib/Rewrite/RewriteInstance.cpp, discoverFileObjects).
 */
static struct swlbr_error *number_locals(const struct sorted *sorted, size_t nr,
					 uint32_t **numbers_ret)
{
	const struct sorted **locals = calloc(nr + 1, sizeof(*locals));
	uint32_t *numbers = calloc(nr + 1, sizeof(*numbers));
	size_t nr_locals = 0;

	if (!locals || !numbers) {
		free(locals);
		free(numbers);
		return swlbr_error_no_memory();
	}
	for (size_t i = 0; i < nr; i++)
		if (sorted[i].symbol->bind == STB_LOCAL)
			locals[nr_locals++] = &sorted[i];
	qsort(locals, nr_locals, sizeof(*locals), by_name);
	for (size_t i = 0; i < nr_locals; i++) {
		bool same = i && !strcmp(locals[i]->symbol->name, locals[i - 1]->symbol->name);

		numbers[locals[i] - sorted] = same ? numbers[locals[i - 1] - sorted] + 1 : 1;
	}
	free(locals);
	*numbers_ret = numbers;
	return NULL;
}

/* A blank and a backslash in a name are written with a backslash before them. */
static char *function_name(const char *name, uint32_t number)
{
	char *text = malloc(2 * strlen(name) + 16), *at = text;

	if (!text)
		return NULL;
	for (; *name; name++) {
		if (*name == ' ' || *name == '\\')
			*at++ = '\\';
		*at++ = *name;
	}
	*at = 0;
	if (number)
		sprintf(at, "/%u", number);
	return text;
}

/* The end of the section that holds @address; a function of no size goes on to there at most. */
static uint64_t section_end(const struct swlbr_elf *elf, uint64_t address)
{
	const struct swlbr_elf_section *sections;
	size_t nr = swlbr_elf_sections(elf, &sections);

	for (size_t i = 0; i < nr; i++)
		if ((sections[i].flags & SHF_ALLOC) && address >= sections[i].vaddr &&
		    address - sections[i].vaddr < sections[i].size)
			return sections[i].vaddr + sections[i].size;
	return address;
}

static struct swlbr_error *collect(const struct swlbr_elf *elf, const struct sorted *sorted,
				   size_t nr, const uint32_t *numbers, struct bolt_functions *ret)
{
	for (size_t i = 0; i < nr; i++) {
		const struct swlbr_elf_symbol *symbol = sorted[i].symbol;
		struct bolt_function *last = ret->nr ? &ret->functions[ret->nr - 1] : NULL;
		struct bolt_function function = { symbol->vaddr, symbol->vaddr + symbol->size,
						  NULL };

		if (symbol->type != STT_FUNC || !symbol->vaddr ||
		    (last && last->start == symbol->vaddr))
			continue;
		if (last && last->end > symbol->vaddr)
			last->end = symbol->vaddr;
		if (!symbol->size)
			function.end = section_end(elf, symbol->vaddr);
		function.name = function_name(symbol->name, numbers[i]);
		if (!function.name)
			return swlbr_error_no_memory();
		ret->functions[ret->nr++] = function;
	}
	return NULL;
}

struct swlbr_error *bolt_functions_read(struct swlbr_elf *elf, struct bolt_functions *ret)
{
	struct swlbr_elf_symbol *symbols;
	struct swlbr_error *error;
	struct sorted *sorted;
	uint32_t *numbers = NULL;
	size_t nr, kept = 0;

	*ret = (struct bolt_functions){ 0 };
	error = swlbr_elf_symbols_of(elf, SHT_SYMTAB, &symbols, &nr);
	if (error)
		return error;
	sorted = calloc(nr + 1, sizeof(*sorted));
	ret->functions = calloc(nr + 1, sizeof(*ret->functions));
	if (!sorted || !ret->functions)
		error = swlbr_error_no_memory();
	for (size_t i = 0; !error && i < nr; i++)
		if (symbols[i].type != STT_FILE && symbols[i].vaddr)
			sorted[kept++] = (struct sorted){ &symbols[i], i };
	if (!error) {
		qsort(sorted, kept, sizeof(*sorted), by_address);
		error = number_locals(sorted, kept, &numbers);
	}
	if (!error)
		error = collect(elf, sorted, kept, numbers, ret);
	if (!error && !ret->nr)
		error = swlbr_error_create(
			SWLBR_ERROR_NOT_FOUND,
			"%s: stripped: BOLT knows functions by their symbols, and there are none",
			swlbr_elf_path(elf));
	free(numbers);
	free(sorted);
	free(symbols);
	if (error)
		bolt_functions_free(ret);
	return error;
}

void bolt_functions_free(struct bolt_functions *functions)
{
	for (size_t i = 0; i < functions->nr; i++)
		free(functions->functions[i].name);
	free(functions->functions);
	*functions = (struct bolt_functions){ 0 };
}

const struct bolt_function *bolt_function_at(const struct bolt_functions *functions,
					     uint64_t address)
{
	size_t low = 0, high = functions->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (functions->functions[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address >= functions->functions[low - 1].end)
		return NULL;
	return &functions->functions[low - 1];
}
