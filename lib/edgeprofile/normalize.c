// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Edge profiles of equal workloads made equal, whatever the length of the run and the build folder. */
#include <stdlib.h>
#include <string.h>

#include <swlbr/edge_profile.h>

/* The executions of one kind of edge; fewer than 2^32 edges, so that 128 bits hold the sum. */
static unsigned __int128 sum_of(const struct swlbr_edge *edges, size_t nr,
				enum swlbr_edge_kind kind)
{
	unsigned __int128 sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += edges[i].kind == kind ? edges[i].nr : 0;
	return sum;
}

/* What ran at all stays above 0: that is another thing to a compiler than what did not. */
static uint64_t scaled(uint64_t count, unsigned __int128 sum)
{
	unsigned __int128 value =
		((unsigned __int128)count * SWLBR_NORMALIZED_TOTAL + sum / 2) / sum;

	if (value > UINT64_MAX)
		return UINT64_MAX;
	return value || !count ? (uint64_t)value : 1;
}

/* The last part of the path; the build-id alone where there is one. */
static struct swlbr_error *add_binary(struct swlbr_edge_profile *profile,
				      const struct swlbr_edge_binary *binary, uint32_t *index_ret)
{
	struct swlbr_edge_binary bare = *binary;
	const char *slash = binary->path ? strrchr(binary->path, '/') : NULL;

	if (binary->build_id.size)
		bare.path = NULL;
	else if (slash)
		bare.path = slash + 1;
	return swlbr_edge_profile_binary(profile, &bare, index_ret);
}

struct swlbr_error *swlbr_edge_profile_normalize(struct swlbr_edge_profile *profile,
						 struct swlbr_edge_profile *normalized)
{
	size_t nr_binaries = swlbr_edge_profile_nr_binaries(profile), nr;
	uint32_t *map = calloc(nr_binaries + 1, sizeof(*map));
	struct swlbr_error *error = NULL;
	const struct swlbr_edge *edges;
	unsigned __int128 sum;

	if (!map)
		return swlbr_error_no_memory();
	for (uint32_t i = 0; !error && i < nr_binaries; i++)
		error = add_binary(normalized, swlbr_edge_profile_get_binary(profile, i), &map[i]);
	nr = swlbr_edge_profile_edges(profile, &edges);
	sum = sum_of(edges, nr, SWLBR_EDGE_BRANCH);
	if (!sum)
		sum = sum_of(edges, nr, SWLBR_EDGE_RANGE);
	for (size_t i = 0; !error && i < nr; i++) {
		struct swlbr_edge edge = edges[i];

		edge.from_binary = map[edge.from_binary];
		edge.to_binary = map[edge.to_binary];
		edge.nr = scaled(edge.nr, sum);
		edge.mispredicted = scaled(edge.mispredicted, sum);
		edge.cycles = scaled(edge.cycles, sum);
		error = swlbr_edge_profile_add(normalized, &edge);
	}
	free(map);
	return error;
}
