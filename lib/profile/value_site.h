/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_VALUE_SITE_H
#define SWLBR_VALUE_SITE_H

#include <stddef.h>
#include <stdint.h>

#include <swlbr/error.h>
#include <swlbr/profraw.h>

/** The values seen at one place. Owns @values. Zeroed is empty. */
struct value_site {
	struct swlbr_value *values;
	uint32_t nr;
};

/** What a value is known by when lists are merged. */
typedef uint64_t value_key_fn(const void *context, uint64_t value);

/** Highest count first, else in the order as they were; all past VALUES_PER_SITE_MAX dropped. */
void value_site_sort(struct value_site *site);

/**
 * Add @values to @site and sort it as value_site_sort(). Entries with the same key are summed; the
 * same key several times in both lists is summed pair by pair. (InstrProfValueSiteRecord::merge().)
 * @key NULL: the value itself.
 */
struct swlbr_error *value_site_merge(struct value_site *site, const struct swlbr_value *values,
				     size_t nr, value_key_fn *key, const void *context);

#endif
