/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_ELF_FINDER_H
#define SWLBR_ELF_FINDER_H

#include <swlbr/elf.h>

/** How a search for a binary ended. */
enum swlbr_elf_match {
	SWLBR_ELF_BY_BUILD_ID, /* found: its build-id is the one asked for */
	SWLBR_ELF_BY_NAME,     /* found where no build-id is known: only the name agrees */
	SWLBR_ELF_CHANGED,     /* a file of that name has another build-id (rebuilt since) */
	SWLBR_ELF_MISSING,     /* no such file */
	SWLBR_ELF_UNREADABLE,  /* a file of that name cannot be opened, or is no ELF file */
};

/** What a search found, and where it did not, why. Freed by swlbr_elf_found_clear(). */
struct swlbr_elf_found {
	enum swlbr_elf_match match;
	struct swlbr_elf *elf;		/* the two first matches, else NULL; may be taken */
	char *path;			/* of CHANGED and UNREADABLE: the file that was looked at */
	struct swlbr_build_id other_id; /* of CHANGED: what @path has */
	char *why;			/* of UNREADABLE */
};

/**
 * A finder of binaries that were recorded: by build-id among the files it was given, under the
 * recorded path and in perf's cache (~/.debug or the folder in PERF_BUILDID_DIR); and where no
 * build-id is known by name, among the given files and under the recorded path. It holds no file
 * open.
 */
struct swlbr_elf_finder;

struct swlbr_error *swlbr_elf_finder_create(struct swlbr_elf_finder **ret);
/** NULL is fine. */
void swlbr_elf_finder_destroy(struct swlbr_elf_finder *finder);

/** Consider the ELF file at @path. Fails if it is none. */
struct swlbr_error *swlbr_elf_finder_add(struct swlbr_elf_finder *finder, const char *path);

/** True if it was given a file with that build-id; where that is empty, a file called @path. */
bool swlbr_elf_finder_has(const struct swlbr_elf_finder *finder,
			  const struct swlbr_build_id *build_id, const char *path);

/**
 * Look for the binary with @build_id (NULL or size 0: none is known) that was recorded at @path
 * (may be NULL). Not finding it is no error: @ret tells why. @ret is overwritten.
 */
struct swlbr_error *swlbr_elf_find(const struct swlbr_elf_finder *finder,
				   const struct swlbr_build_id *build_id, const char *path,
				   struct swlbr_elf_found *ret);

void swlbr_elf_found_clear(struct swlbr_elf_found *found);

#endif
