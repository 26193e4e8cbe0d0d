// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The edge profile: a vector of distinct edges, and a hash table of indices into it (open
 * addressing, linear probing, at most half full).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <swlbr/edge_profile.h>

#include "base/saturate.h"
#include "edge_profile.h"

const char *swlbr_source_name(enum swlbr_source source)
{
	static const char *const names[] = { "sw", "hw", "emu" };

	return names[source];
}

struct swlbr_error *swlbr_edge_profile_create(struct swlbr_edge_profile **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? NULL : swlbr_error_no_memory();
}

void swlbr_edge_profile_destroy(struct swlbr_edge_profile *profile)
{
	if (!profile)
		return;
	for (size_t i = 0; i < profile->nr_binaries; i++)
		free((char *)profile->binaries[i].path);
	free(profile->binaries);
	free(profile->edges);
	free(profile->slots);
	free(profile);
}

static bool same_binary(const struct swlbr_edge_binary *a, const struct swlbr_edge_binary *b)
{
	if (a->file_offsets != b->file_offsets || a->build_id.size != b->build_id.size)
		return false;
	if (a->build_id.size)
		return !memcmp(a->build_id.bytes, b->build_id.bytes, a->build_id.size);
	return !strcmp(a->path, b->path);
}

/* A copy of @path that no reader of the arcs file takes for a build-id. */
static char *copy_name(const char *path)
{
	size_t hex = strspn(path, "0123456789abcdef");
	char *copy;

	if (path[hex])
		return strdup(path);
	return asprintf(&copy, "./%s", path) < 0 ? NULL : copy;
}

struct swlbr_error *swlbr_edge_profile_binary(struct swlbr_edge_profile *profile,
					      const struct swlbr_edge_binary *binary,
					      uint32_t *index_ret)
{
	struct swlbr_edge_binary *grown, key = *binary;

	if (!key.build_id.size)
		key.path = copy_name(key.path ? key.path : "");
	else if (key.path)
		key.path = strdup(key.path);
	if (!key.path && (binary->path || !key.build_id.size))
		return swlbr_error_no_memory();
	for (size_t i = 0; i < profile->nr_binaries; i++) {
		struct swlbr_edge_binary *old = &profile->binaries[i];

		if (!same_binary(old, &key))
			continue;
		*index_ret = (uint32_t)i;
		if (!old->path)
			old->path = key.path;
		else
			free((char *)key.path);
		return NULL;
	}
	grown = reallocarray(profile->binaries, profile->nr_binaries + 1, sizeof(*grown));
	if (!grown) {
		free((char *)key.path);
		return swlbr_error_no_memory();
	}
	profile->binaries = grown;
	grown[profile->nr_binaries] = key;
	*index_ret = (uint32_t)profile->nr_binaries++;
	profile->sorted = false;
	return NULL;
}

size_t swlbr_edge_profile_nr_binaries(const struct swlbr_edge_profile *profile)
{
	return profile->nr_binaries;
}

const struct swlbr_edge_binary *swlbr_edge_profile_get_binary(
	const struct swlbr_edge_profile *profile, uint32_t index)
{
	return &profile->binaries[index];
}

/* Multiplication mixes upwards; the table takes the high bits (Fibonacci hashing). */
static size_t edge_slot(const struct swlbr_edge_profile *profile, const struct swlbr_edge *edge)
{
	uint64_t hash = edge->from * 0x9e3779b97f4a7c15ULL;

	hash ^= hash >> 29;
	hash += edge->to * 0xbf58476d1ce4e5b9ULL;
	hash ^= hash >> 32;
	hash += ((uint64_t)edge->from_binary << 34) + ((uint64_t)edge->to_binary << 4) +
		((uint64_t)edge->source << 1) + edge->kind;
	return (hash * 0x94d049bb133111ebULL) >> (64 - profile->slots_log2);
}

static bool same_edge(const struct swlbr_edge *a, const struct swlbr_edge *b)
{
	return a->from == b->from && a->to == b->to && a->from_binary == b->from_binary &&
	       a->to_binary == b->to_binary && a->kind == b->kind && a->source == b->source;
}

/* The slot that has @edge, or the free one where it belongs. */
static uint32_t *find_slot(const struct swlbr_edge_profile *profile, const struct swlbr_edge *edge)
{
	size_t mask = ((size_t)1 << profile->slots_log2) - 1;
	size_t at = edge_slot(profile, edge);

	while (profile->slots[at] && !same_edge(&profile->edges[profile->slots[at] - 1], edge))
		at = (at + 1) & mask;
	return &profile->slots[at];
}

static struct swlbr_error *rebuild_slots(struct swlbr_edge_profile *profile, unsigned int log2)
{
	uint32_t *slots = calloc((size_t)1 << log2, sizeof(*slots));

	if (!slots)
		return swlbr_error_no_memory();
	free(profile->slots);
	profile->slots = slots;
	profile->slots_log2 = log2;
	for (size_t i = 0; i < profile->nr_edges; i++)
		*find_slot(profile, &profile->edges[i]) = (uint32_t)i + 1;
	return NULL;
}

static struct swlbr_error *reserve(struct swlbr_edge_profile *profile)
{
	if (!profile->slots || profile->nr_edges >= ((size_t)1 << profile->slots_log2) / 2) {
		struct swlbr_error *error =
			rebuild_slots(profile, profile->slots ? profile->slots_log2 + 1 : 10);

		if (error)
			return error;
	}
	if (profile->nr_edges == profile->max_edges) {
		size_t max = profile->max_edges ? profile->max_edges + profile->max_edges / 2 : 256;
		struct swlbr_edge *grown;

		if (max > UINT32_MAX)
			return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
						  "more than 4 billion distinct edges");
		grown = reallocarray(profile->edges, max, sizeof(*grown));
		if (!grown)
			return swlbr_error_no_memory();
		profile->edges = grown;
		profile->max_edges = max;
	}
	return NULL;
}

struct swlbr_error *swlbr_edge_profile_add(struct swlbr_edge_profile *profile,
					   const struct swlbr_edge *edge)
{
	struct swlbr_error *error;
	uint32_t *slot;
	struct swlbr_edge *sum;

	if (!edge->nr)
		return NULL;
	if (profile->unhashed) { /* sorting moved the edges */
		error = rebuild_slots(profile, profile->slots_log2);
		if (error)
			return error;
		profile->unhashed = false;
	}
	error = reserve(profile);
	if (error)
		return error;
	slot = find_slot(profile, edge);
	if (!*slot) {
		profile->edges[profile->nr_edges++] = *edge;
		*slot = (uint32_t)profile->nr_edges;
		profile->sorted = false;
		return NULL;
	}
	sum = &profile->edges[*slot - 1];
	add_saturating(&sum->nr, edge->nr);
	add_saturating(&sum->mispredicted, edge->mispredicted);
	add_saturating(&sum->cycles, edge->cycles);
	return NULL;
}

/* Order of the names in the arcs file. */
static int compare_binaries(const struct swlbr_edge_profile *profile, uint32_t a, uint32_t b)
{
	const struct swlbr_edge_binary *left = &profile->binaries[a],
				       *right = &profile->binaries[b];
	int order;

	if (a == b)
		return 0;
	if (!left->build_id.size != !right->build_id.size)
		return left->build_id.size ? -1 : 1;
	if (left->build_id.size) {
		order = memcmp(left->build_id.bytes, right->build_id.bytes, SWLBR_BUILD_ID_SIZE);
		if (!order)
			order = left->build_id.size - right->build_id.size;
	} else {
		order = strcmp(left->path, right->path);
	}
	return order ? order : left->file_offsets - right->file_offsets;
}

static int compare_edges(const void *left, const void *right, void *context)
{
	const struct swlbr_edge *a = left, *b = right;
	int order;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	order = compare_binaries(context, a->from_binary, b->from_binary);
	if (order)
		return order;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	order = compare_binaries(context, a->to_binary, b->to_binary);
	if (order)
		return order;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return (int)a->source - (int)b->source;
}

size_t swlbr_edge_profile_edges(struct swlbr_edge_profile *profile, const struct swlbr_edge **ret)
{
	if (!profile->sorted && profile->nr_edges) {
		qsort_r(profile->edges, profile->nr_edges, sizeof(*profile->edges), compare_edges,
			profile);
		profile->unhashed = true;
	}
	profile->sorted = true;
	*ret = profile->edges;
	return profile->nr_edges;
}
