/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_EDGEPROFILE_EDGE_PROFILE_H
#define SWLBR_EDGEPROFILE_EDGE_PROFILE_H

#include <swlbr/edge_profile.h>

struct swlbr_edge_profile {
	struct swlbr_edge_binary *binaries;
	size_t nr_binaries;
	struct swlbr_edge *edges;
	size_t nr_edges, max_edges;
	uint32_t *slots; /* 1 + index of an edge, 0: free */
	unsigned int slots_log2;
	bool sorted;   /* the edges are in order */
	bool unhashed; /* the slots do not fit the edges any more */
};

#endif
