/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_DWARF_H
#define SWLBR_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <swlbr/elf.h>
#include <swlbr/error.h>

/**
 * The debug information of a binary: what function, inlined call, line and discriminator code is
 * of. DWARF 2 to 5; in the binary, in a separate debug file, in .dwo files or a .dwp package, with
 * parts that dwz has moved to a common file. All that is returned lives until swlbr_dwarf_close().
 */
struct swlbr_dwarf;

/** Half open: @high is the address after the last byte. */
struct swlbr_dwarf_range {
	uint64_t low, high;
};

/**
 * struct swlbr_dwarf_function - a function that has code of its own
 * @name: its linkage name, else its name; NULL if it has none
 * @decl_line: the line where it is declared, 0 if not known
 */
struct swlbr_dwarf_function {
	const char *name;
	uint32_t decl_line;
	uint32_t nr_ranges;
	const struct swlbr_dwarf_range *ranges;
};

/**
 * struct swlbr_dwarf_scope - a function, or a call of one that was inlined
 * @caller: what it is inlined into; NULL for the function whose code this is
 * @name, @decl_line: as in struct swlbr_dwarf_function
 * @call_line, @call_discriminator: where in @caller the call was
 * @by_gcc: gcc compiled it, whose discriminators are plain numbers, where clang's hold several
 */
struct swlbr_dwarf_scope {
	const struct swlbr_dwarf_scope *caller;
	const char *name;
	uint32_t decl_line;
	uint32_t call_line, call_discriminator;
	bool by_gcc;
};

/**
 * struct swlbr_dwarf_piece - code of one scope, line and discriminator
 * @line: 0 where the compiler gave none
 */
struct swlbr_dwarf_piece {
	uint64_t begin, end;
	const struct swlbr_dwarf_scope *scope;
	uint32_t line, discriminator;
};

/**
 * Read the debug information of @elf, which must stay open. Of a binary without any, its separate
 * debug file is looked for by build-id and by the name in .gnu_debuglink, under @debug_dir
 * (NULL: /usr/lib/debug; "": nowhere but beside the binary). SWLBR_ERROR_NOT_FOUND, with what to do about it, if there is none.
 */
struct swlbr_error *swlbr_dwarf_open(struct swlbr_elf *elf, const char *debug_dir,
				     struct swlbr_dwarf **ret);
/** NULL is fine. */
void swlbr_dwarf_close(struct swlbr_dwarf *dwarf);

/** How many compile units' entries were not found in .dwo files, for a word about it. */
size_t swlbr_dwarf_missing_dwo(const struct swlbr_dwarf *dwarf, const char **first_ret);

/** All functions with code, in the order of the debug information. */
size_t swlbr_dwarf_functions(const struct swlbr_dwarf *dwarf,
			     const struct swlbr_dwarf_function **ret);

/** The index of the function that holds @address; false if there is none. */
bool swlbr_dwarf_function_at(const struct swlbr_dwarf *dwarf, uint64_t address, size_t *index_ret);

/** The source file of a function's compile unit, as the compiler was told it; NULL if not known. */
const char *swlbr_dwarf_source_of(const struct swlbr_dwarf *dwarf, size_t function);

typedef struct swlbr_error *swlbr_dwarf_piece_fn(void *context,
						 const struct swlbr_dwarf_piece *piece);

/**
 * Cut the code from @begin up to @end into pieces and call @fn for each, by address. Code of no
 * function is left out. An error of @fn ends it and is returned.
 */
struct swlbr_error *swlbr_dwarf_pieces(struct swlbr_dwarf *dwarf, uint64_t begin, uint64_t end,
				       swlbr_dwarf_piece_fn *fn, void *context);

#endif
