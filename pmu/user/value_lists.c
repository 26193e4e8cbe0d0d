// SPDX-License-Identifier: GPL-2.0-only
/*
 * A data record's Values points to an array with a list head for each site; nodes come from the
 * value node section, or from calloc(). All lists are walked together, a node of each a round, so
 * that few system calls serve. Source: compiler-rt/lib/profile/InstrProfilingValue.c.
 */
#include <stdlib.h>
#include <string.h>

#include "counters/llvm_format.h"
#include "remote.h"
#include "value_lists.h"

/* The runtime keeps 255 a site; a longer list is damage or a race. */
#define MAX_NODES 1024

struct site {
	uint32_t function, index;
	uint16_t kind;
	uint64_t next;
};

struct walk {
	pid_t tid;
	struct site *site;
	size_t nr_sites;
	struct value_lists *lists;
	size_t room;
};

static size_t count_sites(const struct swlbr_counters *counters)
{
	size_t nr = 0;

	for (size_t i = 0; i < counters->nr_functions; i++)
		for (unsigned int kind = 0; kind < SWLBR_VALUE_KINDS; kind++)
			nr += counters->functions[i].nr_sites[kind];
	return nr;
}

/* Addresses of the arrays of list heads, one a function: from the live records. */
static bool read_arrays(pid_t tid, const struct swlbr_counters *counters, uint64_t load_bias,
			uint64_t *array)
{
	const struct llvm_record_layout *layout = &llvm_record_layouts[counters->version];
	char *records = malloc(counters->data.size);
	bool ok = records &&
		  remote_read(tid, counters->data.vaddr + load_bias, records, counters->data.size);

	for (size_t i = 0; ok && i < counters->nr_functions; i++)
		memcpy(&array[i], records + i * layout->size + layout->values, sizeof(array[i]));
	free(records);
	return ok;
}

static struct swlbr_error *read_heads(pid_t tid, const struct swlbr_counters *counters,
				      uint64_t load_bias, struct walk *walk)
{
	uint64_t *array = calloc(counters->nr_functions, sizeof(*array));
	struct remote_item *item = calloc(walk->nr_sites, sizeof(*item));
	size_t nr = 0;

	if (!array || !item) {
		free(array);
		free(item);
		return swlbr_error_no_memory();
	}
	if (!read_arrays(tid, counters, load_bias, array))
		memset(array, 0, counters->nr_functions * sizeof(*array));
	for (size_t i = 0; i < counters->nr_functions; i++) {
		uint64_t address = array[i];

		for (uint16_t kind = 0; kind < SWLBR_VALUE_KINDS; kind++)
			for (uint32_t k = 0; k < counters->functions[i].nr_sites[kind]; k++) {
				walk->site[nr] = (struct site){ .function = (uint32_t)i,
								.index = k,
								.kind = kind };
				item[nr] = (struct remote_item){ .address = address,
								 .buffer = &walk->site[nr].next };
				if (!array[i])
					continue; /* the slot is taken again by the next */
				address += 8;
				nr++;
			}
	}
	walk->nr_sites = nr;
	remote_read_many(tid, item, nr, 8);
	free(item);
	free(array);
	return NULL;
}

static struct swlbr_error *append(struct walk *walk, const struct site *site, const uint64_t *node)
{
	struct value_lists *lists = walk->lists;

	if (lists->nr == walk->room) {
		size_t room = walk->room ? 2 * walk->room : 256;
		struct value_entry *grown = reallocarray(lists->entry, room, sizeof(*grown));

		if (!grown)
			return swlbr_error_no_memory();
		lists->entry = grown;
		walk->room = room;
	}
	lists->entry[lists->nr++] = (struct value_entry){
		.function = site->function,
		.site = site->index,
		.kind = site->kind,
		.value = node[0],
		.nr = node[1],
	};
	return NULL;
}

static struct swlbr_error *walk_lists(struct walk *walk)
{
	uint64_t(*node)[3] = calloc(walk->nr_sites + 1, sizeof(*node));
	struct remote_item *item = calloc(walk->nr_sites + 1, sizeof(*item));
	struct swlbr_error *error = node && item ? NULL : swlbr_error_no_memory();

	for (size_t round = 0; !error && round < MAX_NODES; round++) {
		size_t live = 0;

		for (size_t i = 0; i < walk->nr_sites; i++)
			if (walk->site[i].next)
				walk->site[live++] = walk->site[i];
		walk->nr_sites = live;
		if (!live)
			break;
		for (size_t i = 0; i < live; i++)
			item[i] = (struct remote_item){ .address = walk->site[i].next,
							.buffer = node[i] };
		remote_read_many(walk->tid, item, live, LLVM_VALUE_NODE_SIZE);
		for (size_t i = 0; !error && i < live; i++) {
			walk->site[i].next = item[i].ok ? node[i][2] : 0;
			if (item[i].ok && node[i][1])
				error = append(walk, &walk->site[i], node[i]);
		}
	}
	free(node);
	free(item);
	return error;
}

static int by_site(const void *a, const void *b)
{
	const struct value_entry *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->site > y->site) - (x->site < y->site);
}

/* qsort() is not stable; the order within a list is kept by a merge sort. */
static void sort_entries(struct value_entry *entry, struct value_entry *spare, size_t nr)
{
	size_t half = nr / 2, i = 0, k = half, n = 0;

	if (nr < 2)
		return;
	sort_entries(entry, spare, half);
	sort_entries(entry + half, spare, nr - half);
	while (i < half && k < nr)
		spare[n++] = by_site(&entry[i], &entry[k]) <= 0 ? entry[i++] : entry[k++];
	while (i < half)
		spare[n++] = entry[i++];
	memcpy(entry, spare, n * sizeof(*entry));
}

struct swlbr_error *value_lists_read(pid_t tid, const struct swlbr_counters *counters,
				     uint64_t load_bias, struct value_lists *lists)
{
	struct walk walk = { .tid = tid, .nr_sites = count_sites(counters), .lists = lists };
	struct value_entry *spare = NULL;
	struct swlbr_error *error;

	*lists = (struct value_lists){ 0 };
	if (!walk.nr_sites)
		return NULL;
	walk.site = calloc(walk.nr_sites, sizeof(*walk.site));
	if (!walk.site)
		return swlbr_error_no_memory();
	error = read_heads(tid, counters, load_bias, &walk);
	if (!error)
		error = walk_lists(&walk);
	if (!error && lists->nr) {
		spare = calloc(lists->nr, sizeof(*spare));
		if (!spare)
			error = swlbr_error_no_memory();
		else
			sort_entries(lists->entry, spare, lists->nr);
	}
	free(spare);
	free(walk.site);
	if (error)
		value_lists_deinit(lists);
	return error;
}

void value_lists_deinit(struct value_lists *lists)
{
	free(lists->entry);
	*lists = (struct value_lists){ 0 };
}

uint64_t value_lists_count(const struct value_lists *base, const struct value_entry *entry)
{
	size_t low = 0, high = base->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_site(&base->entry[middle], entry) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < base->nr && !by_site(&base->entry[low], entry); low++)
		if (base->entry[low].value == entry->value)
			return base->entry[low].nr;
	return 0;
}
