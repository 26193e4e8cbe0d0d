/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_WRITE_ROWS_H
#define SWLBR_WRITE_ROWS_H

#include <swlbr/edge_profile.h>

#include "base/outfile.h"

/** An edge inside one binary, summed over sources. */
struct row {
	uint64_t from, to, nr, mispredicted;
};

/**
 * The edges of one kind with both ends in @binary, by address. @ret is the caller's to free(); the
 * number is in @nr_ret.
 */
struct swlbr_error *rows_of(struct swlbr_edge_profile *edges, uint32_t binary,
			    enum swlbr_edge_kind kind, struct row **ret, size_t *nr_ret);

/** printf to @file; no more than a few hundred bytes. */
struct swlbr_error *write_format(struct swlbr_outfile *file, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
