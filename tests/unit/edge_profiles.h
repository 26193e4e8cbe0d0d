/* SPDX-License-Identifier: GPL-2.0-only */
/* Edge profiles to begin with, for tests of what is made of them. */
#ifndef SWLBR_TESTS_EDGE_PROFILES_H
#define SWLBR_TESTS_EDGE_PROFILES_H

#include <stdlib.h>

#include <swlbr/edge_profile.h>

#include "check.h"

/* An empty one. */
static inline struct swlbr_edge_profile *new_profile(void)
{
	struct swlbr_edge_profile *profile = NULL;

	if (!fine(swlbr_edge_profile_create(&profile)))
		exit(1);
	return profile;
}

#endif
