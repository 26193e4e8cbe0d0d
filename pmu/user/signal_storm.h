/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Each signal of a traced program stops it until the recorder lets it go on. Signals that come
 * faster than that leave it no time of its own, as under any tracer.
 */
#ifndef SWLBR_USER_SIGNAL_STORM_H
#define SWLBR_USER_SIGNAL_STORM_H

#include <stdbool.h>
#include <stdint.h>

struct signal_storm {
	uint64_t start; /* ns: of the second that is counted */
	unsigned int nr, seconds;
};

/* Count a signal at @now (ns). True when for the second second on end there were more than 1000. */
bool signal_storm_count(struct signal_storm *storm, uint64_t now);

#endif
