// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the PMU itself adds to the counters: "noise RATE SECONDS idle|spin" lets an event at RATE
 * samples per second (0: none) be on CPU 0, sleeps or computes meanwhile, and prints what all
 * counters together counted and how often the PMU's timer ran. Nobody reads the samples, so that
 * all there is beside the timer is what the kernel does anyway.
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "swlbr.h"

#define FILES "/sys/kernel/debug/swlbr/"
#define PAGES 1025

static FILE *open_file(const char *path, const char *mode)
{
	FILE *file = fopen(path, mode);

	if (!file) {
		perror(path);
		exit(1);
	}
	return file;
}

static int open_event(unsigned long long rate)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.freq = 1,
		.sample_freq = rate,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW |
			       PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_ANY,
		.disabled = 1,
	};
	FILE *file = open_file("/sys/bus/event_source/devices/swlbr/type", "r");
	int fd;

	if (fscanf(file, "%u", &attr.type) != 1)
		exit(1);
	fclose(file);
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
	if (fd < 0 || mmap(NULL, PAGES * (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
			   MAP_SHARED, fd, 0) == MAP_FAILED) {
		perror("noise: swlbr");
		exit(1);
	}
	return fd;
}

static void spin(long seconds)
{
	struct timespec start, now;
	volatile int n;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		for (n = 0; n < 100000; n++)
			;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < start.tv_sec + seconds ||
		 (now.tv_sec == start.tv_sec + seconds && now.tv_nsec < start.tv_nsec));
}

static unsigned long long read_ticks(void)
{
	FILE *file = open_file(FILES "scanners", "r");
	unsigned long long ticks = 0;

	if (fscanf(file, "%*[^\n] 0 %llu", &ticks) != 1)
		exit(1);
	fclose(file);
	return ticks;
}

static unsigned long long sum(FILE *file)
{
	unsigned long long all = 0, value;
	struct swlbr_header header;

	if (fread(&header, sizeof(header), 1, file) != 1)
		exit(1);
	while (fread(&value, sizeof(value), 1, file) == 1)
		all += value;
	return all;
}

int main(int argc, char **argv)
{
	unsigned long long rate, ticks;
	FILE *reset, *counters;
	int fd = -1;

	if (argc != 4) {
		fprintf(stderr, "usage: noise RATE SECONDS idle|spin\n");
		return 2;
	}
	rate = strtoull(argv[1], NULL, 10);
	if (rate)
		fd = open_event(rate);
	ticks = read_ticks();
	reset = open_file(FILES "reset", "w");
	fputs("1", reset);
	if (rate)
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	fflush(reset);
	if (!strcmp(argv[3], "spin"))
		spin(atol(argv[2]));
	else
		sleep((unsigned int)atol(argv[2]));
	/* They are copied when the file is opened. */
	counters = open_file(FILES "counters", "r");
	if (rate)
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	printf("%s %llu %s: %llu %llu\n", argv[3], rate, argv[2], sum(counters),
	       read_ticks() - ticks);
	return 0;
}
