/* SPDX-License-Identifier: GPL-2.0-only */
/* Record the branches of programs that run in an emulator. */
#ifndef SWLBR_QEMU_EMULATE_H
#define SWLBR_QEMU_EMULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <swlbr/error.h>
#include <swlbr/perfdata_writer.h>

struct emulate_summary;

struct emulate_options {
	const char *output;
	struct swlbr_perfdata_info info; /* @period: mean taken branches between samples */
	char *const *command;		 /* argv of the program to run */
	const char *plugin;		 /* path of the plugin's shared object */
	const char *sysroot;		 /* where the program's libraries are, or NULL */
	/*
	 * The ELF image of a kernel whose code, at the addresses it was linked for, is counted: the
	 * command is a qemu-system then. Else NULL.
	 */
	const char *kernel;
	uint32_t depth; /* entries of a stack */
	uint32_t kinds; /* of branches in a stack, 1 << enum branch_kind */
	bool counts;	/* exact counts into an arcs file, instead of samples */
	/* Called about four times a second. */
	void (*progress)(const struct emulate_summary *summary);
};

#define EMULATE_MAX_NOTES 16

struct emulate_summary {
	uint64_t start, end; /* ns */
	uint64_t processes, images, threads, binaries, samples;
	uint64_t taken;	       /* branches: what the samples stand for, or counted */
	uint64_t unknown;      /* of these, from or to code that no file has */
	uint64_t lost;	       /* counted runs that found no place */
	uint64_t lost_threads; /* that could not be recorded */
	uint64_t bytes;	       /* of the output */
	bool child_ended;
	int child_status;	       /* as wait() gives it */
	int stop_signal;	       /* the signal that ended the recording, or 0 */
	char *note[EMULATE_MAX_NOTES]; /* what is not in the recording and why, a line each */
	uint64_t nr_notes;	       /* may be more than were kept */
};

/*
 * Run the command under the emulator of its machine until it and its descendants have ended, or
 * SIGINT or SIGTERM. @summary is filled in even on error; freed by emulate_summary_deinit().
 */
struct swlbr_error *emulate_run(const struct emulate_options *options,
				struct emulate_summary *summary);
void emulate_summary_deinit(struct emulate_summary *summary);

/* A line of the summary. */
void emulate_note(struct emulate_summary *summary, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
