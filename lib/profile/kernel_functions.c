// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What is special about functions of a kernel: those that may not count, since they run where
 * nothing may be instrumented, and those that are freed after boot.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profraw.h"

/* Parts of the kernel's code, by the symbols around them (asm-generic/vmlinux.lds.h). */
static const struct {
	const char *start, *end;
	bool boot; /* else nothing counts there */
} parts[] = {
	{ "__noinstr_text_start", "__noinstr_text_end", false },
	{ "__entry_text_start", "__entry_text_end", false },
	{ "_sinittext", "_einittext", true },
};

#define NR_PARTS (sizeof(parts) / sizeof(parts[0]))

struct placed {
	const char *name;
	int part; /* -1: elsewhere */
};

struct place {
	struct swlbr_range ranges[NR_PARTS];
	struct placed *symbols; /* of functions, by name */
	size_t nr_symbols;
};

static int part_of(const struct place *place, uint64_t vaddr)
{
	for (size_t i = 0; i < NR_PARTS; i++) {
		if (vaddr - place->ranges[i].vaddr < place->ranges[i].size)
			return (int)i;
	}
	return -1;
}

static int by_name(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static struct swlbr_error *find_parts(struct swlbr_elf *elf, struct place *place)
{
	struct swlbr_elf_symbol *symbols, start, end;
	struct swlbr_error *error;
	size_t nr;

	for (size_t i = 0; i < NR_PARTS; i++) {
		if (swlbr_elf_symbol(elf, parts[i].start, &start) &&
		    swlbr_elf_symbol(elf, parts[i].end, &end) && start.vaddr < end.vaddr)
			place->ranges[i] = (struct swlbr_range){ .vaddr = start.vaddr,
								 .size = end.vaddr - start.vaddr };
	}
	error = swlbr_elf_symbols(elf, &symbols, &nr);
	if (error)
		return error;
	place->symbols = calloc(nr + 1, sizeof(*place->symbols));
	for (size_t i = 0; place->symbols && i < nr; i++) {
		if (symbols[i].type == STT_FUNC)
			place->symbols[place->nr_symbols++] = (struct placed){
				.name = symbols[i].name,
				.part = part_of(place, symbols[i].vaddr),
			};
	}
	free(symbols);
	if (!place->symbols)
		return swlbr_error_no_memory();
	qsort(place->symbols, place->nr_symbols, sizeof(*place->symbols), by_name);
	return NULL;
}

/* The part that all functions called @name are in, -1 if there is none. */
static int part_of_name(const struct place *place, const char *name)
{
	size_t low = 0, high = place->nr_symbols;
	int part = -1;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(place->symbols[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i < place->nr_symbols; i++) {
		if (strcmp(place->symbols[i].name, name))
			break;
		if (i > low && place->symbols[i].part != part)
			return -1;
		part = place->symbols[i].part;
	}
	return part;
}

/* Static functions have no address in their record; their names begin with the file's. */
static int part_of_function(const struct swlbr_profraw *profile, const struct place *place,
			    const struct profraw_function *function)
{
	const struct profile_name *name;
	const char *begin;
	char *text;
	int part;

	if (function->function_pointer)
		return part_of(place, function->function_pointer);
	name = profile_names_find(profile->name_table, function->name_ref);
	if (!name)
		return -1;
	begin = memrchr(name->text, ';', name->size);
	begin = begin ? begin + 1 : name->text;
	text = strndup(begin, name->size - (size_t)(begin - name->text));
	part = text ? part_of_name(place, text) : -1;
	free(text);
	return part;
}

struct swlbr_error *profraw_mark_kernel_functions(struct swlbr_profraw *profile,
						  struct swlbr_elf *elf)
{
	struct place place = { 0 };
	struct swlbr_error *error = find_parts(elf, &place);

	for (size_t i = 0; !error && i < profile->nr_functions; i++) {
		struct profraw_function *function = &profile->functions[i];
		int part = part_of_function(profile, &place, function);

		if (part < 0)
			continue;
		function->boot = parts[part].boot;
		/* As counts they would say that the function never runs. */
		function->uncounted = function->damaged = !parts[part].boot;
	}
	free(place.symbols);
	return error;
}
