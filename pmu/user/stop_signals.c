// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "stop_signals.h"

struct swlbr_error *stop_signals_open(struct stop_signals *signals)
{
	struct sigaction hangup;
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaction(SIGHUP, NULL, &hangup);
	if (hangup.sa_handler != SIG_IGN)
		sigaddset(&mask, SIGHUP);
	signals->fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals->fd < 0)
		return swlbr_error_errno(errno, "signalfd");
	sigprocmask(SIG_BLOCK, &mask, &signals->old_mask);
	return NULL;
}

void stop_signals_read(struct stop_signals *signals)
{
	struct signalfd_siginfo info;

	while (read(signals->fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		signals->last = (int)info.ssi_signo;
		signals->nr++;
	}
}

void stop_signals_close(struct stop_signals *signals)
{
	if (signals->fd < 0)
		return;
	close(signals->fd);
	sigprocmask(SIG_SETMASK, &signals->old_mask, NULL);
}
