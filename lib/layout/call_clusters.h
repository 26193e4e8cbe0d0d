/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_LAYOUT_CALL_CLUSTERS_H
#define SWLBR_LAYOUT_CALL_CLUSTERS_H

#include <stdint.h>

#include <swlbr/error.h>

struct layout_function {
	uint64_t size;	   /* bytes that run */
	uint64_t executed; /* bytes executed */
};

/** Calls of one function by another, which may be itself. */
struct layout_call {
	uint32_t from, to;
	uint64_t count;
};

/**
 * An order of functions, indices into @order, with callees after their callers: call-chain
 * clustering, C3, of G. Ottoni and B. Maher, "Optimizing Function Placement for Large-Scale
 * Data-Center Applications" (CGO 2017). Clusters come by executed bytes per byte.
 */
struct swlbr_error *call_clusters_order(const struct layout_function *functions, uint32_t nr,
					const struct layout_call *calls, uint32_t nr_calls,
					uint32_t *order);

#endif
