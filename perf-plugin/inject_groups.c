// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "inject_groups.h"

struct swlbr_error *inject_groups_add(struct inject_groups *groups,
				      const struct swlbr_perfdata *file,
				      const struct swlbr_record *record)
{
	struct inject_sample *sample;
	uint32_t counter, nr;

	if (groups->nr_samples == groups->max_samples) {
		size_t max = groups->max_samples ? 2 * groups->max_samples : 1024;

		sample = max > UINT32_MAX ? NULL
					  : reallocarray(groups->samples, max, sizeof(*sample));
		if (!sample)
			return swlbr_error_no_memory();
		groups->samples = sample;
		groups->max_samples = max;
	}
	sample = &groups->samples[groups->nr_samples];
	*sample = (struct inject_sample){
		.time = record->time,
		.pid = record->pid,
		.tid = record->tid,
		.cpu = record->sample.cpu,
		.number = (uint32_t)groups->nr_samples++,
	};
	for (uint32_t i = 0; swlbr_perfdata_delta(file, record, i, &counter, &nr); i++)
		sample->count += nr;
	groups->count += sample->count;
	return NULL;
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* By interval, thread and time. */
static int by_group(const void *left, const void *right)
{
	const struct inject_sample *a = left, *b = right;

	if (a->interval != b->interval)
		return COMPARE(a->interval, b->interval);
	if (a->thread != b->thread)
		return COMPARE(a->thread, b->thread);
	if (a->time != b->time)
		return COMPARE(a->time, b->time);
	return COMPARE(a->number, b->number);
}

/* The samples from @first on that are of its group: their number, and their sum. */
static size_t run_of(const struct inject_groups *groups, size_t first, uint64_t *count)
{
	const struct inject_sample *sample = &groups->samples[first];
	size_t nr = 0;

	*count = 0;
	for (; first + nr < groups->nr_samples; nr++) {
		if (sample[nr].interval != sample->interval || sample[nr].thread != sample->thread)
			break;
		*count += sample[nr].count;
	}
	return nr;
}

static void sort(struct inject_groups *groups)
{
	qsort(groups->samples, groups->nr_samples, sizeof(*groups->samples), by_group);
}

/* Groups that are small become one: there is no thread UINT32_MAX. */
static void join_small(struct inject_groups *groups, unsigned int max_threads)
{
	uint64_t least = groups->count / max_threads + 1, count;

	for (size_t i = 0, nr; i < groups->nr_samples; i += nr) {
		nr = run_of(groups, i, &count);
		for (size_t k = 0; count < least && k < nr; k++)
			groups->samples[i + k].thread = UINT32_MAX;
	}
}

struct swlbr_error *inject_groups_make(struct inject_groups *groups, uint64_t length,
				       unsigned int max_threads)
{
	uint64_t first = UINT64_MAX, count;

	groups->group_of = calloc(groups->nr_samples + 1, sizeof(*groups->group_of));
	groups->groups = calloc(groups->nr_samples + 1, sizeof(*groups->groups));
	if (!groups->group_of || !groups->groups)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < groups->nr_samples; i++)
		first = groups->samples[i].time < first ? groups->samples[i].time : first;
	for (size_t i = 0; i < groups->nr_samples; i++) {
		struct inject_sample *sample = &groups->samples[i];

		sample->interval = (uint32_t)((sample->time - first) / length);
		sample->thread = (uint32_t)sample->tid;
	}
	sort(groups);
	join_small(groups, max_threads);
	sort(groups);
	for (size_t i = 0, nr; i < groups->nr_samples; i += nr) {
		nr = run_of(groups, i, &count);
		groups->groups[groups->nr_groups] = (struct inject_group){
			.samples = &groups->samples[i],
			.nr_samples = nr,
			.count = count,
		};
		for (size_t k = 0; k < nr; k++)
			groups->group_of[groups->samples[i + k].number] =
				(uint32_t)groups->nr_groups;
		groups->nr_groups++;
	}
	return NULL;
}

static int by_counter(const void *left, const void *right)
{
	const struct inject_delta *a = left, *b = right;

	return COMPARE(a->counter, b->counter);
}

/* Sum up what is of the same counter; grow if that has not made much room. */
static struct swlbr_error *make_room(struct inject_group *group)
{
	size_t max = group->max_deltas ? group->max_deltas : 1024, nr = 0;
	struct inject_delta *deltas = group->deltas;

	if (group->nr_deltas)
		qsort(deltas, group->nr_deltas, sizeof(*deltas), by_counter);
	for (size_t i = 0; i < group->nr_deltas; i++) {
		if (nr && deltas[nr - 1].counter == deltas[i].counter)
			deltas[nr - 1].nr += deltas[i].nr;
		else
			deltas[nr++] = deltas[i];
	}
	group->nr_deltas = nr;
	if (nr > max / 2)
		max *= 2;
	if (max == group->max_deltas)
		return NULL;
	deltas = reallocarray(group->deltas, max, sizeof(*deltas));
	if (!deltas)
		return swlbr_error_no_memory();
	group->deltas = deltas;
	group->max_deltas = max;
	return NULL;
}

struct swlbr_error *inject_groups_add_deltas(struct inject_groups *groups, uint32_t number,
					     const struct swlbr_perfdata *file,
					     const struct swlbr_record *record)
{
	struct inject_group *group = &groups->groups[groups->group_of[number]];
	struct swlbr_error *error = NULL;
	uint32_t counter, nr;

	for (uint32_t i = 0; !error && swlbr_perfdata_delta(file, record, i, &counter, &nr); i++) {
		if (group->nr_deltas == group->max_deltas)
			error = make_room(group);
		if (!error)
			group->deltas[group->nr_deltas++] = (struct inject_delta){ counter, nr };
	}
	return error;
}

void inject_groups_deinit(struct inject_groups *groups)
{
	for (size_t i = 0; i < groups->nr_groups; i++)
		free(groups->groups[i].deltas);
	free(groups->groups);
	free(groups->group_of);
	free(groups->samples);
}
