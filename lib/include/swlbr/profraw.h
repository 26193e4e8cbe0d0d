/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_PROFRAW_H
#define SWLBR_PROFRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <swlbr/counters.h>
#include <swlbr/elf.h>
#include <swlbr/error.h>

/**
 * struct swlbr_profraw - an LLVM raw profile: the counters and value profile of one binary
 *
 * Made from the binary itself, all counters 0, or read from a .profraw file. Counts saturate at
 * 2^64 - 3, as LLVM's do.
 */
struct swlbr_profraw;

/** A profiled value and how often it was seen. */
struct swlbr_value {
	uint64_t value;
	uint64_t nr;
};

/** What is told about a damaged part: one line, without newline, for people. */
typedef void swlbr_report_fn(void *context, const char *line);

/** Who hears of damage; @report may be NULL. */
struct swlbr_reporter {
	swlbr_report_fn *report;
	void *context;
};

/** Several raw profiles, one for each binary; owns them. Zeroed is empty. */
struct swlbr_profraws {
	struct swlbr_profraw **profiles;
	size_t nr;
};

/**
 * A profile of @elf with all counters 0; @counters are swlbr_counters_locate()'s. Neither is kept.
 * Target addresses of this profile are ELF virtual addresses. Freed by swlbr_profraw_destroy().
 */
struct swlbr_error *swlbr_profraw_create(struct swlbr_elf *elf,
					 const struct swlbr_counters *counters,
					 struct swlbr_profraw **ret);
void swlbr_profraw_destroy(struct swlbr_profraw *profile);

/** Add @values to the counters @first … @first + @nr - 1 (indices in the counters section). */
struct swlbr_error *swlbr_profraw_add_counters(struct swlbr_profraw *profile, uint64_t first,
					       uint64_t nr, const uint64_t *values);

/**
 * Add one process's values of one site. Values seen before are summed. Call it once for a process
 * and site with all its values: targets outside the binary, all 0, stay apart within a process and
 * are paired with those of other processes, as llvm-profdata pairs them. @kind is SWLBR_VALUE_*.
 */
struct swlbr_error *swlbr_profraw_add_values(struct swlbr_profraw *profile, uint64_t function,
					     uint32_t kind, uint32_t site, size_t nr,
					     const struct swlbr_value *values);

/** What was added is all of one process; what is added from now on is of another. */
void swlbr_profraw_end_process(struct swlbr_profraw *profile);

struct swlbr_flow_target; /* in swlbr/flow.h */

/**
 * Whom the indirect calls have called, in ELF virtual addresses of the binary, whose names are at
 * @names_vaddr: that tells where the program was loaded. An array that the caller frees.
 */
struct swlbr_error *swlbr_profraw_call_targets(const struct swlbr_profraw *profile,
					       uint64_t names_vaddr,
					       struct swlbr_flow_target **targets_ret,
					       size_t *nr_ret);

/** What a profile holds; sums saturate. */
struct swlbr_profraw_totals {
	uint64_t functions;  /* with sound counters */
	uint64_t executed;   /* of them, with a counter that is not 0 */
	uint64_t damaged;    /* left out */
	uint64_t uncounted;  /* left out: code of a kernel where nothing may be instrumented */
	uint64_t counters;   /* of the sound functions */
	uint64_t count;	     /* sum of these counters */
	uint64_t boot_count; /* of them, in code of a kernel that is freed after boot */
};
void swlbr_profraw_totals(const struct swlbr_profraw *profile, struct swlbr_profraw_totals *ret);

/** All counters, in the order of the counters section; @ret is the profile's. Returns their number. */
size_t swlbr_profraw_counters(const struct swlbr_profraw *profile, const uint64_t **ret);

/** The binary's build-id; size 0 if the profile has none. */
void swlbr_profraw_build_id(const struct swlbr_profraw *profile, struct swlbr_build_id *ret);

/** True if the file at @path begins as a raw profile, of any version, byte order and word size. */
struct swlbr_error *swlbr_profraw_probe(const char *path, bool *is_profraw_ret);

/**
 * Read all raw profiles in the file at @path (versions 8, 9, 10; both byte orders; 64-bit) and
 * append them to @set as they are. Damage costs only the functions it is in, or their value
 * profile: each is left out and reported, where llvm-profdata refuses the whole file. Counters
 * over 2^56 are damage. Fails if nothing is usable.
 */
struct swlbr_error *swlbr_profraw_read(const char *path, const struct swlbr_reporter *reporter,
				       struct swlbr_profraws *set);

/** As swlbr_profraw_read() on @size bytes in memory; @name stands for them in messages. */
struct swlbr_error *swlbr_profraw_read_memory(const char *name, const void *data, size_t size,
					      const struct swlbr_reporter *reporter,
					      struct swlbr_profraws *set);

/** True if the file was cut off before the function names: see swlbr_profraw_names_from(). */
bool swlbr_profraw_lacks_names(const struct swlbr_profraw *profile);

/**
 * Take the function names from the binary that wrote the profile. SWLBR_ERROR_MISMATCH if it is
 * another.
 */
struct swlbr_error *swlbr_profraw_names_from(struct swlbr_profraw *profile, struct swlbr_elf *elf,
					     const struct swlbr_counters *counters,
					     const struct swlbr_reporter *reporter);

/**
 * Add @profile to @set: summed into the profile of the same binary if there is one, which is
 * given in @sum_ret (may be NULL). @profile is taken, also on error.
 */
struct swlbr_error *swlbr_profraws_add(struct swlbr_profraws *set, struct swlbr_profraw *profile,
				       struct swlbr_profraw **sum_ret);

/** Free the profiles of @set; it is empty then. */
void swlbr_profraws_clear(struct swlbr_profraws *set);

/**
 * Write @set as a .profraw, which appears at @path when it is whole. Each profile keeps its version
 * and byte order; SWLBR_ERROR_MISMATCH if these differ, since llvm-profdata wants one for a file.
 * Damaged functions are left out.
 */
struct swlbr_error *swlbr_profraws_write(const struct swlbr_profraws *set, const char *path);

#endif
