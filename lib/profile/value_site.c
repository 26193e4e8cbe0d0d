// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Lists of profiled values, ordered and merged as llvm-profdata does. */
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "profile/llvm_profile_format.h"
#include "profile/value_site.h"

/* With its place in the list, which makes qsort stable. */
struct keyed_value {
	uint64_t key;
	struct swlbr_value entry;
	size_t order;
};

static int compare_order(const struct keyed_value *a, const struct keyed_value *b)
{
	return (a->order > b->order) - (a->order < b->order);
}

static int by_key(const void *left, const void *right)
{
	const struct keyed_value *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return compare_order(a, b);
}

static int by_count(const void *left, const void *right)
{
	const struct keyed_value *a = left, *b = right;

	if (a->entry.nr != b->entry.nr)
		return a->entry.nr > b->entry.nr ? -1 : 1;
	return compare_order(a, b);
}

static void sort_by_key(struct keyed_value *list, size_t nr, const struct swlbr_value *values,
			value_key_fn *key, const void *context)
{
	for (size_t i = 0; i < nr; i++)
		list[i] = (struct keyed_value){
			.key = key ? key(context, values[i].value) : values[i].value,
			.entry = values[i],
			.order = i,
		};
	qsort(list, nr, sizeof(*list), by_key);
}

/* Gives the number of entries kept. */
static size_t sort_by_count(struct keyed_value *list, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		list[i].order = i;
	qsort(list, nr, sizeof(*list), by_count);
	return nr > VALUES_PER_SITE_MAX ? VALUES_PER_SITE_MAX : nr;
}

void value_site_sort(struct value_site *site)
{
	/* Insertion: lists are short, mostly sorted, and this needs no memory. */
	for (uint32_t i = 1; i < site->nr; i++) {
		struct swlbr_value entry = site->values[i];
		uint32_t j = i;

		for (; j && site->values[j - 1].nr < entry.nr; j--)
			site->values[j] = site->values[j - 1];
		site->values[j] = entry;
	}
	if (site->nr > VALUES_PER_SITE_MAX)
		site->nr = VALUES_PER_SITE_MAX;
}

struct swlbr_error *value_site_merge(struct value_site *site, const struct swlbr_value *values,
				     size_t nr, value_key_fn *key, const void *context)
{
	struct keyed_value *ours, *theirs, *merged;
	size_t i = 0, nr_merged = 0;
	struct swlbr_value *kept;

	if (!nr)
		return NULL;
	ours = calloc(2 * (site->nr + nr), sizeof(*ours));
	if (!ours)
		return swlbr_error_no_memory();
	theirs = ours + site->nr;
	merged = theirs + nr;
	if (site->nr)
		sort_by_key(ours, site->nr, site->values, key, context);
	sort_by_key(theirs, nr, values, key, context);
	for (size_t j = 0; j < nr; j++) {
		while (i < site->nr && ours[i].key < theirs[j].key)
			merged[nr_merged++] = ours[i++];
		merged[nr_merged] = theirs[j];
		if (i < site->nr && ours[i].key == theirs[j].key) {
			merged[nr_merged] = ours[i++];
			add_saturating(&merged[nr_merged].entry.nr, theirs[j].entry.nr);
		}
		nr_merged++;
	}
	while (i < site->nr)
		merged[nr_merged++] = ours[i++];
	nr_merged = sort_by_count(merged, nr_merged);
	kept = reallocarray(site->values, nr_merged, sizeof(*kept));
	if (!kept) {
		free(ours);
		return swlbr_error_no_memory();
	}
	for (i = 0; i < nr_merged; i++)
		kept[i] = merged[i].entry;
	site->values = kept;
	site->nr = (uint32_t)nr_merged;
	free(ours);
	return NULL;
}
