/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_DWARF_SPLIT_H
#define SWLBR_DWARF_SPLIT_H

#include "file.h"

/** The files that entries of a linked file have been split off to. Zeroed is empty. */
struct dw_split {
	struct dw_file **files;
	size_t nr;
	size_t missing;		   /* units whose entries are in none */
	const char *first_missing; /* the name of the .dwo of one */
};

/** From the index of a package (.dwp): where the parts of each of its units are. */
struct swlbr_error *dw_package_contributions(struct dw_file *file);

/**
 * Give each skeleton unit of @file its split unit: of the package @binary.dwp, or of the .dwo that
 * it names. One that is not there, or of another build, is counted and not an error.
 */
struct swlbr_error *dw_split_open(struct dw_file *file, const char *binary, struct dw_split *split);
void dw_split_close(struct dw_split *split);

#endif
