// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* A sample profile in the order in which it is written. */
#include <stdlib.h>
#include <string.h>

#include "sample_profile.h"

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_places(struct sample_place a, struct sample_place b)
{
	return a.line != b.line ? COMPARE(a.line, b.line)
				: COMPARE(a.discriminator, b.discriminator);
}

static int by_heat(const void *left, const void *right, void *context)
{
	const struct swlbr_sample_profile *profile = context;
	const struct sample_node *a = &profile->nodes[*(const uint32_t *)left];
	const struct sample_node *b = &profile->nodes[*(const uint32_t *)right];

	if (a->total != b->total)
		return COMPARE(b->total, a->total);
	return strcmp(profile->names[a->name], profile->names[b->name]);
}

static int by_call(const void *left, const void *right, void *context)
{
	const struct swlbr_sample_profile *profile = context;
	const struct sample_node *a = &profile->nodes[*(const uint32_t *)left];
	const struct sample_node *b = &profile->nodes[*(const uint32_t *)right];
	int order;

	if (a->parent != b->parent)
		return COMPARE(a->parent, b->parent);
	order = compare_places(a->place, b->place);
	return order ? order : strcmp(profile->names[a->name], profile->names[b->name]);
}

static int by_record(const void *left, const void *right, void *context)
{
	const struct swlbr_sample_profile *profile = context;
	const struct sample_record *a = &profile->records[*(const uint32_t *)left];
	const struct sample_record *b = &profile->records[*(const uint32_t *)right];

	if (a->node != b->node)
		return COMPARE(a->node, b->node);
	return compare_places(a->place, b->place);
}

static int by_target(const void *left, const void *right, void *context)
{
	const struct swlbr_sample_profile *profile = context;
	const struct sample_target *a = &profile->targets[*(const uint32_t *)left];
	const struct sample_target *b = &profile->targets[*(const uint32_t *)right];

	if (a->record != b->record)
		return COMPARE(a->record, b->record);
	if (a->count != b->count)
		return COMPARE(b->count, a->count);
	return strcmp(profile->names[a->name], profile->names[b->name]);
}

static uint32_t *new_array(size_t nr)
{
	return calloc(nr + 1, sizeof(uint32_t));
}

/* Functions apart from inlined calls. */
static void order_nodes(const struct swlbr_sample_profile *profile, struct sample_order *order)
{
	size_t nr_calls = 0, nr = profile->node_index.nr;

	for (uint32_t i = 0; i < nr; i++) {
		if (profile->nodes[i].parent == SAMPLE_TOP) {
			order->functions[order->nr_functions++] = i;
			continue;
		}
		order->calls[nr_calls++] = i;
		order->call_start[profile->nodes[i].parent + 1]++;
	}
	for (size_t i = 0; i < nr; i++)
		order->call_start[i + 1] += order->call_start[i];
	if (order->nr_functions)
		qsort_r(order->functions, order->nr_functions, sizeof(uint32_t), by_heat,
			(void *)profile);
	if (nr_calls)
		qsort_r(order->calls, nr_calls, sizeof(uint32_t), by_call, (void *)profile);
}

static void order_records(const struct swlbr_sample_profile *profile, struct sample_order *order)
{
	size_t nr = profile->record_index.nr;

	for (uint32_t i = 0; i < nr; i++) {
		order->records[i] = i;
		order->record_start[profile->records[i].node + 1]++;
	}
	for (size_t i = 0; i < profile->node_index.nr; i++)
		order->record_start[i + 1] += order->record_start[i];
	if (nr)
		qsort_r(order->records, nr, sizeof(uint32_t), by_record, (void *)profile);
}

static void order_targets(const struct swlbr_sample_profile *profile, struct sample_order *order)
{
	size_t nr = profile->target_index.nr;

	for (uint32_t i = 0; i < nr; i++) {
		order->targets[i] = i;
		order->target_start[profile->targets[i].record + 1]++;
	}
	for (size_t i = 0; i < profile->record_index.nr; i++)
		order->target_start[i + 1] += order->target_start[i];
	if (nr)
		qsort_r(order->targets, nr, sizeof(uint32_t), by_target, (void *)profile);
}

struct swlbr_error *sample_order(const struct swlbr_sample_profile *profile,
				 struct sample_order *ret)
{
	size_t nodes = profile->node_index.nr, records = profile->record_index.nr;

	*ret = (struct sample_order){
		.functions = new_array(nodes),
		.calls = new_array(nodes),
		.call_start = new_array(nodes + 1),
		.records = new_array(records),
		.record_start = new_array(nodes + 1),
		.targets = new_array(profile->target_index.nr),
		.target_start = new_array(records + 1),
	};
	if (!ret->functions || !ret->calls || !ret->call_start || !ret->records ||
	    !ret->record_start || !ret->targets || !ret->target_start) {
		sample_order_free(ret);
		return swlbr_error_no_memory();
	}
	order_nodes(profile, ret);
	order_records(profile, ret);
	order_targets(profile, ret);
	return NULL;
}

void sample_order_free(struct sample_order *order)
{
	free(order->functions);
	free(order->calls);
	free(order->call_start);
	free(order->records);
	free(order->record_start);
	free(order->targets);
	free(order->target_start);
}

struct swlbr_error *sample_summary(const struct swlbr_sample_profile *profile,
				   const struct sample_order *order,
				   struct profile_summary *summary)
{
	size_t nr = profile->record_index.nr;
	uint64_t *counts = calloc(nr + 1, sizeof(*counts));
	struct swlbr_error *error;

	if (!counts)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < nr; i++)
		counts[i] = profile->records[i].count;
	error = profile_summary_add(summary, counts, nr);
	free(counts);
	if (error)
		return error;
	summary->nr_functions = order->nr_functions;
	summary->max_function_count = 0;
	for (size_t i = 0; i < order->nr_functions; i++) {
		uint64_t head = profile->nodes[order->functions[i]].head;

		if (head > summary->max_function_count)
			summary->max_function_count = head;
	}
	return NULL;
}
