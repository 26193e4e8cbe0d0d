/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_INDEXED_RECORD_H
#define SWLBR_INDEXED_RECORD_H

#include "profile/profraw.h"

/** A function's place in a raw profile, sorted by name, hash and order of input. */
struct indexed_source {
	const struct profile_name *name;
	const struct swlbr_profraw *profile;
	const struct profraw_function *function;
	size_t order;
};

/** The merged counters and values of one name and hash. */
struct indexed_record {
	uint64_t func_hash;
	uint64_t *counts;
	uint8_t *bitmap;
	uint32_t nr_counts, nr_bitmap_bytes;
	uint16_t nr_sites[SWLBR_VALUE_KINDS];
	struct value_site *sites;
};

/** Sound functions of @set. @ret is the caller's to free. */
struct swlbr_error *indexed_sources(const struct swlbr_profraws *set, struct indexed_source **ret,
				    size_t *nr_ret);

/**
 * Merge the first sources of @sources that have one name and hash; @used_ret is how many these
 * are. Functions that do not fit the first are reported and left out.
 */
struct swlbr_error *indexed_record_merge(const struct indexed_source *sources, size_t nr,
					 const struct swlbr_reporter *reporter,
					 struct indexed_record *ret, size_t *used_ret);
void indexed_record_deinit(struct indexed_record *record);

#endif
