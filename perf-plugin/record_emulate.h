/* SPDX-License-Identifier: GPL-2.0-only */
/* perf swlbr record --emulate */
#ifndef PERF_SWLBR_RECORD_EMULATE_H
#define PERF_SWLBR_RECORD_EMULATE_H

#include <stdbool.h>

#include "pmu/qemu/emulate.h"

struct record_emulate {
	bool on;
	struct emulate_options options;
	const char *other_option; /* an option that was given and needs --emulate, or NULL */
	uint64_t period;
	bool quiet, verbose;
};

/* The options' texts; false if one is wrong. */
bool record_emulate_mode(struct record_emulate *emulate, const char *text);
bool record_emulate_period(struct record_emulate *emulate, const char *text);
bool record_emulate_filter(struct record_emulate *emulate, const char *text);
bool record_emulate_depth(struct record_emulate *emulate, const char *text);

/* Records; returns the exit status. */
int record_emulate_run(struct record_emulate *emulate);

/*
 * cmd_record.c: end as the program ended, or by the signal that ended the recording, as perf record
 * does. Returns the exit status, if it returns.
 */
int record_exit_like(bool child_ended, int child_status, int stop_signal);

#endif
