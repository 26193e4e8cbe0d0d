// SPDX-License-Identifier: GPL-2.0-only
#include "signal_storm.h"

#define SECOND	       1000000000ULL
#define MANY	       1000
#define SECONDS_ON_END 2

bool signal_storm_count(struct signal_storm *storm, uint64_t now)
{
	if (now - storm->start >= SECOND) {
		if (storm->nr <= MANY || now - storm->start >= 2 * SECOND)
			storm->seconds = 0;
		storm->start = now;
		storm->nr = 0;
	}
	return ++storm->nr == MANY + 1 && ++storm->seconds == SECONDS_ON_END;
}
