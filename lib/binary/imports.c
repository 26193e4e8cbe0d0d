// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Words that the dynamic loader fills with addresses of other images' symbols. */
#include <gelf.h>
#include <stdlib.h>

#include "elf_image.h"

static bool add_table(struct swlbr_elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	Elf_Scn *symbol_scn = shdr->sh_link ? elf_getscn(elf->handle, shdr->sh_link) : NULL;
	Elf_Data *symbols = symbol_scn ? elf_getdata(symbol_scn, NULL) : NULL;
	size_t nr = data && shdr->sh_entsize ? data->d_size / shdr->sh_entsize : 0;
	struct swlbr_elf_import *grown;
	GElf_Shdr symbol_shdr;

	if (!nr || !symbols || !gelf_getshdr(symbol_scn, &symbol_shdr))
		return true;
	grown = reallocarray(elf->imports, elf->nr_imports + nr, sizeof(*grown));
	if (!grown)
		return false;
	elf->imports = grown;
	for (size_t i = 0; i < nr; i++) {
		GElf_Rela rela;
		GElf_Sym sym;
		const char *name;

		if (!gelf_getrela(data, (int)i, &rela) ||
		    !gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &sym) ||
		    sym.st_shndx != SHN_UNDEF)
			continue;
		name = elf_strptr(elf->handle, symbol_shdr.sh_link, sym.st_name);
		if (name && *name)
			grown[elf->nr_imports++] = (struct swlbr_elf_import){ rela.r_offset, name };
	}
	return true;
}

static int by_vaddr(const void *left, const void *right)
{
	const struct swlbr_elf_import *a = left, *b = right;

	return (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

static void read_imports(struct swlbr_elf *elf)
{
	Elf_Scn *scn = NULL;

	elf->imports_read = true;
	while ((scn = elf_nextscn(elf->handle, scn))) {
		GElf_Shdr shdr;

		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_RELA &&
		    (shdr.sh_flags & SHF_ALLOC) && !add_table(elf, scn, &shdr))
			break;
	}
	if (elf->nr_imports)
		qsort(elf->imports, elf->nr_imports, sizeof(*elf->imports), by_vaddr);
}

const char *swlbr_elf_import(struct swlbr_elf *elf, uint64_t vaddr)
{
	struct swlbr_elf_import key = { .vaddr = vaddr }, *found = NULL;

	if (!elf->imports_read)
		read_imports(elf);
	if (elf->nr_imports)
		found = bsearch(&key, elf->imports, elf->nr_imports, sizeof(*elf->imports),
				by_vaddr);
	return found ? found->name : NULL;
}
