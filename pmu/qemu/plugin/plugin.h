/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The plugin: what its parts share. Nothing here may disturb the program: no descriptor stays
 * open, nothing is printed once the program runs, a recorder that is gone only ends recording.
 */
#ifndef SWLBR_QEMU_PLUGIN_H
#define SWLBR_QEMU_PLUGIN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "pmu/qemu/branch_kind.h"
#include "pmu/qemu/guest.h"
#include "pmu/qemu/lane.h"

struct options {
	const char *text;   /* the whole -plugin option, to hand on at an exec */
	const char *socket; /* the recorder's */
	const char *sysroot;
	pid_t recorder;
	enum lane_mode mode;
	bool system;	 /* a whole machine is emulated: all code counts as of one image */
	uint32_t depth;	 /* entries of a stack */
	uint64_t period; /* mean taken branches between samples */
	uint32_t filter; /* kinds of branches that enter the stack, 1 << enum branch_kind */
	const struct guest_machine *machine;
	branch_decode_t *decode;
	void (*on_block)(unsigned int index, void *block);
};

extern struct options options;

/*
 * struct block - code that the emulator runs as a whole, and how it may end
 * @end: where control goes on without a branch; NEVER where it does not
 * @target: of a direct branch; else NEVER
 */
struct block {
	uint64_t start, end;
	uint64_t target;
	uint64_t last; /* address of the last instruction */
	uint16_t mapping;
	bool any_target; /* an indirect branch or a return ends it */
	bool is_branch;	 /* a branch ends it */
	bool in_stack;	 /* which passes the filter */
	bool calls;	 /* an indirect call ends it */
	bool handler;	 /* a signal handler starts here */
	bool resumes;	 /* it ends by returning to what an exception interrupted */
} __attribute__((aligned(64)));

/* An odd address on which no block starts. */
#define NEVER UINT64_MAX

/* Shared memory with the recorder; nothing happens on a lane that could not be opened. */
struct lane_writer {
	struct lane *lane;
	size_t size;	 /* bytes mapped */
	uint32_t *slots; /* of the runs: 1 + index, open addressing */
	unsigned int slots_log2;
};

/**
 * struct vcpu - a thread of the program
 *
 * The newest of its branches are in @ring. While a sample is far off they need not be: then only
 * @left is kept. At 0, also of a new thread, there is something to do.
 */
struct vcpu {
	const struct block *last; /* the block executed before */
	uint64_t left;		  /* taken branches until the next sample */
	uint64_t interval;	  /* taken branches between the sample before and the next */
	uint64_t late;		  /* by how many branches the next sample is late */
	uint64_t taken;		  /* entries ever put into @ring */
	uint64_t first;		  /* entries before this one do not join up with those after */
	uint64_t random;
	uint64_t run_start; /* location */
	struct lane_writer writer;
	const struct block *saved[LANE_SAVED_RUNS]; /* blocks that signals interrupted */
	struct block copies[LANE_SAVED_RUNS + 1];   /* of the above, once blocks were thrown away */
	bool returns;				    /* a signal handler is returning */
	bool execs; /* an exec that leaves the emulator is on its way */
	char comm[16];
	struct lane_entry ring[LANE_MAX_DEPTH];
} __attribute__((aligned(4096)));

#define MAX_VCPUS 4096

extern struct vcpu vcpus[MAX_VCPUS];
extern const struct block no_block;

/* blocks.c: called at each translation; guest address + guest_base() is where it is in memory. */
void blocks_register(uint64_t id);
uint64_t guest_base(void);
void blocks_note_handler(uint64_t address);

/* vcpu.c: once at the beginning; a thread's beginning and end; each execution of a block. */
void vcpu_start(void);
void vcpu_init(uint64_t id, unsigned int index);
void vcpu_exit(uint64_t id, unsigned int index);
void vcpu_on_block_lbr(unsigned int index, void *block);
void vcpu_on_block_filtered(unsigned int index, void *block);
void vcpu_on_block_counts(unsigned int index, void *block);
/* Blocks are about to be thrown away; no thread runs. */
void vcpu_copy_blocks(void);
/* Tell the recorder of new mappings, if this thread can. */
void vcpu_put_mappings(void);

/* counts.c */
void counts_add(struct lane_writer *writer, uint64_t start, uint64_t last, uint64_t to);

/* lane_writer.c */
bool lane_open(struct lane_writer *writer, enum lane_start_kind kind, pid_t ppid, pid_t ptid);
/* Forget it without a word to the recorder: the process that it belongs to has it still. */
void lane_drop(struct lane_writer *writer);
void lane_close(struct lane_writer *writer);
/* One record of two parts, padded; its time is @time (ns). */
void lane_put(struct lane_writer *writer, enum lane_record_type type, uint64_t time,
	      const void *head, size_t head_size, const void *tail, size_t tail_size);
uint64_t lane_now(void);
/* A new number for this program image. */
void lane_new_process(void);

/* mappings.c: number of the mapping that has the code at @vaddr, @host in our memory. */
uint16_t mappings_find(uint64_t vaddr, const void *host);
/* The program unmapped these addresses, or mapped something else there. */
void mappings_forget(uint64_t start, uint64_t length);
/* Tell the recorder of mappings that it was not told of; with @all once more of each. */
void mappings_put(struct lane_writer *writer, bool all);
/* Around a fork. */
void mappings_lock(void);
void mappings_unlock(void);

/* syscalls.c */
void syscalls_register(uint64_t id);

/* Copy the program's memory at a guest address; false if it is not all there. */
bool guest_read(uint64_t address, void *data, size_t size);

/*
 * follow_exec.c: the three arguments of execve(), guest addresses. Does not return if the program
 * goes on in an emulator; else the emulator does the call itself, and the recorder is told.
 */
void follow_exec(struct vcpu *vcpu, uint64_t path, uint64_t argv, uint64_t envp);

#endif
