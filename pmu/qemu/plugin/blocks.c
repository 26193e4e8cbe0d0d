// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks: what is known of code when it is translated, so that little is left to do when it runs.
 * They live until the emulator throws all translations away.
 */
#include <stdlib.h>
#include <string.h>

#include "plugin.h"
#include "qemu_plugin_api.h"

#define CHUNK_BLOCKS 1024
#define MAX_HANDLERS 64 /* signals */

struct chunk {
	struct chunk *next;
	size_t used;
	struct block blocks[CHUNK_BLOCKS];
};

static struct chunk *chunks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t handlers[MAX_HANDLERS];
static size_t nr_handlers;
static uint64_t base;

uint64_t guest_base(void)
{
	return base;
}

static struct block *allocate(void)
{
	if (!chunks || chunks->used == CHUNK_BLOCKS) {
		struct chunk *chunk = malloc(sizeof(*chunk));

		if (!chunk)
			return NULL;
		chunk->next = chunks;
		chunk->used = 0;
		chunks = chunk;
	}
	return &chunks->blocks[chunks->used++];
}

/* Only when no block runs: the emulator calls this with all threads stopped. */
static void on_flush(qemu_plugin_id_t id)
{
	(void)id;
	vcpu_copy_blocks();
	while (chunks) {
		struct chunk *next = chunks->next;

		free(chunks);
		chunks = next;
	}
}

static bool is_handler(uint64_t address)
{
	for (size_t i = 0; i < nr_handlers; i++)
		if (handlers[i] == address)
			return true;
	return false;
}

void blocks_note_handler(uint64_t address)
{
	pthread_mutex_lock(&lock);
	if (!is_handler(address)) {
		handlers[nr_handlers++ % MAX_HANDLERS] = address;
		if (nr_handlers > MAX_HANDLERS)
			nr_handlers = MAX_HANDLERS;
		for (struct chunk *chunk = chunks; chunk; chunk = chunk->next)
			for (size_t i = 0; i < chunk->used; i++)
				if (chunk->blocks[i].start == address)
					chunk->blocks[i].handler = true;
	}
	pthread_mutex_unlock(&lock);
}

/*
 * The last instruction that runs. An instruction that crosses the page on which the block starts
 * is given as the block's last though the emulator stops before it, having read a part only.
 */
static bool find_last(const struct qemu_plugin_tb *tb, struct block *block, struct branch *branch)
{
	size_t nr = qemu_plugin_tb_n_insns(tb);

	while (nr) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, nr - 1);
		size_t size = qemu_plugin_insn_size(insn);

		block->last = qemu_plugin_insn_vaddr(insn);
		block->end = block->last + size;
		*branch = options.decode(qemu_plugin_insn_data(insn), size, block->last);
		if (!branch->incomplete || nr == 1)
			return true;
		nr--;
	}
	return false;
}

static void set_branch(struct block *block, const struct branch *branch)
{
	block->target = NEVER;
	if (branch->kind > BRANCH_REPEAT && branch->direct)
		block->target = branch->target;
	block->any_target = branch->kind > BRANCH_REPEAT && !branch->direct;
	block->calls = branch->kind == BRANCH_INDIRECT_CALL;
	block->resumes = options.system && branch->kind == BRANCH_EXCEPTION_RETURN;
	block->any_target &= !block->resumes;
	block->is_branch = branch->kind > BRANCH_REPEAT;
	block->in_stack = options.filter >> branch->kind & 1;
	/*
	 * An unconditional branch is taken though it leads to the next instruction. A conditional
	 * one that does cannot be told from one not taken.
	 */
	if (branch->kind > BRANCH_CONDITIONAL)
		block->end = NEVER;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	struct qemu_plugin_insn *first;
	struct branch branch;
	struct block *block;
	const void *host;

	(void)id;
	if (!qemu_plugin_tb_n_insns(tb))
		return;
	pthread_mutex_lock(&lock);
	block = allocate();
	pthread_mutex_unlock(&lock);
	if (!block || !find_last(tb, block, &branch))
		return;
	first = qemu_plugin_tb_get_insn(tb, 0);
	host = qemu_plugin_insn_haddr(first);
	block->start = qemu_plugin_insn_vaddr(first);
	if (host)
		base = (uint64_t)(uintptr_t)host - block->start;
	block->mapping = options.system ? LANE_IMAGE : mappings_find(block->start, host);
	vcpu_put_mappings();
	block->handler = is_handler(block->start);
	set_branch(block, &branch);
	qemu_plugin_register_vcpu_tb_exec_cb(tb, options.on_block, QEMU_PLUGIN_CB_NO_REGS, block);
}

void blocks_register(uint64_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_flush_cb(id, on_flush);
}
