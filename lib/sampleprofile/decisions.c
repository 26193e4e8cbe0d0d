// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>

#include "decisions.h"

/* How far off in a block another line is looked for: blocks may be long, and are seldom. */
#define NEAR 64

struct line {
	uint64_t least; /* of its discriminators' counts */
	bool seen;
	bool told; /* it decided in a block that another line tells of */
	bool kept; /* there is more to it */
};

struct decisions {
	const struct swlbr_sample_profile *profile;
	struct swlbr_sample_profile *places; /* a record for each line of a node */
	struct line *lines;		     /* by the number of that */
	uint32_t *line_of;		     /* by the profile's records */
	size_t nr_records;
};

void decisions_destroy(struct decisions *decisions)
{
	if (!decisions)
		return;
	swlbr_sample_profile_destroy(decisions->places);
	free(decisions->lines);
	free(decisions->line_of);
	free(decisions);
}

static struct swlbr_error *find_lines(struct decisions *decisions)
{
	for (size_t i = 0; i < decisions->nr_records; i++) {
		const struct sample_record *record = &decisions->profile->records[i];
		struct swlbr_error *error =
			sample_record(decisions->places, record->node,
				      (struct sample_place){ .line = record->place.line },
				      &decisions->line_of[i]);
		struct line *line;

		if (error)
			return error;
		line = &decisions->lines[decisions->line_of[i]];
		if (!line->seen || line->least > record->count)
			line->least = record->count;
		line->seen = true;
	}
	return NULL;
}

struct swlbr_error *decisions_create(const struct swlbr_sample_profile *profile,
				     struct decisions **ret)
{
	struct decisions *decisions = calloc(1, sizeof(*decisions));
	struct swlbr_error *error;

	if (!decisions)
		return swlbr_error_no_memory();
	decisions->profile = profile;
	decisions->nr_records = profile->record_index.nr;
	decisions->lines = calloc(decisions->nr_records + 1, sizeof(*decisions->lines));
	decisions->line_of = calloc(decisions->nr_records + 1, sizeof(*decisions->line_of));
	error = swlbr_sample_profile_create(&decisions->places);
	if (!error && (!decisions->lines || !decisions->line_of))
		error = swlbr_error_no_memory();
	if (!error)
		error = find_lines(decisions);
	if (error) {
		decisions_destroy(decisions);
		return error;
	}
	*ret = decisions;
	return NULL;
}

static struct line *line_of(const struct decisions *decisions, const struct decisions_piece *piece)
{
	return piece->record < decisions->nr_records
		       ? &decisions->lines[decisions->line_of[piece->record]]
		       : NULL;
}

/* Will another line of that function say that the block ran @count times? */
static bool is_told(const struct decisions *decisions, const struct decisions_piece *pieces,
		    size_t nr, size_t i, uint64_t count)
{
	const struct sample_record *records = decisions->profile->records;
	size_t last = nr - i > NEAR ? i + NEAR : nr;

	for (size_t k = i > NEAR ? i - NEAR : 0; k < last; k++) {
		const struct line *line = line_of(decisions, &pieces[k]);

		if (line && !pieces[k].decides && line->least >= count &&
		    records[pieces[k].record].node == records[pieces[i].record].node)
			return true;
	}
	return false;
}

void decisions_add(struct decisions *decisions, const struct decisions_piece *pieces, size_t nr,
		   uint64_t count)
{
	for (size_t i = 0; count && i < nr; i++) {
		struct line *line = line_of(decisions, &pieces[i]);

		if (!line)
			continue;
		if (pieces[i].decides && is_told(decisions, pieces, nr, i, count))
			line->told = true;
		else
			line->kept = true;
	}
}

struct swlbr_error *decisions_mark(const struct decisions *decisions,
				   struct swlbr_sample_profile *profile)
{
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < decisions->places->record_index.nr; i++) {
		const struct sample_record *record = &decisions->places->records[i];
		const struct line *line = &decisions->lines[i];
		struct sample_place place = { record->place.line, SAMPLE_DECISION };
		uint32_t mark;

		if (!line->told || line->kept)
			continue;
		error = sample_record(profile, record->node, place, &mark);
		if (!error)
			profile->records[mark].count = line->least;
	}
	return error;
}
