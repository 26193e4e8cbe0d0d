// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The functions that have code. One pass over the entries of a unit finds them: entries that are
 * no function's are stepped over without looking into them.
 */
#include <dwarf.h>
#include <stdlib.h>

#include "functions.h"

static struct swlbr_error *add_function(struct dw_functions *functions, const struct dw_die *die,
					size_t first_range)
{
	size_t nr = functions->nr;
	const char *name;
	uint32_t line;
	struct swlbr_error *error;

	if (nr == functions->max) {
		size_t max = nr ? 2 * nr : 64;
		struct swlbr_dwarf_function *grown;
		struct dw_function_place *places;

		if (max >= UINT32_MAX)
			return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
						  "%s: more than 4 billion functions",
						  die->unit->file->path);
		grown = reallocarray(functions->functions, max, sizeof(*grown));
		if (!grown)
			return swlbr_error_no_memory();
		functions->functions = grown;
		places = reallocarray(functions->places, max, sizeof(*places));
		if (!places)
			return swlbr_error_no_memory();
		functions->places = places;
		functions->max = max;
	}
	error = dw_die_function(die, &name, &line);
	if (error)
		return error;
	functions->functions[nr] = (struct swlbr_dwarf_function){
		.name = name,
		.decl_line = line,
		.nr_ranges = (uint32_t)(functions->ranges.nr - first_range),
	};
	functions->places[nr] =
		(struct dw_function_place){ .unit = die->unit, .offset = die->offset };
	functions->nr++;
	return NULL;
}

/*
 * A sound file has no more ranges than bytes of them; a damaged one could name one long list again
 * and again.
 */
static struct swlbr_error *check_ranges(const struct dw_functions *functions,
					const struct dw_unit *unit)
{
	const struct dw_unit *linked = unit->skeleton ? unit->skeleton : unit;

	if (functions->ranges.nr / 16 <= unit->file->sections[DW_INFO].size +
						 unit->file->sections[DW_RNGLISTS].size +
						 linked->file->sections[DW_RANGES].size)
		return NULL;
	return dw_error(unit->file, DW_INFO, unit->offset, "more ranges than there can be");
}

/* The entry of a function: keep it if it has code. */
static struct swlbr_error *visit_function(struct dw_functions *functions, const struct dw_die *die,
					  uint64_t lowest)
{
	struct dw_ranges *ranges = &functions->ranges;
	size_t first = ranges->nr, kept = first;
	struct swlbr_error *error;

	if (!die->attributes[DW_HIGH_PC].form && !die->attributes[DW_RANGE_LIST].form)
		return NULL;
	error = dw_die_ranges(die, ranges);
	if (!error)
		error = check_ranges(functions, die->unit);
	if (error)
		return error;
	for (size_t i = first; i < ranges->nr; i++)
		if (ranges->entries[i].low >= lowest)
			ranges->entries[kept++] = ranges->entries[i];
	ranges->nr = kept;
	return kept == first ? NULL : add_function(functions, die, first);
}

struct swlbr_error *dw_functions_add(struct dw_functions *functions, struct dw_unit *unit,
				     uint64_t lowest)
{
	struct dw_reader reader = dw_unit_reader(unit);
	struct swlbr_error *error = NULL;

	while (!error && reader.at < reader.end) {
		uint64_t offset = dw_position(&reader);
		const struct dw_abbrev *abbrev;
		struct dw_die die;

		error = dw_die_begin(unit, &reader, &abbrev);
		if (error || !abbrev)
			continue;
		if (abbrev->tag != DW_TAG_subprogram) {
			error = dw_die_skip(unit, &reader, abbrev);
			continue;
		}
		error = dw_die_read(unit, &reader, offset, abbrev, &die);
		if (!error)
			error = visit_function(functions, &die, lowest);
	}
	return error;
}

/*
 * Of functions at the same place the first one stands, and of two that overlap otherwise the one
 * that begins later does, as the field's tools have it.
 */
static void drop_overlaps(struct dw_functions *functions)
{
	struct dw_area *areas = functions->areas;
	size_t nr = 0;

	for (size_t i = 0; i < functions->nr_areas; i++) {
		if (nr && areas[nr - 1].low == areas[i].low)
			continue;
		if (nr && areas[nr - 1].high > areas[i].low)
			areas[nr - 1].high = areas[i].low;
		areas[nr++] = areas[i];
	}
	functions->nr_areas = nr;
}

static int by_low(const void *left, const void *right)
{
	const struct dw_area *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return (a->scope > b->scope) - (a->scope < b->scope);
}

struct swlbr_error *dw_functions_finish(struct dw_functions *functions)
{
	size_t at = 0;

	_Static_assert(sizeof(struct swlbr_dwarf_range) == sizeof(struct dw_range), "one layout");
	functions->areas = reallocarray(NULL, functions->ranges.nr + 1, sizeof(struct dw_area));
	if (!functions->areas)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < functions->nr; i++) {
		struct swlbr_dwarf_function *function = &functions->functions[i];

		function->ranges = (const struct swlbr_dwarf_range *)functions->ranges.entries + at;
		for (size_t j = 0; j < function->nr_ranges; j++) {
			const struct dw_range *range = &functions->ranges.entries[at++];

			functions->areas[functions->nr_areas++] =
				(struct dw_area){ range->low, range->high, (uint32_t)i };
		}
	}
	if (functions->nr_areas)
		qsort(functions->areas, functions->nr_areas, sizeof(struct dw_area), by_low);
	drop_overlaps(functions);
	return NULL;
}

void dw_functions_free(struct dw_functions *functions)
{
	for (size_t i = 0; i < functions->nr; i++)
		dw_inlines_free(functions->places[i].inlines);
	free(functions->functions);
	free(functions->places);
	free(functions->ranges.entries);
	free(functions->areas);
}
