/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_DWARF_LINES_H
#define SWLBR_DWARF_LINES_H

#include "file.h"

/** From @address up to the next row's; line 0 where none is known. */
struct dw_row {
	uint64_t address;
	uint32_t line, discriminator;
};

/** The line table of a unit: rows by address, no two at the same one. */
struct dw_lines {
	struct dw_row *rows;
	size_t nr;
};

/**
 * Decode the line table of @unit (of its skeleton if it is in a .dwo). Sequences that begin below
 * @lowest are of code that the linker has removed. @ret is freed by dw_lines_free().
 */
struct swlbr_error *dw_lines_read(const struct dw_unit *unit, uint64_t lowest,
				  struct dw_lines **ret);
void dw_lines_free(struct dw_lines *lines);

/** The index of the row that holds @address; lines->nr if it is before all of them. */
size_t dw_lines_find(const struct dw_lines *lines, uint64_t address);

#endif
