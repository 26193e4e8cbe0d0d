/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_SAMPLE_PROFILE_H
#define SWLBR_SAMPLE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <swlbr/combine.h>
#include <swlbr/dwarf.h>
#include <swlbr/edge_profile.h>
#include <swlbr/elf.h>
#include <swlbr/error.h>

/**
 * A sample profile (AutoFDO): for each function and each inlined call in it, how often its lines
 * ran, by line offset from the function's declaration and discriminator, and what it called. Counts
 * saturate.
 *
 * The counts are those of llvm-profgen: of the instructions of one line and discriminator the
 * largest count stands (times the duplication factor that the discriminator states, for unrolled
 * and vectorized loops), since the compiler may have spread a line over several places; the total
 * of a function is the sum over its code of count times bytes. Lines of a function that ran which
 * did not run themselves are there with 0: they are cold, and not unknown.
 */
struct swlbr_sample_profile;

struct swlbr_error *swlbr_sample_profile_create(struct swlbr_sample_profile **ret);
/**
 * What edges are added from now on are for swlbr_sample_profile_write_gcc() of @version: of code that
 * gcc compiled discriminators stay as they are. Else they are taken for clang's, as llvm-profgen does.
 */
void swlbr_sample_profile_for_gcc(struct swlbr_sample_profile *profile, unsigned int version);
/** NULL is fine. */
void swlbr_sample_profile_destroy(struct swlbr_sample_profile *profile);

/**
 * struct swlbr_sample_stats - what came of the edges of a binary; counts are sums of executions
 * @ranges, @branches: in the edge profile
 * @ranges_unknown: of @ranges, in code that the debug information tells nothing of
 * @ranges_bad: of @ranges, not on instructions or from an end to its begin; left out
 * @calls: of @branches, to the entry of a function
 */
struct swlbr_sample_stats {
	uint64_t ranges, ranges_unknown, ranges_bad;
	uint64_t branches, calls;
};

/**
 * Add what @edges has of its binary number @binary, whose file is @elf with the debug information
 * @dwarf. @stats_ret may be NULL. SWLBR_ERROR_NOT_FOUND, with the likely cause, if nothing comes
 * of it; SWLBR_ERROR_UNSUPPORTED for a machine whose instructions cannot be read.
 */
struct swlbr_error *swlbr_sample_profile_add_edges(struct swlbr_sample_profile *profile,
						   struct swlbr_edge_profile *edges,
						   uint32_t binary, struct swlbr_elf *elf,
						   struct swlbr_dwarf *dwarf,
						   struct swlbr_sample_stats *stats_ret);

/** Add @other, its counts times @weight. */
struct swlbr_error *swlbr_sample_profile_merge(struct swlbr_sample_profile *profile,
					       const struct swlbr_sample_profile *other,
					       uint64_t weight);

/**
 * struct swlbr_sample_combination - what came of two profiles; counts are sums over places
 * @scale: executions that a count of @hw stood for; den 0: none was found, or wanted
 * @shared: places that both saw
 * @from_both, @from_sw, @from_hw: counts in the result at places that both saw, or one alone
 * @left_out: functions and inlined calls of the side that is not preferred, in a context that the
 *	other does not have, though it has the function in others
 */
struct swlbr_sample_combination {
	struct swlbr_scale scale;
	uint64_t shared;
	uint64_t from_both, from_sw, from_hw;
	uint64_t left_out;
};

/**
 * Combine the profiles of two builds of one program into the empty @combined: @sw of counters, @hw
 * of branch stacks. With @rescale, counts of @hw are scaled by what the lines that both saw add up
 * to. Then a place is one function, line offset, discriminator and inline context.
 *
 * The place that the preferred side saw is its; where it has none, or 0, that of the other stands,
 * unless counters are preferred and saw another place of the line: then they know.
 * Compilers inline differently in two builds. A function or inlined call in a context that the
 * preferred side does not have is taken only if that side does not have the function anywhere: else
 * the same executions would count in two places.
 */
struct swlbr_error *swlbr_sample_profile_combine(const struct swlbr_sample_profile *sw,
						 const struct swlbr_sample_profile *hw,
						 enum swlbr_prefer prefer, bool rescale,
						 struct swlbr_sample_profile *combined,
						 struct swlbr_sample_combination *ret);

/**
 * Scale all counts so that the totals of the functions come to SWLBR_NORMALIZED_TOTAL but for
 * rounding; a count above 0 stays above 0.
 */
void swlbr_sample_profile_normalize(struct swlbr_sample_profile *profile);

/** Functions at the top level, and the sum of their totals. */
size_t swlbr_sample_profile_functions(const struct swlbr_sample_profile *profile,
				      uint64_t *total_ret);

/**
 * Write the text form that clang's -fprofile-sample-use and llvm-profdata read
 * (llvm/include/llvm/ProfileData/SampleProfReader.h): hottest function first. Equal profiles give
 * equal bytes. "-" is standard output.
 */
struct swlbr_error *swlbr_sample_profile_write_text(const struct swlbr_sample_profile *profile,
						    const char *path);

enum swlbr_sample_flags {
	/** Compress the sections with zlib. */
	SWLBR_SAMPLE_COMPRESS = 1 << 0,
	/** Names as the first 8 bytes of their MD5. */
	SWLBR_SAMPLE_MD5 = 1 << 1,
	/** With the list of all functions: to clang, one that is not on it is new, and not cold. */
	SWLBR_SAMPLE_SYMBOL_LIST = 1 << 2,
};

/** Write the extensible binary form, of LLVM 12 and later. @flags: enum swlbr_sample_flags. */
struct swlbr_error *swlbr_sample_profile_write_extbinary(const struct swlbr_sample_profile *profile,
							 unsigned int flags, const char *path);

#define SWLBR_GCC_MIN_VERSION	 2
#define SWLBR_GCC_DISCRIMINATORS 3 /* from this version on places have them */
#define SWLBR_GCC_MAX_VERSION	 3

/**
 * Write gcc's auto-profile: of version 2 as gcc 12 and 13 read it, or of version 3 as gcc 16 does.
 * Of enum swlbr_sample_flags, SWLBR_SAMPLE_SYMBOL_LIST adds the functions on the list with counts
 * of 0.
 */
struct swlbr_error *swlbr_sample_profile_write_gcc(const struct swlbr_sample_profile *profile,
						   unsigned int version, unsigned int flags,
						   const char *path);

/** Add the functions of a binary to the list that SWLBR_SAMPLE_SYMBOL_LIST writes. */
struct swlbr_error *swlbr_sample_profile_add_symbols(struct swlbr_sample_profile *profile,
						     const struct swlbr_dwarf *dwarf);

/** Add the profile in the text file at @path. Errors name the file and the line. */
struct swlbr_error *swlbr_sample_profile_read_text(struct swlbr_sample_profile *profile,
						   const char *path);

/** True if the file at @path begins as the text form does. */
struct swlbr_error *swlbr_sample_profile_probe_text(const char *path, bool *is_text_ret);

#endif
