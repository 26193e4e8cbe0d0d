/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_EDGEPROFILE_STACKS_H
#define SWLBR_EDGEPROFILE_STACKS_H

#include <swlbr/branch_stacks.h>

#include "edgeprofile/address_space.h"

/* More than a record of 64 KB can hold. */
#define MAX_STACK 4096

/** A stack's entry, its ends as places. */
struct placed_entry {
	uint64_t from, to, flags;
};

/** A distinct branch, in an open-addressing table; free where @from is PLACE_NONE. */
struct branch_slot {
	uint64_t from, to;
	uint32_t nr, mispredicted;
	uint64_t cycles;
};

/** A distinct range, of at most 1 MiB. Four to a line of the cache. */
struct range_slot {
	uint64_t from;
	uint32_t length, nr;
};

struct branch_table {
	struct branch_slot *slots;
	unsigned int log2;
	size_t nr;
};

struct range_table {
	struct range_slot *slots;
	unsigned int log2;
	size_t nr;
};

/** What a slot of 32 bits could not hold any more. */
struct stacks_spill {
	struct branch_slot branch;
	bool range; /* then branch.to is the range's last instruction */
	enum swlbr_source source;
};

enum binary_kind { BINARY_FILE, BINARY_KERNEL, BINARY_MODULE, BINARY_NONE };

struct stacks_binary {
	char *path;
	struct swlbr_build_id build_id;
	enum binary_kind kind;
	bool wanted; /* passes --dso */
	uint64_t entries, not_in_segments;
	/* After the search for its file. */
	struct swlbr_elf_found found;
	char *file;
	unsigned int machine;
	bool stripped;
	uint32_t index; /* in the edge profile */
	uint64_t base;	/* of the kernel and modules: what to add to an offset */
};

/** What was counted of one source. */
struct stacks_counts {
	struct branch_table branches;
	struct range_table ranges;
};

struct swlbr_stacks {
	struct swlbr_stacks_filter filter;
	struct swlbr_stacks_stats stats;
	/* Of the file being read, which may have to be read anew; and of those before. */
	struct stacks_counts counts[SWLBR_SOURCES], total[SWLBR_SOURCES];
	unsigned int weight; /* of counts */
	struct stacks_spill *spills;
	size_t nr_spills;
	struct stacks_binary *binaries;
	size_t nr_binaries, max_binaries;
	uint32_t *binary_slots; /* by hash of path: 1 + index */
	unsigned int binary_slots_log2;
	char release[128];	  /* of the kernel that was recorded; empty: not known */
	struct reading *mappings; /* of swlbr_stacks_use_mappings(), or NULL */
	struct placed_entry entries[MAX_STACK];
	uint32_t slots[MAX_STACK]; /* where the entries are in the table, or should be */
};

/* stacks_table.c */

/** Make room for @more entries. */
struct swlbr_error *branch_table_reserve(struct branch_table *table, size_t more);
struct swlbr_error *range_table_reserve(struct range_table *table, size_t more);

/** Count the @nr entries of stacks->entries, which are newest first. */
struct swlbr_error *stacks_count(struct swlbr_stacks *stacks, enum swlbr_source source,
				 bool with_ranges, size_t nr);

/** Throw away what is in stacks->counts. */
void stacks_clear_counts(struct swlbr_stacks *stacks);
/** Move what is in stacks->counts to stacks->total. */
struct swlbr_error *stacks_add_counts(struct swlbr_stacks *stacks);

/* stacks_read.c */
void stacks_free_mappings(struct swlbr_stacks *stacks);

/* stacks_binaries.c */

/** The index of the binary, which is added if it is new. */
struct swlbr_error *stacks_binary(struct swlbr_stacks *stacks, const char *path,
				  const struct swlbr_build_id *build_id, enum binary_kind kind,
				  uint32_t *index_ret);
void stacks_free_binaries(struct swlbr_stacks *stacks);
bool stacks_wants_binary(const struct swlbr_stacks *stacks, const char *path);

/** The kernel's places are relative to its reference symbol; it may have code below that too. */
#define KERNEL_OFFSET (1ULL << (PLACE_OFFSET_BITS - 1))

#endif
