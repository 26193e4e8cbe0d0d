/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_DWARF_DEBUG_FILE_H
#define SWLBR_DWARF_DEBUG_FILE_H

#include "file.h"

/**
 * Open the debug information of @elf: its own, or that of its separate debug file, which must have
 * the same build-id or the checksum that .gnu_debuglink states. @debug_dir is where such files are
 * installed. SWLBR_ERROR_NOT_FOUND if there is none.
 */
struct swlbr_error *dw_debug_file_open(struct swlbr_elf *elf, const char *debug_dir,
				       struct dw_file **ret);

/** Open the file that dwz has moved common parts of @file to, if it names one. */
struct swlbr_error *dw_alt_file_open(struct dw_file *file, const char *debug_dir,
				     struct dw_file **ret);

#endif
