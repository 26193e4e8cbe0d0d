// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The debug sections of an ELF file. They are read with pread() and not mapped, so that a file cut
 * short while it is open gives an error and not a signal.
 */
#include <errno.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "file.h"
#include "lines.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* More than a compressed section can grow to, so that its header cannot ask for any size. */
#define MAX_ZLIB_RATIO 1032
#define MAX_ZSTD_RATIO 65536

static const char *const section_names[DW_NR_SECTIONS] = {
	[DW_INFO] = ".debug_info",	   [DW_ABBREV] = ".debug_abbrev",
	[DW_LINE] = ".debug_line",	   [DW_STR] = ".debug_str",
	[DW_LINE_STR] = ".debug_line_str", [DW_STR_OFFSETS] = ".debug_str_offsets",
	[DW_ADDR] = ".debug_addr",	   [DW_RANGES] = ".debug_ranges",
	[DW_RNGLISTS] = ".debug_rnglists", [DW_CU_INDEX] = ".debug_cu_index",
};

struct swlbr_error *dw_error(const struct dw_file *file, enum dw_section_id id, uint64_t offset,
			     const char *format, ...)
{
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: %s%s: %s (at offset %llu)", file->path,
				  section_names[id], file->is_dwo ? ".dwo" : "", what,
				  (unsigned long long)offset);
}

/* Which section @name is; DW_NR_SECTIONS for one of no interest. */
static enum dw_section_id section_id(const char *name, bool is_dwo)
{
	for (unsigned int id = 0; id < DW_NR_SECTIONS; id++) {
		size_t size = strlen(section_names[id]);

		if (strncmp(name, section_names[id], size))
			continue;
		if (!strcmp(name + size, is_dwo && id != DW_CU_INDEX ? ".dwo" : ""))
			return id;
	}
	return DW_NR_SECTIONS;
}

static struct swlbr_error *read_at(int fd, const char *path, uint64_t offset, uint8_t *data,
				   size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = pread(fd, data + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return swlbr_error_errno(errno, "%s", path);
		if (!n)
			return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: truncated at byte %llu",
						  path, (unsigned long long)(offset + done));
		done += (size_t)n;
	}
	return NULL;
}

static bool inflate_section(unsigned int type, const uint8_t *data, size_t size, uint8_t *out,
			    size_t out_size)
{
	uLongf written = out_size;

	if (type == ELFCOMPRESS_ZSTD)
		return ZSTD_decompress(out, out_size, data, size) == out_size;
	return uncompress(out, &written, data, size) == Z_OK && written == out_size;
}

/* Replace the compressed @section by what is in it. */
static struct swlbr_error *decompress(const struct dw_file *file, enum dw_section_id id, bool is_64,
				      struct dw_section *section)
{
	struct dw_reader reader = { .start = section->data,
				    .at = section->data,
				    .end = section->data + section->size,
				    .big_endian = file->big_endian };
	uint64_t type = dw_uint(&reader, 4), size, left, ratio;
	uint8_t *out;

	if (is_64)
		dw_skip(&reader, 4);
	size = dw_uint(&reader, is_64 ? 8 : 4);
	dw_skip(&reader, is_64 ? 8 : 4);
	if (reader.failed)
		return dw_error(file, id, 0, "no room for the compression header");
	if (type != ELFCOMPRESS_ZLIB && type != ELFCOMPRESS_ZSTD)
		return dw_error(file, id, 0, "compressed in an unknown way (%u)",
				(unsigned int)type);
	left = (uint64_t)(reader.end - reader.at);
	ratio = type == ELFCOMPRESS_ZSTD ? MAX_ZSTD_RATIO : MAX_ZLIB_RATIO;
	if (size / ratio > left)
		return dw_error(file, id, 0, "%llu bytes cannot be of %llu compressed ones",
				(unsigned long long)size, (unsigned long long)left);
	out = malloc(size ? size : 1);
	if (!out)
		return swlbr_error_no_memory();
	if (!inflate_section((unsigned int)type, reader.at, left, out, size)) {
		free(out);
		return dw_error(file, id, 0, "damaged compressed data");
	}
	free(section->data);
	*section = (struct dw_section){ .data = out, .size = size };
	return NULL;
}

static struct swlbr_error *read_section(struct dw_file *file, int fd, enum dw_section_id id,
					const GElf_Shdr *shdr, bool is_64, uint64_t file_size)
{
	struct dw_section *section = &file->sections[id];
	struct swlbr_error *error;

	if (section->data || !shdr->sh_size)
		return NULL;
	if (shdr->sh_offset > file_size || shdr->sh_size > file_size - shdr->sh_offset)
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: truncated: section %s ends at byte %llu", file->path,
					  section_names[id],
					  (unsigned long long)(shdr->sh_offset + shdr->sh_size));
	section->data = malloc(shdr->sh_size);
	if (!section->data)
		return swlbr_error_no_memory();
	section->size = shdr->sh_size;
	error = read_at(fd, file->path, shdr->sh_offset, section->data, section->size);
	if (!error && (shdr->sh_flags & SHF_COMPRESSED))
		error = decompress(file, id, is_64, section);
	return error;
}

static struct swlbr_error *read_sections(struct dw_file *file, int fd, Elf *elf)
{
	struct swlbr_error *error = NULL;
	Elf_Scn *scn = NULL;
	GElf_Ehdr ehdr;
	off_t size = lseek(fd, 0, SEEK_END);
	size_t names;

	if (size < 0)
		return swlbr_error_errno(errno, "%s", file->path);
	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr) ||
	    elf_getshdrstrndx(elf, &names))
		return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: not an ELF file with sections",
					  file->path);
	file->big_endian = ehdr.e_ident[EI_DATA] == ELFDATA2MSB;
	while (!error && (scn = elf_nextscn(elf, scn))) {
		enum dw_section_id id;
		const char *name;
		GElf_Shdr shdr;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, shdr.sh_name);
		/* A file of dwz's is relocatable to the letter; ld -q leaves relocations in programs. */
		if (name && ehdr.e_type == ET_REL &&
		    (!strcmp(name, ".rela.debug_info") || !strcmp(name, ".rel.debug_info")))
			return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
						  "%s: debug information of an unlinked object",
						  file->path);
		id = name ? section_id(name, file->is_dwo) : DW_NR_SECTIONS;
		if (id != DW_NR_SECTIONS)
			error = read_section(file, fd, id, &shdr,
					     ehdr.e_ident[EI_CLASS] == ELFCLASS64, (uint64_t)size);
	}
	return error;
}

struct swlbr_error *dw_file_open(int fd, const char *path, bool is_dwo, struct dw_file **ret)
{
	struct dw_file *file = calloc(1, sizeof(*file));
	struct swlbr_error *error;
	Elf *elf;

	if (!file)
		return swlbr_error_no_memory();
	file->is_dwo = is_dwo;
	file->path = strdup(path);
	if (!file->path) {
		free(file);
		return swlbr_error_no_memory();
	}
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	error = elf ? read_sections(file, fd, elf)
		    : swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: %s", path, elf_errmsg(-1));
	elf_end(elf);
	if (!error && dw_file_has_info(file))
		error = dw_units_read(file);
	if (error) {
		dw_file_close(file);
		return error;
	}
	*ret = file;
	return NULL;
}

void dw_file_close(struct dw_file *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < file->nr_units; i++)
		dw_lines_free(file->units[i].lines);
	free(file->units);
	dw_abbrevs_free(file);
	for (unsigned int id = 0; id < DW_NR_SECTIONS; id++)
		free(file->sections[id].data);
	free(file->path);
	free(file);
}

bool dw_file_has_info(const struct dw_file *file)
{
	return file->sections[DW_INFO].size && file->sections[DW_ABBREV].size;
}

struct dw_reader dw_section_reader(const struct dw_file *file, enum dw_section_id id)
{
	static const uint8_t nothing[1];
	const struct dw_section *section = &file->sections[id];
	const uint8_t *data = section->data ? section->data : nothing;

	return (struct dw_reader){ .start = data,
				   .at = data,
				   .end = data + section->size,
				   .big_endian = file->big_endian };
}

const char *dw_section_string(const struct dw_file *file, enum dw_section_id id, uint64_t offset)
{
	struct dw_reader reader = dw_section_reader(file, id);

	dw_skip(&reader, offset);
	return dw_string(&reader);
}
