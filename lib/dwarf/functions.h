/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_DWARF_FUNCTIONS_H
#define SWLBR_DWARF_FUNCTIONS_H

#include <swlbr/dwarf.h>

#include "file.h"

/** Code of one scope. */
struct dw_area {
	uint64_t low, high;
	uint32_t scope; /* index */
};

/** The calls inlined into a function: scopes[0] is the function; areas by address. */
struct dw_inlines {
	struct swlbr_dwarf_scope *scopes;
	struct dw_area *areas;
	size_t nr_areas;
};

/** Where the entry of a function is. */
struct dw_function_place {
	struct dw_unit *unit;
	uint64_t offset;
	struct dw_inlines *inlines; /* made when first needed */
};

/** All functions with code, of any number of files. Zeroed is empty. */
struct dw_functions {
	struct swlbr_dwarf_function *functions;
	struct dw_function_place *places; /* as many */
	size_t nr, max;
	struct dw_ranges ranges; /* of all functions, one after the other */
	struct dw_area *areas;	 /* by address, none overlaps; the scope is a function here */
	size_t nr_areas;
};

/** Add the functions of @unit; code below @lowest has been removed by the linker. */
struct swlbr_error *dw_functions_add(struct dw_functions *functions, struct dw_unit *unit,
				     uint64_t lowest);

/** After the last unit: sort out which function is where. */
struct swlbr_error *dw_functions_finish(struct dw_functions *functions);
void dw_functions_free(struct dw_functions *functions);

/**
 * Lay areas over each other: where several overlap, the one of the highest scope stands. @areas is
 * sorted; @ret (the caller's to free) has no overlaps, is by address, and holds at most twice as
 * many.
 */
struct swlbr_error *dw_areas_flatten(struct dw_area *areas, size_t nr, struct dw_area **ret,
				     size_t *nr_ret);

/** The area that holds @address, or the first after it; @nr if there is none. */
size_t dw_areas_find(const struct dw_area *areas, size_t nr, uint64_t address);

/** Read what is inlined into @function. */
struct swlbr_error *dw_inlines_read(const struct swlbr_dwarf_function *function,
				    const struct dw_function_place *place, struct dw_inlines **ret);
void dw_inlines_free(struct dw_inlines *inlines);

#endif
