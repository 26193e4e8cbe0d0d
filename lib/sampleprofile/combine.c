// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Sample profiles of two builds into one. The result begins as a copy of the preferred side, whose
 * nodes and records thereby keep their numbers; then the other's are gone through.
 */
#include <stdlib.h>

#include "sample_profile.h"

#define NONE (UINT32_MAX - 1) /* a node that is not taken */

struct combining {
	const struct swlbr_sample_profile *preferred, *other;
	bool exact;		  /* the preferred side's counts are those of counters */
	struct swlbr_scale scale; /* of the other's counts */
	struct swlbr_sample_profile *combined, *all;
	struct swlbr_sample_combination *result;
	uint64_t *from_preferred, *from_other;
	/* Of the other's: names in the result, nodes and records in @all. */
	uint32_t *names, *nodes, *records;
	uint32_t *taken_as;	/* node in the result, or NONE */
	bool *taken;		/* whole, since the preferred side does not have the function */
	bool *known;		/* by names of the result: the preferred side has the function */
	bool *line_ran;		/* by records of the other: the line ran on the preferred side */
	uint64_t *own, *counts; /* of nodes: total without inlined calls; sum of records */
};

static uint64_t scaled(uint64_t count, struct swlbr_scale scale)
{
	unsigned __int128 value;

	if (!scale.den || !count)
		return count;
	value = ((unsigned __int128)count * scale.num + scale.den / 2) / scale.den;
	if (value > UINT64_MAX)
		return UINT64_MAX;
	return value ? (uint64_t)value : 1;
}

static void scale_all(struct swlbr_sample_profile *profile, struct swlbr_scale scale)
{
	for (size_t i = 0; i < profile->node_index.nr; i++) {
		profile->nodes[i].total = scaled(profile->nodes[i].total, scale);
		profile->nodes[i].head = scaled(profile->nodes[i].head, scale);
	}
	for (size_t i = 0; i < profile->record_index.nr; i++)
		profile->records[i].count = scaled(profile->records[i].count, scale);
	for (size_t i = 0; i < profile->target_index.nr; i++)
		profile->targets[i].count = scaled(profile->targets[i].count, scale);
}

static bool has_node(const struct combining *combining, uint32_t i)
{
	return combining->nodes[i] < combining->preferred->node_index.nr;
}

/* What the preferred side has at the place of the other's record @i. */
static uint64_t preferred_count(const struct combining *combining, uint32_t i)
{
	uint32_t record = combining->records[i];

	return record < combining->preferred->record_index.nr
		       ? combining->combined->records[record].count
		       : 0;
}

static struct swlbr_error *start(struct combining *combining)
{
	const struct swlbr_sample_profile *other = combining->other;
	size_t nodes = other->node_index.nr;
	size_t names = other->name_index.nr + combining->preferred->name_index.nr;

	combining->names = calloc(names + 1, sizeof(uint32_t));
	combining->known = calloc(names + 1, sizeof(bool));
	combining->nodes = calloc(nodes + 1, sizeof(uint32_t));
	combining->taken_as = calloc(nodes + 1, sizeof(uint32_t));
	combining->taken = calloc(nodes + 1, sizeof(bool));
	combining->own = calloc(nodes + 1, sizeof(uint64_t));
	combining->counts = calloc(nodes + 1, sizeof(uint64_t));
	combining->records = calloc(other->record_index.nr + 1, sizeof(uint32_t));
	combining->line_ran = calloc(other->record_index.nr + 1, sizeof(bool));
	if (!combining->names || !combining->known || !combining->nodes || !combining->taken_as ||
	    !combining->taken || !combining->own || !combining->counts || !combining->records ||
	    !combining->line_ran)
		return swlbr_error_no_memory();
	return swlbr_sample_profile_create(&combining->all);
}

/* Find the other's nodes and records among the preferred side's: @all has both. */
static struct swlbr_error *match(struct combining *combining)
{
	const struct swlbr_sample_profile *other = combining->other;
	struct swlbr_error *error;

	error = swlbr_sample_profile_merge(combining->all, combining->preferred, 1);
	if (!error)
		error = sample_map(combining->all, other, combining->names, combining->nodes,
				   combining->records);
	if (!error)
		error = swlbr_sample_profile_merge(combining->combined, combining->preferred, 1);
	if (!error)
		error = sample_map_names(combining->combined, other, combining->names);
	combining->combined->fs_discriminators |= other->fs_discriminators;
	return error;
}

/* What a node is but for its inlined calls; and what the preferred side knows. */
static void weigh(struct combining *combining)
{
	const struct swlbr_sample_profile *other = combining->other;

	for (size_t i = 0; i < other->node_index.nr; i++)
		combining->own[i] = other->nodes[i].total;
	for (size_t i = 0; i < other->node_index.nr; i++) {
		uint32_t parent = other->nodes[i].parent;

		if (parent == SAMPLE_TOP)
			continue;
		if (combining->own[parent] > other->nodes[i].total)
			combining->own[parent] -= other->nodes[i].total;
		else
			combining->own[parent] = 0;
	}
	for (size_t i = 0; i < other->record_index.nr; i++)
		add_saturating(&combining->counts[other->records[i].node], other->records[i].count);
	for (size_t i = 0; i < combining->preferred->node_index.nr; i++)
		combining->known[combining->combined->nodes[i].name] = true;
}

/* The line of @record, whatever its discriminator, as a record of @lines. */
static struct swlbr_error *find_line(struct swlbr_sample_profile *lines,
				     const struct sample_record *record, const uint32_t *nodes,
				     uint32_t *ret)
{
	return sample_record(lines, nodes ? nodes[record->node] : record->node,
			     (struct sample_place){ .line = record->place.line }, ret);
}

/* The largest count of each line of a node; @maxima by record of @lines. */
static struct swlbr_error *find_maxima(struct swlbr_sample_profile *lines,
				       const struct swlbr_sample_profile *profile,
				       const uint32_t *nodes, uint64_t *maxima)
{
	for (size_t i = 0; i < profile->record_index.nr; i++) {
		struct swlbr_error *error;
		uint32_t at;

		error = find_line(lines, &profile->records[i], nodes, &at);
		if (error)
			return error;
		if (maxima[at] < profile->records[i].count)
			maxima[at] = profile->records[i].count;
	}
	return NULL;
}

static struct swlbr_error *find_lines_ran(struct combining *combining,
					  struct swlbr_sample_profile *lines,
					  const uint64_t *preferred)
{
	for (size_t i = 0; i < combining->other->record_index.nr; i++) {
		struct swlbr_error *error;
		uint32_t at;

		error = find_line(lines, &combining->other->records[i], combining->nodes, &at);
		if (error)
			return error;
		combining->line_ran[i] = preferred[at];
	}
	return NULL;
}

/*
 * What lines that both saw add up to. Discriminators are numbered anew in each build, so that one
 * may be a loop's body here and its entry there: lines are safer to tell the scale from.
 */
static struct swlbr_error *match_lines(struct combining *combining, struct swlbr_scale *ret)
{
	const struct swlbr_sample_profile *preferred = combining->combined;
	size_t max = preferred->record_index.nr + combining->other->record_index.nr + 1;
	uint64_t *ours = calloc(max, sizeof(*ours)), *theirs = calloc(max, sizeof(*theirs));
	struct swlbr_sample_profile *lines = NULL;
	struct swlbr_error *error = swlbr_sample_profile_create(&lines);

	if (!error && (!ours || !theirs))
		error = swlbr_error_no_memory();
	if (!error)
		error = find_maxima(lines, preferred, NULL, ours);
	if (!error)
		error = find_maxima(lines, combining->other, combining->nodes, theirs);
	if (!error)
		error = find_lines_ran(combining, lines, ours);
	for (size_t i = 0; !error && i < max; i++) {
		if (!ours[i] || !theirs[i])
			continue;
		add_saturating(&ret->num, ours[i]);
		add_saturating(&ret->den, theirs[i]);
	}
	swlbr_sample_profile_destroy(lines);
	free(ours);
	free(theirs);
	return error;
}

static struct swlbr_error *find_scale(struct combining *combining, bool prefer_sw, bool rescale)
{
	struct swlbr_scale *scale = &combining->result->scale, shared = { 0 };
	struct swlbr_error *error = match_lines(combining, &shared);

	for (uint32_t i = 0; i < combining->other->record_index.nr; i++)
		combining->result->shared += preferred_count(combining, i) &&
					     combining->other->records[i].count;
	if (error || !shared.den || !rescale)
		return error;
	*scale = prefer_sw ? shared : (struct swlbr_scale){ shared.den, shared.num };
	if (prefer_sw)
		combining->scale = *scale;
	else
		scale_all(combining->combined, *scale);
	return NULL;
}

/* To @node of the result and all that it is inlined into. */
static void add_total(struct swlbr_sample_profile *profile, uint32_t node, uint64_t total)
{
	for (; node != SAMPLE_TOP; node = profile->nodes[node].parent)
		add_saturating(&profile->nodes[node].total, total);
}

static struct swlbr_error *take_node(struct combining *combining, uint32_t i)
{
	const struct sample_node *node = &combining->other->nodes[i];
	bool top = node->parent == SAMPLE_TOP, under_taken = !top && combining->taken[node->parent];
	uint32_t parent = top ? SAMPLE_TOP : combining->taken_as[node->parent], made;
	struct swlbr_sample_profile *combined = combining->combined;
	struct sample_place place = node->place;
	struct swlbr_error *error;

	if (parent == NONE) { /* where it was inlined into is not taken: it is a function then */
		parent = SAMPLE_TOP;
		place = (struct sample_place){ 0 };
	}
	error = sample_node(combined, parent, place, combining->names[node->name], &made);
	if (error)
		return error;
	combining->taken_as[i] = made;
	combining->taken[i] = true;
	add_saturating(&combined->nodes[made].head, scaled(node->head, combining->scale));
	if (under_taken) /* it is in the total of that */
		add_saturating(&combined->nodes[made].total, scaled(node->total, combining->scale));
	else
		add_total(combined, made, scaled(node->total, combining->scale));
	return NULL;
}

static struct swlbr_error *add_nodes(struct combining *combining)
{
	const struct swlbr_sample_profile *other = combining->other;
	struct swlbr_error *error = NULL;

	for (uint32_t i = 0; !error && i < other->node_index.nr; i++) {
		const struct sample_node *node = &other->nodes[i];
		bool inside = node->parent != SAMPLE_TOP && combining->taken[node->parent];

		if (has_node(combining, i)) {
			struct sample_node *same = &combining->combined->nodes[combining->nodes[i]];

			combining->taken_as[i] = combining->nodes[i];
			if (!same->head)
				same->head = scaled(node->head, combining->scale);
		} else if (!inside && combining->known[combining->names[node->name]]) {
			combining->taken_as[i] = NONE;
			combining->result->left_out++;
		} else {
			error = take_node(combining, i);
		}
	}
	return error;
}

static uint64_t part(uint64_t whole, uint64_t of, uint64_t all)
{
	return all ? (uint64_t)((unsigned __int128)whole * of / all) : 0;
}

/*
 * Has the preferred side the count of the other's record @i? Of a line that ran counters know all: a
 * discriminator that they do not have, or with 0, did not run. What samples lack may be too rare.
 */
static bool is_counted(const struct combining *combining, uint32_t i)
{
	return preferred_count(combining, i) || (combining->exact && combining->line_ran[i]);
}

/* Fill in the other's record @i where the preferred side has nothing; @record_ret NONE: it has. */
static struct swlbr_error *add_record(struct combining *combining, uint32_t i, uint32_t *record_ret)
{
	const struct sample_record *record = &combining->other->records[i];
	uint32_t node = combining->taken_as[record->node];
	uint64_t count = scaled(record->count, combining->scale);
	struct swlbr_error *error;

	*record_ret = NONE;
	if (node == NONE || is_counted(combining, i))
		return NULL;
	error = sample_record(combining->combined, node, record->place, record_ret);
	if (error)
		return error;
	add_saturating(&combining->combined->records[*record_ret].count, count);
	add_saturating(combining->from_other, count);
	if (!combining->taken
		     [record->node]) /* bytes are not known: as the counts are to each other */
		add_total(combining->combined, node,
			  scaled(part(combining->own[record->node], record->count,
				      combining->counts[record->node]),
				 combining->scale));
	return NULL;
}

static struct swlbr_error *add_records(struct combining *combining)
{
	const struct swlbr_sample_profile *other = combining->other;
	uint32_t *made = calloc(other->record_index.nr + 1, sizeof(*made));
	struct swlbr_error *error = made ? NULL : swlbr_error_no_memory();

	for (uint32_t i = 0; !error && i < other->record_index.nr; i++)
		error = add_record(combining, i, &made[i]);
	for (size_t i = 0; !error && i < other->target_index.nr; i++) {
		const struct sample_target *target = &other->targets[i];

		if (made[target->record] != NONE)
			error = sample_target(combining->combined, made[target->record],
					      combining->names[target->name],
					      scaled(target->count, combining->scale));
	}
	free(made);
	return error;
}

/* Before the other's are added. */
static void count_preferred(struct combining *combining)
{
	uint64_t both = 0, all = 0;

	for (size_t i = 0; i < combining->combined->record_index.nr; i++)
		add_saturating(&all, combining->combined->records[i].count);
	for (uint32_t i = 0; i < combining->other->record_index.nr; i++)
		if (combining->other->records[i].count)
			add_saturating(&both, preferred_count(combining, i));
	combining->result->from_both = both;
	*combining->from_preferred = all - (both < all ? both : all);
}

static struct swlbr_error *add_sum(struct combining *combining)
{
	struct swlbr_sample_profile *other;
	struct swlbr_error *error = swlbr_sample_profile_create(&other);

	if (!error)
		error = swlbr_sample_profile_merge(other, combining->other, 1);
	if (!error)
		scale_all(other, combining->scale);
	for (uint32_t i = 0; !error && i < other->record_index.nr; i++)
		add_saturating(preferred_count(combining, i) ? &combining->result->from_both
							     : combining->from_other,
			       other->records[i].count);
	if (!error)
		error = swlbr_sample_profile_merge(combining->combined, other, 1);
	swlbr_sample_profile_destroy(other);
	return error;
}

static void finish(struct combining *combining)
{
	free(combining->names);
	free(combining->known);
	free(combining->line_ran);
	free(combining->nodes);
	free(combining->taken_as);
	free(combining->taken);
	free(combining->own);
	free(combining->counts);
	free(combining->records);
	swlbr_sample_profile_destroy(combining->all);
}

struct swlbr_error *swlbr_sample_profile_combine(const struct swlbr_sample_profile *sw,
						 const struct swlbr_sample_profile *hw,
						 enum swlbr_prefer prefer, bool rescale,
						 struct swlbr_sample_profile *combined,
						 struct swlbr_sample_combination *ret)
{
	bool prefer_sw = prefer != SWLBR_PREFER_HW;
	struct combining combining = {
		.preferred = prefer_sw ? sw : hw,
		.other = prefer_sw ? hw : sw,
		.exact = prefer_sw,
		.combined = combined,
		.result = ret,
		.from_preferred = prefer_sw ? &ret->from_sw : &ret->from_hw,
		.from_other = prefer_sw ? &ret->from_hw : &ret->from_sw,
	};
	struct swlbr_error *error;

	*ret = (struct swlbr_sample_combination){ 0 };
	error = start(&combining);
	if (!error)
		error = match(&combining);
	if (!error) {
		weigh(&combining);
		error = find_scale(&combining, prefer_sw, rescale);
	}
	if (!error)
		count_preferred(&combining);
	if (!error && prefer == SWLBR_PREFER_SUM) {
		error = add_sum(&combining);
	} else if (!error) {
		error = add_nodes(&combining);
		if (!error)
			error = add_records(&combining);
	}
	finish(&combining);
	return error;
}
