/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Libraries that are being unloaded. Their last snapshot is taken while the munmap is held; after
 * that the thread goes on, and for a while nobody can tell whether the mapping that is still there
 * is the old one or a new one at the same place, whose counts begin anew. Until that is known the
 * area stays as its last snapshot left it.
 */
#ifndef SWLBR_USER_UNMAP_H
#define SWLBR_USER_UNMAP_H

#include "memory.h"

/*
 * A held munmap of [start, end), told by a thread of the address space, will be let go on: take the
 * last snapshot of the areas in it. The loader's lock lets no other thread load or unload meanwhile.
 */
struct swlbr_error *unmap_begin(struct session *session, struct memory *memory, pid_t pid,
				const struct unmap_call *call);
/* The call of @tid will not be carried out after all: it was interrupted, or the thread killed. */
void unmap_cancel(struct memory *memory, pid_t tid);
/*
 * The call of @tid was interrupted by a signal, if it is the one that was let go on last and not a
 * later one.
 */
void unmap_interrupted(struct memory *memory, pid_t tid);

/* Before the mappings are read: which of the calls are over. */
void unmap_check(struct memory *memory);
/* After it: write the rows of what is no longer mapped, or was by the call that is over. */
struct swlbr_error *unmap_finish(struct session *session, struct memory *memory, pid_t pid,
				 const struct maps *maps);

#endif
