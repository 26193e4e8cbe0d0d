// SPDX-License-Identifier: GPL-2.0-only
/* What a process image has counted of a binary, as rows of the perf.data. */
#include <stdlib.h>

#include <swlbr/flow.h>

#include "base/saturate.h"

#include "area.h"
#include "stacks.h"

/* True if the program set its counters back (__llvm_profile_reset_counters). */
static bool was_reset(const struct area *area)
{
	unsigned long long base = 0, last = 0;

	for (size_t i = 0; i < area->last.nr_blocks; i++) {
		const uint64_t *b = counter_copy_block(&area->base, i);
		const uint64_t *l = counter_copy_block(&area->last, i);

		for (size_t k = 0; k < COUNTERS_PER_BLOCK; k++) {
			base += b[k] >> 16;
			last += l[k] >> 16;
		}
	}
	return last < base / 2;
}

static struct swlbr_error *write_counters(struct session *session, const struct area *area,
					  const struct swlbr_event_time *when)
{
	struct swlbr_error *error = NULL;
	bool reset = was_reset(area);

	if (reset)
		error = session_lost(session, when->pid, area->image, when->time,
				     "the program reset its counters");
	for (size_t i = 0; !error && i < area->last.nr_blocks; i++) {
		const uint64_t *base = counter_copy_block(&area->base, i);
		const uint64_t *last = counter_copy_block(&area->last, i);
		uint64_t delta[COUNTERS_PER_BLOCK], left = area->last.nr - i * COUNTERS_PER_BLOCK;

		if (!area->last.block[i])
			continue;
		for (size_t k = 0; k < COUNTERS_PER_BLOCK; k++) {
			delta[k] = reset ? last[k] : last[k] >= base[k] ? last[k] - base[k] : 0;
			add_saturating(&session->summary->executions, delta[k]);
		}
		error = swlbr_perfdata_write_counters(
			session->writer, when, &area->image->build_id,
			area->image->counters->engine, i * COUNTERS_PER_BLOCK,
			left < COUNTERS_PER_BLOCK ? left : COUNTERS_PER_BLOCK, delta);
	}
	return error;
}

static struct swlbr_error *write_values(struct session *session, const struct area *area,
					const struct swlbr_event_time *when)
{
	const struct image *image = area->image;
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < area->last_values.nr; i++) {
		const struct value_entry *entry = &area->last_values.entry[i];
		uint64_t base = value_lists_count(&area->base_values, entry);
		struct swlbr_value_row row = {
			.function = entry->function,
			.kind = entry->kind,
			.site = entry->site,
			.value = entry->value,
			.nr = entry->nr - base,
		};

		if (entry->nr <= base)
			continue;
		if (entry->kind != SWLBR_VALUE_MEMOP_SIZE) { /* an address */
			row.value -= area->load_bias;
			if (row.value < image->first_vaddr || row.value >= image->end_vaddr)
				row.value = 0;
		}
		error = swlbr_perfdata_write_value(session->writer, when, &image->build_id,
						   image->counters->engine, &row);
	}
	return error;
}

/* Whom the indirect calls have called, as far as that is in the binary itself. */
static struct swlbr_error *find_targets(const struct area *area, struct swlbr_flow_target **ret,
					size_t *nr_ret)
{
	struct swlbr_flow_target *targets = calloc(area->last_values.nr + 1, sizeof(*targets));
	size_t nr = 0;

	if (!targets)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < area->last_values.nr; i++) {
		const struct value_entry *entry = &area->last_values.entry[i];
		uint64_t base = value_lists_count(&area->base_values, entry);
		uint64_t vaddr = entry->value - area->load_bias;

		if (entry->kind != SWLBR_VALUE_INDIRECT_CALL || entry->nr <= base ||
		    vaddr < area->image->first_vaddr || vaddr >= area->image->end_vaddr)
			continue;
		targets[nr++] = (struct swlbr_flow_target){
			.function = (uint32_t)entry->function,
			.site = entry->site,
			.vaddr = vaddr,
			.nr = entry->nr - base,
		};
	}
	*ret = targets;
	*nr_ret = nr;
	return NULL;
}

struct swlbr_error *area_finish(struct session *session, struct area *area, pid_t pid)
{
	struct swlbr_event_time when = { .pid = pid, .tid = pid, .time = session_now() };
	struct swlbr_flow_target *targets = NULL;
	struct swlbr_error *error;
	size_t nr_targets = 0;

	session->summary->images++;
	if (!area->image->recorded) {
		area->image->recorded = true;
		session->summary->binaries++;
	}
	error = write_counters(session, area, &when);
	if (!error)
		error = write_values(session, area, &when);
	if (!error)
		error = find_targets(area, &targets, &nr_targets);
	if (!error)
		error = stacks_keep(session, area->image, pid, area->load_bias, &area->base,
				    &area->last, &area->history, targets, nr_targets);
	return error;
}
