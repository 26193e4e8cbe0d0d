/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_BRANCH_STACKS_H
#define SWLBR_BRANCH_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <swlbr/edge_profile.h>
#include <swlbr/elf_finder.h>
#include <swlbr/perfdata.h>

/**
 * Branch stacks being summed to an edge profile. An entry of a stack is a taken branch; from the
 * target of one entry to the branch of the next newer one runs straight-line code, a range. Memory
 * is proportional to distinct branches, ranges and mappings, never to samples.
 *
 * The rules are the field's (google/autofdo, llvm-profgen): each entry counts 1, whatever the
 * sample's period; what does not count is in enum swlbr_stack_drop.
 */
struct swlbr_stacks;

/** What is left out, each counted. */
enum swlbr_stack_drop {
	SWLBR_DROP_WRONG_PATH,	    /* entries taken by speculation that was undone */
	SWLBR_DROP_REPEATED,	    /* newest entries that repeat the next with a long stride */
	SWLBR_DROP_UNMAPPED,	    /* entries with an end in no known binary */
	SWLBR_DROP_NO_ADDRESS,	    /* entries with an end at address 0: hidden, or not recorded */
	SWLBR_DROP_NO_COUNTERS,	    /* entries with an end in code without counters */
	SWLBR_DROP_RANGE_UNMAPPED,  /* ranges with an end in no known binary */
	SWLBR_DROP_RANGE_NEGATIVE,  /* ranges that end before they begin */
	SWLBR_DROP_RANGE_TOO_LONG,  /* ranges of more than 1 MiB */
	SWLBR_DROP_RANGE_ELSEWHERE, /* ranges that end in another binary than they begin in */
	SWLBR_DROP_RANGE_FILTERED,  /* stacks hold only some kinds of branches: no ranges */
	SWLBR_DROPS,
};

/** "wrong_path", …: a key for machines. */
const char *swlbr_stack_drop_name(enum swlbr_stack_drop drop);
/** "entries of mispredicted paths", …: for people. */
const char *swlbr_stack_drop_text(enum swlbr_stack_drop drop);

/** What was seen and what of it counts. */
struct swlbr_stacks_stats {
	uint64_t samples;	 /* of all events that pass the filters, swlbr tracepoints not */
	uint64_t filtered;	 /* samples that do not pass */
	uint64_t stacks;	 /* samples with a branch stack that is not empty */
	uint64_t unknown_events; /* samples of no event that the file names: not counted */
	uint64_t empty_stacks;	 /* samples with an empty one */
	uint64_t call_stacks;	 /* samples with an LBR call stack, which has no taken branches */
	uint64_t callchains;	 /* samples with a call chain */
	uint64_t entries;	 /* of branch stacks */
	uint64_t ranges;	 /* pairs of entries that follow each other */
	uint64_t branches_kept;	 /* entries that are in the profile */
	uint64_t ranges_kept;
	uint64_t kernel_unmapped; /* of the unmapped entries, those with an end in the kernel */
	uint64_t drops[SWLBR_DROPS];
	uint64_t lost;	    /* records or samples that the kernel lost */
	uint64_t throttled; /* times that the kernel stopped an event */
	uint64_t arcs;	    /* swlbr:arc rows */
	/*
	 * Where an event counts taken branches and samples tell their period: the taken branches
	 * that the samples of a source stand for, and the entries in their stacks. And the entries
	 * of stacks that stand for an unknown number.
	 */
	uint64_t taken[SWLBR_SOURCES], taken_entries[SWLBR_SOURCES], other_entries[SWLBR_SOURCES];
	unsigned int traces; /* bit n: a hardware trace of type n (SWLBR_TRACE_*) is there */
	uint64_t files;
	uint64_t damaged_files;	   /* of these, those that could be read only in part */
	uint64_t unfinished_files; /* whose recorder was not ended properly */
	char arch[32];		   /* uname -m of the last that told it */
};

/** Only what passes all of these counts. A zeroed struct lets everything pass. */
struct swlbr_stacks_filter {
	const pid_t *pids, *tids;
	size_t nr_pids, nr_tids;
	const char *const *comms, *const *events;
	const char *const *dsos; /* path, or its last part; an edge counts if an end is in one */
	size_t nr_comms, nr_events, nr_dsos;
	uint64_t time_begin, time_end; /* ns; time_end 0: no end */
};

/** A binary that branches are in, after swlbr_stacks_finish(). */
struct swlbr_stacks_binary {
	const char *path;
	struct swlbr_build_id build_id; /* as recorded; size 0: not recorded */
	enum swlbr_elf_match match;
	const char *file;		/* what was found, or looked at in vain; NULL: nothing */
	const char *why;		/* of one that could not be read */
	struct swlbr_build_id other_id; /* of a file that has changed */
	unsigned int machine;		/* EM_* of a file that was found, else 0 */
	bool stripped;			/* the file that was found has no symbol table */
	bool kernel;			/* the kernel or a module of it */
	uint64_t entries;		/* from branches in it */
	uint64_t not_in_segments;	/* of these, those at no place that the file has */
};

/** @filter and what it points to is borrowed; NULL is fine. */
struct swlbr_error *swlbr_stacks_create(const struct swlbr_stacks_filter *filter,
					struct swlbr_stacks **ret);
/** NULL is fine. */
void swlbr_stacks_destroy(struct swlbr_stacks *stacks);

/**
 * Sum the branch stacks of @file. Damage ends the reading and is returned as an error of code
 * SWLBR_ERROR_FORMAT; what came before it is counted.
 */
struct swlbr_error *swlbr_stacks_read(struct swlbr_stacks *stacks, struct swlbr_perfdata *file);

/**
 * For those who get the samples of @file elsewhere (perf's own decoding): take from it what
 * processes mapped and when, for the samples that swlbr_stacks_add_sample() counts. The file may
 * be closed afterwards.
 */
struct swlbr_error *swlbr_stacks_use_mappings(struct swlbr_stacks *stacks,
					      struct swlbr_perfdata *file);

struct swlbr_stacks_sample {
	pid_t pid;
	uint64_t time;
	const char *event; /* its name */
	uint64_t branch_sample_type;
	bool has_stack;
	size_t nr;
	const struct swlbr_branch *stack; /* newest first */
};

/** Filters do not apply. */
struct swlbr_error *swlbr_stacks_add_sample(struct swlbr_stacks *stacks,
					    const struct swlbr_stacks_sample *sample);

/** A branch whose ends are known as places in binaries: index of a binary, offset in its file. */
struct swlbr_stack_place {
	uint32_t binary; /* of swlbr_stacks_add_binary(), or SWLBR_NO_BINARY */
	uint64_t offset; /* under 1 TB */
};
#define SWLBR_NO_BINARY UINT32_MAX

struct swlbr_stack_entry {
	struct swlbr_stack_place from, to;
	uint64_t flags; /* as of struct swlbr_branch */
};

/**
 * For those who do without a perf.data: the index of the binary at @path with @build_id (size 0: not
 * known).
 */
struct swlbr_error *swlbr_stacks_add_binary(struct swlbr_stacks *stacks, const char *path,
					    const struct swlbr_build_id *build_id,
					    uint32_t *index_ret);
/** And: count a stack, newest first. At most 4,096 entries. */
struct swlbr_error *swlbr_stacks_add(struct swlbr_stacks *stacks, enum swlbr_source source,
				     size_t nr, const struct swlbr_stack_entry *entries);

/**
 * Look for the files of the binaries with @finder, to translate offsets to ELF virtual addresses,
 * and add all that was summed to @profile. Binaries that are not found stay with file offsets.
 * Nothing can be added afterwards.
 */
struct swlbr_error *swlbr_stacks_finish(struct swlbr_stacks *stacks,
					const struct swlbr_elf_finder *finder,
					struct swlbr_edge_profile *profile);

/** Count the stacks that are read from now on @weight times, from 1 to SWLBR_MAX_STACK_WEIGHT. */
struct swlbr_error *swlbr_stacks_set_weight(struct swlbr_stacks *stacks, unsigned int weight);
#define SWLBR_MAX_STACK_WEIGHT 1000

/** Changes with every call; numbers of the profile are there after swlbr_stacks_finish(). */
const struct swlbr_stacks_stats *swlbr_stacks_get_stats(const struct swlbr_stacks *stacks);
/** False past the last. */
bool swlbr_stacks_get_binary(const struct swlbr_stacks *stacks, size_t index,
			     struct swlbr_stacks_binary *ret);

#endif
