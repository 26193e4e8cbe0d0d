// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Functions of raw profiles merged by name and hash, as InstrProfRecord::merge() does. */
#include <stdlib.h>
#include <string.h>

#include "profile/indexed_record.h"
#include "profile/llvm_profile_format.h"

static int compare_names(const struct profile_name *a, const struct profile_name *b)
{
	size_t size = a->size < b->size ? a->size : b->size;
	int order = memcmp(a->text, b->text, size);

	return order ? order : (a->size > b->size) - (a->size < b->size);
}

static int by_name(const void *left, const void *right)
{
	const struct indexed_source *a = left, *b = right;
	uint64_t hash_a = a->function->func_hash, hash_b = b->function->func_hash;
	int order = compare_names(a->name, b->name);

	if (order)
		return order;
	if (hash_a != hash_b)
		return hash_a < hash_b ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

struct swlbr_error *indexed_sources(const struct swlbr_profraws *set, struct indexed_source **ret,
				    size_t *nr_ret)
{
	struct indexed_source *sources;
	size_t nr = 0, max = 1;

	for (size_t i = 0; i < set->nr; i++)
		max += set->profiles[i]->nr_functions;
	sources = calloc(max, sizeof(*sources));
	if (!sources)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < set->nr; i++) {
		const struct swlbr_profraw *profile = set->profiles[i];

		for (size_t k = 0; k < profile->nr_functions; k++) {
			const struct profraw_function *function = &profile->functions[k];
			const struct profile_name *name =
				profile_names_find(profile->name_table, function->name_ref);

			if (function->damaged || !name)
				continue;
			sources[nr] = (struct indexed_source){
				.name = name,
				.profile = profile,
				.function = function,
				.order = nr,
			};
			nr++;
		}
	}
	qsort(sources, nr, sizeof(*sources), by_name);
	*ret = sources;
	*nr_ret = nr;
	return NULL;
}

static size_t record_sites(const struct indexed_record *record)
{
	return (size_t)record->nr_sites[0] + record->nr_sites[1] + record->nr_sites[2];
}

void indexed_record_deinit(struct indexed_record *record)
{
	if (record->sites) {
		for (size_t i = 0; i < record_sites(record); i++)
			free(record->sites[i].values);
	}
	free(record->sites);
	free(record->counts);
	free(record->bitmap);
	*record = (struct indexed_record){ 0 };
}

static struct swlbr_error *begin(struct indexed_record *record, const struct indexed_source *source)
{
	const struct profraw_function *function = source->function;

	record->func_hash = function->func_hash;
	record->nr_counts = function->nr_counters;
	record->nr_bitmap_bytes = function->nr_bitmap_bytes;
	memcpy(record->nr_sites, function->nr_sites, sizeof(record->nr_sites));
	record->counts = calloc(record->nr_counts + 1UL, sizeof(*record->counts));
	record->bitmap = calloc(record->nr_bitmap_bytes + 1UL, 1);
	record->sites = calloc(record_sites(record) + 1, sizeof(*record->sites));
	if (!record->counts || !record->bitmap || !record->sites)
		return swlbr_error_no_memory();
	return NULL;
}

/* The values of a site with addresses made name hashes. */
static struct swlbr_error *add_site(struct value_site *site, const struct indexed_source *source,
				    uint32_t kind, uint32_t index, bool first)
{
	const struct value_site *from =
		profraw_site(source->profile, source->function, kind, index);
	struct swlbr_error *error = NULL;
	struct swlbr_value *values;

	if (!from->nr)
		return NULL;
	values = reallocarray(NULL, from->nr, sizeof(*values));
	if (!values)
		return swlbr_error_no_memory();
	for (uint32_t i = 0; i < from->nr; i++)
		values[i] = (struct swlbr_value){
			.value = profraw_resolve(source->profile, kind, from->values[i].value),
			.nr = from->values[i].nr,
		};
	if (first) {
		*site = (struct value_site){ .values = values, .nr = from->nr };
		value_site_sort(site);
	} else {
		error = value_site_merge(site, values, from->nr, NULL, NULL);
		free(values);
	}
	return error;
}

static struct swlbr_error *add_values(struct indexed_record *record,
				      const struct indexed_source *source, bool first,
				      const struct swlbr_reporter *reporter)
{
	const struct profraw_function *function = source->function;
	struct value_site *site = record->sites;

	for (uint32_t kind = 0; kind < SWLBR_VALUE_KINDS; kind++) {
		if (function->nr_sites[kind] != record->nr_sites[kind]) {
			profraw_report(
				source->profile, function, reporter,
				"%u value sites of kind %u here and %u elsewhere; not merged",
				function->nr_sites[kind], kind, record->nr_sites[kind]);
			site += record->nr_sites[kind];
			continue;
		}
		for (uint32_t i = 0; i < record->nr_sites[kind]; i++) {
			struct swlbr_error *error = add_site(site++, source, kind, i, first);

			if (error)
				return error;
		}
	}
	return NULL;
}

static struct swlbr_error *add(struct indexed_record *record, const struct indexed_source *source,
			       bool first, const struct swlbr_reporter *reporter)
{
	const struct profraw_function *function = source->function;
	const uint64_t *counters = source->profile->counters + function->first_counter;

	if (function->nr_counters != record->nr_counts) {
		profraw_report(source->profile, function, reporter,
			       "%u counters here and %u elsewhere; left out", function->nr_counters,
			       record->nr_counts);
		return NULL;
	}
	for (uint32_t i = 0; i < record->nr_counts; i++)
		record->counts[i] = add_count(record->counts[i], counters[i]);
	if (function->nr_bitmap_bytes != record->nr_bitmap_bytes) {
		profraw_report(source->profile, function, reporter,
			       "%u bitmap bytes here and %u elsewhere; not merged",
			       function->nr_bitmap_bytes, record->nr_bitmap_bytes);
		return NULL;
	}
	for (uint32_t i = 0; i < record->nr_bitmap_bytes; i++)
		record->bitmap[i] |= source->profile->bitmap.data[function->first_bitmap + i];
	return add_values(record, source, first, reporter);
}

struct swlbr_error *indexed_record_merge(const struct indexed_source *sources, size_t nr,
					 const struct swlbr_reporter *reporter,
					 struct indexed_record *ret, size_t *used_ret)
{
	struct indexed_record record = { 0 };
	struct swlbr_error *error;
	size_t used = 0;

	error = begin(&record, &sources[0]);
	for (; !error && used < nr; used++) {
		if (sources[used].function->func_hash != record.func_hash ||
		    (used && compare_names(sources[used].name, sources[0].name)))
			break;
		error = add(&record, &sources[used], used == 0, reporter);
	}
	if (error) {
		indexed_record_deinit(&record);
		return error;
	}
	*ret = record;
	*used_ret = used;
	return NULL;
}
