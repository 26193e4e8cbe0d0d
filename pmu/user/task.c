// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "task.h"

/* include/linux/sched.h */
#define PF_EXITING  0x00000004
#define PF_SIGNALED 0x00000400

static struct task **task_slot(struct task_table *table, pid_t tid)
{
	struct task **link = &table->bucket[(unsigned int)tid % 1024];

	while (*link && (*link)->tid != tid)
		link = &(*link)->next;
	return link;
}

struct task *task_find(const struct task_table *table, pid_t tid)
{
	return *task_slot((struct task_table *)table, tid);
}

struct task *task_add(struct task_table *table, pid_t tid, struct process *process)
{
	struct task *task = calloc(1, sizeof(*task));

	if (!task)
		return NULL;
	task->tid = tid;
	task->process = process;
	if (process)
		process->nr_tasks++;
	*task_slot(table, tid) = task;
	table->nr_tasks++;
	return task;
}

void task_remove(struct task_table *table, struct task *task)
{
	struct task **link = task_slot(table, task->tid);

	*link = task->next;
	table->nr_tasks--;
	if (task->process)
		task->process->nr_tasks--;
	free(task);
}

struct process *process_find(const struct task_table *table, pid_t pid)
{
	struct process *process = table->processes;

	while (process && process->pid != pid)
		process = process->next;
	return process;
}

struct process *process_add(struct task_table *table, pid_t pid, pid_t ppid, struct memory *memory)
{
	struct process *process = calloc(1, sizeof(*process));

	if (!process)
		return NULL;
	process->pid = pid;
	process->ppid = ppid;
	process->memory = memory;
	process->next = table->processes;
	table->processes = process;
	return process;
}

void process_remove(struct task_table *table, struct process *process)
{
	struct process **link = &table->processes;

	while (*link && *link != process)
		link = &(*link)->next;
	if (*link)
		*link = process->next;
	memory_put(process->memory);
	free(process);
}

bool task_read_proc(pid_t tid, const char *file, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = 0;
	return true;
}

static unsigned long long status_field(const char *text, const char *name, int base)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, base) : 0;
}

struct thread_state thread_state(pid_t tid)
{
	struct thread_state state = { 0 };
	unsigned int flags = 0;
	char text[4096];
	const char *end;

	if (!task_read_proc(tid, "stat", text, sizeof(text)))
		return state;
	end = strrchr(text, ')'); /* the name may hold anything */
	if (!end ||
	    sscanf(end + 1, " %c %d %*d %*d %*d %*d %u", &state.state, &state.ppid, &flags) != 3)
		return (struct thread_state){ 0 };
	state.exiting = flags & PF_EXITING;
	state.killed = flags & PF_SIGNALED;
	if (!task_read_proc(tid, "status", text, sizeof(text)))
		return (struct thread_state){ 0 };
	state.tgid = (pid_t)status_field(text, "\nTgid:\t", 10);
	if (status_field(text, "\nSigPnd:\t", 16) & 1ULL << (SIGKILL - 1))
		state.killed = true;
	return state;
}

enum task_place task_call(pid_t tid, struct task_call *ret)
{
	char text[256], *at;

	if (!task_read_proc(tid, "syscall", text, sizeof(text)))
		return TASK_GONE;
	if (!strncmp(text, "running", strlen("running")))
		return TASK_RUNNING;
	ret->nr = (int)strtol(text, &at, 10);
	for (size_t i = 0; i < sizeof(ret->arg) / sizeof(*ret->arg); i++)
		ret->arg[i] = strtoull(at, &at, 16);
	return TASK_IN_CALL;
}

size_t thread_list(pid_t pid, pid_t **ret)
{
	char path[64];
	struct dirent *entry;
	size_t nr = 0, room = 0;
	DIR *dir;

	*ret = NULL;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		if (nr == room) {
			pid_t *grown = reallocarray(*ret, room = 2 * room + 16, sizeof(*grown));

			if (!grown)
				break;
			*ret = grown;
		}
		(*ret)[nr++] = (pid_t)atoi(entry->d_name);
	}
	closedir(dir);
	return nr;
}
