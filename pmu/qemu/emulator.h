/* SPDX-License-Identifier: GPL-2.0-only */
/* Starting a program in the emulator of its machine. */
#ifndef SWLBR_QEMU_EMULATOR_H
#define SWLBR_QEMU_EMULATOR_H

#include <signal.h>
#include <sys/types.h>

#include "emulate.h"
#include "guest.h"

/** What runs a command. Its paths are of PATH_MAX bytes. */
struct emulator {
	struct guest_program program;
	char path[4096]; /* of the command's program */
	char qemu[4096];
};

/* Find the command's program and the emulator of its machine. Errors say what is missing. */
struct swlbr_error *emulator_find(const struct emulate_options *options, struct emulator *ret);

/*
 * Start the command, with the signal mask @mask; its threads' lanes come through the socket at
 * @socket_path.
 */
struct swlbr_error *emulator_start(const struct emulator *emulator,
				   const struct emulate_options *options, const char *socket_path,
				   const sigset_t *mask, pid_t *pid_ret);

#endif
