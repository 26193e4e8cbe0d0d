// SPDX-License-Identifier: GPL-2.0-only
/*
 * The way of control through a program, seen as the blocks that each thread executes: which is a
 * taken branch, and which is a signal, the return of its handler, or the emulator itself.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plugin.h"

struct vcpu vcpus[MAX_VCPUS];
const struct block no_block = { .start = NEVER, .end = NEVER, .target = NEVER, .last = NEVER };

static __thread struct vcpu *self;
/* Of the next lane that is opened: how its thread came to be. */
static enum lane_start_kind start_kind = LANE_START_IMAGE;
static struct {
	pid_t pid, tid;
} forked_by;
static unsigned int nr_vcpus; /* one more than the highest index seen */

/* True if the branch at the end of @last led to @block. */
static inline bool is_taken(const struct block *last, const struct block *block)
{
	/* A signal handler is not what a function returns to. */
	if (last->any_target)
		return !block->handler || last->calls;
	return block->start == last->target;
}

/* xorshift64*, good enough to spread samples, and the same in each run. */
static uint64_t next_random(struct vcpu *vcpu)
{
	vcpu->random ^= vcpu->random >> 12;
	vcpu->random ^= vcpu->random << 25;
	vcpu->random ^= vcpu->random >> 27;
	return vcpu->random * 2685821657736338717ULL;
}

/*
 * Samples at equal distances would beat with the program's loops: each is late by up to an eighth of
 * the period. The next one is not late for that, so that samples spread as evenly as can be.
 */
static void next_interval(struct vcpu *vcpu)
{
	uint64_t early = vcpu->late;

	vcpu->late = next_random(vcpu) % (options.period / 8 + 1);
	vcpu->interval = options.period + vcpu->late - early;
	vcpu->left = vcpu->interval;
}

/* Branches before now are no neighbours of those that follow. */
static void break_stack(struct vcpu *vcpu)
{
	vcpu->first = vcpu->taken;
}

static void start_run(struct vcpu *vcpu, uint64_t start)
{
	vcpu->run_start = start;
	if (vcpu->writer.lane)
		vcpu->writer.lane->open_start = start;
}

static uint64_t location(const struct block *block, uint64_t address)
{
	return lane_location(address, block->mapping);
}

static void end_run(struct vcpu *vcpu, const struct block *last)
{
	if (options.mode == LANE_COUNTS)
		counts_add(&vcpu->writer, vcpu->run_start, location(last, last->last), 0);
}

/* Without a descriptor or memory to spare a thread is not recorded: another's lane tells. */
static void lose_thread(void)
{
	for (unsigned int i = 0; i < nr_vcpus; i++) {
		struct lane *lane = vcpus[i].writer.lane;

		if (!lane)
			continue;
		__atomic_fetch_add(&lane->lost_threads, 1, __ATOMIC_RELAXED);
		return;
	}
}

/* The first block of a thread. */
static void start_thread(struct vcpu *vcpu)
{
	static uint64_t nr_threads;
	pid_t ppid = getpid(), ptid = ppid;

	if (start_kind == LANE_START_IMAGE)
		ppid = ptid = getppid();
	if (start_kind == LANE_START_FORK) {
		ppid = forked_by.pid;
		ptid = forked_by.tid;
	}
	self = vcpu;
	vcpu->random =
		0x9e3779b97f4a7c15ULL * (1 + __atomic_fetch_add(&nr_threads, 1, __ATOMIC_RELAXED));
	vcpu->late = 0;
	next_interval(vcpu);
	break_stack(vcpu);
	if (lane_open(&vcpu->writer, start_kind, ppid, ptid))
		mappings_put(&vcpu->writer, start_kind == LANE_START_FORK);
	else
		lose_thread();
	start_kind = LANE_START_THREAD;
}

void vcpu_put_mappings(void)
{
	if (self)
		mappings_put(&self->writer, false);
}

static void save_run(struct vcpu *vcpu, const struct block *last)
{
	struct lane *lane = vcpu->writer.lane;

	if (!lane)
		return;
	if (lane->nr_saved == LANE_SAVED_RUNS) { /* handlers that did not return */
		if (options.mode == LANE_COUNTS)
			counts_add(&vcpu->writer, lane->saved[0].start, lane->saved[0].last, 0);
		memmove(&lane->saved[0], &lane->saved[1],
			sizeof(lane->saved) - sizeof(lane->saved[0]));
		memmove(&vcpu->saved[0], &vcpu->saved[1],
			sizeof(vcpu->saved) - sizeof(vcpu->saved[0]));
		lane->nr_saved--;
	}
	vcpu->saved[lane->nr_saved] = last;
	lane->saved[lane->nr_saved].start = vcpu->run_start;
	lane->saved[lane->nr_saved].last = location(last, last->last);
	lane->nr_saved++;
}

/* The block that the signal interrupted whose handler has returned; its run goes on. */
static const struct block *restore_run(struct vcpu *vcpu)
{
	struct lane *lane = vcpu->writer.lane;

	if (!lane || !lane->nr_saved)
		return NULL;
	lane->nr_saved--;
	start_run(vcpu, lane->saved[lane->nr_saved].start);
	return vcpu->saved[lane->nr_saved];
}

/* True if @block starts inside @last: the emulator left off there, and goes on. */
static bool is_inside(const struct block *last, const struct block *block)
{
	return block->start - last->start <= last->last - last->start;
}

/*
 * @block is neither what follows @last nor where its branch leads. If a branch was interrupted by
 * a signal whose handler has now returned, gives the block that it ends.
 */
static const struct block *irregular(struct vcpu *vcpu, const struct block *last,
				     const struct block *block)
{
	const struct block *saved;

	if (last == &no_block) {
		start_thread(vcpu);
		start_run(vcpu, location(block, block->start));
		return NULL;
	}
	/* A rep string instruction, or one that the emulator executes alone. */
	if (is_inside(last, block))
		return NULL;
	break_stack(vcpu);
	if (!vcpu->returns && !last->resumes) { /* a signal, or an exception of a machine */
		save_run(vcpu, last);
		start_run(vcpu, location(block, block->start));
		return NULL;
	}
	vcpu->returns = false;
	end_run(vcpu, last);
	if (block->handler) { /* the next signal, before the program went on */
		start_run(vcpu, location(block, block->start));
		return NULL;
	}
	saved = restore_run(vcpu);
	if (saved && is_taken(saved, block))
		return saved;
	if (saved && (block->start == saved->end || is_inside(saved, block)))
		return NULL;
	if (saved) /* the handler changed where the program goes on */
		end_run(vcpu, saved);
	start_run(vcpu, location(block, block->start));
	return NULL;
}

static void put_sample(struct vcpu *vcpu, const struct block *block)
{
	struct lane_entry entries[LANE_MAX_DEPTH];
	struct lane_sample sample = { .ip = block->start, .period = vcpu->interval };

	sample.nr = vcpu->taken - vcpu->first;
	if (sample.nr > options.depth)
		sample.nr = options.depth;
	for (uint64_t i = 0; i < sample.nr; i++)
		entries[i] = vcpu->ring[(vcpu->taken - 1 - i) % LANE_MAX_DEPTH];
	lane_put(&vcpu->writer, LANE_RECORD_SAMPLE, lane_now(), &sample, sizeof(sample), entries,
		 sample.nr * sizeof(*entries));
	next_interval(vcpu);
}

/* With every branch seen. */
static inline void step(struct vcpu *vcpu, const struct block *last, const struct block *block)
{
	if (block->start == last->end)
		return;
	if (!is_taken(last, block)) {
		if (last == &no_block)
			start_thread(vcpu);
		else if (!is_inside(last, block)) /* a signal, or its handler's return */
			break_stack(vcpu);
		return;
	}
	if (last->in_stack)
		vcpu->ring[vcpu->taken++ % LANE_MAX_DEPTH] =
			(struct lane_entry){ last->last, block->start };
	if (!--vcpu->left)
		put_sample(vcpu, block);
}

/* A sample is near: the branches from here on may be in its stack. */
static __attribute__((noinline)) void near_sample(struct vcpu *vcpu, const struct block *last,
						  const struct block *block)
{
	step(vcpu, last, block);
	if (vcpu->left > LANE_MAX_DEPTH)
		break_stack(vcpu);
}

/*
 * Runs for each block: what costs here costs the program. Whether the branch was taken is as hard to
 * predict as the program is, so that there is no branch on it.
 */
void vcpu_on_block_lbr(unsigned int index, void *data)
{
	const struct block *block = data, *last;
	struct vcpu *vcpu = &vcpus[index];
	uint64_t left;

	if (__builtin_expect(index >= MAX_VCPUS, 0))
		return;
	last = vcpu->last;
	left = vcpu->left;
	vcpu->last = block;
	if (__builtin_expect(left <= LANE_MAX_DEPTH, 0)) {
		near_sample(vcpu, last, block);
		return;
	}
	vcpu->left = left - ((block->start != last->end) & last->is_branch);
}

/* As above where the stack does not hold all branches, so that they may be from far back. */
void vcpu_on_block_filtered(unsigned int index, void *data)
{
	const struct block *block = data, *last;
	struct vcpu *vcpu = &vcpus[index];

	if (index >= MAX_VCPUS)
		return;
	last = vcpu->last;
	vcpu->last = block;
	step(vcpu, last, block);
}

void vcpu_on_block_counts(unsigned int index, void *data)
{
	const struct block *block = data, *last;
	struct vcpu *vcpu = &vcpus[index];

	if (index >= MAX_VCPUS)
		return;
	last = vcpu->last;
	vcpu->last = block;
	if (block->start != last->end && !is_taken(last, block))
		last = irregular(vcpu, last, block);
	else if (block->start == last->end)
		last = NULL;
	if (last) {
		uint64_t start = location(block, block->start);

		counts_add(&vcpu->writer, vcpu->run_start, location(last, last->last), start);
		start_run(vcpu, start);
	}
	if (vcpu->writer.lane)
		vcpu->writer.lane->open_last = location(block, block->last);
}

void vcpu_init(uint64_t id, unsigned int index)
{
	(void)id;
	if (index >= MAX_VCPUS) {
		lose_thread();
		return;
	}
	vcpus[index].last = &no_block;
	vcpus[index].left = 0;
	if (index >= nr_vcpus)
		nr_vcpus = index + 1;
}

void vcpu_exit(uint64_t id, unsigned int index)
{
	(void)id;
	if (index >= MAX_VCPUS)
		return;
	lane_close(&vcpus[index].writer);
	vcpus[index].last = &no_block;
}

void vcpu_copy_blocks(void)
{
	for (unsigned int i = 0; i < nr_vcpus; i++) {
		struct vcpu *vcpu = &vcpus[i];
		uint32_t nr_saved = vcpu->writer.lane ? vcpu->writer.lane->nr_saved : 0;

		if (vcpu->last != &no_block) {
			vcpu->copies[0] = *vcpu->last;
			vcpu->last = &vcpu->copies[0];
		}
		for (uint32_t j = 0; j < nr_saved && j < LANE_SAVED_RUNS; j++) {
			vcpu->copies[1 + j] = *vcpu->saved[j];
			vcpu->saved[j] = &vcpu->copies[1 + j];
		}
	}
}

static void before_fork(void)
{
	mappings_lock();
	forked_by.pid = getpid();
	forked_by.tid = (pid_t)syscall(SYS_gettid);
}

/* Counts start anew in the child, in a lane that it opens when it runs. */
static void after_fork(void)
{
	mappings_unlock();
	for (unsigned int i = 0; i < nr_vcpus; i++) {
		lane_drop(&vcpus[i].writer);
		vcpus[i].last = &no_block;
		vcpus[i].left = 0;
	}
	lane_new_process();
	start_kind = LANE_START_FORK;
}

void vcpu_start(void)
{
	lane_new_process();
	pthread_atfork(before_fork, mappings_unlock, after_fork);
}
