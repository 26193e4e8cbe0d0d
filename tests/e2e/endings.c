// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program for each way in which a program image ends. marked() is called a known number of times,
 * which the last line of `endings list` tells for each: "name count".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char *self;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int sink;

__attribute__((noinline)) void marked(void)
{
	sink++;
}

static void mark(int nr)
{
	for (int i = 0; i < nr; i++)
		marked();
}

/* Threads' counters lose updates without a lock. */
static void mark_locked(int nr)
{
	for (int i = 0; i < nr; i++) {
		pthread_mutex_lock(&lock);
		marked();
		pthread_mutex_unlock(&lock);
	}
}

static void check(int failed)
{
	if (failed) {
		perror("endings");
		_exit(99);
	}
}

static pthread_t start(void *(*function)(void *))
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, function, NULL);
	check(errno);
	return thread;
}

static void reap(void)
{
	while (wait(NULL) > 0)
		;
}

static void exec_again(const char *mode)
{
	execl(self, self, mode, NULL);
	check(1);
}

static void at_exit(void)
{
	mark(100);
	exit(0);
}

static void at_status(void)
{
	mark(101);
	exit(7);
}

static void at__exit(void)
{
	mark(102);
	_exit(0);
}

static void at_abort(void)
{
	mark(103);
	abort();
}

static void at_segv(void)
{
	mark(104);
	*(volatile int *)8 = 0;
}

static void at_kill(void)
{
	mark(105);
	raise(SIGKILL);
}

static void at_term(void)
{
	mark(106);
	raise(SIGTERM);
}

static void at_kill_outside(void)
{
	pid_t parent = getpid(), killer;

	mark(107);
	killer = fork();
	check(killer < 0);
	if (!killer) {
		usleep(20000);
		kill(parent, SIGKILL);
		_exit(0);
	}
	for (;;)
		sink++;
}

static void at_exec(void)
{
	mark(108);
	exec_again("exit"); /* 100 more */
}

static void *exec_thread(void *arg)
{
	mark_locked(50);
	exec_again("exit");
	return arg;
}

static int spinning;

static void *mark_and_spin(void *arg)
{
	mark_locked(50);
	__atomic_add_fetch(&spinning, 1, __ATOMIC_RELAXED);
	for (;;)
		sink++;
	return arg;
}

static void start_spinning(void)
{
	start(mark_and_spin);
	start(mark_and_spin);
	while (__atomic_load_n(&spinning, __ATOMIC_RELAXED) < 2)
		usleep(1000);
}

static void at_exec_thread(void)
{
	start_spinning();
	mark_locked(9);
	start(exec_thread);
	pause();
}

static void at_exec_leader_of_threads(void)
{
	start_spinning();
	mark_locked(10);
	exec_again("exit");
}

static void at_exec_fails(void)
{
	mark(60);
	execl("/nonexistent", "x", NULL);
	mark(51);
	exit(0);
}

static void at_vfork_exec(void)
{
	mark(112);
	if (!vfork()) {
		execl(self, self, "exit", NULL);
		_exit(99);
	}
	reap();
	mark(1);
}

static void at_vfork_exit(void)
{
	mark(100);
	if (!vfork()) {
		mark(7); /* in the parent's memory */
		_exit(0);
	}
	reap();
	mark(7);
}

static void at_spawn(void)
{
	char *argv[] = { self, (char *)"exit", NULL };
	pid_t pid;

	mark(15);
	for (int i = 0; i < 10; i++) {
		errno = posix_spawn(&pid, self, NULL, NULL, argv, environ);
		check(errno);
	}
	reap();
}

static void at_system(void)
{
	char command[4200];

	mark(16);
	snprintf(command, sizeof(command), "%s exit; %s status; true", self, self);
	check(system(command));
}

static void at_fork(void)
{
	mark(100);
	if (!fork()) {
		mark(10);
		exit(0);
	}
	reap();
	mark(7);
}

static void at_fork_before_end(void)
{
	mark(100);
	if (!fork()) {
		usleep(30000); /* its parent is gone by then */
		mark(18);
		exit(0);
	}
}

static void *fork_thread(void *arg)
{
	mark_locked(20);
	if (!fork()) {
		mark(99);
		_exit(0);
	}
	return arg;
}

static void at_fork_in_thread(void)
{
	pthread_join(start(fork_thread), NULL);
	reap();
}

static void fork_tree(int depth, int width)
{
	mark(5);
	for (int i = 0; depth && i < width; i++) {
		pid_t pid = fork();

		check(pid < 0);
		if (!pid) {
			fork_tree(depth - 1, width);
			exit(0);
		}
	}
	reap();
}

static void at_fork_tree(void) /* 1 + 199 = 200: a root with 199 in two levels */
{
	fork_tree(1, 44); /* 45 processes */
	fork_tree(3, 5);  /* 156: 1 + 5 + 25 + 125, the root being the same */
}

static void at_fork_many(void) /* 199 children of one, 20 at a time */
{
	mark(5);
	for (int i = 0; i < 199; i++) {
		pid_t pid = fork();

		check(pid < 0);
		if (!pid) {
			mark(5);
			if (i % 2)
				_exit(0);
			raise(SIGKILL);
		}
		if (i % 20 == 19)
			reap();
	}
	reap();
}

static void *late(void *arg)
{
	usleep(30000);
	mark_locked(60);
	return arg;
}

static void at_leader_exits(void)
{
	start(late);
	start(late);
	mark_locked(3);
	pthread_exit(NULL);
}

static void *later_with_thread(void *arg)
{
	usleep(10000);
	start(late);
	mark_locked(60);
	return arg;
}

static void at_leader_exits_new_threads(void)
{
	start(later_with_thread);
	mark_locked(4);
	pthread_exit(NULL);
}

static void *mark_once(void *arg)
{
	mark_locked(1);
	return arg;
}

static void at_threads(void) /* one after another */
{
	for (int i = 0; i < 500; i++)
		pthread_join(start(mark_once), NULL);
}

static void *mark_more(void *arg)
{
	mark_locked(10);
	pause();
	return arg;
}

static void at_thread_storm(void) /* many at once, and an end in their midst */
{
	for (int i = 0; i < 100; i++)
		start(mark_more);
	while (__atomic_load_n(&sink, __ATOMIC_RELAXED) < 1000)
		usleep(1000);
	_exit(0);
}

static void *exit_from_thread(void *arg)
{
	mark_locked(23);
	exit(0);
	return arg;
}

static void at_exit_in_thread(void)
{
	mark_locked(100);
	start(exit_from_thread);
	pause();
}

static void *spin(void *arg)
{
	for (;;)
		sink++;
	return arg;
}

static void at_kill_threads(void)
{
	mark(124);
	for (int i = 0; i < 8; i++)
		start(spin);
	usleep(5000);
	kill(getpid(), SIGKILL);
	pause();
}

static void call_library(const char *name, int nr)
{
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	void (*function)(int);

	if (!library) {
		fprintf(stderr, "endings: %s\n", dlerror());
		_exit(99);
	}
	function = (void (*)(int))dlsym(library, "library_mark");
	function(nr);
	check(dlclose(library));
}

/* The library has a marked() of its own. */
static void at_dlclose(void)
{
	for (int i = 0; i < 5; i++)
		call_library(getenv("ENDINGS_LIBRARY"), 25);
}

/* With time for the recorder to see that it is gone. */
static void at_dlclose_slowly(void)
{
	for (int i = 0; i < 5; i++) {
		call_library(getenv("ENDINGS_LIBRARY"), 25);
		usleep(250000);
	}
}

static void *dlclose_thread(void *arg)
{
	at_dlclose();
	return arg;
}

static void at_dlclose_in_thread(void)
{
	pthread_join(start(dlclose_thread), NULL);
	call_library(getenv("ENDINGS_LIBRARY"), 1);
}

static void at_clone_vm(void) /* a process that shares memory, without vfork's wait */
{
	static char stack[65536];
	pid_t pid;

	mark(100);
	pid = clone((int (*)(void *))(void *)mark, stack + sizeof(stack), CLONE_VM | SIGCHLD,
		    (void *)27);
	check(pid < 0);
	waitpid(pid, NULL, 0);
}

static volatile sig_atomic_t steps; /* of what is done among the signals */

/*
 * 300 us to the next; twice as long each time that a hundred in a row have seen no step, for on a
 * slow machine a traced program may come to nothing else.
 */
static void on_alarm(int signal)
{
	static struct itimerval once = { .it_value = { 0, 300 } };
	static sig_atomic_t last;
	static int in_a_row;

	(void)signal;
	if (steps != last)
		in_a_row = 0;
	last = steps;
	if (++in_a_row % 100 == 0 && once.it_value.tv_usec < 300000)
		once.it_value.tv_usec *= 2;
	check(setitimer(ITIMER_REAL, &once, NULL));
}

/* Signals whose handler makes calls fail with EINTR that can. */
static void start_alarms(void)
{
	struct sigaction action = { .sa_handler = on_alarm };

	check(sigaction(SIGALRM, &action, NULL));
	on_alarm(SIGALRM);
}

static void at_fork_in_signals(void)
{
	start_alarms();
	for (int i = 0; i < 300; i++, steps++) {
		pid_t pid = fork();

		check(pid < 0);
		if (!pid) {
			mark(1);
			_exit(0);
		}
		while (waitpid(pid, NULL, 0) < 0)
			check(errno != EINTR);
	}
}

static void at_dlclose_in_signals(void)
{
	start_alarms();
	for (int i = 0; i < 200; i++, steps++)
		call_library(getenv("ENDINGS_LIBRARY"), 1);
}

/* For attaching: waits for a line, marks, says so, and is busy until told to end. */
static void at_attach(void)
{
	char line[16];

	mark(55); /* before: not to be counted */
	puts("ready");
	fflush(stdout);
	check(!fgets(line, sizeof(line), stdin));
	mark(128);
	puts("marked");
	fflush(stdout);
	for (volatile unsigned long i = 0; i < 4000000000UL; i++)
		if (!(i & 0xfffff) && !access("stop", F_OK))
			break;
	mark(11); /* after: not to be counted */
	puts("unharmed");
}

static const struct {
	const char *name;
	void (*function)(void);
	int count;
} modes[] = {
	{ "exit", at_exit, 100 },
	{ "status", at_status, 101 },
	{ "_exit", at__exit, 102 },
	{ "abort", at_abort, 103 },
	{ "segv", at_segv, 104 },
	{ "kill", at_kill, 105 },
	{ "term", at_term, 106 },
	{ "kill_outside", at_kill_outside, 107 },
	{ "exec", at_exec, 208 },
	{ "exec_thread", at_exec_thread, 259 },
	{ "exec_leader_of_threads", at_exec_leader_of_threads, 210 },
	{ "exec_fails", at_exec_fails, 111 },
	{ "vfork_exec", at_vfork_exec, 213 },
	{ "vfork_exit", at_vfork_exit, 114 },
	{ "spawn", at_spawn, 1015 },
	{ "system", at_system, 217 },
	{ "fork", at_fork, 117 },
	{ "fork_before_end", at_fork_before_end, 118 },
	{ "fork_in_thread", at_fork_in_thread, 119 },
	{ "fork_tree", at_fork_tree, 1005 },
	{ "fork_many", at_fork_many, 1000 },
	{ "leader_exits", at_leader_exits, 123 },
	{ "leader_exits_new_threads", at_leader_exits_new_threads, 124 },
	{ "threads", at_threads, 500 },
	{ "thread_storm", at_thread_storm, 1000 },
	{ "exit_in_thread", at_exit_in_thread, 123 },
	{ "kill_threads", at_kill_threads, 124 },
	{ "dlclose", at_dlclose, 125 },
	{ "dlclose_slowly", at_dlclose_slowly, 125 },
	{ "dlclose_in_thread", at_dlclose_in_thread, 126 },
	{ "clone_vm", at_clone_vm, 127 },
	{ "fork_in_signals", at_fork_in_signals, 300 },
	{ "dlclose_in_signals", at_dlclose_in_signals, 200 },
	{ "attach", at_attach, 128 },
};

int main(int argc, char **argv)
{
	self = realpath("/proc/self/exe", NULL);
	for (size_t i = 0; argc == 2 && i < sizeof(modes) / sizeof(*modes); i++) {
		if (!strcmp(argv[1], "list"))
			printf("%s %d\n", modes[i].name, modes[i].count);
		if (!strcmp(argv[1], modes[i].name)) {
			modes[i].function();
			return 0;
		}
	}
	return argc == 2 && !strcmp(argv[1], "list") ? 0 : 98;
}
