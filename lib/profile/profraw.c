// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Raw profiles in memory: made from a binary, filled. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/llvm_profile_format.h"
#include "profile/profraw.h"

struct swlbr_error *profraw_new(const char *name, struct swlbr_profraw **ret)
{
	struct swlbr_profraw *profile = calloc(1, sizeof(*profile));

	if (profile)
		profile->name = strdup(name);
	if (!profile || !profile->name) {
		free(profile);
		return swlbr_error_no_memory();
	}
	*ret = profile;
	return NULL;
}

void swlbr_profraw_destroy(struct swlbr_profraw *profile)
{
	if (!profile)
		return;
	for (size_t i = 0; i < profile->nr_sites; i++)
		free(profile->sites[i].values);
	for (size_t i = 0; i < profile->nr_binary_ids; i++)
		free(profile->binary_ids[i].data);
	free(profile->sites);
	free(profile->binary_ids);
	free(profile->functions);
	free(profile->counters);
	free(profile->bitmap.data);
	free(profile->names.data);
	free(profile->vtable_names.data);
	free(profile->vtables);
	free(profile->vtable_order);
	free(profile->targets);
	profile_names_destroy(profile->name_table);
	free(profile->name);
	free(profile);
}

struct swlbr_error *profraw_bytes_copy(struct profraw_bytes *bytes, const void *data, size_t size)
{
	uint8_t *copy = NULL;

	if (size) {
		copy = malloc(size);
		if (!copy)
			return swlbr_error_no_memory();
		memcpy(copy, data, size);
	}
	free(bytes->data);
	*bytes = (struct profraw_bytes){ .data = copy, .size = size };
	return NULL;
}

struct swlbr_error *profraw_add_binary_id(struct swlbr_profraw *profile, const void *data,
					  size_t size)
{
	struct profraw_bytes *grown =
		reallocarray(profile->binary_ids, profile->nr_binary_ids + 1, sizeof(*grown));
	struct swlbr_error *error;

	if (!grown)
		return swlbr_error_no_memory();
	profile->binary_ids = grown;
	grown[profile->nr_binary_ids] = (struct profraw_bytes){ 0 };
	error = profraw_bytes_copy(&grown[profile->nr_binary_ids], data, size);
	if (!error)
		profile->nr_binary_ids++;
	return error;
}

static int by_address(const void *left, const void *right)
{
	const struct profraw_target *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (a->function > b->function) - (a->function < b->function);
}

static int by_vtable_address(const void *left, const void *right)
{
	const struct profraw_vtable *a = *(struct profraw_vtable *const *)left;
	const struct profraw_vtable *b = *(struct profraw_vtable *const *)right;

	return (a->address > b->address) - (a->address < b->address);
}

struct swlbr_error *profraw_records_done(struct swlbr_profraw *profile)
{
	size_t nr_sites = 0;

	for (size_t i = 0; i < profile->nr_functions; i++) {
		profile->functions[i].first_site = nr_sites;
		nr_sites += profraw_function_sites(&profile->functions[i]);
	}
	profile->sites = calloc(nr_sites + 1, sizeof(*profile->sites));
	profile->targets = calloc(profile->nr_functions + 1, sizeof(*profile->targets));
	profile->vtable_order = calloc(profile->nr_vtables + 1, sizeof(*profile->vtable_order));
	if (!profile->sites || !profile->targets || !profile->vtable_order)
		return swlbr_error_no_memory();
	profile->nr_sites = nr_sites;
	for (size_t i = 0; i < profile->nr_functions; i++) {
		uint64_t address = profile->functions[i].function_pointer;

		if (address)
			profile->targets[profile->nr_targets++] = (struct profraw_target){
				.address = address,
				.function = i,
			};
	}
	qsort(profile->targets, profile->nr_targets, sizeof(*profile->targets), by_address);
	for (size_t i = 0; i < profile->nr_vtables; i++)
		profile->vtable_order[i] = &profile->vtables[i];
	qsort(profile->vtable_order, profile->nr_vtables, sizeof(*profile->vtable_order),
	      by_vtable_address);
	return NULL;
}

const struct profraw_function *profraw_target(const struct swlbr_profraw *profile, uint64_t address)
{
	size_t low = 0, high = profile->nr_targets;

	/* The first of several at one address. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (profile->targets[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == profile->nr_targets || profile->targets[low].address != address)
		return NULL;
	return &profile->functions[profile->targets[low].function];
}

static uint64_t resolve_vtable(const struct swlbr_profraw *profile, uint64_t address)
{
	size_t low = 0, high = profile->nr_vtables;
	const struct profraw_vtable *vtable;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (profile->vtable_order[middle]->address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	vtable = profile->vtable_order[low - 1];
	if (!vtable->address || address - vtable->address >= vtable->size)
		return 0;
	return vtable->name_hash;
}

uint64_t profraw_resolve(const struct swlbr_profraw *profile, uint32_t kind, uint64_t value)
{
	const struct profraw_function *function;

	switch (kind) {
	case SWLBR_VALUE_INDIRECT_CALL:
		function = value ? profraw_target(profile, value) : NULL;
		return function ? function->name_ref : 0;
	case SWLBR_VALUE_VTABLE:
		return resolve_vtable(profile, value);
	default:
		return value;
	}
}

void profraw_report(const struct swlbr_profraw *profile, const struct profraw_function *function,
		    const struct swlbr_reporter *reporter, const char *format, ...)
{
	const struct profile_name *name;
	char why[256], line[1024];
	va_list args;

	if (!reporter || !reporter->report)
		return;
	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	name = profile_names_find(profile->name_table, function->name_ref);
	if (name)
		snprintf(line, sizeof(line), "%s: function %.*s: %s", profile->name,
			 name->size > 300 ? 300 : (int)name->size, name->text, why);
	else
		snprintf(line, sizeof(line), "%s: function 0x%016llx: %s", profile->name,
			 (unsigned long long)function->name_ref, why);
	reporter->report(reporter->context, line);
}

struct swlbr_error *profraw_decode_names(struct swlbr_profraw *profile,
					 const struct swlbr_reporter *reporter)
{
	struct cursor section = { .file = profile->name,
				  .data = profile->names.data,
				  .size = profile->names.size };
	struct swlbr_error *error;

	profile_names_destroy(profile->name_table);
	profile->name_table = NULL;
	error = profile_names_decode(section, &profile->name_table);
	if (error && error->code == SWLBR_ERROR_FORMAT && profile->name_table &&
	    profile->name_table->nr) {
		if (reporter && reporter->report)
			reporter->report(reporter->context, error->message);
		swlbr_error_destroy(error);
		error = NULL;
	}
	for (size_t i = 0; !error && i < profile->nr_functions; i++) {
		struct profraw_function *function = &profile->functions[i];

		if (function->damaged ||
		    profile_names_find(profile->name_table, function->name_ref))
			continue;
		function->damaged = true;
		profraw_report(profile, function, reporter, "its name is not there; left out");
	}
	return error;
}

static struct swlbr_error *read_range(struct swlbr_elf *elf, struct swlbr_range range,
				      struct profraw_bytes *ret)
{
	uint8_t *data;
	struct swlbr_error *error;

	if (!range.size)
		return NULL;
	if (range.size > 1ULL << 32)
		return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: section of %llu bytes at 0x%llx",
					  swlbr_elf_path(elf), (unsigned long long)range.size,
					  (unsigned long long)range.vaddr);
	data = malloc(range.size);
	if (!data)
		return swlbr_error_no_memory();
	error = swlbr_counters_read(elf, &range, data);
	if (error) {
		free(data);
		return error;
	}
	*ret = (struct profraw_bytes){ .data = data, .size = range.size };
	return NULL;
}

static struct swlbr_error *vtables_of_elf(struct swlbr_profraw *profile, struct swlbr_elf *elf,
					  const struct swlbr_counters *counters)
{
	struct profraw_bytes bytes = { 0 };
	struct cursor cursor;
	struct swlbr_error *error;

	if (profile->version < 10)
		return NULL;
	error = read_range(elf, counters->vtables, &bytes);
	if (!error)
		error = read_range(elf, counters->vtable_names, &profile->vtable_names);
	if (error) {
		free(bytes.data);
		return error;
	}
	cursor = (struct cursor){ .file = swlbr_elf_path(elf),
				  .data = bytes.data,
				  .size = bytes.size,
				  .big_endian = profile->big_endian };
	profile->vtables = calloc(bytes.size / PROFRAW_VTABLE_SIZE + 1, sizeof(*profile->vtables));
	if (!profile->vtables)
		error = swlbr_error_no_memory();
	while (!error && cursor_left(&cursor) >= PROFRAW_VTABLE_SIZE) {
		struct profraw_vtable *vtable = &profile->vtables[profile->nr_vtables++];

		error = cursor_u64(&cursor, "vtable", &vtable->name_hash);
		if (!error)
			error = cursor_u64(&cursor, "vtable", &vtable->address);
		if (!error)
			error = cursor_u32(&cursor, "vtable", &vtable->size);
		if (!error)
			error = cursor_bytes(&cursor, "vtable", 4, NULL);
	}
	free(bytes.data);
	return error;
}

static struct swlbr_error *functions_of_elf(struct swlbr_profraw *profile,
					    const struct swlbr_counters *counters)
{
	profile->functions = calloc(counters->nr_functions + 1, sizeof(*profile->functions));
	profile->counters = calloc(counters->nr_counters + 1, sizeof(*profile->counters));
	if (!profile->functions || !profile->counters)
		return swlbr_error_no_memory();
	profile->nr_functions = counters->nr_functions;
	profile->nr_counters = counters->nr_counters;
	for (size_t i = 0; i < counters->nr_functions; i++) {
		const struct swlbr_counter_function *from = &counters->functions[i];
		struct profraw_function *function = &profile->functions[i];

		*function = (struct profraw_function){
			.name_ref = from->name_ref,
			.func_hash = from->func_hash,
			.function_pointer = from->function_pointer,
			.values = from->values,
			.first_counter = from->first_counter,
			.first_bitmap = from->first_bitmap,
			.nr_counters = from->nr_counters,
			.nr_bitmap_bytes = from->nr_bitmap_bytes,
		};
		memcpy(function->nr_sites, from->nr_sites, sizeof(function->nr_sites));
	}
	return NULL;
}

static struct swlbr_error *fill_from_elf(struct swlbr_profraw *profile, struct swlbr_elf *elf,
					 const struct swlbr_counters *counters)
{
	const struct swlbr_build_id *id = swlbr_elf_build_id(elf);
	struct swlbr_error *error;

	profile->version_word = counters->version_word;
	profile->version = counters->version;
	profile->big_endian = swlbr_elf_is_big_endian(elf);
	profile->counters_delta = counters->counters.vaddr - counters->data.vaddr;
	profile->bitmap_delta = counters->bitmap.vaddr - counters->data.vaddr;
	profile->names_delta = counters->names.vaddr;
	error = functions_of_elf(profile, counters);
	if (!error && id->size && !id->digest)
		error = profraw_add_binary_id(profile, id->bytes, id->size);
	if (!error && counters->bitmap.size && profile->version >= 9) {
		profile->bitmap.data = calloc(1, counters->bitmap.size);
		if (!profile->bitmap.data)
			return swlbr_error_no_memory();
		profile->bitmap.size = counters->bitmap.size;
	}
	if (!error)
		error = read_range(elf, counters->names, &profile->names);
	if (!error)
		error = vtables_of_elf(profile, elf, counters);
	if (!error)
		error = profraw_records_done(profile);
	if (!error)
		error = profraw_decode_names(profile, NULL);
	if (!error && counters->per_cpu)
		error = profraw_mark_kernel_functions(profile, elf);
	return error;
}

struct swlbr_error *swlbr_profraw_create(struct swlbr_elf *elf,
					 const struct swlbr_counters *counters,
					 struct swlbr_profraw **ret)
{
	struct swlbr_profraw *profile;
	struct swlbr_error *error;

	error = profraw_new(swlbr_elf_path(elf), &profile);
	if (error)
		return error;
	error = fill_from_elf(profile, elf, counters);
	if (error) {
		swlbr_profraw_destroy(profile);
		return error;
	}
	*ret = profile;
	return NULL;
}

struct swlbr_error *swlbr_profraw_add_counters(struct swlbr_profraw *profile, uint64_t first,
					       uint64_t nr, const uint64_t *values)
{
	if (first > profile->nr_counters || nr > profile->nr_counters - first)
		return swlbr_error_create(SWLBR_ERROR_MISMATCH,
					  "counters %llu to %llu, but %s has %zu",
					  (unsigned long long)first,
					  (unsigned long long)(first + nr - 1), profile->name,
					  profile->nr_counters);
	for (uint64_t i = 0; i < nr; i++)
		profile->counters[first + i] = add_count(profile->counters[first + i], values[i]);
	return NULL;
}

struct key_context {
	const struct swlbr_profraw *profile;
	uint32_t kind;
};

static uint64_t resolved_key(const void *context, uint64_t value)
{
	const struct key_context *key = context;

	return profraw_resolve(key->profile, key->kind, value);
}

struct swlbr_error *swlbr_profraw_add_values(struct swlbr_profraw *profile, uint64_t function,
					     uint32_t kind, uint32_t site, size_t nr,
					     const struct swlbr_value *values)
{
	struct key_context context = { .profile = profile, .kind = kind };
	struct value_site *to;

	if (function >= profile->nr_functions || kind >= SWLBR_VALUE_KINDS ||
	    site >= profile->functions[function].nr_sites[kind])
		return swlbr_error_create(SWLBR_ERROR_MISMATCH,
					  "%s has no value site %u of kind %u in function %llu",
					  profile->name, site, kind, (unsigned long long)function);
	to = profraw_site(profile, &profile->functions[function], kind, site);
	if (to->nr || profile->several_processes)
		return value_site_merge(to, values, nr, resolved_key, &context);
	/* The first list is only sorted by count: LLVM keeps it as it came. */
	if (nr) {
		struct swlbr_value *copy = reallocarray(NULL, nr, sizeof(*copy));

		if (!copy)
			return swlbr_error_no_memory();
		memcpy(copy, values, nr * sizeof(*copy));
		free(to->values);
		to->values = copy;
		to->nr = (uint32_t)nr;
		value_site_sort(to);
	}
	return NULL;
}

void swlbr_profraw_end_process(struct swlbr_profraw *profile)
{
	profile->several_processes = true;
}

void swlbr_profraw_totals(const struct swlbr_profraw *profile, struct swlbr_profraw_totals *ret)
{
	*ret = (struct swlbr_profraw_totals){ 0 };
	for (size_t i = 0; i < profile->nr_functions; i++) {
		const struct profraw_function *function = &profile->functions[i];
		uint64_t sum = 0;

		if (function->damaged) {
			ret->damaged += !function->uncounted;
			ret->uncounted += function->uncounted;
			continue;
		}
		for (uint32_t k = 0; k < function->nr_counters; k++)
			add_saturating(&sum, profile->counters[function->first_counter + k]);
		ret->functions++;
		ret->executed += sum != 0;
		ret->counters += function->nr_counters;
		add_saturating(&ret->count, sum);
		if (function->boot)
			add_saturating(&ret->boot_count, sum);
	}
}

size_t swlbr_profraw_counters(const struct swlbr_profraw *profile, const uint64_t **ret)
{
	*ret = profile->counters;
	return profile->nr_counters;
}

void swlbr_profraw_build_id(const struct swlbr_profraw *profile, struct swlbr_build_id *ret)
{
	*ret = (struct swlbr_build_id){ 0 };
	if (!profile->nr_binary_ids || profile->binary_ids[0].size > SWLBR_BUILD_ID_SIZE)
		return;
	ret->size = (uint8_t)profile->binary_ids[0].size;
	if (ret->size)
		memcpy(ret->bytes, profile->binary_ids[0].data, ret->size);
}

bool swlbr_profraw_lacks_names(const struct swlbr_profraw *profile)
{
	return profile->nr_functions && (!profile->name_table || !profile->name_table->nr);
}

struct swlbr_error *swlbr_profraw_names_from(struct swlbr_profraw *profile, struct swlbr_elf *elf,
					     const struct swlbr_counters *counters,
					     const struct swlbr_reporter *reporter)
{
	const struct swlbr_build_id *id = swlbr_elf_build_id(elf);
	struct swlbr_build_id ours;
	struct swlbr_error *error;
	bool same;

	swlbr_profraw_build_id(profile, &ours);
	if (ours.size)
		same = !id->digest && id->size == ours.size &&
		       !memcmp(id->bytes, ours.bytes, ours.size);
	else
		same = counters->nr_functions == profile->nr_functions;
	for (size_t i = 0; same && i < profile->nr_functions && i < counters->nr_functions; i++)
		same = counters->functions[i].name_ref == profile->functions[i].name_ref &&
		       counters->functions[i].func_hash == profile->functions[i].func_hash;
	if (!same)
		return swlbr_error_create(SWLBR_ERROR_MISMATCH, "%s is not the binary of %s",
					  swlbr_elf_path(elf), profile->name);
	free(profile->names.data);
	profile->names = (struct profraw_bytes){ 0 };
	error = read_range(elf, counters->names, &profile->names);
	if (!error)
		error = profraw_decode_names(profile, reporter);
	return error;
}
