// SPDX-License-Identifier: GPL-2.0-only
/* Ways in which a program makes tasks, is interrupted, and ends; marked() counts them. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long sink;

__attribute__((noinline)) void marked(void)
{
	sink++;
}

static void mark(long nr)
{
	for (long i = 0; i < nr; i++)
		marked();
}

static void *thread_main(void *arg)
{
	mark((long)arg);
	return arg;
}

/* 8 threads, each 100,000. */
static void threads(void)
{
	pthread_t ids[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&ids[i], NULL, thread_main, (void *)100000L);
	for (int i = 0; i < 8; i++)
		pthread_join(ids[i], NULL);
}

/* As above where the program may open no file any more. */
static void limited(void)
{
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_NOFILE, &none);
	threads();
}

/* 50 children, each 20,000, and the parent 30,000; children end in four ways. */
static void forks(void)
{
	mark(10000);
	for (int i = 0; i < 50; i++) {
		if (fork())
			continue;
		mark(20000);
		if (i % 4 == 0)
			_exit(0);
		if (i % 4 == 1)
			abort();
		if (i % 4 == 2)
			kill(getpid(), SIGKILL);
		exit(0);
	}
	while (wait(NULL) > 0)
		;
	mark(20000);
}

/* 1,000; then by another image of this program 2,000. */
static void execs(const char *self)
{
	mark(1000);
	execl(self, "another name", "mark", "2000", NULL);
	_exit(1);
}

/* Whatever descriptors there are, they are closed. 5,000. */
static void closes(void)
{
	for (int fd = 3; fd < 4096; fd++)
		close(fd);
	mark(5000);
}

static volatile long nr_signals;

static void on_timer(int number)
{
	(void)number;
	marked();
	nr_signals++;
}

/* Timers that interrupt at any place; how many came is printed. 1,000,000 and those. */
static void timers(void)
{
	struct itimerval every = { { 0, 50 }, { 0, 50 } }, none = { 0 };
	struct sigaction action = { .sa_handler = on_timer };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	mark(1000000);
	setitimer(ITIMER_REAL, &none, NULL);
	printf("%ld\n", 1000000 + nr_signals);
}

static char *page;

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	marked();
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

/* A block that a return ends. */
__attribute__((noinline)) static void store(void)
{
	*(volatile char *)page = 1;
}

/* 100 faults that are mended and tried again: 100, and 100 in the handler. */
static void faults(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };

	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &action, NULL);
	for (int i = 0; i < 100; i++) {
		marked();
		store();
		mprotect(page, 4096, PROT_READ);
	}
}

static sigjmp_buf back;

static void jump_back(int number)
{
	(void)number;
	marked();
	siglongjmp(back, 1);
}

/* 30 handlers that never return. */
static void jumps(void)
{
	static volatile int nr;

	signal(SIGUSR1, jump_back);
	sigsetjmp(back, 1);
	if (nr++ < 30)
		raise(SIGUSR1);
}

/* Two libraries, one after the other at the same place: 1,000 in the first, 2,000 in the second. */
static void libraries(char **paths)
{
	void *before = NULL;

	for (int i = 0; i < 2; i++) {
		void *library = dlopen(paths[i], RTLD_NOW), *function;

		function = library ? dlsym(library, "library_mark") : NULL;
		if (!function)
			exit(3);
		((void (*)(long))function)(1000 * (i + 1));
		if (i && function != before)
			puts("at another place");
		before = function;
		dlclose(library);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "mark"))
		mark(argc > 2 ? atol(argv[2]) : 1);
	else if (!strcmp(what, "threads"))
		threads();
	else if (!strcmp(what, "limited"))
		limited();
	else if (!strcmp(what, "forks"))
		forks();
	else if (!strcmp(what, "execs"))
		execs(argv[0]);
	else if (!strcmp(what, "closes"))
		closes();
	else if (!strcmp(what, "timers"))
		timers();
	else if (!strcmp(what, "faults"))
		faults();
	else if (!strcmp(what, "jumps"))
		jumps();
	else if (!strcmp(what, "libraries") && argc > 3)
		libraries(argv + 2);
	else if (!strcmp(what, "killed")) {
		mark(argc > 2 ? atol(argv[2]) : 1);
		kill(getpid(), SIGKILL);
	} else {
		return 2;
	}
	return 0;
}
