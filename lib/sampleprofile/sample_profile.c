// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "sample_profile.h"

struct swlbr_error *swlbr_sample_profile_create(struct swlbr_sample_profile **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? NULL : swlbr_error_no_memory();
}

void swlbr_sample_profile_for_gcc(struct swlbr_sample_profile *profile, unsigned int version)
{
	profile->for_gcc = true;
	profile->by_line = version < SWLBR_GCC_DISCRIMINATORS;
}

void swlbr_sample_profile_destroy(struct swlbr_sample_profile *profile)
{
	if (!profile)
		return;
	for (size_t i = 0; i < profile->name_index.nr; i++)
		free(profile->names[i]);
	free(profile->names);
	free(profile->nodes);
	free(profile->records);
	free(profile->targets);
	free(profile->name_index.slots);
	free(profile->node_index.slots);
	free(profile->record_index.slots);
	free(profile->target_index.slots);
	free(profile->symbols);
	free(profile);
}

/* Room for one more element in an array and in its index. */
static struct swlbr_error *reserve(void **array, size_t *max, size_t size, struct index *index,
				   const struct index_class *class)
{
	struct swlbr_error *error = index_reserve(index, class, *array);

	if (!error && index->nr == *max) {
		size_t wanted = *max ? *max + *max / 2 : 64;
		void *grown = reallocarray(*array, wanted, size);

		if (!grown)
			return swlbr_error_no_memory();
		*array = grown;
		*max = wanted;
	}
	return error;
}

struct name_key {
	const char *name;
	size_t size;
};

/* FNV-1a. */
static uint64_t hash_string(const char *string, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)string[i]) * 0x100000001b3ULL;
	return hash ^ hash >> 32;
}

static uint64_t name_hash(const void *array, uint32_t at)
{
	const char *name = ((char *const *)array)[at];

	return hash_string(name, strlen(name));
}

static bool name_same(const void *array, uint32_t at, const void *key)
{
	const struct name_key *wanted = key;
	const char *name = ((char *const *)array)[at];

	return !strncmp(name, wanted->name, wanted->size) && !name[wanted->size];
}

static const struct index_class name_class = { name_hash, name_same };

struct swlbr_error *sample_name(struct swlbr_sample_profile *profile, const char *name, size_t size,
				uint32_t *ret)
{
	const struct name_key key = { name, size };
	struct swlbr_error *error;
	uint32_t *slot;

	error = reserve((void **)&profile->names, &profile->max_names, sizeof(char *),
			&profile->name_index, &name_class);
	if (error)
		return error;
	slot = index_slot(&profile->name_index, &name_class, profile->names,
			  hash_string(name, size), &key);
	if (!*slot) {
		char *copy = strndup(name, size);

		if (!copy)
			return swlbr_error_no_memory();
		profile->names[profile->name_index.nr++] = copy;
		*slot = (uint32_t)profile->name_index.nr;
	}
	*ret = *slot - 1;
	return NULL;
}

static uint64_t hash_place(uint32_t owner, struct sample_place place, uint32_t name)
{
	return index_mix(index_mix((uint64_t)owner << 32 | name, place.line), place.discriminator);
}

static bool same_place(struct sample_place a, struct sample_place b)
{
	return a.line == b.line && a.discriminator == b.discriminator;
}

static uint64_t node_hash(const void *array, uint32_t at)
{
	const struct sample_node *node = (const struct sample_node *)array + at;

	return hash_place(node->parent, node->place, node->name);
}

static bool node_same(const void *array, uint32_t at, const void *key)
{
	const struct sample_node *a = (const struct sample_node *)array + at, *b = key;

	return a->parent == b->parent && a->name == b->name && same_place(a->place, b->place);
}

static const struct index_class node_class = { node_hash, node_same };

struct swlbr_error *sample_node(struct swlbr_sample_profile *profile, uint32_t parent,
				struct sample_place place, uint32_t name, uint32_t *ret)
{
	const struct sample_node key = { .parent = parent, .place = place, .name = name };
	struct swlbr_error *error;
	uint32_t *slot;

	error = reserve((void **)&profile->nodes, &profile->max_nodes, sizeof(key),
			&profile->node_index, &node_class);
	if (error)
		return error;
	slot = index_slot(&profile->node_index, &node_class, profile->nodes,
			  hash_place(parent, place, name), &key);
	if (!*slot) {
		profile->nodes[profile->node_index.nr++] = key;
		*slot = (uint32_t)profile->node_index.nr;
	}
	*ret = *slot - 1;
	return NULL;
}

static uint64_t record_hash(const void *array, uint32_t at)
{
	const struct sample_record *record = (const struct sample_record *)array + at;

	return hash_place(record->node, record->place, 0);
}

static bool record_same(const void *array, uint32_t at, const void *key)
{
	const struct sample_record *a = (const struct sample_record *)array + at, *b = key;

	return a->node == b->node && same_place(a->place, b->place);
}

static const struct index_class record_class = { record_hash, record_same };

struct swlbr_error *sample_record(struct swlbr_sample_profile *profile, uint32_t node,
				  struct sample_place place, uint32_t *ret)
{
	const struct sample_record key = { .node = node, .place = place };
	struct swlbr_error *error;
	uint32_t *slot;

	error = reserve((void **)&profile->records, &profile->max_records, sizeof(key),
			&profile->record_index, &record_class);
	if (error)
		return error;
	slot = index_slot(&profile->record_index, &record_class, profile->records,
			  hash_place(node, place, 0), &key);
	if (!*slot) {
		profile->records[profile->record_index.nr++] = key;
		*slot = (uint32_t)profile->record_index.nr;
	}
	*ret = *slot - 1;
	return NULL;
}

static uint64_t target_hash(const void *array, uint32_t at)
{
	const struct sample_target *target = (const struct sample_target *)array + at;

	return index_mix(target->record, target->name);
}

static bool target_same(const void *array, uint32_t at, const void *key)
{
	const struct sample_target *a = (const struct sample_target *)array + at, *b = key;

	return a->record == b->record && a->name == b->name;
}

static const struct index_class target_class = { target_hash, target_same };

struct swlbr_error *sample_target(struct swlbr_sample_profile *profile, uint32_t record,
				  uint32_t name, uint64_t count)
{
	const struct sample_target key = { .record = record, .name = name };
	struct swlbr_error *error;
	uint32_t *slot;

	error = reserve((void **)&profile->targets, &profile->max_targets, sizeof(key),
			&profile->target_index, &target_class);
	if (error)
		return error;
	slot = index_slot(&profile->target_index, &target_class, profile->targets,
			  index_mix(record, name), &key);
	if (!*slot) {
		profile->targets[profile->target_index.nr++] = key;
		*slot = (uint32_t)profile->target_index.nr;
	}
	add_saturating(&profile->targets[*slot - 1].count, count);
	return NULL;
}

struct swlbr_error *swlbr_sample_profile_add_symbols(struct swlbr_sample_profile *profile,
						     const struct swlbr_dwarf *dwarf)
{
	const struct swlbr_dwarf_function *functions;
	size_t nr = swlbr_dwarf_functions(dwarf, &functions);
	uint32_t *grown = reallocarray(profile->symbols, profile->nr_symbols + nr, sizeof(*grown));
	struct swlbr_error *error = NULL;

	if (!grown)
		return swlbr_error_no_memory();
	profile->symbols = grown;
	for (size_t i = 0; !error && i < nr; i++) {
		if (!functions[i].name)
			continue;
		error = sample_name(profile, functions[i].name, strlen(functions[i].name),
				    &grown[profile->nr_symbols]);
		profile->nr_symbols += !error;
	}
	return error;
}

struct swlbr_error *sample_map_names(struct swlbr_sample_profile *profile,
				     const struct swlbr_sample_profile *other, uint32_t *map)
{
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < other->name_index.nr; i++)
		error = sample_name(profile, other->names[i], strlen(other->names[i]), &map[i]);
	return error;
}

static struct swlbr_error *merge_nodes(struct swlbr_sample_profile *profile,
				       const struct swlbr_sample_profile *other, uint64_t weight,
				       const uint32_t *names, uint32_t *map)
{
	for (size_t i = 0; i < other->node_index.nr; i++) {
		const struct sample_node *node = &other->nodes[i];
		uint32_t parent = node->parent == SAMPLE_TOP ? SAMPLE_TOP : map[node->parent];
		struct swlbr_error *error;

		error = sample_node(profile, parent, node->place, names[node->name], &map[i]);
		if (error)
			return error;
		add_saturating(&profile->nodes[map[i]].total,
			       multiply_saturating(node->total, weight));
		add_saturating(&profile->nodes[map[i]].head,
			       multiply_saturating(node->head, weight));
	}
	return NULL;
}

static struct swlbr_error *merge_records(struct swlbr_sample_profile *profile,
					 const struct swlbr_sample_profile *other, uint64_t weight,
					 const uint32_t *nodes, uint32_t *map)
{
	for (size_t i = 0; i < other->record_index.nr; i++) {
		const struct sample_record *record = &other->records[i];
		struct swlbr_error *error;

		error = sample_record(profile, nodes[record->node], record->place, &map[i]);
		if (error)
			return error;
		add_saturating(&profile->records[map[i]].count,
			       multiply_saturating(record->count, weight));
	}
	return NULL;
}

struct swlbr_error *sample_map(struct swlbr_sample_profile *profile,
			       const struct swlbr_sample_profile *other, uint32_t *names,
			       uint32_t *nodes, uint32_t *records)
{
	struct swlbr_error *error = sample_map_names(profile, other, names);

	if (!error)
		error = merge_nodes(profile, other, 0, names, nodes);
	if (!error)
		error = merge_records(profile, other, 0, nodes, records);
	return error;
}

struct swlbr_error *swlbr_sample_profile_merge(struct swlbr_sample_profile *profile,
					       const struct swlbr_sample_profile *other,
					       uint64_t weight)
{
	uint32_t *names = reallocarray(NULL, other->name_index.nr + 1, sizeof(*names));
	uint32_t *nodes = reallocarray(NULL, other->node_index.nr + 1, sizeof(*nodes));
	uint32_t *records = reallocarray(NULL, other->record_index.nr + 1, sizeof(*records));
	struct swlbr_error *error = NULL;

	if (!names || !nodes || !records)
		error = swlbr_error_no_memory();
	if (!error)
		error = sample_map_names(profile, other, names);
	if (!error)
		error = merge_nodes(profile, other, weight, names, nodes);
	if (!error)
		error = merge_records(profile, other, weight, nodes, records);
	for (size_t i = 0; !error && i < other->target_index.nr; i++)
		error = sample_target(profile, records[other->targets[i].record],
				      names[other->targets[i].name],
				      multiply_saturating(other->targets[i].count, weight));
	profile->fs_discriminators |= other->fs_discriminators;
	free(names);
	free(nodes);
	free(records);
	return error;
}

size_t swlbr_sample_profile_functions(const struct swlbr_sample_profile *profile,
				      uint64_t *total_ret)
{
	size_t nr = 0;

	*total_ret = 0;
	for (size_t i = 0; i < profile->node_index.nr; i++) {
		if (profile->nodes[i].parent != SAMPLE_TOP)
			continue;
		nr++;
		add_saturating(total_ret, profile->nodes[i].total);
	}
	return nr;
}
