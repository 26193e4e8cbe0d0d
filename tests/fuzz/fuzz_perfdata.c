// SPDX-License-Identifier: GPL-2.0-only
/* Whatever a file says: no crash, no hang, an error that names the file, or the end. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <swlbr/perfdata.h>

/* Reads all that a caller could, so that a sanitizer sees what is not there. */
static uint64_t use(const struct swlbr_record *record)
{
	uint64_t sum = 0;

	switch (record->kind) {
	case SWLBR_RECORD_MMAP2:
		return strlen(record->mmap2.path);
	case SWLBR_RECORD_COMM:
		return strlen(record->comm.comm);
	case SWLBR_RECORD_COUNTERS:
		for (uint32_t i = 0; i < record->counters.nr; i++)
			sum += record->counters.value[i];
		return sum;
	case SWLBR_RECORD_LOST_COUNTS:
		return strlen(record->lost.why);
	default:
		return 0;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct swlbr_perfdata *file;
	struct swlbr_record record;
	struct swlbr_error *error;
	volatile uint64_t sink;
	bool end = false;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (ftruncate(fd, size) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	error = swlbr_perfdata_open_fd(fd, "FUZZ", &file);
	if (!error) {
		while (!(error = swlbr_perfdata_next(file, &record, &end)) && !end)
			sink = use(&record);
		swlbr_perfdata_close(file);
	}
	(void)sink;
	if (error && strncmp(error->message, "FUZZ: ", 6))
		abort();
	swlbr_error_destroy(error);
	return 0;
}
