// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The sum of edge profiles. */
#include <stdlib.h>

#include <swlbr/edge_profile.h>

#include "base/saturate.h"

struct swlbr_error *swlbr_edge_profile_merge(struct swlbr_edge_profile *profile,
					     struct swlbr_edge_profile *other, uint64_t weight)
{
	size_t nr_binaries = swlbr_edge_profile_nr_binaries(other), nr;
	uint32_t *map = calloc(nr_binaries + 1, sizeof(*map));
	struct swlbr_error *error = NULL;
	const struct swlbr_edge *edges;

	if (!map)
		return swlbr_error_no_memory();
	for (uint32_t i = 0; !error && i < nr_binaries; i++)
		error = swlbr_edge_profile_binary(profile, swlbr_edge_profile_get_binary(other, i),
						  &map[i]);
	nr = swlbr_edge_profile_edges(other, &edges);
	for (size_t i = 0; !error && i < nr; i++) {
		struct swlbr_edge edge = edges[i];

		edge.from_binary = map[edge.from_binary];
		edge.to_binary = map[edge.to_binary];
		edge.nr = multiply_saturating(edge.nr, weight);
		edge.mispredicted = multiply_saturating(edge.mispredicted, weight);
		edge.cycles = multiply_saturating(edge.cycles, weight);
		error = swlbr_edge_profile_add(profile, &edge);
	}
	free(map);
	return error;
}
