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

static struct swlbr_error *add_tables(struct swlbr_elf *elf, uint32_t type,
				      struct symbol_list *list)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf->handle, scn))) {
		struct swlbr_error *error = NULL;
		GElf_Shdr shdr;

		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == type)
			error = add_table(elf, scn, &shdr, list);
		if (error)
			return error;
	}
	return NULL;
}

static struct swlbr_error *give(struct symbol_list *list, struct swlbr_error *error,
				struct swlbr_elf_symbol **symbols_ret, size_t *nr_ret)
{
	if (error) {
		free(list->symbols);
		*list = (struct symbol_list){ 0 };
	}
	*symbols_ret = list->symbols;
	*nr_ret = list->nr;
	return error;
}

struct swlbr_error *swlbr_elf_symbols(struct swlbr_elf *elf, struct swlbr_elf_symbol **symbols_ret,
				      size_t *nr_ret)
{
	struct symbol_list list = { 0 };
	struct swlbr_error *error = add_tables(elf, SHT_SYMTAB, &list);

	if (!error)
		error = add_tables(elf, SHT_DYNSYM, &list);
	return give(&list, error, symbols_ret, nr_ret);
}

struct swlbr_error *swlbr_elf_symbols_of(struct swlbr_elf *elf, uint32_t type,
					 struct swlbr_elf_symbol **symbols_ret, size_t *nr_ret)
{
	struct symbol_list list = { 0 };

	return give(&list, add_tables(elf, type, &list), symbols_ret, nr_ret);
}
