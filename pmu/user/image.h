/* SPDX-License-Identifier: GPL-2.0-only */
/* The binaries that the traced processes have mapped, each opened once. */
#ifndef SWLBR_USER_IMAGE_H
#define SWLBR_USER_IMAGE_H

#include <swlbr/counters.h>
#include <swlbr/elf.h>

#include "maps.h"

struct image {
	struct image *next;
	uint64_t inode;
	uint32_t major, minor;
	struct timespec modified; /* with the inode: a rebuilt file may get an old one's number */
	off_t size;
	char *path;
	bool is_elf;
	bool try_again; /* it could not be opened through the process that was asked */
	struct swlbr_build_id build_id;
	struct swlbr_counters *counters; /* NULL: not instrumented */
	char *refusal;			 /* counters of a kind that is not read: why, else NULL */
	bool refusal_told;
	uint64_t first_vaddr, end_vaddr, first_offset; /* page aligned span of the segments */
	bool recorded;				       /* rows of it are in the file */
	struct swlbr_elf *elf; /* kept open where there are counters, for its branch map */
	bool no_map;	       /* its branches cannot be told */
};

struct image_cache {
	struct image *images;
};

/*
 * The image behind @map of thread @tid. An image that cannot be opened is returned as not an ELF
 * one, with the reason in @refusal if its file is gone.
 */
struct swlbr_error *image_cache_get(struct image_cache *cache, pid_t tid, const struct maps *maps,
				    const struct map *map, struct image **ret);
void image_cache_deinit(struct image_cache *cache);

#endif
