/* SPDX-License-Identifier: GPL-2.0-only */
/* Signals that end a recording, and SIGCHLD, as a descriptor to wait for. */
#ifndef SWLBR_USER_STOP_SIGNALS_H
#define SWLBR_USER_STOP_SIGNALS_H

#include <signal.h>

#include <swlbr/error.h>

struct stop_signals {
	int fd;		   /* readable when one came; -1: not open */
	unsigned int nr;   /* SIGINT, SIGTERM and SIGHUP received */
	int last;	   /* the last of them */
	sigset_t old_mask; /* for the program that is started */
};

/* Blocks them. SIGHUP is left out where it was ignored (nohup). */
struct swlbr_error *stop_signals_open(struct stop_signals *signals);
/* What came since the last time. */
void stop_signals_read(struct stop_signals *signals);
/* Nothing if it is not open. */
void stop_signals_close(struct stop_signals *signals);

#endif
