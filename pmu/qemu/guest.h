/* SPDX-License-Identifier: GPL-2.0-only */
/* The machines whose programs are emulated, and how a program is handed to the emulator. */
#ifndef SWLBR_QEMU_GUEST_H
#define SWLBR_QEMU_GUEST_H

#include <stddef.h>
#include <stdint.h>

struct guest_machine {
	const char *target;   /* QEMU's name: qemu-TARGET runs its programs */
	uint16_t elf_machine; /* EM_* */
	/* Numbers of system calls. */
	int16_t execve, execveat, rt_sigaction, rt_sigreturn, mmap, munmap, mremap, prctl;
};

/* NULL if it is not one of them. */
const struct guest_machine *guest_machine_of_target(const char *target);
const struct guest_machine *guest_machine_of_elf(uint16_t elf_machine);

#define GUEST_LINE_SIZE 256 /* of a script's first line; BINPRM_BUF_SIZE of the kernel */

/*
 * What the kernel would run for the program at @path: the program itself, or the interpreter that a
 * script's first line names.
 */
struct guest_program {
	const struct guest_machine *machine;
	char line[GUEST_LINE_SIZE]; /* holds the two texts below */
	const char *interpreter;    /* of a script; else NULL */
	const char *argument;	    /* of a script's interpreter, may be NULL */
};

/*
 * Look at the file at @path. Interpreters are looked for below @sysroot (may be NULL) first. 0, or
 * an errno: ENOEXEC if it is no program for a machine we know.
 */
int guest_program_find(const char *path, const char *sysroot, struct guest_program *ret);

/*
 * The command that runs the program with @plugin (the text of QEMU's -plugin option), NULL at its
 * end. The array is the caller's to free(); its strings are those given. NULL: no memory.
 */
char **guest_program_command(const struct guest_program *program, const char *qemu,
			     const char *plugin, const char *sysroot, const char *path,
			     char *const *argv);

#endif
