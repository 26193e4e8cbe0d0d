/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_BASE_OUTFILE_H
#define SWLBR_BASE_OUTFILE_H

#include <stddef.h>
#include <stdint.h>

#include <swlbr/error.h>

/**
 * struct swlbr_outfile - an output file that appears whole or not at all
 *
 * What is written grows without a name in the target's directory (O_TMPFILE; a hidden temporary
 * name where the file system cannot do that) and takes the target's place at commit. A target that
 * is not a regular file (a device, a pipe, "-" for standard output) gets a copy at commit.
 * Messages of errors start with the path as the user gave it. After a failed write every later
 * call fails too; the file can then only be discarded.
 */
struct swlbr_outfile;

enum swlbr_outfile_flags {
	/** Mode 0600, as perf.data has, instead of 0666; the umask applies to both. */
	SWLBR_OUTFILE_PRIVATE = 1 << 0,
	/** At commit, rename a file that is already there to PATH.old, as perf record does. */
	SWLBR_OUTFILE_KEEP_OLD = 1 << 1,
};

/**
 * Start writing what will be at @path. A symbolic link is followed: what it points to is replaced.
 * Fails for a directory, a directory that cannot be written to, and (unless the old file is kept)
 * a target that may not be written to. @ret is ended by commit or discard.
 */
struct swlbr_error *swlbr_outfile_open(const char *path, struct swlbr_outfile **ret);

/** As swlbr_outfile_open(); @flags are of enum swlbr_outfile_flags. */
struct swlbr_error *swlbr_outfile_open_flags(const char *path, unsigned int flags,
					     struct swlbr_outfile **ret);

/** Append @size bytes. */
struct swlbr_error *swlbr_outfile_write(struct swlbr_outfile *file, const void *data, size_t size);

/** Overwrite bytes written before, as a header that is known at the end; the offset stays. */
struct swlbr_error *swlbr_outfile_pwrite(struct swlbr_outfile *file, uint64_t offset,
					 const void *data, size_t size);

/** Bytes appended so far. */
uint64_t swlbr_outfile_offset(const struct swlbr_outfile *file);

/** Give the file its name and free @file, also on error; then the old target is as it was. */
struct swlbr_error *swlbr_outfile_commit(struct swlbr_outfile *file);

/** Throw away what was written and free @file; NULL is fine. */
void swlbr_outfile_discard(struct swlbr_outfile *file);

#endif
