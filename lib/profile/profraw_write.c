// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Writing of .profraw files, as compiler-rt's runtime writes them. */
#include <stdlib.h>
#include <string.h>

#include "base/outfile.h"
#include "profile/llvm_profile_format.h"
#include "profile/output.h"
#include "profile/profraw.h"

static uint64_t binary_ids_size(const struct swlbr_profraw *profile)
{
	uint64_t size = 0;

	for (size_t i = 0; i < profile->nr_binary_ids; i++)
		size += 8 + ((profile->binary_ids[i].size + 7) & ~7ULL);
	return size;
}

static void write_header(struct profile_output *out, const struct swlbr_profraw *profile)
{
	const uint64_t words[PROFRAW_HEADER_WORDS] = {
		[PROFRAW_MAGIC] = PROFRAW_MAGIC_64,
		[PROFRAW_VERSION] = profile->version_word,
		[PROFRAW_BINARY_IDS_SIZE] = binary_ids_size(profile),
		[PROFRAW_NR_DATA] = profraw_sound_functions(profile),
		[PROFRAW_NR_COUNTERS] = profile->nr_counters,
		[PROFRAW_NR_BITMAP_BYTES] = profile->bitmap.size,
		[PROFRAW_PADDING_AFTER_BITMAP] = -profile->bitmap.size & 7,
		[PROFRAW_NAMES_SIZE] = profile->names.size,
		[PROFRAW_COUNTERS_DELTA] = profile->counters_delta,
		[PROFRAW_BITMAP_DELTA] = profile->bitmap_delta,
		[PROFRAW_NAMES_DELTA] = profile->names_delta,
		[PROFRAW_NR_VTABLES] = profile->nr_vtables,
		[PROFRAW_VNAMES_SIZE] = profile->vtable_names.size,
		[PROFRAW_VALUE_KIND_LAST] = llvm_record_layouts[profile->version].nr_kinds - 1U,
	};

	for (unsigned int i = 0; i < PROFRAW_HEADER_WORDS; i++) {
		if (profraw_header_since[i] <= profile->version)
			output_u64(out, words[i]);
	}
}

static void put(const struct swlbr_profraw *profile, uint8_t *at, unsigned int size, uint64_t value)
{
	for (unsigned int i = 0; i < size; i++)
		at[profile->big_endian ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

/* @index: of the record in the file, which its pointers are relative to. */
static void write_record(struct profile_output *out, const struct swlbr_profraw *profile,
			 const struct profraw_function *function, uint64_t index)
{
	const struct llvm_record_layout *layout = &llvm_record_layouts[profile->version];
	uint8_t record[64] = { 0 };

	put(profile, record + LLVM_RECORD_NAME_REF, 8, function->name_ref);
	put(profile, record + LLVM_RECORD_FUNC_HASH, 8, function->func_hash);
	put(profile, record + LLVM_RECORD_COUNTER_POINTER, 8,
	    profile->counters_delta - index * layout->size + function->first_counter * 8);
	put(profile, record + layout->function_pointer, 8, function->function_pointer);
	put(profile, record + layout->values, 8, function->values);
	put(profile, record + layout->nr_counters, 4, function->nr_counters);
	for (unsigned int kind = 0; kind < layout->nr_kinds; kind++)
		put(profile, record + layout->nr_sites + 2 * kind, 2, function->nr_sites[kind]);
	if (layout->nr_bitmap_bytes) {
		put(profile, record + layout->nr_bitmap_bytes, 4, function->nr_bitmap_bytes);
		put(profile, record + layout->bitmap_pointer, 8,
		    profile->bitmap_delta - index * layout->size + function->first_bitmap);
	}
	output_bytes(out, record, layout->size);
}

static void write_vtables(struct profile_output *out, const struct swlbr_profraw *profile)
{
	if (profile->version < 10)
		return;
	for (size_t i = 0; i < profile->nr_vtables; i++) {
		output_u64(out, profile->vtables[i].name_hash);
		output_u64(out, profile->vtables[i].address);
		output_u32(out, profile->vtables[i].size);
		output_u32(out, 0);
	}
	output_bytes(out, profile->vtable_names.data, profile->vtable_names.size);
	output_padding(out, profile->vtable_names.size);
}

static void write_profile(struct profile_output *out, const struct swlbr_profraw *profile)
{
	uint64_t index = 0;

	out->big_endian = profile->big_endian;
	write_header(out, profile);
	for (size_t i = 0; i < profile->nr_binary_ids; i++) {
		output_u64(out, profile->binary_ids[i].size);
		output_bytes(out, profile->binary_ids[i].data, profile->binary_ids[i].size);
		output_padding(out, profile->binary_ids[i].size);
	}
	for (size_t i = 0; i < profile->nr_functions; i++) {
		if (!profile->functions[i].damaged)
			write_record(out, profile, &profile->functions[i], index++);
	}
	for (size_t i = 0; i < profile->nr_counters; i++)
		output_u64(out, profile->counters[i]);
	if (profile->version >= 9) {
		output_bytes(out, profile->bitmap.data, profile->bitmap.size);
		output_padding(out, profile->bitmap.size);
	}
	output_bytes(out, profile->names.data, profile->names.size);
	output_padding(out, profile->names.size);
	write_vtables(out, profile);
	for (size_t i = 0; i < profile->nr_functions; i++) {
		const struct profraw_function *function = &profile->functions[i];

		if (!function->damaged)
			output_value_data(out, function->nr_sites,
					  profile->sites + function->first_site, false);
	}
}

static struct swlbr_error *check_one_file(const struct swlbr_profraws *set)
{
	for (size_t i = 1; i < set->nr; i++) {
		const struct swlbr_profraw *a = set->profiles[0], *b = set->profiles[i];

		if (a->version != b->version)
			return swlbr_error_create(
				SWLBR_ERROR_MISMATCH,
				"%s has raw profile version %u and %s %u: one .profraw cannot hold both",
				a->name, a->version, b->name, b->version);
		if (a->big_endian != b->big_endian)
			return swlbr_error_create(
				SWLBR_ERROR_MISMATCH,
				"%s and %s differ in byte order: one .profraw cannot hold both",
				a->name, b->name);
	}
	return profraw_check_variants(set);
}

struct swlbr_error *swlbr_profraws_write(const struct swlbr_profraws *set, const char *path)
{
	struct profile_output out = { 0 };
	struct swlbr_error *error;

	error = check_one_file(set);
	if (!error)
		error = output_open(&out, path);
	if (error)
		return error;
	for (size_t i = 0; i < set->nr; i++)
		write_profile(&out, set->profiles[i]);
	return output_commit(&out);
}
