/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The emulated processes: what their lanes tell becomes events of a perf.data, or counts of an
 * edge profile.
 */
#ifndef SWLBR_QEMU_EMULATED_H
#define SWLBR_QEMU_EMULATED_H

#include <swlbr/edge_profile.h>
#include <swlbr/perfdata_writer.h>

#include "emulate.h"
#include "lane_reader.h"

/** A file that code was executed from. */
struct emulated_binary {
	char *path;
	uint64_t inode;
	uint32_t major, minor;
	struct swlbr_build_id build_id; /* size 0: none is known */
	struct swlbr_elf_segment *segments;
	size_t nr_segments;
	uint32_t profile_index;
};

struct emulated_mapping {
	struct lane_mapping told;
	size_t binary; /* index */
};

/** A program image: a process until its exec. */
struct emulated_process {
	uint64_t id; /* as its lanes have it */
	pid_t pid;
	int pidfd; /* readable when it has ended; -1 if it had before we looked */
	unsigned int nr_lanes;
	bool replaced; /* by an exec */
	bool ended;
	char *executed; /* path of what it executed outside the emulator, or NULL */
	struct emulated_mapping *mappings;
	size_t max_mappings; /* by number */
};

struct emulated {
	const struct emulate_options *options;
	struct emulate_summary *summary;
	struct swlbr_perfdata_writer *writer; /* one of these two */
	struct swlbr_edge_profile *profile;
	struct emulated_binary *binaries;
	size_t nr_binaries; /* the first one is the kernel, if there is one */
	struct emulated_process **processes;
	size_t nr_processes;
};

/* Where a whole machine is emulated: read the options' kernel. */
struct swlbr_error *emulated_open_kernel(struct emulated *emulated);
/* The process of a lane, which may be new. */
struct swlbr_error *emulated_process_of(struct emulated *emulated, const struct lane_reader *lane,
					struct emulated_process **ret);
/* A record of a lane of @process. */
struct swlbr_error *emulated_record(struct emulated *emulated, struct emulated_process *process,
				    pid_t tid, const struct lane_record *record);
/* All records of the lane were seen. */
struct swlbr_error *emulated_lane_ended(struct emulated *emulated, struct emulated_process *process,
					const struct lane_reader *lane);
/* Forget @process, whose lanes have all ended. */
struct swlbr_error *emulated_process_ended(struct emulated *emulated,
					   struct emulated_process *process);
void emulated_deinit(struct emulated *emulated);

#endif
