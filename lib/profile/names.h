/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_PROFILE_NAMES_H
#define SWLBR_PROFILE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include <swlbr/error.h>

#include "base/cursor.h"

/** A name and the first 8 bytes of its MD5, which is what profiles refer to it by. */
struct profile_name {
	uint64_t hash;
	const char *text; /* not terminated */
	size_t size;
};

/** The function names of a profile, sorted by hash. */
struct profile_names {
	struct profile_name *names;
	size_t nr;
	char **buffers; /* what the names point into */
	size_t nr_buffers;
};

uint64_t profile_name_hash(const char *text, size_t size);

/**
 * Decode a names section. What precedes a damaged part is in @ret also on error. Freed by
 * profile_names_destroy().
 */
struct swlbr_error *profile_names_decode(struct cursor section, struct profile_names **ret);
void profile_names_destroy(struct profile_names *names);

/** The name of @hash, or NULL. */
const struct profile_name *profile_names_find(const struct profile_names *names, uint64_t hash);

/**
 * Encode names as one blob, compressed; @blob_ret is the caller's to free. For vtable names in an
 * indexed profile.
 */
struct swlbr_error *profile_names_encode(const struct profile_name *names, size_t nr,
					 uint8_t **blob_ret, size_t *size_ret);

#endif
