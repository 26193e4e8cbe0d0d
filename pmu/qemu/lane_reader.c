// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lane_reader.h"

static bool is_lane(const struct lane *lane, size_t size)
{
	uint32_t ring_size = lane->ring_size, max_runs = lane->max_runs;

	return lane->magic == LANE_MAGIC && ring_size >= LANE_HEADER_SIZE &&
	       ring_size <= LANE_MAX_RING && !(ring_size & (ring_size - 1)) &&
	       max_runs <= LANE_MAX_RUNS &&
	       LANE_HEADER_SIZE + ring_size + max_runs * sizeof(struct lane_run) <= size;
}

struct swlbr_error *lane_reader_open(int fd, pid_t pid, struct lane_reader *ret)
{
	struct swlbr_error *error = NULL;
	int seals = fcntl(fd, F_GET_SEALS);
	struct lane *lane = MAP_FAILED;
	struct stat st;
	size_t size = 0;

	if (fstat(fd, &st) || seals < 0 || !(seals & F_SEAL_SHRINK) ||
	    st.st_size < LANE_HEADER_SIZE)
		error = swlbr_error_create(SWLBR_ERROR_FORMAT, "process %d: not a lane", pid);
	if (!error) {
		size = (size_t)st.st_size;
		lane = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
		if (lane == MAP_FAILED)
			error = swlbr_error_errno(errno, "process %d: lane", pid);
	}
	close(fd);
	if (error)
		return error;
	*ret = (struct lane_reader){
		.lane = lane,
		.size = size,
		.ring_size = lane->ring_size,
		.max_runs = lane->max_runs,
		.process = lane->process,
		.pid = pid,
		.tid = (pid_t)lane->tid,
	};
	if (is_lane(lane, size))
		return NULL;
	lane_reader_close(ret);
	return swlbr_error_create(SWLBR_ERROR_FORMAT, "process %d: not a lane", pid);
}

void lane_reader_close(struct lane_reader *reader)
{
	if (reader->lane)
		munmap(reader->lane, reader->size);
	reader->lane = NULL;
}

size_t lane_reader_take(struct lane_reader *reader, uint8_t *buffer)
{
	struct lane *lane = reader->lane;
	const uint8_t *ring = (const uint8_t *)lane + LANE_HEADER_SIZE;
	uint64_t tail = lane->tail, head = __atomic_load_n(&lane->head, __ATOMIC_ACQUIRE);
	size_t size = head - tail, offset = tail & (reader->ring_size - 1), first;

	if (reader->broken || head - tail > reader->ring_size) {
		reader->broken = true;
		return 0;
	}
	first = reader->ring_size - offset;
	if (first > size)
		first = size;
	memcpy(buffer, ring + offset, first);
	memcpy(buffer + first, ring, size - first);
	__atomic_store_n(&lane->tail, head, __ATOMIC_SEQ_CST);
	if (__atomic_exchange_n(&lane->waiting, 0, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &lane->tail, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	return size;
}

bool lane_next_record(const uint8_t *buffer, size_t size, size_t *at,
		      const struct lane_record **record_ret)
{
	const struct lane_record *record = (const struct lane_record *)(buffer + *at);

	if (size - *at < sizeof(*record) || record->size < sizeof(*record) ||
	    record->size > size - *at || record->size % 8)
		return false;
	*at += record->size;
	*record_ret = record;
	return true;
}

bool lane_reader_is_closed(const struct lane_reader *reader)
{
	return __atomic_load_n(&reader->lane->closed, __ATOMIC_ACQUIRE);
}

struct swlbr_error *lane_reader_runs(const struct lane_reader *reader, bool ended,
				     struct swlbr_error *(*add)(void *context,
								const struct lane_run *run),
				     void *context)
{
	const struct lane *lane = reader->lane;
	const struct lane_run *runs =
		(const struct lane_run *)((const uint8_t *)lane + LANE_HEADER_SIZE +
					  reader->ring_size);
	uint32_t nr = __atomic_load_n(&lane->nr_runs, __ATOMIC_ACQUIRE), nr_saved = lane->nr_saved;
	struct swlbr_error *error = NULL;

	for (uint32_t i = 0; !error && i < nr && i < reader->max_runs; i++)
		error = add(context, &runs[i]);
	if (!ended || !reader->max_runs)
		return error;
	for (uint32_t i = 0; !error && i < nr_saved && i < LANE_SAVED_RUNS; i++) {
		struct lane_run run = { lane->saved[i].start, lane->saved[i].last, 0, 1 };

		error = add(context, &run);
	}
	if (!error && lane->open_last) {
		struct lane_run run = { lane->open_start, lane->open_last, 0, 1 };

		error = add(context, &run);
	}
	return error;
}
