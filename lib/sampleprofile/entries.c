// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Where functions are entered. A function may be in several stretches (the cold part split off,
 * static functions of one name in several files), and only a call to its entry counts as a call of
 * it. As llvm-profgen: the one stretch of a function is its entry, and of several, that in which
 * the symbol of the function's name is.
 */
#include <stdlib.h>
#include <string.h>

#include "entries.h"

/*
 * clang's loader takes these away where they are a name's last suffix (SampleProf.h,
 * getCanonicalFnName): of names made unique for ThinLTO, and of split functions. ".__uniq." stays.
 */
size_t canonical_size(const char *name)
{
	static const char *const suffixes[] = { ".llvm.", ".part." };
	size_t size = strlen(name);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t suffix = strlen(suffixes[i]);
		const char *dot = memrchr(name, '.', size);

		if (dot && (size_t)(dot + 1 - name) >= suffix &&
		    !memcmp(dot + 1 - suffix, suffixes[i], suffix))
			size = (size_t)(dot + 1 - name) - suffix;
	}
	return size;
}

static int by_low(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return (a->group > b->group) - (a->group < b->group);
}

static int by_name(const void *left, const void *right, void *context)
{
	const struct entry *entries = context;
	const struct entry *a = &entries[*(const uint32_t *)left];
	const struct entry *b = &entries[*(const uint32_t *)right];
	int order = strcmp(a->name, b->name);

	return order ? order : (a->low > b->low) - (a->low < b->low);
}

/* All stretches of named functions by address; of several at one address the first stands. */
static struct swlbr_error *collect(const struct swlbr_dwarf *dwarf, struct entries *entries)
{
	const struct swlbr_dwarf_function *functions;
	size_t nr = swlbr_dwarf_functions(dwarf, &functions), max = 0, kept = 0;

	for (size_t i = 0; i < nr; i++)
		max += functions[i].name ? functions[i].nr_ranges : 0;
	if (max >= UINT32_MAX)
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED, "more than 4 billion functions");
	entries->entries = reallocarray(NULL, max + 1, sizeof(*entries->entries));
	entries->by_group = reallocarray(NULL, max + 1, sizeof(uint32_t));
	entries->start = reallocarray(NULL, max + 2, sizeof(uint32_t));
	if (!entries->entries || !entries->by_group || !entries->start)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < nr; i++) {
		for (size_t j = 0; functions[i].name && j < functions[i].nr_ranges; j++)
			entries->entries[entries->nr++] = (struct entry){
				.low = functions[i].ranges[j].low,
				.high = functions[i].ranges[j].high,
				.name = functions[i].name,
				.group = (uint32_t)i,
			};
	}
	if (entries->nr)
		qsort(entries->entries, entries->nr, sizeof(*entries->entries), by_low);
	for (size_t i = 0; i < entries->nr; i++)
		if (!kept || entries->entries[kept - 1].low != entries->entries[i].low)
			entries->entries[kept++] = entries->entries[i];
	entries->nr = kept;
	return NULL;
}

static void group(struct entries *entries)
{
	struct entry *all = entries->entries;
	uint32_t *by_group = entries->by_group;

	for (uint32_t i = 0; i < entries->nr; i++)
		by_group[i] = i;
	if (entries->nr)
		qsort_r(by_group, entries->nr, sizeof(uint32_t), by_name, all);
	for (uint32_t i = 0; i < entries->nr; i++) {
		if (!i || strcmp(all[by_group[i - 1]].name, all[by_group[i]].name))
			entries->start[entries->nr_groups++] = i;
		all[by_group[i]].group = entries->nr_groups - 1;
	}
	entries->start[entries->nr_groups] = (uint32_t)entries->nr;
}

static void mark_symbols(struct entries *entries, const struct swlbr_elf_symbol *symbols, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct entry *entry = (struct entry *)entries_find(entries, symbols[i].vaddr);
		size_t size;

		if (!entry || entry->is_entry)
			continue;
		size = canonical_size(symbols[i].name);
		if (!strncmp(entry->name, symbols[i].name, size) && !entry->name[size])
			entry->is_entry = true;
	}
}

struct swlbr_error *entries_read(struct swlbr_elf *elf, const struct swlbr_dwarf *dwarf,
				 struct entries *ret)
{
	struct swlbr_elf_symbol *symbols;
	struct swlbr_error *error;
	size_t nr;

	*ret = (struct entries){ 0 };
	error = collect(dwarf, ret);
	if (!error)
		error = swlbr_elf_symbols(elf, &symbols, &nr);
	if (error) {
		entries_free(ret);
		return error;
	}
	group(ret);
	for (uint32_t i = 0; i < ret->nr_groups; i++)
		if (ret->start[i + 1] - ret->start[i] == 1)
			ret->entries[ret->by_group[ret->start[i]]].is_entry = true;
	mark_symbols(ret, symbols, nr);
	free(symbols);
	return NULL;
}

void entries_free(struct entries *entries)
{
	free(entries->entries);
	free(entries->by_group);
	free(entries->start);
	*entries = (struct entries){ 0 };
}

const struct entry *entries_find(const struct entries *entries, uint64_t address)
{
	size_t low = 0, high = entries->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (entries->entries[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address >= entries->entries[low - 1].high)
		return NULL;
	return &entries->entries[low - 1];
}
