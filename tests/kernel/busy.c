// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work of a known amount for the guest: "busy CALL COUNT CPU..." does system call CALL so often on
 * each of the CPUs at once, one process each; "many" are several that nothing else in the guest does,
 * and that leave nothing to be done later. "busy --cost CALL COUNT" prints what one costs by the
 * time stamp counter, which under qemu -icount shift=0 counts instructions: the difference between
 * 2 COUNT and COUNT of them, by COUNT, the median of many such pairs, since a timer ticks in some.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

static void do_getppid(long count)
{
	while (count--)
		syscall(SYS_getppid);
}

static void do_stat(long count)
{
	struct stat st;

	while (count--)
		syscall(SYS_newfstatat, AT_FDCWD, "/init", &st, 0);
}

static void do_read(long count)
{
	char buffer[64];

	while (count--) {
		int fd = open("/init", O_RDONLY);

		if (fd < 0 || read(fd, buffer, sizeof(buffer)) < 0)
			exit(1);
		close(fd);
	}
}

static void do_pipe(long count)
{
	char byte = 0;
	int ends[2];

	if (pipe(ends))
		exit(1);
	while (count--)
		if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
			exit(1);
}

static void do_fork(long count)
{
	while (count--) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			exit(1);
	}
}

static void check(bool good)
{
	if (!good) {
		perror("busy");
		exit(1);
	}
}

static void do_many(long count)
{
	struct itimerspec later = { .it_value.tv_sec = 1000 };
	int event = eventfd(0, 0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
	int file = open("/init", O_RDONLY), epoll = epoll_create1(0);
	struct epoll_event ready, wanted = { .events = EPOLLIN };
	struct itimerval itimer;
	uint64_t value = 1;
	int ends[2];

	check(event >= 0 && timer >= 0 && file >= 0 && epoll >= 0);
	check(!socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
	check(!epoll_ctl(epoll, EPOLL_CTL_ADD, ends[1], &wanted));
	while (count--) {
		check(write(event, &value, sizeof(value)) == sizeof(value));
		check(read(event, &value, sizeof(value)) == sizeof(value));
		check(!timerfd_settime(timer, 0, &later, NULL));
		check(!timerfd_gettime(timer, &later));
		check(!flock(file, LOCK_EX) && !flock(file, LOCK_UN));
		check(send(ends[0], &value, sizeof(value), 0) == sizeof(value));
		check(epoll_wait(epoll, &ready, 1, 0) == 1);
		check(recv(ends[1], &value, sizeof(value), 0) == sizeof(value));
		check(!getitimer(ITIMER_VIRTUAL, &itimer));
		syscall(SYS_getppid);
	}
}

static const struct {
	const char *name;
	void (*call)(long count);
} calls[] = {
	{ "getppid", do_getppid }, { "stat", do_stat }, { "read", do_read },
	{ "pipe", do_pipe },	   { "fork", do_fork }, { "many", do_many },
};

static void run(void (*call)(long count), long count, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("busy: sched_setaffinity");
		exit(1);
	}
	call(count);
}

static long cost_of(void (*call)(long count), long count)
{
	long begin = __rdtsc();

	call(count);
	return __rdtsc() - begin;
}

static int compare_longs(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

static void print_cost(void (*call)(long count), long count)
{
	long differences[101];
	int nr = sizeof(differences) / sizeof(differences[0]);

	call(count);
	for (int i = 0; i < nr; i++) {
		long once = cost_of(call, count);

		differences[i] = cost_of(call, 2 * count) - once;
	}
	qsort(differences, nr, sizeof(differences[0]), compare_longs);
	printf("%.1f\n", (double)differences[nr / 2] / count);
}

int main(int argc, char **argv)
{
	int failed = 0, status;

	for (size_t i = 0; argc == 4 && i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (!strcmp(argv[1], "--cost") && !strcmp(argv[2], calls[i].name)) {
			print_cost(calls[i].call, atol(argv[3]));
			return 0;
		}
	}
	for (size_t i = 0; argc > 3 && i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (strcmp(argv[1], calls[i].name))
			continue;
		for (int k = 3; k < argc; k++) {
			if (fork())
				continue;
			run(calls[i].call, atol(argv[2]), atoi(argv[k]));
			_exit(0);
		}
		while (wait(&status) > 0)
			failed |= status;
		return failed != 0;
	}
	fprintf(stderr, "usage: busy [--cost] getppid|stat|read|pipe|fork|many COUNT [CPU...]\n");
	return 2;
}
