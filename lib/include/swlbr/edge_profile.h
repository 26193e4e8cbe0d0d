/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_EDGE_PROFILE_H
#define SWLBR_EDGE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <swlbr/elf.h>
#include <swlbr/error.h>

/** Where counts come from: counters, a hardware LBR, an emulated LBR or an emulator's counts. */
enum swlbr_source { SWLBR_SOURCE_SW, SWLBR_SOURCE_HW, SWLBR_SOURCE_EMU };
#define SWLBR_SOURCES 3

/** "sw", "hw" or "emu". */
const char *swlbr_source_name(enum swlbr_source source);

enum swlbr_edge_kind {
	SWLBR_EDGE_BRANCH, /* a taken branch: the branch instruction, and its target */
	SWLBR_EDGE_RANGE,  /* straight-line code: the first and the last instruction executed */
};

/**
 * struct swlbr_edge_binary - a binary that edges are in
 *
 * Known by @build_id, or where its size is 0 by @path. With both, @path is a hint where to look.
 * @file_offsets: addresses are offsets in the file, since the binary was not at hand to give ELF
 * virtual addresses; such a binary is another one than that with virtual addresses.
 */
struct swlbr_edge_binary {
	struct swlbr_build_id build_id;
	const char *path; /* may be NULL if there is a build-id */
	bool file_offsets;
};

/** @from_binary and @to_binary are indices from swlbr_edge_profile_binary(). */
struct swlbr_edge {
	uint64_t from, to;
	uint32_t from_binary, to_binary;
	enum swlbr_edge_kind kind;
	enum swlbr_source source;
	uint64_t nr;	       /* executions */
	uint64_t mispredicted; /* of branches; 0 where the source does not know */
	uint64_t cycles;       /* sum, where the source knows; else 0 */
};

/**
 * A weighted edge profile of any number of binaries: each (kind, from, to, source) once. Memory is
 * proportional to distinct edges. Counts saturate.
 */
struct swlbr_edge_profile;

struct swlbr_error *swlbr_edge_profile_create(struct swlbr_edge_profile **ret);
/** NULL is fine. */
void swlbr_edge_profile_destroy(struct swlbr_edge_profile *profile);

/** The index of @binary, which is added (and copied) if it is new. A missing path is filled in. */
struct swlbr_error *swlbr_edge_profile_binary(struct swlbr_edge_profile *profile,
					      const struct swlbr_edge_binary *binary,
					      uint32_t *index_ret);

/** Add the counts of @edge to what the profile has of it; an @nr of 0 adds nothing. */
struct swlbr_error *swlbr_edge_profile_add(struct swlbr_edge_profile *profile,
					   const struct swlbr_edge *edge);

/** Add all of @other, its counts times @weight. */
struct swlbr_error *swlbr_edge_profile_merge(struct swlbr_edge_profile *profile,
					     struct swlbr_edge_profile *other, uint64_t weight);

/** What the taken branches of a normalized profile add up to, and the totals of its functions. */
#define SWLBR_NORMALIZED_TOTAL 1000000000

/**
 * Add @profile to the empty @normalized such that equal workloads give equal text: scaled so that the
 * taken branches (or, without any, the ranges) come to SWLBR_NORMALIZED_TOTAL but for rounding, a
 * count above 0 staying above 0; and without the folders of binaries that have no build-id.
 */
struct swlbr_error *swlbr_edge_profile_normalize(struct swlbr_edge_profile *profile,
						 struct swlbr_edge_profile *normalized);

size_t swlbr_edge_profile_nr_binaries(const struct swlbr_edge_profile *profile);
/** Valid until the next swlbr_edge_profile_binary(). */
const struct swlbr_edge_binary *swlbr_edge_profile_get_binary(
	const struct swlbr_edge_profile *profile, uint32_t index);

/**
 * All edges, sorted by kind, binary (as the arcs file names it), from, to and source. @ret is
 * valid until the next swlbr_edge_profile_add(). The number of edges is returned.
 */
size_t swlbr_edge_profile_edges(struct swlbr_edge_profile *profile, const struct swlbr_edge **ret);

/**
 * Write @profile as an arcs file (text; Documentation/arcs.txt) at @path, "-" for standard
 * output. Two equal profiles give the same bytes.
 */
struct swlbr_error *swlbr_arcs_write(struct swlbr_edge_profile *profile, const char *path);
/** Likewise, of a recording: an older file is kept as PATH.old, as perf record does. */
struct swlbr_error *swlbr_arcs_record(struct swlbr_edge_profile *profile, const char *path);

/**
 * Add the rows of the arcs file at @path to @profile, as they are read. Errors name the file and
 * the line. SWLBR_ERROR_FORMAT if it is not an arcs file.
 */
struct swlbr_error *swlbr_arcs_read(struct swlbr_edge_profile *profile, const char *path);

/** True if the file at @path begins as an arcs file does. False for what is not a regular file. */
struct swlbr_error *swlbr_arcs_probe(const char *path, bool *is_arcs_ret);

#endif
