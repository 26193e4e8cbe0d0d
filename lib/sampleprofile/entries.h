/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_SAMPLEPROFILE_ENTRIES_H
#define SWLBR_SAMPLEPROFILE_ENTRIES_H

#include <swlbr/dwarf.h>
#include <swlbr/elf.h>

/** A stretch of a function's code. @group: all stretches of functions of its name. */
struct entry {
	uint64_t low, high;
	const char *name;
	uint32_t group;
	bool is_entry; /* calls of the function go to its begin */
};

/**
 * The functions of a binary: where each is entered, and what else is of a function of that name.
 * The members of group g are by_group[start[g]] up to by_group[start[g + 1]].
 */
struct entries {
	struct entry *entries; /* by address */
	size_t nr;
	uint32_t *by_group, *start;
	uint32_t nr_groups;
};

struct swlbr_error *entries_read(struct swlbr_elf *elf, const struct swlbr_dwarf *dwarf,
				 struct entries *ret);
void entries_free(struct entries *entries);

/** The stretch that holds @address, or NULL. */
const struct entry *entries_find(const struct entries *entries, uint64_t address);

/** The size of @name without the suffixes that compilers add and the sample loader takes away. */
size_t canonical_size(const char *name);

#endif
