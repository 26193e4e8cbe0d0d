/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_CFG_JUMP_LABELS_H
#define SWLBR_CFG_JUMP_LABELS_H

#include <swlbr/elf.h>

#include "memory_image.h"

/** A place where Linux writes a nop or a jump to @target while it runs. */
struct jump_label {
	uint64_t code, target;
};

struct jump_labels {
	struct jump_label *labels; /* by code */
	size_t nr;
};

/**
 * The table of a vmlinux with CONFIG_JUMP_LABEL (struct jump_entry of include/linux/jump_label.h);
 * none of other binaries. Freed by jump_labels_deinit(), also after an error.
 */
struct swlbr_error *jump_labels_find(struct swlbr_elf *elf, const struct memory_image *image,
				     struct jump_labels *ret);
void jump_labels_deinit(struct jump_labels *labels);

/** Where the instruction at @code may be made to jump; 0 if it stays as it is. NULL has none. */
uint64_t jump_labels_target(const struct jump_labels *labels, uint64_t code);

#endif
