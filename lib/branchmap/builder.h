/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A branch map while it is made; shared by the files of lib/branchmap. */
#ifndef SWLBR_BRANCHMAP_BUILDER_H
#define SWLBR_BRANCHMAP_BUILDER_H

#include <swlbr/branch_map.h>

#include "cfg/function_graph.h"

/* An edge whose target's block is not known yet. */
struct pending_edge {
	uint32_t from;
	enum swlbr_map_edge_kind kind;
	uint64_t target;
};

struct builder {
	struct swlbr_elf *elf;
	struct swlbr_branch_map *map;
	struct memory_image image;
	struct code_ranges ranges;
	struct value_context context;
	struct landing_pads pads;
	struct jump_labels labels;
	struct function_graph graph;
	size_t max_functions, max_blocks, max_sites, max_names;
	struct pending_edge *pending;
	size_t nr_pending, max_pending;
	uint32_t nr_table_edges; /* of these, from jump tables */
	size_t max_all_names;	 /* bytes that names may take */
	uint64_t *callee;	 /* per block: address called, or jumped to */
	size_t max_callees;
	uint64_t *noreturn; /* addresses called that never return */
	size_t nr_noreturn, max_noreturn;
	bool *affected;	 /* per function: it calls one of them */
	uint64_t *taken; /* addresses in code that instructions and data hold */
	size_t nr_taken, max_taken;
};

/* Make room for one more item of @size bytes in *@array, which holds @nr of at most *@max. */
struct swlbr_error *builder_grow(void *array, size_t *max, size_t nr, size_t size);

/* Append the function in builder->graph: its blocks, sites and pending edges. */
struct swlbr_error *builder_add_function(struct builder *builder);

struct swlbr_error *builder_add_site(struct builder *builder, const struct local_site *site,
				     uint32_t block);

/* Give each block its stretch of the sites, which are in order. */
void builder_index_sites(struct swlbr_branch_map *map);

/* Find the block of each pending edge's target, splitting blocks where one is inside. */
struct swlbr_error *builder_resolve(struct builder *builder);

/* Remember the addresses of code that the instructions of builder->graph make. */
struct swlbr_error *builder_note_addresses(struct builder *builder);
/* Find out which functions may be called from anywhere. */
struct swlbr_error *builder_find_address_taken(struct builder *builder);

enum library_call { LIBRARY_OTHER, LIBRARY_NEVER_RETURNS, LIBRARY_LONGJMP, LIBRARY_SETJMP };

/* What the call at the end of @block is of. */
enum library_call builder_calls_library(struct builder *builder, size_t block);

/* Find out which functions never return, and drop the edges after calls of them. */
struct swlbr_error *builder_find_noreturn(struct builder *builder);

/*
 * Values had flowed over those edges: find the sites of the functions that had some anew. Blocks
 * and tables stay as they are.
 */
struct swlbr_error *builder_renew_sites(struct builder *builder);

#endif
