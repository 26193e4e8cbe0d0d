/* SPDX-License-Identifier: GPL-2.0-only */
/* A perf.data made by hand, in either byte order, of any attr and record. */
#ifndef SWLBR_TESTS_PERFDATA_IMAGE_H
#define SWLBR_TESTS_PERFDATA_IMAGE_H

#include <byteswap.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <swlbr/perfdata.h>

struct file_image {
	uint8_t data[1 << 16];
	size_t size;
	bool swap;
	size_t data_begin; /* of the records */
	size_t record;	   /* begin of the record being made */
	/* Of all events. */
	uint64_t sample_type, branch_sample_type;
	bool has_time;
};

static inline void put(struct file_image *image, const void *data, size_t size)
{
	if (size > sizeof(image->data) - image->size)
		abort();
	memcpy(image->data + image->size, data, size);
	image->size += size;
}

static inline void put16(struct file_image *image, uint16_t value)
{
	value = image->swap ? bswap_16(value) : value;
	put(image, &value, sizeof(value));
}

static inline void put32(struct file_image *image, uint32_t value)
{
	value = image->swap ? bswap_32(value) : value;
	put(image, &value, sizeof(value));
}

static inline void put64(struct file_image *image, uint64_t value)
{
	value = image->swap ? bswap_64(value) : value;
	put(image, &value, sizeof(value));
}

static inline void put_text(struct file_image *image, const char *text)
{
	put(image, text, strlen(text) + 1);
	while (image->size % 8)
		put(image, "", 1);
}

/* The attr alone, of @size bytes. */
static inline void put_attr(struct file_image *image, uint32_t size, uint64_t read_format)
{
	size_t begin = image->size;
	uint64_t bits = image->has_time ? 1 << 18 : 0; /* sample_id_all */

	/* Bit fields count from the other end on a machine of big-endian order. */
	if (image->swap && bits)
		bits = 1ULL << (63 - 18);
	put32(image, PERF_TYPE_HARDWARE);
	put32(image, size);
	put64(image, PERF_COUNT_HW_CPU_CYCLES);
	put64(image, 1000);
	put64(image, image->sample_type);
	put64(image, read_format);
	put64(image, bits);
	put64(image, 0);
	put64(image, 0);
	if (size > 72)
		put64(image, 0);
	if (size > 72)
		put64(image, image->branch_sample_type);
	while (image->size < begin + size)
		put(image, "", 1);
}

/* Header and one event; records follow. */
static inline void begin_file(struct file_image *image, uint32_t attr_size, uint64_t read_format)
{
	put64(image, 0x32454c4946524550ULL);
	put64(image, 104);
	put64(image, attr_size + 16);
	put64(image, 104);
	put64(image, attr_size + 16);
	put64(image, 104 + attr_size + 16);
	put64(image, 0); /* end_file() */
	for (int i = 0; i < 2 + 4; i++)
		put64(image, 0);
	put_attr(image, attr_size, read_format);
	put64(image, 0);
	put64(image, 0);
	image->data_begin = image->size;
}

static inline void end_file(struct file_image *image)
{
	uint64_t size = image->size - image->data_begin;

	size = image->swap ? bswap_64(size) : size;
	memcpy(image->data + 48, &size, sizeof(size));
}

static inline void begin_record(struct file_image *image, uint32_t type, uint16_t misc)
{
	image->record = image->size;
	put32(image, type);
	put16(image, misc);
	put16(image, 0);
}

static inline void end_record(struct file_image *image)
{
	uint16_t size = image->size - image->record;

	size = image->swap ? bswap_16(size) : size;
	memcpy(image->data + image->record + 6, &size, sizeof(size));
}

static inline void put_sample_id(struct file_image *image, pid_t pid, uint64_t time)
{
	if (!image->has_time)
		return;
	put32(image, pid);
	put32(image, pid);
	put64(image, time);
}

static inline void put_mmap(struct file_image *image, uint64_t time, pid_t pid, uint64_t start,
			    uint64_t size, uint64_t offset, const char *path)
{
	begin_record(image, PERF_RECORD_MMAP,
		     pid == -1 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER);
	put32(image, pid);
	put32(image, pid);
	put64(image, start);
	put64(image, size);
	put64(image, offset);
	put_text(image, path);
	put_sample_id(image, pid, time);
	end_record(image);
}

static inline void put_comm(struct file_image *image, uint64_t time, pid_t pid, bool exec,
			    const char *comm)
{
	begin_record(image, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
	put32(image, pid);
	put32(image, pid);
	put_text(image, comm);
	put_sample_id(image, pid, time);
	end_record(image);
}

static inline void put_fork(struct file_image *image, uint64_t time, pid_t pid, pid_t parent)
{
	begin_record(image, PERF_RECORD_FORK, 0);
	put32(image, pid);
	put32(image, parent);
	put32(image, pid);
	put32(image, parent);
	put64(image, time);
	put_sample_id(image, pid, time);
	end_record(image);
}

static inline void put_branches(struct file_image *image, size_t nr,
				const struct swlbr_branch *stack)
{
	put64(image, nr);
	for (size_t i = 0; i < nr; i++) {
		uint64_t flags = stack[i].flags;

		/* mispred, cycles and spec, from the low end to the high. */
		if (image->swap)
			flags = (flags & 1) << 63 | (flags >> 4 & 0xffff) << 44 |
				(flags >> 24 & 3) << 38;
		put64(image, stack[i].from);
		put64(image, stack[i].to);
		put64(image, flags);
	}
}

/* A sample of TID, TIME and BRANCH_STACK. */
static inline void put_stack(struct file_image *image, uint64_t time, pid_t pid, size_t nr,
			     const struct swlbr_branch *stack)
{
	begin_record(image, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put32(image, pid);
	put32(image, pid);
	if (image->sample_type & PERF_SAMPLE_TIME)
		put64(image, time);
	put_branches(image, nr, stack);
	end_record(image);
}

static inline struct swlbr_error *open_image(const struct file_image *image,
					     struct swlbr_perfdata **ret)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct swlbr_error *error;

	if (fd < 0 || write(fd, image->data, image->size) != (ssize_t)image->size)
		abort();
	error = swlbr_perfdata_open_fd(fd, "IMAGE", ret);
	close(fd);
	return error;
}

#endif
