/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_EDGE_WRITERS_H
#define SWLBR_EDGE_WRITERS_H

#include <swlbr/edge_profile.h>
#include <swlbr/elf.h>
#include <swlbr/error.h>

/*
 * Edge profiles in other tools' formats. Each is of one binary, number @binary of @edges, whose
 * file is @elf. Counts of all sources are summed. Rows are sorted, so that equal profiles give
 * equal bytes. "-" is standard output.
 */

/**
 * llvm-profgen's own (--unsymbolized-profile): how many ranges, the ranges, how many branches, the
 * branches; offsets are from the page of the first executable segment (tools/llvm-profgen/
 * PerfReader.cpp). Edges below it, and those with an end elsewhere, have no form there.
 */
struct swlbr_error *swlbr_llvm_unsymbolized_write(struct swlbr_edge_profile *edges, uint32_t binary,
						  struct swlbr_elf *elf, const char *path);

/**
 * perf2bolt's pre-aggregated profile (-pa). Whether a range follows a call is taken from the branch
 * map of @elf.
 */
struct swlbr_error *swlbr_bolt_preagg_write(struct swlbr_edge_profile *edges, uint32_t binary,
					    struct swlbr_elf *elf, const char *path);

/** BOLT's fdata. SWLBR_ERROR_NOT_FOUND if @elf is stripped: functions are known by symbols. */
struct swlbr_error *swlbr_bolt_fdata_write(struct swlbr_edge_profile *edges, uint32_t binary,
					   struct swlbr_elf *elf, const char *path);

/** google/autofdo's text (--profiler=text): offsets in the file. */
struct swlbr_error *swlbr_autofdo_text_write(struct swlbr_edge_profile *edges, uint32_t binary,
					     struct swlbr_elf *elf, const char *path);

/**
 * struct swlbr_propeller_stats - what became of a binary's functions and blocks
 * @functions: with blocks that ran, all written; @blocks: of these, @blocks_ran ran
 * @ambiguous: functions that ran, left out since several have their names and nothing tells which
 * @unnamed: likewise, since no symbol is there that both files can hold
 * @copied: likewise, since the compiler has copied blocks that ran, and their ids with them
 * @counted, @left_out: executions of straight-line code that is, and is not, within a function
 */
struct swlbr_propeller_stats {
	uint64_t functions, blocks, blocks_ran;
	uint64_t ambiguous, unnamed, copied;
	uint64_t counted, left_out;
};

/**
 * Propeller's two files: the blocks of each function that ran and their order at @clusters, for
 * clang -fbasic-block-sections=list= (version 1, tried with clang 19 and 22:
 * llvm/lib/CodeGen/BasicBlockSectionsProfileReader.cpp); and the order of the functions at @symbols,
 * for ld.lld --symbol-ordering-file. Names that several functions have are told apart by their source
 * files, from the debug information. SWLBR_ERROR_NOT_FOUND if @elf has no map of its blocks, is
 * stripped, or none of its blocks ran.
 */
struct swlbr_error *swlbr_propeller_write(struct swlbr_edge_profile *edges, uint32_t binary,
					  struct swlbr_elf *elf, const char *clusters,
					  const char *symbols, struct swlbr_propeller_stats *stats);

/** All of @edges as JSON, with the columns of the arcs file. */
struct swlbr_error *swlbr_json_write(struct swlbr_edge_profile *edges, const char *path);

#endif
