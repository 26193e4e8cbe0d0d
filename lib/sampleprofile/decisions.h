/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Lines that do nothing but decide.
 *
 * `if (a) b;` on one line is two blocks for a compiler, and in the code may be one: b merged with
 * like code elsewhere, or a conditional move. A profile that has one count for a line then says of b
 * what is true of the decision. Where another line of the block tells how often it ran, that of the
 * decision is better left unsaid; but only if that is all there is of the line, for gcc takes blocks
 * of which nothing is said for cold where it cannot conclude their counts from others.
 */
#ifndef SWLBR_SAMPLEPROFILE_DECISIONS_H
#define SWLBR_SAMPLEPROFILE_DECISIONS_H

#include "blocks.h"
#include "sample_profile.h"

struct decisions;

/** The lines of @profile, whose records have all counts. Nothing is known of them yet. */
struct swlbr_error *decisions_create(const struct swlbr_sample_profile *profile,
				     struct decisions **ret);
void decisions_destroy(struct decisions *decisions);

/**
 * struct decisions_piece - a piece of a block
 * @record: of the profile; SAMPLE_TOP if it has none
 * @decides: as blocks_of() has it, where that is of concern
 */
struct decisions_piece {
	uint32_t record;
	bool decides;
};

/** A block that ran @count times. */
void decisions_add(struct decisions *decisions, const struct decisions_piece *pieces, size_t nr,
		   uint64_t count);

/**
 * Add to @profile, for each line that only decides, a record of discriminator SAMPLE_DECISION with
 * the count that would be the line's.
 */
struct swlbr_error *decisions_mark(const struct decisions *decisions,
				   struct swlbr_sample_profile *profile);

#endif
