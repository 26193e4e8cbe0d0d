// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Calls of library functions that do not return once, as others do, known by name. */
#include <string.h>

#include "builder.h"

/* Functions of C libraries and of the C++ ABI that are declared so. */
static const char *const never_returning[] = {
	"abort",
	"exit",
	"_exit",
	"_Exit",
	"quick_exit",
	"pthread_exit",
	"__assert_fail",
	"__assert",
	"__stack_chk_fail",
	"__fortify_fail",
	"__chk_fail",
	"__libc_start_main",
	"err",
	"errx",
	"verr",
	"verrx",
	"__cxa_throw",
	"__cxa_rethrow",
	"__cxa_bad_cast",
	"__cxa_throw_bad_array_new_length",
	"__cxa_call_unexpected",
	"_Unwind_Resume",
	"_ZSt9terminatev",
	"_ZSt17__throw_bad_allocv",
	"_ZSt20__throw_length_errorPKc",
	"_ZSt20__throw_out_of_rangePKc",
	"_ZSt24__throw_out_of_range_fmtPKcz",
	"_ZSt19__throw_logic_errorPKc",
	"_ZSt16__throw_bad_castv",
};

/* From a call of one to where the other was called. */
static const char *const longjmps[] = { "longjmp",	 "_longjmp",	   "siglongjmp",
					"__longjmp_chk", "__libc_longjmp", "__libc_siglongjmp" };
static const char *const setjmps[] = { "setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp" };

/* A stub of the procedure linkage table jumps through the word of its import. */
static const char *import_of_stub(struct builder *builder, uint64_t vaddr)
{
	for (int i = 0; i < 4; i++) {
		struct arch_insn insn;
		size_t size;
		const uint8_t *code = memory_image_from(&builder->image, vaddr, &size);

		if (!code || !builder->context.arch->decode(code, size, vaddr, &insn))
			return NULL;
		if (insn.flow == ARCH_FLOW_INDIRECT_JUMP)
			return insn.has_memory && insn.base == ARCH_NO_REGISTER
				       ? swlbr_elf_import(builder->elf, (uint64_t)insn.disp)
				       : NULL;
		if (insn.flow != ARCH_FLOW_NEXT)
			return NULL;
		vaddr += insn.size;
	}
	return NULL;
}

static bool is_one_of(const char *name, const char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/*
 * In a binary that is linked statically they are code without counters. Whether that returns its own
 * code says, whatever its name; but not of longjmp, which ends in a jump through a register.
 */
enum library_call builder_calls_library(struct builder *builder, size_t block)
{
	const struct swlbr_branch_map *map = builder->map;
	const uint32_t callee = map->blocks[block].callee;
	const char *name = NULL;

	if (callee == SWLBR_NONE && builder->callee[block])
		name = import_of_stub(builder, builder->callee[block]);
	else if (callee != SWLBR_NONE && !map->functions[callee].instrumented)
		name = swlbr_branch_map_name(map, &map->functions[callee]);
	if (!name)
		return LIBRARY_OTHER;
	if (callee == SWLBR_NONE &&
	    is_one_of(name, never_returning, sizeof(never_returning) / sizeof(*never_returning)))
		return LIBRARY_NEVER_RETURNS;
	if (is_one_of(name, longjmps, sizeof(longjmps) / sizeof(*longjmps)))
		return LIBRARY_LONGJMP;
	if (is_one_of(name, setjmps, sizeof(setjmps) / sizeof(*setjmps)))
		return LIBRARY_SETJMP;
	return LIBRARY_OTHER;
}
