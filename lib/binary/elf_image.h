/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The inside of struct swlbr_elf, shared by the files of lib/binary. */
#ifndef SWLBR_ELF_IMAGE_H
#define SWLBR_ELF_IMAGE_H

#include <libelf.h>

#include <swlbr/elf.h>

/* A word that the loader writes: its address and, at load bias 0, its value. */
struct swlbr_elf_relocation {
	uint64_t vaddr, value;
};

/* A word that the loader fills with the address of another image's symbol. */
struct swlbr_elf_import {
	uint64_t vaddr;
	const char *name;
};

struct swlbr_elf {
	char *path;
	int fd;
	uint64_t file_size;
	Elf *handle;
	bool is_64, big_endian, relocations_read;
	unsigned int machine, type;
	struct swlbr_build_id build_id;
	char *interp;
	struct swlbr_elf_segment *segments;
	size_t nr_segments;
	struct swlbr_elf_section *sections;
	size_t nr_sections;
	struct swlbr_elf_relocation *relocations; /* by address; read when first needed */
	size_t nr_relocations;
	struct swlbr_elf_import *imports; /* by address; read when first needed */
	size_t nr_imports;
	bool imports_read;
};

/* Set elf->build_id from the note, or from a digest of the segments. */
struct swlbr_error *swlbr_elf_find_build_id(struct swlbr_elf *elf);

/* Overwrite the words of @buffer, which holds the memory at @vaddr, that relocations set. */
struct swlbr_error *swlbr_elf_relocate(struct swlbr_elf *elf, uint64_t vaddr, void *buffer,
				       size_t size);

#endif
