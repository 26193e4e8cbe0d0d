/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All lanes of a recording. What they hold is taken out in batches, and goes on in the order of
 * time.
 */
#ifndef SWLBR_QEMU_LANES_H
#define SWLBR_QEMU_LANES_H

#include "emulated.h"
#include "lane_reader.h"

struct open_lane {
	struct lane_reader reader;
	struct emulated_process *process;
	bool ended;
};

/** A record of the batch. */
struct item {
	uint64_t time;
	size_t offset; /* in the batch's bytes */
	uint32_t lane;
	uint32_t order; /* of records with equal times */
};

struct lanes {
	struct emulated *emulated;
	struct open_lane *lanes;
	size_t nr_lanes;
	uint8_t *bytes; /* of the batch */
	size_t nr_bytes, max_bytes;
	struct item *items;
	size_t nr_items, max_items;
};

/* Take the lanes that wait at the socket @listener. */
struct swlbr_error *lanes_accept(struct lanes *lanes, int listener);
/* Note which lanes will get nothing more. */
void lanes_look_for_ends(struct lanes *lanes);
/* Hand on what is in the rings. */
struct swlbr_error *lanes_drain(struct lanes *lanes);
/* Close the lanes that had ended before the last lanes_drain(), and forget their processes. */
struct swlbr_error *lanes_close_ended(struct lanes *lanes, bool all);
void lanes_deinit(struct lanes *lanes);

#endif
