// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The binaries that branches were recorded in, each once. */
#include <stdlib.h>
#include <string.h>

#include "edgeprofile/stacks.h"

bool stacks_wants_binary(const struct swlbr_stacks *stacks, const char *path)
{
	const struct swlbr_stacks_filter *filter = &stacks->filter;

	for (size_t i = 0; i < filter->nr_dsos; i++) {
		if (!strcmp(filter->dsos[i], path) || !strcmp(filter->dsos[i], basename(path)))
			return true;
	}
	return !filter->nr_dsos;
}

static uint32_t hash_path(const char *path)
{
	uint32_t hash = 2166136261U; /* FNV-1a */

	for (; *path; path++)
		hash = (hash ^ (uint8_t)*path) * 16777619U;
	return hash * 0x9e3779b1U;
}

static bool is_binary(const struct stacks_binary *binary, const char *path,
		      const struct swlbr_build_id *build_id, enum binary_kind kind)
{
	return binary->kind == kind && binary->build_id.size == build_id->size &&
	       swlbr_build_id_equal(&binary->build_id, build_id) && !strcmp(binary->path, path);
}

static uint32_t *find_slot(const struct swlbr_stacks *stacks, const char *path,
			   const struct swlbr_build_id *build_id, enum binary_kind kind)
{
	size_t mask = ((size_t)1 << stacks->binary_slots_log2) - 1;
	size_t at = hash_path(path) >> (32 - stacks->binary_slots_log2);
	uint32_t *slots = stacks->binary_slots;

	while (slots[at] && !is_binary(&stacks->binaries[slots[at] - 1], path, build_id, kind))
		at = (at + 1) & mask;
	return &slots[at];
}

static struct swlbr_error *grow(struct swlbr_stacks *stacks)
{
	size_t max = stacks->max_binaries ? 2 * stacks->max_binaries : 64;
	struct stacks_binary *grown = reallocarray(stacks->binaries, max, sizeof(*grown));
	uint32_t *slots;

	if (!grown)
		return swlbr_error_no_memory();
	stacks->binaries = grown;
	slots = calloc(2 * max, sizeof(*slots));
	if (!slots)
		return swlbr_error_no_memory();
	free(stacks->binary_slots);
	stacks->binary_slots = slots;
	stacks->max_binaries = max;
	stacks->binary_slots_log2 = (unsigned int)__builtin_ctzll(2 * max);
	for (size_t i = 0; i < stacks->nr_binaries; i++)
		*find_slot(stacks, grown[i].path, &grown[i].build_id, grown[i].kind) =
			(uint32_t)i + 1;
	return NULL;
}

struct swlbr_error *stacks_binary(struct swlbr_stacks *stacks, const char *path,
				  const struct swlbr_build_id *build_id, enum binary_kind kind,
				  uint32_t *index_ret)
{
	struct stacks_binary binary = { .build_id = *build_id, .kind = kind };
	uint32_t *slot;

	if (stacks->nr_binaries == stacks->max_binaries) {
		struct swlbr_error *error = grow(stacks);

		if (error)
			return error;
	}
	slot = find_slot(stacks, path, build_id, kind);
	if (!*slot) {
		if (stacks->nr_binaries > PLACE_MAX_BINARY)
			return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
						  "more than 16 million binaries");
		binary.path = strdup(path);
		binary.wanted = stacks_wants_binary(stacks, path);
		if (!binary.path)
			return swlbr_error_no_memory();
		stacks->binaries[stacks->nr_binaries++] = binary;
		*slot = (uint32_t)stacks->nr_binaries;
	}
	*index_ret = *slot - 1;
	return NULL;
}

void stacks_free_binaries(struct swlbr_stacks *stacks)
{
	for (size_t i = 0; i < stacks->nr_binaries; i++) {
		free(stacks->binaries[i].path);
		free(stacks->binaries[i].file);
		swlbr_elf_found_clear(&stacks->binaries[i].found);
	}
	free(stacks->binaries);
	free(stacks->binary_slots);
}

bool swlbr_stacks_get_binary(const struct swlbr_stacks *stacks, size_t index,
			     struct swlbr_stacks_binary *ret)
{
	const struct stacks_binary *binary;

	if (index >= stacks->nr_binaries)
		return false;
	binary = &stacks->binaries[index];
	*ret = (struct swlbr_stacks_binary){
		.path = binary->path,
		.build_id = binary->build_id,
		.match = binary->found.match,
		.file = binary->file ? binary->file : binary->found.path,
		.why = binary->found.why,
		.other_id = binary->found.other_id,
		.machine = binary->machine,
		.stripped = binary->stripped,
		.kernel = binary->kind == BINARY_KERNEL || binary->kind == BINARY_MODULE,
		.entries = binary->entries,
		.not_in_segments = binary->not_in_segments,
	};
	return true;
}
