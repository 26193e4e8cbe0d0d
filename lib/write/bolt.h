/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What BOLT's formats need to know of a binary's code. */
#ifndef SWLBR_WRITE_BOLT_H
#define SWLBR_WRITE_BOLT_H

#include <swlbr/branch_map.h>
#include <swlbr/elf.h>

/** True if the instruction before @address is a call: code there is come to by its return. */
bool bolt_call_before(const struct swlbr_branch_map *map, uint64_t address);

/** A function symbol, under the name that BOLT gives it. */
struct bolt_function {
	uint64_t start, end;
	char *name;
};

struct bolt_functions {
	struct bolt_function *functions; /* by address */
	size_t nr;
};

struct swlbr_error *bolt_functions_read(struct swlbr_elf *elf, struct bolt_functions *ret);
void bolt_functions_free(struct bolt_functions *functions);

/** The function that holds @address, or NULL. */
const struct bolt_function *bolt_function_at(const struct bolt_functions *functions,
					     uint64_t address);

#endif
