// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <elf.h>
#include <stdlib.h>

#include "code.h"

struct swlbr_error *code_open(struct swlbr_elf *elf, struct code **ret)
{
	struct code *code = malloc(sizeof(*code));

	if (!code)
		return swlbr_error_no_memory();
	code->elf = elf;
	code->arch = arch_of_machine(swlbr_elf_machine(elf));
	code->fixed_size = swlbr_elf_machine(elf) == EM_AARCH64 ? 4 : 0;
	code->vaddr = 0;
	code->size = 0;
	if (!code->arch && !code->fixed_size) {
		free(code);
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "%s: instructions of machine %u cannot be read",
					  swlbr_elf_path(elf), swlbr_elf_machine(elf));
	}
	*ret = code;
	return NULL;
}

/* Read code from @address on, as far as its segment goes. */
static struct swlbr_error *load(struct code *code, uint64_t address)
{
	const struct swlbr_elf_segment *segments;
	size_t nr = swlbr_elf_segments(code->elf, &segments);

	code->size = 0;
	for (size_t i = 0; i < nr; i++) {
		uint64_t skip = address - segments[i].vaddr, size;

		if (!(segments[i].flags & 1) || address < segments[i].vaddr ||
		    skip >= segments[i].filesz)
			continue;
		size = segments[i].filesz - skip;
		code->size = size < CODE_SIZE ? size : CODE_SIZE;
		code->vaddr = address;
		return swlbr_elf_read(code->elf, address, code->bytes, code->size);
	}
	return NULL;
}

struct swlbr_error *code_insn(struct code *code, uint64_t address, struct arch_insn *ret)
{
	struct swlbr_error *error = NULL;

	ret->size = 0;
	if (address < code->vaddr || address - code->vaddr >= code->size ||
	    code->size - (address - code->vaddr) < code->arch->max_insn)
		error = load(code, address);
	if (error || !code->size)
		return error;
	if (!code->arch->decode(code->bytes + (address - code->vaddr),
				code->size - (address - code->vaddr), address, ret))
		ret->size = 0;
	return NULL;
}

struct swlbr_error *code_insn_size(struct code *code, uint64_t address, unsigned int *ret)
{
	struct arch_insn insn;
	struct swlbr_error *error;

	if (code->fixed_size) {
		*ret = address % code->fixed_size ? 0 : code->fixed_size;
		return NULL;
	}
	error = code_insn(code, address, &insn);
	*ret = insn.size;
	return error;
}
