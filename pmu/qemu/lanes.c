// SPDX-License-Identifier: GPL-2.0-only
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "lanes.h"

#define MAX_BATCH (64 << 20) /* bytes of records sorted together */

/* The descriptor that the process at the other end of @connection sends; -1 if it does not. */
static int receive_fd(int connection)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct pollfd ready = { .fd = connection, .events = POLLIN };
	int fd;

	if (poll(&ready, 1, 1000) <= 0 || recvmsg(connection, &message, MSG_CMSG_CLOEXEC) != 1 ||
	    !CMSG_FIRSTHDR(&message) ||
	    CMSG_FIRSTHDR(&message)->cmsg_len != CMSG_LEN(sizeof(int)) ||
	    CMSG_FIRSTHDR(&message)->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

static struct swlbr_error *add_lane(struct lanes *lanes, int connection)
{
	struct open_lane *grown, *lane;
	struct ucred peer;
	socklen_t size = sizeof(peer);
	struct swlbr_error *error;
	int fd = receive_fd(connection);

	if (fd < 0 || getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size)) {
		if (fd >= 0)
			close(fd);
		return NULL; /* it ended, or is not the plugin */
	}
	grown = reallocarray(lanes->lanes, lanes->nr_lanes + 1, sizeof(*grown));
	if (!grown) {
		close(fd);
		return swlbr_error_no_memory();
	}
	lanes->lanes = grown;
	lane = &grown[lanes->nr_lanes];
	memset(lane, 0, sizeof(*lane));
	error = lane_reader_open(fd, peer.pid, &lane->reader);
	if (error) {
		emulate_note(lanes->emulated->summary, "%s", error->message);
		swlbr_error_destroy(error);
		return NULL;
	}
	error = emulated_process_of(lanes->emulated, &lane->reader, &lane->process);
	if (error)
		lane_reader_close(&lane->reader);
	else
		lanes->nr_lanes++;
	return error;
}

struct swlbr_error *lanes_accept(struct lanes *lanes, int listener)
{
	struct swlbr_error *error = NULL;
	int connection;

	while (!error && (connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		error = add_lane(lanes, connection);
		close(connection);
	}
	return error;
}

static struct swlbr_error *add_item(struct lanes *lanes, size_t lane, size_t offset, uint64_t time)
{
	struct item *grown =
		array_grow(lanes->items, lanes->nr_items, &lanes->max_items, sizeof(*grown));

	if (!grown)
		return swlbr_error_no_memory();
	lanes->items = grown;
	lanes->items[lanes->nr_items] = (struct item){
		.time = time,
		.offset = offset,
		.lane = (uint32_t)lane,
		.order = (uint32_t)lanes->nr_items,
	};
	lanes->nr_items++;
	return NULL;
}

/* Take what the ring of lane @index has into the batch. */
static struct swlbr_error *take(struct lanes *lanes, size_t index)
{
	struct lane_reader *reader = &lanes->lanes[index].reader;
	size_t base = lanes->nr_bytes, size, at = 0;
	const struct lane_record *record;
	struct swlbr_error *error = NULL;
	uint64_t time = 0;

	if (lanes->max_bytes - base < LANE_MAX_RING) {
		uint8_t *grown = realloc(lanes->bytes, base + 2 * LANE_MAX_RING);

		if (!grown)
			return swlbr_error_no_memory();
		lanes->bytes = grown;
		lanes->max_bytes = base + 2 * LANE_MAX_RING;
	}
	size = lane_reader_take(reader, lanes->bytes + base);
	while (!error && lane_next_record(lanes->bytes + base, size, &at, &record)) {
		if (record->time > time) /* within a lane the order stays */
			time = record->time;
		error = add_item(lanes, index, (size_t)((const uint8_t *)record - lanes->bytes),
				 time);
	}
	if (at != size)
		reader->broken = true;
	lanes->nr_bytes += size;
	return error;
}

static int compare_items(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Hand on the batch in the order of time. */
static struct swlbr_error *hand_on(struct lanes *lanes)
{
	struct swlbr_error *error = NULL;
	size_t nr = lanes->nr_items;

	if (nr)
		qsort(lanes->items, nr, sizeof(*lanes->items), compare_items);
	for (size_t i = 0; !error && i < nr; i++) {
		const struct item *item = &lanes->items[i];
		const struct open_lane *lane = &lanes->lanes[item->lane];

		error = emulated_record(lanes->emulated, lane->process, lane->reader.tid,
					(const struct lane_record *)(lanes->bytes + item->offset));
	}
	lanes->nr_items = lanes->nr_bytes = 0;
	return error;
}

struct swlbr_error *lanes_drain(struct lanes *lanes)
{
	struct swlbr_error *error = NULL;
	bool any = false;

	for (size_t i = 0; !error && i < lanes->nr_lanes; i++) {
		error = take(lanes, i);
		any |= lanes->nr_items > 0;
		/* Readers sort what is in a round: it need not be sorted here as a whole. */
		if (!error && lanes->nr_bytes >= MAX_BATCH)
			error = hand_on(lanes);
	}
	if (!error)
		error = hand_on(lanes);
	if (!error && any && lanes->emulated->writer)
		error = swlbr_perfdata_write_round(lanes->emulated->writer);
	return error;
}

void lanes_look_for_ends(struct lanes *lanes)
{
	for (size_t i = 0; i < lanes->emulated->nr_processes; i++) {
		struct emulated_process *process = lanes->emulated->processes[i];
		struct pollfd ended = { .fd = process->pidfd, .events = POLLIN };

		if (!process->ended)
			process->ended = poll(&ended, 1, 0) > 0;
	}
	for (size_t i = 0; i < lanes->nr_lanes; i++) {
		struct open_lane *lane = &lanes->lanes[i];

		lane->ended = lane->process->ended || lane->process->replaced ||
			      lane_reader_is_closed(&lane->reader);
	}
}

struct swlbr_error *lanes_close_ended(struct lanes *lanes, bool all)
{
	struct swlbr_error *error = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < lanes->nr_lanes; i++) {
		struct open_lane lane = lanes->lanes[i];

		if (!error && (lane.ended || all)) {
			error = emulated_lane_ended(lanes->emulated, lane.process, &lane.reader);
			lane_reader_close(&lane.reader);
		} else {
			lanes->lanes[kept++] = lane;
		}
	}
	lanes->nr_lanes = kept;
	for (size_t i = lanes->emulated->nr_processes; !error && i-- > 0;) {
		struct emulated_process *process = lanes->emulated->processes[i];

		if (!process->nr_lanes && (process->ended || process->replaced || all))
			error = emulated_process_ended(lanes->emulated, process);
	}
	return error;
}

void lanes_deinit(struct lanes *lanes)
{
	for (size_t i = 0; i < lanes->nr_lanes; i++)
		lane_reader_close(&lanes->lanes[i].reader);
	free(lanes->lanes);
	free(lanes->bytes);
	free(lanes->items);
}
