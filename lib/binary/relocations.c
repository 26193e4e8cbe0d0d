// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The words that the dynamic loader writes at a load bias of 0: relative relocations, and absolute
 * ones against symbols that the image itself defines. RELR and REL keep the value in place, so only
 * RELA needs work.
 */
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "elf_image.h"

enum reloc_kind { RELOC_OTHER, RELOC_RELATIVE, RELOC_ABSOLUTE };

static enum reloc_kind reloc_kind(unsigned int machine, uint64_t type)
{
	switch (machine) {
	case EM_X86_64:
		return type == R_X86_64_RELATIVE ? RELOC_RELATIVE
		       : type == R_X86_64_64	 ? RELOC_ABSOLUTE
						 : RELOC_OTHER;
	case EM_AARCH64:
		return type == R_AARCH64_RELATIVE ? RELOC_RELATIVE
		       : type == R_AARCH64_ABS64  ? RELOC_ABSOLUTE
						  : RELOC_OTHER;
	default:
		return RELOC_OTHER;
	}
}

static bool reloc_value(struct swlbr_elf *elf, Elf_Data *symbols, const GElf_Rela *rela,
			uint64_t *value)
{
	GElf_Sym sym;

	switch (reloc_kind(elf->machine, GELF_R_TYPE(rela->r_info))) {
	case RELOC_RELATIVE:
		*value = (uint64_t)rela->r_addend;
		return true;
	case RELOC_ABSOLUTE:
		if (!symbols || !gelf_getsym(symbols, (int)GELF_R_SYM(rela->r_info), &sym) ||
		    sym.st_shndx == SHN_UNDEF)
			return false;
		*value = sym.st_value + (uint64_t)rela->r_addend;
		return true;
	default:
		return false;
	}
}

static struct swlbr_error *read_rela(struct swlbr_elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	Elf_Scn *symbol_scn = shdr->sh_link ? elf_getscn(elf->handle, shdr->sh_link) : NULL;
	Elf_Data *symbols = symbol_scn ? elf_getdata(symbol_scn, NULL) : NULL;
	size_t nr = data && shdr->sh_entsize ? data->d_size / shdr->sh_entsize : 0;
	struct swlbr_elf_relocation *grown;

	if (!nr)
		return NULL;
	grown = reallocarray(elf->relocations, elf->nr_relocations + nr, sizeof(*grown));
	if (!grown)
		return swlbr_error_no_memory();
	elf->relocations = grown;
	for (size_t i = 0; i < nr; i++) {
		GElf_Rela rela;
		uint64_t value;

		if (!gelf_getrela(data, (int)i, &rela))
			break;
		if (reloc_value(elf, symbols, &rela, &value))
			elf->relocations[elf->nr_relocations++] = (struct swlbr_elf_relocation){
				.vaddr = rela.r_offset,
				.value = value,
			};
	}
	return NULL;
}

static int by_vaddr(const void *a, const void *b)
{
	const struct swlbr_elf_relocation *x = a, *y = b;

	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

static struct swlbr_error *read_relocations(struct swlbr_elf *elf)
{
	Elf_Scn *scn = NULL;

	elf->relocations_read = true;
	if (!elf->is_64 || elf->type == ET_REL)
		return NULL;
	while ((scn = elf_nextscn(elf->handle, scn))) {
		GElf_Shdr shdr;
		struct swlbr_error *error;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_RELA ||
		    !(shdr.sh_flags & SHF_ALLOC))
			continue;
		error = read_rela(elf, scn, &shdr);
		if (error)
			return error;
	}
	if (elf->nr_relocations)
		qsort(elf->relocations, elf->nr_relocations, sizeof(*elf->relocations), by_vaddr);
	return NULL;
}

struct swlbr_error *swlbr_elf_relocate(struct swlbr_elf *elf, uint64_t vaddr, void *buffer,
				       size_t size)
{
	size_t low = 0, high;

	if (!elf->relocations_read) {
		struct swlbr_error *error = read_relocations(elf);

		if (error)
			return error;
	}
	high = elf->nr_relocations;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (elf->relocations[middle].vaddr < vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < elf->nr_relocations; low++) {
		uint64_t at = elf->relocations[low].vaddr - vaddr, value;

		if (at >= size || size - at < sizeof(value))
			break;
		value = elf->relocations[low].value;
		if (elf->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
			value = __builtin_bswap64(value);
		memcpy((char *)buffer + at, &value, sizeof(value));
	}
	return NULL;
}
