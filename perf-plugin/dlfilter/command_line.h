/* SPDX-License-Identifier: GPL-2.0-only */
/* What perf script was asked for: perf tells its dlfilters nothing of it. */
#ifndef SWLBR_DLFILTER_COMMAND_LINE_H
#define SWLBR_DLFILTER_COMMAND_LINE_H

#include <stdbool.h>

struct perf_command_line {
	char text[65536];
	const char *input; /* of the last -i; "perf.data" if there is none */
	/* Nothing on it chooses samples: all options are known not to. */
	bool all_samples;
};

void perf_command_line(struct perf_command_line *line);

/* True if perf has the file open: else it is not what it reads. */
bool perf_has_open(const char *path);

#endif
