/* SPDX-License-Identifier: GPL-2.0-only */
/* perf swlbr record --emulate */
#ifndef PERF_SWLBR_RECORD_EMULATE_H
#define PERF_SWLBR_RECORD_EMULATE_H

#include <stdbool.h>

#include "pmu/qemu/emulate.h"

struct record_emulate {
	bool on;
	struct emulate_options options;
	const char *other_option;	/* an option that was given and needs --emulate, or NULL */
	uint64_t period, branch_filter; /* 0: not given */
	bool quiet, verbose;
};

/* Long options of `record` that are --emulate's; -c and -j are too. */
enum {
	RECORD_OPTION_EMULATE = 256,
	RECORD_OPTION_DEPTH,
	RECORD_OPTION_SYSROOT,
	RECORD_OPTION_KERNEL,
};

/* Take one of them. 0: go on; else the exit status plus 1, and what is wrong was said. */
int record_emulate_option(struct record_emulate *emulate, int option, const char *text);
/* After all options, likewise. */
int record_emulate_check(const struct record_emulate *emulate);

/* Records; @info is of the command line. Returns the exit status. */
int record_emulate_run(struct record_emulate *emulate, const struct swlbr_perfdata_info *info);

/*
 * cmd_record.c: end as the program ended, or by the signal that ended the recording, as perf record
 * does. Returns the exit status, if it returns.
 */
int record_exit_like(bool child_ended, int child_status, int stop_signal);

#endif
