/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_ELF_H
#define SWLBR_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <swlbr/error.h>

#define SWLBR_BUILD_ID_SIZE 20

/**
 * struct swlbr_build_id - what a binary is known by
 *
 * @size is 1…20; bytes past it are zero. A binary without a build-id note is known by a digest of
 * its loaded segments (the low 20 bytes of a SHA-256), and then @digest is set and the first byte
 * pair is 0xd1 0x9e, so that a reader sees it too.
 */
struct swlbr_build_id {
	uint8_t bytes[SWLBR_BUILD_ID_SIZE];
	uint8_t size;
	bool digest;
};

/** One PT_LOAD segment; addresses and sizes in bytes, flags as in p_flags. */
struct swlbr_elf_segment {
	uint64_t offset, vaddr, filesz, memsz;
	uint32_t flags;
};

/** One section; @vaddr is 0 for those that are not loaded. @name lives as long as the image. */
struct swlbr_elf_section {
	const char *name;
	uint64_t vaddr, offset, size, flags;
	uint32_t type;
};

/** A symbol; @name lives as long as the image. */
struct swlbr_elf_symbol {
	const char *name;
	uint64_t vaddr, size;
	uint8_t type, bind;
};

/** An ELF file, opened for reading. 32 and 64 bit, both byte orders. */
struct swlbr_elf;

/** Open @path. The image is the caller's, to be closed by swlbr_elf_close(). */
struct swlbr_error *swlbr_elf_open(const char *path, struct swlbr_elf **elf_ret);

/** As swlbr_elf_open() on an open descriptor, which is duplicated; @path names it in errors. */
struct swlbr_error *swlbr_elf_open_fd(int fd, const char *path, struct swlbr_elf **elf_ret);

void swlbr_elf_close(struct swlbr_elf *elf);

const char *swlbr_elf_path(const struct swlbr_elf *elf);
bool swlbr_elf_is_64(const struct swlbr_elf *elf);
bool swlbr_elf_is_big_endian(const struct swlbr_elf *elf);
/** e_machine (EM_*). */
unsigned int swlbr_elf_machine(const struct swlbr_elf *elf);
const struct swlbr_build_id *swlbr_elf_build_id(const struct swlbr_elf *elf);

/** The PT_LOAD segments in file order. */
size_t swlbr_elf_segments(const struct swlbr_elf *elf, const struct swlbr_elf_segment **ret);
size_t swlbr_elf_sections(const struct swlbr_elf *elf, const struct swlbr_elf_section **ret);
/** NULL if there is no section of that name. */
const struct swlbr_elf_section *swlbr_elf_section(const struct swlbr_elf *elf, const char *name);

/** Look @name up in .symtab, then in .dynsym; false if it is in neither. */
bool swlbr_elf_symbol(struct swlbr_elf *elf, const char *name, struct swlbr_elf_symbol *ret);

/**
 * All symbols that the image defines, of .symtab and then of .dynsym, in table order (so a symbol
 * that is in both comes twice). The array is the caller's to free(); names live as long as the
 * image.
 */
struct swlbr_error *swlbr_elf_symbols(struct swlbr_elf *elf, struct swlbr_elf_symbol **symbols_ret,
				      size_t *nr_ret);
/** As swlbr_elf_symbols(), of the tables of one type alone: SHT_SYMTAB or SHT_DYNSYM. */
struct swlbr_error *swlbr_elf_symbols_of(struct swlbr_elf *elf, uint32_t type,
					 struct swlbr_elf_symbol **symbols_ret, size_t *nr_ret);

/**
 * The name of the undefined symbol whose address the loader writes to the word at @vaddr (a slot of
 * the global offset table), or NULL. Lives as long as the image.
 */
const char *swlbr_elf_import(struct swlbr_elf *elf, uint64_t vaddr);

/** The PT_INTERP path, or NULL. */
const char *swlbr_elf_interp(const struct swlbr_elf *elf);

/**
 * Copy @size bytes at ELF virtual address @vaddr as the loader would lay them (zeroes past
 * p_filesz, relative relocations applied with a load bias of 0). Fails if the range is not inside
 * one segment.
 */
struct swlbr_error *swlbr_elf_read(struct swlbr_elf *elf, uint64_t vaddr, void *buffer,
				   size_t size);

/** Bytes of the file: nothing that is stored in it is larger. */
uint64_t swlbr_elf_file_size(const struct swlbr_elf *elf);

/** Copy @size bytes of the file from @offset on. Fails if it has fewer. */
struct swlbr_error *swlbr_elf_read_file(struct swlbr_elf *elf, uint64_t offset, void *buffer,
					size_t size);

/** Lower-case hex of @id into @buffer (41 bytes are enough); returns @buffer. */
char *swlbr_build_id_format(const struct swlbr_build_id *id, char buffer[41]);
/** True for the same id. Sizes do not count: perf pads short ids to 20 bytes, with zeroes. */
static inline bool swlbr_build_id_equal(const struct swlbr_build_id *a,
					const struct swlbr_build_id *b)
{
	return !memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

#endif
