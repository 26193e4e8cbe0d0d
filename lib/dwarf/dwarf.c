// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Debug information by address. What is needed of all code (functions and where they are) is read
 * at once; what is inlined into a function and the lines of a unit when code of them is asked for.
 * Entries are read by code of our own: libdw (0.188) knows no packages, cannot go through entries
 * one after the other, and what damaged files do to it is out of our hands.
 */
#include <stdlib.h>

#include <swlbr/dwarf.h>

#include "debug_file.h"
#include "functions.h"
#include "lines.h"
#include "split.h"

#define DEBUG_DIR "/usr/lib/debug"

struct swlbr_dwarf {
	struct dw_file *file, *alt;
	struct dw_split split;
	struct dw_functions functions;
	uint64_t lowest; /* address of code that is loaded */
};

/* Code that the linker has removed is given addresses near 0, below all code that is there. */
static uint64_t lowest_code(const struct swlbr_elf *elf)
{
	const struct swlbr_elf_segment *segments;
	size_t nr = swlbr_elf_segments(elf, &segments);
	uint64_t lowest = UINT64_MAX;

	for (size_t i = 0; i < nr; i++)
		if ((segments[i].flags & 1) && segments[i].vaddr < lowest) /* PF_X */
			lowest = segments[i].vaddr;
	return lowest == UINT64_MAX ? 0 : lowest;
}

static struct swlbr_error *read_functions(struct swlbr_dwarf *dwarf)
{
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < dwarf->file->nr_units; i++) {
		struct dw_unit *unit = &dwarf->file->units[i];

		error = dw_functions_add(&dwarf->functions, unit->split ? unit->split : unit,
					 dwarf->lowest);
	}
	if (!error)
		error = dw_functions_finish(&dwarf->functions);
	return error;
}

static struct swlbr_error *no_functions(const struct swlbr_dwarf *dwarf)
{
	if (dwarf->split.missing)
		return swlbr_error_create(
			SWLBR_ERROR_NOT_FOUND,
			"%s: its debug information is in %s and %zu more .dwo files, which are not there; make a .dwp beside it",
			dwarf->file->path, dwarf->split.first_missing, dwarf->split.missing - 1);
	return swlbr_error_create(
		SWLBR_ERROR_NOT_FOUND,
		"%s: its debug information tells of no function with code; build with -g (or -gmlt)",
		dwarf->file->path);
}

struct swlbr_error *swlbr_dwarf_open(struct swlbr_elf *elf, const char *debug_dir,
				     struct swlbr_dwarf **ret)
{
	struct swlbr_dwarf *dwarf = calloc(1, sizeof(*dwarf));
	struct swlbr_error *error;

	if (!dwarf)
		return swlbr_error_no_memory();
	if (!debug_dir)
		debug_dir = DEBUG_DIR;
	dwarf->lowest = lowest_code(elf);
	error = dw_debug_file_open(elf, debug_dir, &dwarf->file);
	if (!error)
		error = dw_alt_file_open(dwarf->file, *debug_dir ? debug_dir : DEBUG_DIR,
					 &dwarf->alt);
	if (!error)
		dwarf->file->alt = dwarf->alt;
	if (!error)
		error = dw_split_open(dwarf->file, swlbr_elf_path(elf), &dwarf->split);
	if (!error)
		error = read_functions(dwarf);
	if (!error && !dwarf->functions.nr)
		error = no_functions(dwarf);
	if (error) {
		swlbr_dwarf_close(dwarf);
		return error;
	}
	*ret = dwarf;
	return NULL;
}

void swlbr_dwarf_close(struct swlbr_dwarf *dwarf)
{
	if (!dwarf)
		return;
	dw_functions_free(&dwarf->functions);
	dw_split_close(&dwarf->split);
	dw_file_close(dwarf->file);
	dw_file_close(dwarf->alt);
	free(dwarf);
}

size_t swlbr_dwarf_missing_dwo(const struct swlbr_dwarf *dwarf, const char **first_ret)
{
	*first_ret = dwarf->split.first_missing;
	return dwarf->split.missing;
}

size_t swlbr_dwarf_functions(const struct swlbr_dwarf *dwarf,
			     const struct swlbr_dwarf_function **ret)
{
	*ret = dwarf->functions.functions;
	return dwarf->functions.nr;
}

bool swlbr_dwarf_function_at(const struct swlbr_dwarf *dwarf, uint64_t address, size_t *index_ret)
{
	const struct dw_functions *functions = &dwarf->functions;
	size_t at = dw_areas_find(functions->areas, functions->nr_areas, address);

	if (at == functions->nr_areas || functions->areas[at].low > address)
		return false;
	*index_ret = functions->areas[at].scope;
	return true;
}

const char *swlbr_dwarf_source_of(const struct swlbr_dwarf *dwarf, size_t function)
{
	return dwarf->functions.places[function].unit->name;
}

/* The inlined calls and the lines of a function, read when first asked for. */
static struct swlbr_error *details(struct swlbr_dwarf *dwarf, size_t function,
				   const struct dw_inlines **inlines_ret,
				   const struct dw_lines **lines_ret)
{
	struct dw_function_place *place = &dwarf->functions.places[function];
	struct dw_unit *unit = place->unit->skeleton ? place->unit->skeleton : place->unit;
	struct swlbr_error *error = NULL;

	if (!place->inlines)
		error = dw_inlines_read(&dwarf->functions.functions[function], place,
					&place->inlines);
	if (!error && !unit->lines)
		error = dw_lines_read(unit, dwarf->lowest, &unit->lines);
	*inlines_ret = place->inlines;
	*lines_ret = unit->lines;
	return error;
}

/* Cut an area at its lines. */
static struct swlbr_error *area_pieces(const struct dw_lines *lines, uint64_t begin, uint64_t end,
				       const struct swlbr_dwarf_scope *scope,
				       swlbr_dwarf_piece_fn *fn, void *context)
{
	size_t row = dw_lines_find(lines, begin);
	struct swlbr_error *error = NULL;

	while (!error && begin < end) {
		struct swlbr_dwarf_piece piece = { .begin = begin, .end = end, .scope = scope };
		size_t next = 0; /* before the first row, that one is the next */

		if (row < lines->nr) {
			piece.line = lines->rows[row].line;
			piece.discriminator = lines->rows[row].discriminator;
			next = row + 1;
		}
		if (next < lines->nr && lines->rows[next].address < end)
			piece.end = lines->rows[next].address;
		if (piece.end > begin)
			error = fn(context, &piece);
		begin = piece.end;
		row = next;
	}
	return error;
}

/* The part of @begin up to @end that is in one area of functions. */
static struct swlbr_error *function_pieces(struct swlbr_dwarf *dwarf, size_t function,
					   uint64_t begin, uint64_t end, swlbr_dwarf_piece_fn *fn,
					   void *context)
{
	const struct dw_inlines *inlines;
	const struct dw_lines *lines;
	struct swlbr_error *error;

	error = details(dwarf, function, &inlines, &lines);
	if (error)
		return error;
	for (size_t i = dw_areas_find(inlines->areas, inlines->nr_areas, begin);
	     !error && i < inlines->nr_areas && inlines->areas[i].low < end; i++) {
		const struct dw_area *area = &inlines->areas[i];

		error = area_pieces(lines, area->low > begin ? area->low : begin,
				    area->high < end ? area->high : end,
				    &inlines->scopes[area->scope], fn, context);
	}
	return error;
}

struct swlbr_error *swlbr_dwarf_pieces(struct swlbr_dwarf *dwarf, uint64_t begin, uint64_t end,
				       swlbr_dwarf_piece_fn *fn, void *context)
{
	const struct dw_functions *functions = &dwarf->functions;
	struct swlbr_error *error = NULL;

	for (size_t i = dw_areas_find(functions->areas, functions->nr_areas, begin);
	     !error && i < functions->nr_areas && functions->areas[i].low < end; i++) {
		const struct dw_area *area = &functions->areas[i];

		error = function_pieces(dwarf, area->scope, area->low > begin ? area->low : begin,
					area->high < end ? area->high : end, fn, context);
	}
	return error;
}
