/* SPDX-License-Identifier: GPL-2.0-only */
/* After a recording: what the counters say of branches, as swlbr:arc rows and branch stacks. */
#ifndef SWLBR_USER_STACKS_H
#define SWLBR_USER_STACKS_H

#include "counter_copy.h"
#include "session.h"

/*
 * Keep what an image of @pid has counted: @last less @base, and the intervals and targets of
 * indirect calls, which are taken. Of
 * binaries with very many processes the later ones are summed into one.
 */
struct swlbr_error *stacks_keep(struct session *session, struct image *image, pid_t pid,
				uint64_t load_bias, const struct counter_copy *base,
				const struct counter_copy *last, struct history *history,
				struct swlbr_flow_target *targets, size_t nr_targets);

/* Write rows and stacks of all that was kept. */
struct swlbr_error *stacks_write(struct session *session);

void stacks_deinit(struct stacks *stacks);

#endif
