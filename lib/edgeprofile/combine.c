// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Counters and branch stacks of one binary into one edge profile. */
#include <stdlib.h>
#include <string.h>

#include <swlbr/combine.h>

#include "base/saturate.h"
#include "combine_seen.h"

/* The rows of one branch or range, of all sources that have it. */
struct group {
	const struct swlbr_edge *rows;
	size_t nr;
};

struct combining {
	const struct swlbr_edge *edges;
	size_t nr;
	enum swlbr_prefer prefer;
	struct swlbr_edge_profile *combined;
	struct swlbr_combination *result;
	struct seen seen; /* code in ranges of the preferred side */
};

/* What was there stays above 0. */
static uint64_t scaled(uint64_t count, struct swlbr_scale scale)
{
	unsigned __int128 value;

	if (!scale.den || !count || scale.num == scale.den)
		return count;
	value = ((unsigned __int128)count * scale.num + scale.den / 2) / scale.den;
	if (value > UINT64_MAX)
		return UINT64_MAX;
	return value ? (uint64_t)value : 1;
}

static bool is_sw(const struct swlbr_edge *edge)
{
	return edge->source == SWLBR_SOURCE_SW;
}

/* The edges are sorted, with the source last. */
static struct group group_at(const struct combining *combining, size_t at)
{
	const struct swlbr_edge *first = &combining->edges[at];
	struct group group = { .rows = first, .nr = 1 };

	while (at + group.nr < combining->nr) {
		const struct swlbr_edge *next = &first[group.nr];

		if (next->kind != first->kind || next->from != first->from ||
		    next->to != first->to || next->from_binary != first->from_binary ||
		    next->to_binary != first->to_binary)
			break;
		group.nr++;
	}
	return group;
}

static bool has_side(const struct group *group, bool sw)
{
	for (size_t i = 0; i < group->nr; i++)
		if (is_sw(&group->rows[i]) == sw)
			return true;
	return false;
}

/* What the branches that counters and another source saw add up to, of either. */
static void find_shared(struct combining *combining, struct swlbr_scale shared[SWLBR_SOURCES])
{
	struct group group;

	for (size_t i = 0; i < combining->nr; i += group.nr) {
		group = group_at(combining, i);
		if (group.rows[0].kind != SWLBR_EDGE_BRANCH || !is_sw(&group.rows[0]))
			continue;
		combining->result->shared += group.nr > 1;
		for (size_t j = 1; j < group.nr; j++) {
			add_saturating(&shared[group.rows[j].source].num, group.rows[0].nr);
			add_saturating(&shared[group.rows[j].source].den, group.rows[j].nr);
		}
	}
}

static void choose_scales(struct combining *combining, const struct swlbr_scale *known)
{
	struct swlbr_scale shared[SWLBR_SOURCES] = { 0 };
	struct swlbr_combination *result = combining->result;

	find_shared(combining, shared);
	for (int source = 0; source < SWLBR_SOURCES; source++) {
		bool has_known = known && known[source].den;
		bool by_period = has_known &&
				 (combining->prefer == SWLBR_PREFER_SUM || !shared[source].den);

		if (source == SWLBR_SOURCE_SW)
			continue;
		if (by_period) {
			result->scale[source] = known[source];
			result->scale_from[source] = SWLBR_SCALE_PERIOD;
		} else if (shared[source].den) {
			result->scale[source] = shared[source];
			result->scale_from[source] = SWLBR_SCALE_SHARED;
		}
	}
}

/* @edge in executions. */
static struct swlbr_edge executions(const struct combining *combining,
				    const struct swlbr_edge *edge)
{
	struct swlbr_scale scale = combining->result->scale[edge->source];
	struct swlbr_edge result = *edge;

	result.nr = scaled(edge->nr, scale);
	result.mispredicted = scaled(edge->mispredicted, scale);
	result.cycles = scaled(edge->cycles, scale);
	return result;
}

/* Of each execution as many mispredicts and cycles as the other sources saw. */
static void take_costs(const struct group *group, struct swlbr_edge *edge)
{
	uint64_t nr = 0, mispredicted = 0, cycles = 0;
	struct swlbr_scale scale;

	for (size_t i = 0; i < group->nr; i++) {
		if (is_sw(&group->rows[i]))
			continue;
		add_saturating(&nr, group->rows[i].nr);
		add_saturating(&mispredicted, group->rows[i].mispredicted);
		add_saturating(&cycles, group->rows[i].cycles);
	}
	scale = (struct swlbr_scale){ edge->nr, nr };
	edge->mispredicted = scaled(mispredicted, scale);
	edge->cycles = scaled(cycles, scale);
}

static struct swlbr_error *add_row(struct combining *combining, const struct group *group,
				   const struct swlbr_edge *row)
{
	struct swlbr_combination *result = combining->result;
	struct swlbr_edge edge = executions(combining, row);

	if (row->kind == SWLBR_EDGE_BRANCH) {
		bool both = has_side(group, true) && has_side(group, false);

		if (is_sw(row) && both && combining->prefer == SWLBR_PREFER_SW)
			take_costs(group, &edge);
		add_saturating(both	    ? &result->from_both
			       : is_sw(row) ? &result->from_sw
					    : &result->from_hw,
			       edge.nr);
	}
	return swlbr_edge_profile_add(combining->combined, &edge);
}

/* The side of a group that counts: with -1 both. */
static int side_of(struct combining *combining, const struct group *group)
{
	bool sw = combining->prefer == SWLBR_PREFER_SW;

	if (combining->prefer == SWLBR_PREFER_SUM || !combining->result->both)
		return -1;
	return has_side(group, sw) ? sw : !sw;
}

static struct swlbr_error *add_group(struct combining *combining, const struct group *group)
{
	const struct swlbr_edge *first = &group->rows[0];
	int side = side_of(combining, group);
	struct swlbr_error *error = NULL;

	if (side >= 0 && side != (combining->prefer == SWLBR_PREFER_SW) &&
	    first->kind == SWLBR_EDGE_RANGE && seen_whole(&combining->seen, first)) {
		combining->result->ranges_left_out++;
		return NULL;
	}
	for (size_t i = 0; !error && i < group->nr; i++)
		if (side < 0 || is_sw(&group->rows[i]) == side)
			error = add_row(combining, group, &group->rows[i]);
	return error;
}

/* Binaries keep their numbers. */
static struct swlbr_error *add_binaries(struct swlbr_edge_profile *profile,
					struct swlbr_edge_profile *combined)
{
	size_t nr = swlbr_edge_profile_nr_binaries(profile);
	struct swlbr_error *error = NULL;

	for (uint32_t i = 0; !error && i < nr; i++) {
		uint32_t index;

		error = swlbr_edge_profile_binary(
			combined, swlbr_edge_profile_get_binary(profile, i), &index);
	}
	return error;
}

struct swlbr_error *swlbr_edge_profile_combine(struct swlbr_edge_profile *profile,
					       enum swlbr_prefer prefer,
					       const struct swlbr_scale known[SWLBR_SOURCES],
					       struct swlbr_edge_profile *combined,
					       struct swlbr_combination *ret)
{
	struct combining combining = { .prefer = prefer, .combined = combined, .result = ret };
	struct swlbr_error *error = add_binaries(profile, combined);
	struct group group = { 0 };
	size_t nr_sw = 0;

	*ret = (struct swlbr_combination){ 0 };
	combining.nr = swlbr_edge_profile_edges(profile, &combining.edges);
	for (size_t i = 0; i < combining.nr; i++)
		nr_sw += is_sw(&combining.edges[i]);
	ret->both = nr_sw && nr_sw < combining.nr;
	if (ret->both)
		choose_scales(&combining, known);
	if (!error && ret->both && prefer != SWLBR_PREFER_SUM)
		error = seen_create(combining.edges, combining.nr, prefer == SWLBR_PREFER_SW,
				    &combining.seen);
	for (size_t i = 0; !error && i < combining.nr; i += group.nr) {
		group = group_at(&combining, i);
		error = add_group(&combining, &group);
	}
	seen_free(&combining.seen);
	return error;
}
