/* SPDX-License-Identifier: GPL-2.0-only */
/* The mappings of a process, from /proc/PID/maps. */
#ifndef SWLBR_USER_MAPS_H
#define SWLBR_USER_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <swlbr/error.h>

struct map {
	uint64_t start, end, offset; /* bytes; offset in the file */
	uint64_t inode;		     /* 0 for memory without a file */
	uint32_t major, minor;
	uint32_t prot; /* PROT_* */
	bool shared, deleted;
	size_t path; /* where the path is in struct maps' text; see map_path() */
};

struct maps {
	struct map *map;
	size_t nr;
	char *text;
};

/* Read the mappings of @tid, which may be any live thread of the process. */
struct swlbr_error *maps_read(pid_t tid, struct maps *maps);
void maps_deinit(struct maps *maps);
const char *map_path(const struct maps *maps, const struct map *map);

#endif
