// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What is inlined into a function: the entries below the function's. */
#include <dwarf.h>
#include <stdlib.h>

#include "functions.h"

/* Entries below a function that is nested in the function are not the function's. */
#define OTHER UINT32_MAX

/* Far more than compilers make; users of the tree may recurse that deep. */
#define MAX_DEPTH 2000

/* A scope while the others are still being found: its caller is an index. */
struct draft {
	struct swlbr_dwarf_scope scope;
	uint32_t caller, depth;
};

struct tree {
	struct dw_unit *unit;
	struct draft *drafts;
	size_t nr_drafts, max_drafts;
	struct dw_area *areas; /* of all scopes, may overlap */
	size_t nr_areas, max_areas;
	uint32_t *open; /* the scope at each depth */
	size_t depth, max_depth;
	struct dw_ranges ranges;
};

static struct swlbr_error *grow(void **array, size_t *max, size_t size)
{
	size_t wanted = *max ? 2 * *max : 16;
	void *grown = reallocarray(*array, wanted, size);

	if (!grown)
		return swlbr_error_no_memory();
	*array = grown;
	*max = wanted;
	return NULL;
}

static struct swlbr_error *add_area(struct tree *tree, uint64_t low, uint64_t high, uint32_t scope)
{
	if (tree->nr_areas == tree->max_areas) {
		struct swlbr_error *error =
			grow((void **)&tree->areas, &tree->max_areas, sizeof(*tree->areas));

		if (error)
			return error;
	}
	tree->areas[tree->nr_areas++] = (struct dw_area){ low, high, scope };
	return NULL;
}

static struct swlbr_error *add_draft(struct tree *tree, const struct draft *draft)
{
	if (tree->nr_drafts == tree->max_drafts) {
		struct swlbr_error *error =
			grow((void **)&tree->drafts, &tree->max_drafts, sizeof(*tree->drafts));

		if (error)
			return error;
	}
	tree->drafts[tree->nr_drafts++] = *draft;
	return NULL;
}

static struct swlbr_error *open_children(struct tree *tree, uint32_t scope)
{
	if (tree->depth == tree->max_depth) {
		struct swlbr_error *error =
			grow((void **)&tree->open, &tree->max_depth, sizeof(*tree->open));

		if (error)
			return error;
	}
	tree->open[tree->depth++] = scope;
	return NULL;
}

static struct swlbr_error *add_call(struct tree *tree, const struct dw_die *die, uint32_t caller)
{
	const struct dw_file *file = tree->unit->file;
	uint32_t scope = (uint32_t)tree->nr_drafts;
	struct draft draft = {
		.caller = caller,
		.depth = tree->drafts[caller].depth + 1,
		.scope.call_line = (uint32_t)dw_value_unsigned(&die->attributes[DW_CALL_LINE]),
		.scope.call_discriminator =
			(uint32_t)dw_value_unsigned(&die->attributes[DW_DISCRIMINATOR]),
	};
	struct swlbr_error *error;

	if (draft.depth > MAX_DEPTH)
		return dw_error(file, DW_INFO, die->offset, "calls inlined more than %u deep",
				MAX_DEPTH);
	error = dw_die_function(die, &draft.scope.name, &draft.scope.decl_line);
	if (!error)
		error = add_draft(tree, &draft);
	tree->ranges.nr = 0;
	if (!error)
		error = dw_die_ranges(die, &tree->ranges);
	for (size_t i = 0; !error && i < tree->ranges.nr; i++)
		error = add_area(tree, tree->ranges.entries[i].low, tree->ranges.entries[i].high,
				 scope);
	/* A damaged file could name one long list again and again. */
	if (!error && tree->nr_areas / 16 > file->sections[DW_INFO].size +
						    file->sections[DW_RNGLISTS].size +
						    file->sections[DW_RANGES].size)
		error = dw_error(file, DW_INFO, die->offset, "more ranges than there can be");
	return error;
}

/* One entry below the function's, at @reader. */
static struct swlbr_error *visit(struct tree *tree, struct dw_reader *reader)
{
	uint64_t offset = dw_position(reader);
	uint32_t scope = tree->open[tree->depth - 1];
	const struct dw_abbrev *abbrev;
	struct swlbr_error *error;
	struct dw_die die;

	error = dw_die_begin(tree->unit, reader, &abbrev);
	if (error)
		return error;
	if (!abbrev) {
		tree->depth--;
		return NULL;
	}
	if (abbrev->tag == DW_TAG_inlined_subroutine && scope != OTHER) {
		error = dw_die_read(tree->unit, reader, offset, abbrev, &die);
		if (!error)
			error = add_call(tree, &die, scope);
		scope = (uint32_t)tree->nr_drafts - 1;
	} else {
		error = dw_die_skip(tree->unit, reader, abbrev);
		if (abbrev->tag == DW_TAG_subprogram)
			scope = OTHER;
	}
	if (!error && abbrev->has_children)
		error = open_children(tree, scope);
	return error;
}

static struct swlbr_error *walk(struct tree *tree, uint64_t offset)
{
	struct dw_reader reader = dw_unit_reader(tree->unit);
	const struct dw_abbrev *abbrev;
	struct swlbr_error *error;

	reader.at = reader.start + offset;
	error = dw_die_begin(tree->unit, &reader, &abbrev);
	if (!error && abbrev)
		error = dw_die_skip(tree->unit, &reader, abbrev);
	if (!error && abbrev && abbrev->has_children)
		error = open_children(tree, 0);
	while (!error && tree->depth && reader.at < reader.end)
		error = visit(tree, &reader);
	return error;
}

static struct swlbr_error *finish(struct tree *tree, struct dw_inlines *inlines)
{
	inlines->scopes = reallocarray(NULL, tree->nr_drafts, sizeof(*inlines->scopes));
	if (!inlines->scopes)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < tree->nr_drafts; i++) {
		inlines->scopes[i] = tree->drafts[i].scope;
		inlines->scopes[i].by_gcc = tree->unit->by_gcc;
		inlines->scopes[i].caller = i ? &inlines->scopes[tree->drafts[i].caller] : NULL;
	}
	return dw_areas_flatten(tree->areas, tree->nr_areas, &inlines->areas, &inlines->nr_areas);
}

struct swlbr_error *dw_inlines_read(const struct swlbr_dwarf_function *function,
				    const struct dw_function_place *place, struct dw_inlines **ret)
{
	struct draft self = { .scope.name = function->name,
			      .scope.decl_line = function->decl_line };
	struct dw_inlines *inlines = calloc(1, sizeof(*inlines));
	struct tree tree = { .unit = place->unit };
	struct swlbr_error *error;

	if (!inlines)
		return swlbr_error_no_memory();
	error = add_draft(&tree, &self);
	for (size_t i = 0; !error && i < function->nr_ranges; i++)
		error = add_area(&tree, function->ranges[i].low, function->ranges[i].high, 0);
	if (!error)
		error = walk(&tree, place->offset);
	if (!error)
		error = finish(&tree, inlines);
	free(tree.drafts);
	free(tree.areas);
	free(tree.open);
	free(tree.ranges.entries);
	if (error) {
		dw_inlines_free(inlines);
		return error;
	}
	*ret = inlines;
	return NULL;
}

void dw_inlines_free(struct dw_inlines *inlines)
{
	if (!inlines)
		return;
	free(inlines->scopes);
	free(inlines->areas);
	free(inlines);
}
