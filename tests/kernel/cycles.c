// SPDX-License-Identifier: GPL-2.0-only
/*
 * "cycles N": N times opens an event of the PMU swlbr on each CPU, with samples and branch stacks,
 * lets it run for a moment twice, and closes it. Prints how many records there were.
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGES	 9
#define MAX_CPUS 16

static unsigned int event_type(void)
{
	FILE *file = fopen("/sys/bus/event_source/devices/swlbr/type", "r");
	unsigned int type;

	if (!file || fscanf(file, "%u", &type) != 1)
		exit(1);
	fclose(file);
	return type;
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = event_type(),
		.freq = 1,
		.sample_freq = 4000,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW |
			       PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_ANY,
		.disabled = 1,
	};
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), size = PAGES * sysconf(_SC_PAGESIZE);
	unsigned long long bytes = 0;

	for (long n = argc > 1 ? atol(argv[1]) : 1; n > 0; n--) {
		struct perf_event_mmap_page *ring[MAX_CPUS];
		int fds[MAX_CPUS];

		for (int cpu = 0; cpu < cpus && cpu < MAX_CPUS; cpu++) {
			fds[cpu] = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);
			ring[cpu] =
				mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fds[cpu], 0);
			if (fds[cpu] < 0 || ring[cpu] == MAP_FAILED) {
				perror("cycles: swlbr");
				return 1;
			}
		}
		for (int turn = 0; turn < 2; turn++) {
			for (int cpu = 0; cpu < cpus && cpu < MAX_CPUS; cpu++)
				ioctl(fds[cpu], PERF_EVENT_IOC_ENABLE, 0);
			usleep(1000);
			for (int cpu = 0; cpu < cpus && cpu < MAX_CPUS; cpu++)
				ioctl(fds[cpu], PERF_EVENT_IOC_DISABLE, 0);
		}
		for (int cpu = 0; cpu < cpus && cpu < MAX_CPUS; cpu++) {
			bytes += ring[cpu]->data_head;
			munmap(ring[cpu], size);
			close(fds[cpu]);
		}
	}
	printf("%llu bytes of records\n", bytes);
	return bytes == 0;
}
