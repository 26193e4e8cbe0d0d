// SPDX-License-Identifier: GPL-2.0-only
/* Branch stacks of a perf.data into an edge profile. */
#include "convert.h"

struct swlbr_error *convert_perfdata_edges(struct convert *convert,
					   struct swlbr_edge_profile *edges, const char *path)
{
	(void)convert;
	(void)edges;
	return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
				  "%s: branch stacks of a perf.data are not read yet", path);
}
