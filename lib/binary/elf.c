// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * ELF images: header, segments, sections, symbols, and memory as the loader lays it. Headers come
 * through libelf; contents are read with pread(), so that a file cut short while it is open gives
 * an error and not a signal.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_image.h"

static struct swlbr_error *image_error(const struct swlbr_elf *elf, const char *what)
{
	return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: %s: %s", elf->path, what,
				  elf_errmsg(-1));
}

static struct swlbr_error *read_segments(struct swlbr_elf *elf)
{
	size_t nr;

	if (elf_getphdrnum(elf->handle, &nr))
		return image_error(elf, "program headers");
	if (nr > elf->file_size / sizeof(Elf32_Phdr))
		return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: truncated: %zu program headers",
					  elf->path, nr);
	elf->segments = calloc(nr ? nr : 1, sizeof(*elf->segments));
	if (!elf->segments)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < nr; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(elf->handle, (int)i, &phdr))
			return image_error(elf, "program headers");
		if (phdr.p_type == PT_INTERP && phdr.p_filesz < 4096 && !elf->interp) {
			elf->interp = calloc(1, phdr.p_filesz + 1);
			if (!elf->interp)
				return swlbr_error_no_memory();
			if (pread(elf->fd, elf->interp, phdr.p_filesz, (off_t)phdr.p_offset) < 0)
				return swlbr_error_errno(errno, "%s: interpreter", elf->path);
		}
		if (phdr.p_type != PT_LOAD)
			continue;
		if (phdr.p_offset > elf->file_size ||
		    phdr.p_filesz > elf->file_size - phdr.p_offset)
			return swlbr_error_create(
				SWLBR_ERROR_FORMAT,
				"%s: truncated: segment %zu ends at byte %llu, the file has %llu",
				elf->path, i, (unsigned long long)(phdr.p_offset + phdr.p_filesz),
				(unsigned long long)elf->file_size);
		elf->segments[elf->nr_segments++] = (struct swlbr_elf_segment){
			.offset = phdr.p_offset,
			.vaddr = phdr.p_vaddr,
			.filesz = phdr.p_filesz,
			.memsz = phdr.p_memsz,
			.flags = phdr.p_flags,
		};
	}
	return NULL;
}

static struct swlbr_error *read_sections(struct swlbr_elf *elf)
{
	size_t nr, names;
	Elf_Scn *scn = NULL;

	if (elf_getshdrnum(elf->handle, &nr))
		return image_error(elf, "section headers");
	if (!nr)
		return NULL;
	if (elf_getshdrstrndx(elf->handle, &names))
		return image_error(elf, "section names");
	if (nr > elf->file_size / sizeof(Elf32_Shdr))
		return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: truncated: %zu section headers",
					  elf->path, nr);
	elf->sections = calloc(nr, sizeof(*elf->sections));
	if (!elf->sections)
		return swlbr_error_no_memory();
	while ((scn = elf_nextscn(elf->handle, scn))) {
		GElf_Shdr shdr;
		const char *name;

		if (!gelf_getshdr(scn, &shdr))
			return image_error(elf, "section headers");
		name = elf_strptr(elf->handle, names, shdr.sh_name);
		if (elf->nr_sections == nr)
			break;
		elf->sections[elf->nr_sections++] = (struct swlbr_elf_section){
			.name = name ? name : "",
			.vaddr = shdr.sh_flags & SHF_ALLOC ? shdr.sh_addr : 0,
			.offset = shdr.sh_offset,
			.size = shdr.sh_size,
			.flags = shdr.sh_flags,
			.type = shdr.sh_type,
		};
	}
	return NULL;
}

static struct swlbr_error *read_image(struct swlbr_elf *elf)
{
	struct swlbr_error *error;
	GElf_Ehdr ehdr;

	if (!gelf_getehdr(elf->handle, &ehdr))
		return image_error(elf, "ELF header");
	elf->is_64 = ehdr.e_ident[EI_CLASS] == ELFCLASS64;
	elf->big_endian = ehdr.e_ident[EI_DATA] == ELFDATA2MSB;
	elf->machine = ehdr.e_machine;
	if (ehdr.e_shoff > elf->file_size || ehdr.e_phoff > elf->file_size)
		return swlbr_error_create(
			SWLBR_ERROR_FORMAT,
			"%s: truncated: headers at byte %llu, the file has %llu", elf->path,
			(unsigned long long)(ehdr.e_shoff > ehdr.e_phoff ? ehdr.e_shoff
									 : ehdr.e_phoff),
			(unsigned long long)elf->file_size);
	error = read_segments(elf);
	if (!error)
		error = read_sections(elf);
	if (!error)
		error = swlbr_elf_find_build_id(elf);
	return error;
}

struct swlbr_error *swlbr_elf_open_fd(int fd, const char *path, struct swlbr_elf **elf_ret)
{
	struct swlbr_elf *elf;
	struct swlbr_error *error = NULL;
	struct stat st;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED, "libelf: %s", elf_errmsg(-1));
	elf = calloc(1, sizeof(*elf));
	if (!elf)
		return swlbr_error_no_memory();
	elf->path = strdup(path);
	elf->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (!elf->path)
		error = swlbr_error_no_memory();
	else if (elf->fd < 0 || fstat(elf->fd, &st))
		error = swlbr_error_errno(errno, "%s", path);
	else if (!S_ISREG(st.st_mode))
		error = swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: not a regular file", path);
	if (!error) {
		elf->file_size = (uint64_t)st.st_size;
		elf->handle = elf_begin(elf->fd, ELF_C_READ, NULL);
		if (!elf->handle || elf_kind(elf->handle) != ELF_K_ELF)
			error = swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: not an ELF file", path);
	}
	if (!error)
		error = read_image(elf);
	if (error) {
		swlbr_elf_close(elf);
		return error;
	}
	*elf_ret = elf;
	return NULL;
}

struct swlbr_error *swlbr_elf_open(const char *path, struct swlbr_elf **elf_ret)
{
	struct swlbr_error *error;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return swlbr_error_errno(errno, "%s", path);
	error = swlbr_elf_open_fd(fd, path, elf_ret);
	close(fd);
	return error;
}

void swlbr_elf_close(struct swlbr_elf *elf)
{
	if (!elf)
		return;
	elf_end(elf->handle);
	if (elf->fd >= 0)
		close(elf->fd);
	free(elf->imports);
	free(elf->relocations);
	free(elf->segments);
	free(elf->sections);
	free(elf->interp);
	free(elf->path);
	free(elf);
}

const char *swlbr_elf_path(const struct swlbr_elf *elf)
{
	return elf->path;
}

bool swlbr_elf_is_64(const struct swlbr_elf *elf)
{
	return elf->is_64;
}

bool swlbr_elf_is_big_endian(const struct swlbr_elf *elf)
{
	return elf->big_endian;
}

unsigned int swlbr_elf_machine(const struct swlbr_elf *elf)
{
	return elf->machine;
}

const struct swlbr_build_id *swlbr_elf_build_id(const struct swlbr_elf *elf)
{
	return &elf->build_id;
}

size_t swlbr_elf_segments(const struct swlbr_elf *elf, const struct swlbr_elf_segment **ret)
{
	*ret = elf->segments;
	return elf->nr_segments;
}

size_t swlbr_elf_sections(const struct swlbr_elf *elf, const struct swlbr_elf_section **ret)
{
	*ret = elf->sections;
	return elf->nr_sections;
}

const struct swlbr_elf_section *swlbr_elf_section(const struct swlbr_elf *elf, const char *name)
{
	for (size_t i = 0; i < elf->nr_sections; i++)
		if (!strcmp(elf->sections[i].name, name))
			return &elf->sections[i];
	return NULL;
}

const char *swlbr_elf_interp(const struct swlbr_elf *elf)
{
	return elf->interp;
}

static bool symbol_in(struct swlbr_elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr, const char *name,
		      struct swlbr_elf_symbol *ret)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t nr = data && shdr->sh_entsize ? data->d_size / shdr->sh_entsize : 0;

	for (size_t i = 0; i < nr; i++) {
		GElf_Sym sym;
		const char *found;

		if (!gelf_getsym(data, (int)i, &sym))
			return false;
		if (sym.st_shndx == SHN_UNDEF)
			continue;
		found = elf_strptr(elf->handle, shdr->sh_link, sym.st_name);
		if (!found || strcmp(found, name))
			continue;
		*ret = (struct swlbr_elf_symbol){
			.name = found,
			.vaddr = sym.st_value,
			.size = sym.st_size,
			.type = GELF_ST_TYPE(sym.st_info),
			.bind = GELF_ST_BIND(sym.st_info),
		};
		return true;
	}
	return false;
}

bool swlbr_elf_symbol(struct swlbr_elf *elf, const char *name, struct swlbr_elf_symbol *ret)
{
	static const uint32_t tables[] = { SHT_SYMTAB, SHT_DYNSYM };

	for (size_t i = 0; i < 2; i++) {
		Elf_Scn *scn = NULL;

		while ((scn = elf_nextscn(elf->handle, scn))) {
			GElf_Shdr shdr;

			if (gelf_getshdr(scn, &shdr) && shdr.sh_type == tables[i] &&
			    symbol_in(elf, scn, &shdr, name, ret))
				return true;
		}
	}
	return false;
}

uint64_t swlbr_elf_file_size(const struct swlbr_elf *elf)
{
	return elf->file_size;
}

struct swlbr_error *swlbr_elf_read_file(struct swlbr_elf *elf, uint64_t offset, void *buffer,
					size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n =
			pread(elf->fd, (char *)buffer + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return swlbr_error_errno(errno, "%s", elf->path);
		if (!n)
			return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: truncated at byte %llu",
						  elf->path, (unsigned long long)(offset + done));
		done += (size_t)n;
	}
	return NULL;
}

struct swlbr_error *swlbr_elf_read(struct swlbr_elf *elf, uint64_t vaddr, void *buffer, size_t size)
{
	for (size_t i = 0; i < elf->nr_segments; i++) {
		const struct swlbr_elf_segment *segment = &elf->segments[i];
		uint64_t skip = vaddr - segment->vaddr;
		struct swlbr_error *error;
		size_t stored;

		if (vaddr < segment->vaddr || skip > segment->memsz || size > segment->memsz - skip)
			continue;
		stored = skip < segment->filesz ? segment->filesz - skip : 0;
		if (stored > size)
			stored = size;
		memset((char *)buffer + stored, 0, size - stored);
		error = swlbr_elf_read_file(elf, segment->offset + skip, buffer, stored);
		if (error)
			return error;
		return swlbr_elf_relocate(elf, vaddr, buffer, size);
	}
	return swlbr_error_create(SWLBR_ERROR_FORMAT,
				  "%s: no segment holds the %zu bytes at address 0x%llx", elf->path,
				  size, (unsigned long long)vaddr);
}
