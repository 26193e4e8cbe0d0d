// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Sets of raw profiles, and sums of those that are of one binary. */
#include <stdlib.h>
#include <string.h>

#include "profile/llvm_profile_format.h"
#include "profile/profraw.h"

static bool same_bytes(const struct profraw_bytes *a, const struct profraw_bytes *b)
{
	return a->size == b->size && (!a->size || !memcmp(a->data, b->data, a->size));
}

static bool same_function(const struct profraw_function *a, const struct profraw_function *b)
{
	return a->name_ref == b->name_ref && a->func_hash == b->func_hash &&
	       a->first_counter == b->first_counter && a->nr_counters == b->nr_counters &&
	       a->first_bitmap == b->first_bitmap && a->nr_bitmap_bytes == b->nr_bitmap_bytes &&
	       !a->function_pointer == !b->function_pointer &&
	       !memcmp(a->nr_sites, b->nr_sites, sizeof(a->nr_sites));
}

static bool same_binary(const struct swlbr_profraw *a, const struct swlbr_profraw *b)
{
	if (a->version_word != b->version_word || a->big_endian != b->big_endian ||
	    a->nr_functions != b->nr_functions || a->nr_counters != b->nr_counters ||
	    a->bitmap.size != b->bitmap.size || a->nr_vtables != b->nr_vtables ||
	    a->nr_binary_ids != b->nr_binary_ids || !same_bytes(&a->names, &b->names) ||
	    !same_bytes(&a->vtable_names, &b->vtable_names))
		return false;
	for (size_t i = 0; i < a->nr_binary_ids; i++) {
		if (!same_bytes(&a->binary_ids[i], &b->binary_ids[i]))
			return false;
	}
	for (size_t i = 0; i < a->nr_functions; i++) {
		if (!same_function(&a->functions[i], &b->functions[i]))
			return false;
	}
	for (size_t i = 0; i < a->nr_vtables; i++) {
		if (a->vtables[i].name_hash != b->vtables[i].name_hash ||
		    a->vtables[i].size != b->vtables[i].size)
			return false;
	}
	return true;
}

/*
 * The value @value of @from as @to would have it: the two processes may have been loaded at
 * different addresses. What is not in the binary becomes 0, which resolves alike.
 */
static uint64_t translate(const struct swlbr_profraw *from, const struct swlbr_profraw *to,
			  uint32_t kind, uint64_t value)
{
	const struct profraw_function *target;

	switch (kind) {
	case SWLBR_VALUE_INDIRECT_CALL:
		target = value ? profraw_target(from, value) : NULL;
		return target ? to->functions[target - from->functions].function_pointer : 0;
	case SWLBR_VALUE_VTABLE:
		for (size_t i = 0; i < from->nr_vtables; i++) {
			const struct profraw_vtable *vtable = &from->vtables[i];

			if (vtable->address && value - vtable->address < vtable->size)
				return to->vtables[i].address + (value - vtable->address);
		}
		return 0;
	default:
		return value;
	}
}

static struct swlbr_error *sum_sites(struct swlbr_profraw *to, const struct swlbr_profraw *from,
				     size_t index)
{
	const struct profraw_function *function = &from->functions[index];

	for (uint32_t kind = 0; kind < SWLBR_VALUE_KINDS; kind++) {
		for (uint32_t i = 0; i < function->nr_sites[kind]; i++) {
			const struct value_site *site = profraw_site(from, function, kind, i);
			struct swlbr_value values[VALUES_PER_SITE_MAX];
			size_t nr = site->nr < VALUES_PER_SITE_MAX ? site->nr : VALUES_PER_SITE_MAX;
			struct swlbr_error *error;

			/* LLVM sorts both lists by count before it merges them. */
			value_site_sort(profraw_site(to, &to->functions[index], kind, i));
			for (size_t k = 0; k < nr; k++)
				values[k] = (struct swlbr_value){
					.value = translate(from, to, kind, site->values[k].value),
					.nr = site->values[k].nr,
				};
			error = swlbr_profraw_add_values(to, index, kind, i, nr, values);
			if (error)
				return error;
		}
	}
	return NULL;
}

/* A function damaged in one of the two is taken from the other. */
static struct swlbr_error *sum(struct swlbr_profraw *to, struct swlbr_profraw *from)
{
	swlbr_profraw_end_process(to);
	for (size_t i = 0; i < from->nr_functions; i++) {
		struct profraw_function *function = &to->functions[i];
		struct swlbr_error *error;

		if (from->functions[i].damaged)
			continue;
		error = swlbr_profraw_add_counters(to, function->first_counter,
						   function->nr_counters,
						   from->counters + function->first_counter);
		if (!error)
			error = sum_sites(to, from, i);
		if (error)
			return error;
		for (uint32_t k = 0; k < function->nr_bitmap_bytes; k++)
			to->bitmap.data[function->first_bitmap + k] |=
				from->bitmap.data[function->first_bitmap + k];
		function->damaged = false;
	}
	return NULL;
}

struct swlbr_error *profraws_append(struct swlbr_profraws *set, struct swlbr_profraw *profile)
{
	struct swlbr_profraw **grown =
		reallocarray(set->profiles, set->nr + 1, sizeof(struct swlbr_profraw *));

	if (!grown)
		return swlbr_error_no_memory();
	set->profiles = grown;
	grown[set->nr++] = profile;
	return NULL;
}

struct swlbr_error *swlbr_profraws_add(struct swlbr_profraws *set, struct swlbr_profraw *profile,
				       struct swlbr_profraw **sum_ret)
{
	struct swlbr_profraw *found = NULL;
	struct swlbr_error *error;

	for (size_t i = 0; i < set->nr && !found; i++) {
		if (same_binary(set->profiles[i], profile))
			found = set->profiles[i];
	}
	error = found ? sum(found, profile) : profraws_append(set, profile);
	if (found || error)
		swlbr_profraw_destroy(profile);
	if (!error && sum_ret)
		*sum_ret = found ? found : profile;
	return error;
}

void swlbr_profraws_clear(struct swlbr_profraws *set)
{
	for (size_t i = 0; i < set->nr; i++)
		swlbr_profraw_destroy(set->profiles[i]);
	free(set->profiles);
	*set = (struct swlbr_profraws){ 0 };
}

struct swlbr_error *profraw_check_variants(const struct swlbr_profraws *set)
{
	uint64_t all = 0;

	for (size_t i = 0; i < set->nr; i++) {
		const struct swlbr_profraw *first = set->profiles[0], *profile = set->profiles[i];

		all |= profile->version_word;
		if ((first->version_word ^ profile->version_word) & PROFILE_VARIANT_IR)
			return swlbr_error_create(
				SWLBR_ERROR_MISMATCH,
				"%s and %s: -fprofile-generate and -fprofile-instr-generate do not mix",
				first->name, profile->name);
		if ((all & PROFILE_VARIANT_FUNCTION_ENTRY_ONLY) &&
		    (all & PROFILE_VARIANT_INSTR_ENTRY))
			return swlbr_error_create(
				SWLBR_ERROR_MISMATCH,
				"%s: counters of function entries only and of all blocks do not mix",
				profile->name);
	}
	return NULL;
}
