// SPDX-License-Identifier: GPL-2.0-only
/* Lanes, as the plugin writes them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "plugin.h"
#include "qemu_plugin_api.h"

#define COUNTS_RING_SIZE (1 << 16)

static uint64_t process;
static uint64_t process_start; /* ns; nothing of it is older */

uint64_t lane_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void lane_new_process(void)
{
	process = lane_now() << 16 ^ (uint64_t)getpid();
	process_start = 0;
}

static bool send_fd(int socket, int fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)),
				  .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS } };
	char byte = 0;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

/* The recorder has it when this returns, so that an end of the program right after loses nothing. */
static bool hand_over(int fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int socket_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool sent;

	if (socket_fd < 0)
		return false;
	strncpy(address.sun_path, options.socket, sizeof(address.sun_path) - 1);
	sent = !connect(socket_fd, (struct sockaddr *)&address, sizeof(address)) &&
	       send_fd(socket_fd, fd);
	close(socket_fd);
	return sent;
}

static struct lane *create(uint32_t ring_size, uint32_t max_runs, size_t size)
{
	int fd = (int)syscall(SYS_memfd_create, "swlbr lane", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct lane *lane = MAP_FAILED;

	if (fd < 0)
		return NULL;
	/* The recorder must not be hurt by a file that shrinks. */
	if (!ftruncate(fd, (off_t)size) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		lane = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (lane == MAP_FAILED) {
		close(fd);
		return NULL;
	}
	lane->magic = LANE_MAGIC;
	lane->mode = options.mode;
	lane->ring_size = ring_size;
	lane->max_runs = max_runs;
	lane->process = process;
	lane->pid = (uint32_t)getpid();
	lane->tid = (uint32_t)syscall(SYS_gettid);
	if (!hand_over(fd)) {
		munmap(lane, size);
		lane = NULL;
	}
	close(fd);
	return lane;
}

static void put_start(struct lane_writer *writer, enum lane_start_kind kind, pid_t ppid, pid_t ptid)
{
	struct lane_start start = { .kind = kind, .ppid = (uint32_t)ppid, .ptid = (uint32_t)ptid };
	const char *path = qemu_plugin_path_to_binary();

	lane_put(writer, LANE_RECORD_START, lane_now(), &start, sizeof(start), path ? path : "",
		 path ? strnlen(path, PATH_MAX) + 1 : 1);
}

bool lane_open(struct lane_writer *writer, enum lane_start_kind kind, pid_t ppid, pid_t ptid)
{
	bool counts = options.mode == LANE_COUNTS;
	uint32_t ring_size = counts ? COUNTS_RING_SIZE : LANE_MAX_RING;
	uint32_t max_runs = counts ? LANE_MAX_RUNS : 0;
	size_t size = LANE_HEADER_SIZE + ring_size + max_runs * sizeof(struct lane_run);

	if (kill(options.recorder, 0) && errno == ESRCH)
		return false;
	writer->lane = create(ring_size, max_runs, size);
	writer->size = size;
	if (!writer->lane)
		return false;
	put_start(writer, kind, ppid, ptid);
	return true;
}

void lane_drop(struct lane_writer *writer)
{
	if (writer->lane)
		munmap(writer->lane, writer->size);
	free(writer->slots);
	*writer = (struct lane_writer){ 0 };
}

void lane_close(struct lane_writer *writer)
{
	if (writer->lane)
		__atomic_store_n(&writer->lane->closed, 1, __ATOMIC_RELEASE);
	lane_drop(writer);
}

/* Wait until @size bytes are free in the ring. False if there is no recorder any more. */
static bool wait_for_room(struct lane *lane, uint32_t size)
{
	const struct timespec limit = { .tv_nsec = 100000000 };

	for (;;) {
		uint64_t tail = __atomic_load_n(&lane->tail, __ATOMIC_ACQUIRE);

		if (lane->head + size - tail <= lane->ring_size)
			return true;
		__atomic_store_n(&lane->waiting, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &lane->tail, FUTEX_WAIT, (uint32_t)tail, &limit, NULL, 0);
		if (kill(options.recorder, 0) && errno == ESRCH)
			return false;
	}
}

static uint64_t copy_in(struct lane *lane, uint64_t at, const void *data, size_t size)
{
	uint8_t *ring = (uint8_t *)lane + LANE_HEADER_SIZE;
	size_t offset = at % lane->ring_size, first = lane->ring_size - offset;

	if (first > size)
		first = size;
	memcpy(ring + offset, data, first);
	memcpy(ring, (const uint8_t *)data + first, size - first);
	return at + size;
}

void lane_put(struct lane_writer *writer, enum lane_record_type type, uint64_t time,
	      const void *head, size_t head_size, const void *tail, size_t tail_size)
{
	struct lane_record record = { .type = type };
	static const uint8_t zeroes[8];
	struct lane *lane = writer->lane;
	size_t padding = -(head_size + tail_size) & 7;
	uint64_t at;

	if (!lane)
		return;
	if (type == LANE_RECORD_START && !process_start)
		process_start = time;
	record.time = time < process_start ? process_start : time;
	record.size = (uint32_t)(sizeof(record) + head_size + tail_size + padding);
	if (!wait_for_room(lane, record.size)) {
		lane_drop(writer);
		return;
	}
	at = copy_in(lane, lane->head, &record, sizeof(record));
	at = copy_in(lane, at, head, head_size);
	at = copy_in(lane, at, tail, tail_size);
	at = copy_in(lane, at, zeroes, padding);
	__atomic_store_n(&lane->head, at, __ATOMIC_RELEASE);
}
