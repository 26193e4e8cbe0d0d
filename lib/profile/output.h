/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_PROFILE_OUTPUT_H
#define SWLBR_PROFILE_OUTPUT_H

#include <stdbool.h>

#include "base/outfile.h"
#include "profile/value_site.h"

/** A profile being written. The first error is kept, what comes after it is not written. */
struct profile_output {
	struct swlbr_outfile *file;
	struct swlbr_error *error;
	bool big_endian;
};

struct swlbr_error *output_open(struct profile_output *out, const char *path);
void output_u32(struct profile_output *out, uint32_t value);
void output_u64(struct profile_output *out, uint64_t value);
void output_bytes(struct profile_output *out, const void *data, size_t size);
/** Zeroes from @size up to a multiple of 8. */
void output_padding(struct profile_output *out, uint64_t size);
/** Overwrite a word at @offset. */
void output_patch_u64(struct profile_output *out, uint64_t offset, uint64_t value);

/** Bytes that output_value_data() writes for these sites (@nr_sites: per kind, one after another). */
uint64_t value_data_size(const uint16_t *nr_sites, const struct value_site *sites);
/** Value data of one function; without sites nothing, or with @always a header. */
void output_value_data(struct profile_output *out, const uint16_t *nr_sites,
		       const struct value_site *sites, bool always);

/** Give the file its name, or report what went wrong and leave nothing. */
struct swlbr_error *output_commit(struct profile_output *out);

#endif
