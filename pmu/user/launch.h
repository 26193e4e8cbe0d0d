/* SPDX-License-Identifier: GPL-2.0-only */
/* Start the program to be recorded, traced and under the exec filter from its first instruction. */
#ifndef SWLBR_USER_LAUNCH_H
#define SWLBR_USER_LAUNCH_H

#include <signal.h>

#include "tracer.h"

struct launch {
	pid_t pid;
	int socket; /* to the child; it closes at the child's exec */
};

/* Fork, seize, install the filter. @mask: the signal mask that the program gets. */
struct swlbr_error *launch_start(struct tracer *tracer, char *const *command, const sigset_t *mask,
				 struct launch *launch);
/* Let the child go on to its exec. */
void launch_go(struct launch *launch);
/* After its end: the errno of an exec that failed, 0 if it succeeded. */
int launch_exec_error(struct launch *launch);

#endif
