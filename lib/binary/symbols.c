// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The symbols that an image defines. */
#include <gelf.h>
#include <stdlib.h>

#include "elf_image.h"

struct symbol_list {
	struct swlbr_elf_symbol *symbols;
	size_t nr, max;
};

static struct swlbr_error *add_table(struct swlbr_elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr,
				     struct symbol_list *list)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t nr = data && shdr->sh_entsize ? data->d_size / shdr->sh_entsize : 0;

	if (nr > list->max - list->nr) {
		struct swlbr_elf_symbol *grown;

		grown = reallocarray(list->symbols, list->nr + nr, sizeof(*grown));
		if (!grown)
			return swlbr_error_no_memory();
		list->symbols = grown;
		list->max = list->nr + nr;
	}
	for (size_t i = 0; i < nr; i++) {
		GElf_Sym sym;
		const char *name;

		if (!gelf_getsym(data, (int)i, &sym))
			break;
		name = elf_strptr(elf->handle, shdr->sh_link, sym.st_name);
		if (sym.st_shndx == SHN_UNDEF || !name)
			continue;
		list->symbols[list->nr++] = (struct swlbr_elf_symbol){
			.name = name,
			.vaddr = sym.st_value,
			.size = sym.st_size,
			.type = GELF_ST_TYPE(sym.st_info),
			.bind = GELF_ST_BIND(sym.st_info),
		};
	}
	return NULL;
}

struct swlbr_error *swlbr_elf_symbols(struct swlbr_elf *elf, struct swlbr_elf_symbol **symbols_ret,
				      size_t *nr_ret)
{
	static const uint32_t tables[] = { SHT_SYMTAB, SHT_DYNSYM };
	struct symbol_list list = { 0 };

	for (size_t i = 0; i < 2; i++) {
		Elf_Scn *scn = NULL;

		while ((scn = elf_nextscn(elf->handle, scn))) {
			struct swlbr_error *error = NULL;
			GElf_Shdr shdr;

			if (gelf_getshdr(scn, &shdr) && shdr.sh_type == tables[i])
				error = add_table(elf, scn, &shdr, &list);
			if (error) {
				free(list.symbols);
				return error;
			}
		}
	}
	*symbols_ret = list.symbols;
	*nr_ret = list.nr;
	return NULL;
}
