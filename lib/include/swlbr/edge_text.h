/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_EDGE_TEXT_H
#define SWLBR_EDGE_TEXT_H

#include <swlbr/branch_stacks.h>
#include <swlbr/edge_profile.h>

/*
 * Branches in the text formats of other tools, as inputs. None of them tells who counted: they are
 * taken for a hardware's.
 */

enum swlbr_edge_text {
	SWLBR_TEXT_NONE,
	/*
	 * Counts, and rows behind each: google/autofdo's text (three blocks; offsets in the file) or
	 * llvm-profgen's unsymbolized profile (two blocks; offsets from the first executable segment).
	 */
	SWLBR_TEXT_ROWS,
	SWLBR_TEXT_BOLT,   /* perf2bolt's pre-aggregated profile: rows of B, F and f */
	SWLBR_TEXT_SCRIPT, /* of perf script -F ip,brstack --show-mmap-events */
};

/** What the regular file at @path looks like from its beginning. */
struct swlbr_error *swlbr_edge_text_probe(const char *path, enum swlbr_edge_text *ret);

/**
 * Add a file of rows (SWLBR_TEXT_ROWS or _BOLT) to @profile. The formats do not tell of what binary
 * they are: it is @elf. Rows at no place of it are counted in @outside_ret. Errors name file and
 * line.
 */
struct swlbr_error *swlbr_edge_text_read(struct swlbr_edge_profile *profile, struct swlbr_elf *elf,
					 const char *path, uint64_t *outside_ret);

/**
 * Count the stacks of a SWLBR_TEXT_SCRIPT. A line of decimal digits before a sample is how often it
 * counts, up to 100,000. It does not tell processes apart: the last mapping of an address holds.
 */
struct swlbr_error *swlbr_stacks_read_script(struct swlbr_stacks *stacks, const char *path);

#endif
