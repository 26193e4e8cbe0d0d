/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lanes, as the recorder reads them. The emulated program can write to a lane's memory as well, so
 * nothing in it is trusted: what is read is copied first and checked then.
 */
#ifndef SWLBR_QEMU_LANE_READER_H
#define SWLBR_QEMU_LANE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <swlbr/error.h>

#include "lane.h"

struct lane_reader {
	struct lane *lane;
	size_t size; /* bytes mapped */
	/* As they were when the lane was opened. */
	uint32_t ring_size, max_runs;
	uint64_t process;
	pid_t pid, tid;
	bool broken; /* it contradicts itself: nothing more is read from it */
};

/* Take the lane in @fd, which is closed, from process @pid. */
struct swlbr_error *lane_reader_open(int fd, pid_t pid, struct lane_reader *ret);
void lane_reader_close(struct lane_reader *reader);

/* Move what the ring has to @buffer, of LANE_MAX_RING bytes; the number of bytes is returned. */
size_t lane_reader_take(struct lane_reader *reader, uint8_t *buffer);

/* The next whole record in @buffer from *@at on; false at the end, or where there is none. */
bool lane_next_record(const uint8_t *buffer, size_t size, size_t *at,
		      const struct lane_record **record_ret);

bool lane_reader_is_closed(const struct lane_reader *reader);

/*
 * Call @add for each run of the lane: those of the table, and with @ended those that the end of
 * the program has cut.
 */
struct swlbr_error *lane_reader_runs(const struct lane_reader *reader, bool ended,
				     struct swlbr_error *(*add)(void *context,
								const struct lane_run *run),
				     void *context);

#endif
