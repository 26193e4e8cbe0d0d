// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Sample profiles of equal workloads made equal, whatever the length of the run. */
#include "sample_profile.h"

static void scale(uint64_t *count, unsigned __int128 sum)
{
	unsigned __int128 value =
		((unsigned __int128)*count * SWLBR_NORMALIZED_TOTAL + sum / 2) / sum;

	if (value > UINT64_MAX)
		*count = UINT64_MAX;
	else if (value || !*count)
		*count = (uint64_t)value;
	else
		*count = 1;
}

void swlbr_sample_profile_normalize(struct swlbr_sample_profile *profile)
{
	unsigned __int128 sum = 0;

	for (size_t i = 0; i < profile->node_index.nr; i++)
		if (profile->nodes[i].parent == SAMPLE_TOP)
			sum += profile->nodes[i].total;
	if (!sum)
		return;
	for (size_t i = 0; i < profile->node_index.nr; i++) {
		scale(&profile->nodes[i].total, sum);
		scale(&profile->nodes[i].head, sum);
	}
	for (size_t i = 0; i < profile->record_index.nr; i++)
		scale(&profile->records[i].count, sum);
	for (size_t i = 0; i < profile->target_index.nr; i++)
		scale(&profile->targets[i].count, sum);
}
