/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The inside of a sample profile: a tree of functions and inlined calls, in flat arrays. */
#ifndef SWLBR_SAMPLEPROFILE_SAMPLE_PROFILE_H
#define SWLBR_SAMPLEPROFILE_SAMPLE_PROFILE_H

#include <swlbr/sample_profile.h>

#include "base/saturate.h"
#include "index.h"
#include "profile/summary.h"

#define SAMPLE_TOP UINT32_MAX /* the parent of functions */

/* The discriminator of a record of a line that only decides (decisions.h). */
#define SAMPLE_DECISION UINT32_MAX

/* A place in a function: line offset from its declaration, and discriminator. */
struct sample_place {
	uint32_t line, discriminator;
};

/* A function, or a call inlined into @parent at @place. */
struct sample_node {
	uint32_t parent, name;
	struct sample_place place;
	uint64_t total, head;
};

/* What ran at a place. */
struct sample_record {
	uint32_t node;
	struct sample_place place;
	uint64_t count;
};

/* What was called from a place. */
struct sample_target {
	uint32_t record, name;
	uint64_t count;
};

struct swlbr_sample_profile {
	char **names;
	struct sample_node *nodes; /* a parent is before its children */
	struct sample_record *records;
	struct sample_target *targets;
	struct index name_index, node_index, record_index, target_index;
	size_t max_names, max_nodes, max_records, max_targets;
	bool fs_discriminators;
	bool for_gcc;
	bool by_line;	   /* discriminators will be taken off: see SAMPLE_DECISION */
	uint32_t *symbols; /* names of all functions, for those who want the list */
	size_t nr_symbols;
};

/** The number of @name of @size bytes, which is added if it is new. */
struct swlbr_error *sample_name(struct swlbr_sample_profile *profile, const char *name, size_t size,
				uint32_t *ret);
/** The names of @other as numbers of @profile, which gets those that it lacks. */
struct swlbr_error *sample_map_names(struct swlbr_sample_profile *profile,
				     const struct swlbr_sample_profile *other, uint32_t *map);
/** Its nodes and records likewise; those that are new have counts of 0. */
struct swlbr_error *sample_map(struct swlbr_sample_profile *profile,
			       const struct swlbr_sample_profile *other, uint32_t *names,
			       uint32_t *nodes, uint32_t *records);
/** The index of a function or inlined call, which is added if it is new. */
struct swlbr_error *sample_node(struct swlbr_sample_profile *profile, uint32_t parent,
				struct sample_place place, uint32_t name, uint32_t *ret);
struct swlbr_error *sample_record(struct swlbr_sample_profile *profile, uint32_t node,
				  struct sample_place place, uint32_t *ret);
/** Add @count calls of @name from the place of @record. */
struct swlbr_error *sample_target(struct swlbr_sample_profile *profile, uint32_t record,
				  uint32_t name, uint64_t count);

/**
 * struct sample_order - a profile in the order in which it is written
 *
 * Functions: hottest first, then by name. Inlined calls and records by place, calls then by name.
 * Targets: most called first, then by name. What belongs to element i begins at start[i] and ends
 * before start[i + 1].
 */
struct sample_order {
	uint32_t *functions;
	size_t nr_functions;
	uint32_t *calls, *call_start;	  /* of nodes */
	uint32_t *records, *record_start; /* of nodes */
	uint32_t *targets, *target_start; /* of records */
};

struct swlbr_error *sample_order(const struct swlbr_sample_profile *profile,
				 struct sample_order *ret);
void sample_order_free(struct sample_order *order);

/** What a summary is of: all counts, and the largest head. @summary is empty, and to be deinited. */
struct swlbr_error *sample_summary(const struct swlbr_sample_profile *profile,
				   const struct sample_order *order,
				   struct profile_summary *summary);

#endif
