// SPDX-License-Identifier: GPL-2.0-only
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"

/* Numbers: the kernel's arch/x86/entry/syscalls/syscall_64.tbl and asm-generic/unistd.h. */
static const struct guest_machine machines[] = {
	{
		.target = "x86_64",
		.elf_machine = EM_X86_64,
		.execve = 59,
		.execveat = 322,
		.rt_sigaction = 13,
		.rt_sigreturn = 15,
		.mmap = 9,
		.munmap = 11,
		.mremap = 25,
		.prctl = 157,
	},
	{
		.target = "aarch64",
		.elf_machine = EM_AARCH64,
		.execve = 221,
		.execveat = 281,
		.rt_sigaction = 134,
		.rt_sigreturn = 139,
		.mmap = 222,
		.munmap = 215,
		.mremap = 216,
		.prctl = 167,
	},
};

#define NR_MACHINES (sizeof(machines) / sizeof(*machines))

const struct guest_machine *guest_machine_of_target(const char *target)
{
	for (size_t i = 0; i < NR_MACHINES; i++)
		if (!strcmp(machines[i].target, target))
			return &machines[i];
	return NULL;
}

const struct guest_machine *guest_machine_of_elf(uint16_t elf_machine)
{
	for (size_t i = 0; i < NR_MACHINES; i++)
		if (machines[i].elf_machine == elf_machine)
			return &machines[i];
	return NULL;
}

/* The first bytes of the file at @path, zeroes behind them. 0 or an errno. */
static int read_head(const char *path, char head[GUEST_LINE_SIZE])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error = 0;

	if (fd < 0)
		return errno;
	memset(head, 0, GUEST_LINE_SIZE);
	if (read(fd, head, GUEST_LINE_SIZE - 1) < 0)
		error = errno;
	close(fd);
	return error;
}

static const struct guest_machine *machine_of_head(const char *head)
{
	Elf64_Ehdr header;

	memcpy(&header, head, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB)
		return NULL;
	return guest_machine_of_elf(header.e_machine);
}

/* As the kernel's load_script() splits "#! interpreter argument". */
static bool split_line(struct guest_program *program)
{
	char *at = program->line + 2, *end = program->line + strcspn(program->line, "\n");

	*end = '\0';
	while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = '\0';
	at += strspn(at, " \t");
	program->interpreter = at;
	at += strcspn(at, " \t");
	if (*at) {
		*at++ = '\0';
		program->argument = at + strspn(at, " \t");
	}
	return *program->interpreter;
}

int guest_program_find(const char *path, const char *sysroot, struct guest_program *ret)
{
	char head[GUEST_LINE_SIZE], below[4096];
	int error = read_head(path, ret->line);

	ret->interpreter = ret->argument = NULL;
	if (error)
		return error;
	ret->machine = machine_of_head(ret->line);
	if (ret->machine)
		return 0;
	if (ret->line[0] != '#' || ret->line[1] != '!' || !split_line(ret))
		return ENOEXEC;
	if (!sysroot ||
	    snprintf(below, sizeof(below), "%s%s", sysroot, ret->interpreter) >=
		    (int)sizeof(below) ||
	    read_head(below, head))
		error = read_head(ret->interpreter, head);
	ret->machine = error ? NULL : machine_of_head(head);
	return ret->machine ? 0 : ENOEXEC;
}

char **guest_program_command(const struct guest_program *program, const char *qemu,
			     const char *plugin, const char *sysroot, const char *path,
			     char *const *argv)
{
	size_t argc = 0, nr = 0;
	char **command;

	while (argv[argc])
		argc++;
	command = calloc(argc + 12, sizeof(*command));
	if (!command)
		return NULL;
	command[nr++] = (char *)qemu;
	command[nr++] = (char *)"-plugin";
	command[nr++] = (char *)plugin;
	if (sysroot) {
		command[nr++] = (char *)"-L";
		command[nr++] = (char *)sysroot;
	}
	if (program->interpreter) {
		command[nr++] = (char *)program->interpreter;
		if (program->argument)
			command[nr++] = (char *)program->argument;
		command[nr++] = (char *)path;
	} else {
		command[nr++] = (char *)"-0";
		command[nr++] = argc ? argv[0] : (char *)"";
		command[nr++] = (char *)path;
	}
	for (size_t i = 1; i < argc; i++)
		command[nr++] = argv[i];
	return command;
}
