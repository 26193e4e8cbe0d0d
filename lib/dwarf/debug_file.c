// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Separate debug files: found as gdb's manual says in "Debugging Information in Separate Files",
 * and the common file that dwz makes, which .gnu_debugaltlink names.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "binary/elf_image.h"
#include "debug_file.h"

/* A section's contents; NULL if there is none of that name. The caller frees it. */
static uint8_t *section_contents(int fd, const char *name, size_t *size_ret)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	uint8_t *copy = NULL;
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf && !elf_getshdrstrndx(elf, &names)) {
		while (!copy && (scn = elf_nextscn(elf, scn))) {
			const char *found;
			Elf_Data *data;
			GElf_Shdr shdr;

			if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
				continue;
			found = elf_strptr(elf, names, shdr.sh_name);
			if (!found || strcmp(found, name))
				continue;
			data = elf_rawdata(scn, NULL);
			if (!data || !data->d_buf || !data->d_size)
				break;
			copy = malloc(data->d_size);
			if (copy)
				memcpy(copy, data->d_buf, data->d_size);
			*size_ret = data->d_size;
		}
	}
	elf_end(elf);
	return copy;
}

/* The GNU build-id note of the file; false if it has none. A digest would be of other contents. */
static bool has_build_id(int fd, const uint8_t *bytes, size_t size)
{
	size_t note_size;
	uint8_t *note = section_contents(fd, ".note.gnu.build-id", &note_size);
	/* namesz, descsz, type, "GNU\0", and the build-id */
	bool same = note && note_size >= 16 + size && !memcmp(note + 12, "GNU", 4) &&
		    !memcmp(note + 16, bytes, size);

	free(note);
	return same;
}

static bool has_checksum(int fd, uint32_t checksum)
{
	uint8_t *buffer = malloc(1 << 16);
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t n;

	while (buffer && (n = pread(fd, buffer, 1 << 16, at)) > 0) {
		crc = crc32(crc, buffer, (uInt)n);
		at += n;
	}
	free(buffer);
	return buffer && (uint32_t)crc == checksum;
}

/* What a debug file must have. */
struct wanted {
	const uint8_t *build_id;
	size_t build_id_size;
	bool has_checksum;
	uint32_t checksum;
};

/* Open @path if it is the wanted file and has entries. It is freed; a NULL one is no memory. */
static struct swlbr_error *try_path(char *path, const struct wanted *wanted, struct dw_file **ret)
{
	struct swlbr_error *error = NULL;
	struct dw_file *file = NULL;
	struct stat status;
	int fd;

	if (!path)
		return swlbr_error_no_memory();
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && (fstat(fd, &status) || !S_ISREG(status.st_mode))) {
		close(fd);
		fd = -1;
	}
	if (fd >= 0 &&
	    ((wanted->build_id_size && has_build_id(fd, wanted->build_id, wanted->build_id_size)) ||
	     (wanted->has_checksum && has_checksum(fd, wanted->checksum))))
		error = dw_file_open(fd, path, false, &file);
	if (fd >= 0)
		close(fd);
	free(path);
	if (!error && file && !dw_file_has_info(file)) {
		dw_file_close(file);
		file = NULL;
	}
	*ret = file;
	return error;
}

static char *format_path(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *format_path(const char *format, ...)
{
	char *path;
	va_list args;
	int size;

	va_start(args, format);
	size = vasprintf(&path, format, args);
	va_end(args);
	return size < 0 ? NULL : path;
}

/* DIR/.build-id/ab/cdef….debug */
static struct swlbr_error *try_build_id(const char *debug_dir, const struct wanted *wanted,
					struct dw_file **ret)
{
	char hex[2 * SWLBR_BUILD_ID_SIZE + 1];

	for (size_t i = 0; i < wanted->build_id_size; i++)
		sprintf(hex + 2 * i, "%02x", wanted->build_id[i]);
	return try_path(format_path("%s/.build-id/%.2s/%s.debug", debug_dir, hex, hex + 2), wanted,
			ret);
}

/* The folder of the file, as an absolute path: the caller's to free. */
static char *folder_of(const char *path)
{
	char *real = realpath(path, NULL), *slash;

	if (!real)
		return NULL;
	slash = strrchr(real, '/');
	if (slash)
		*slash = 0;
	return real;
}

static struct swlbr_error *try_debuglink(struct swlbr_elf *elf, const char *debug_dir,
					 struct wanted *wanted, struct dw_file **ret)
{
	struct swlbr_error *error = NULL;
	char *folder = folder_of(elf->path);
	size_t size, name_size;
	uint8_t *link = section_contents(elf->fd, ".gnu_debuglink", &size);

	if (!link || !folder)
		goto out;
	name_size = strnlen((char *)link, size);
	/* the name, its NUL, padding to 4 bytes, a CRC-32 */
	if (!name_size || ((name_size + 4) & ~(size_t)3) + 4 > size || strchr((char *)link, '/'))
		goto out;
	wanted->checksum = 0;
	for (unsigned int i = 0; i < 4; i++)
		wanted->checksum |= (uint32_t)link[((name_size + 4) & ~(size_t)3) + i]
				    << 8 * (elf->big_endian ? 3 - i : i);
	wanted->has_checksum = true;
	error = try_path(format_path("%s/%s", folder, (char *)link), wanted, ret);
	if (!error && !*ret)
		error = try_path(format_path("%s/.debug/%s", folder, (char *)link), wanted, ret);
	if (!error && !*ret && *debug_dir)
		error = try_path(format_path("%s%s/%s", debug_dir, folder, (char *)link), wanted,
				 ret);
out:
	free(link);
	free(folder);
	return error;
}

static struct swlbr_error *not_found(struct swlbr_elf *elf, const char *debug_dir)
{
	char hex[41];

	if (!swlbr_elf_section(elf, ".symtab"))
		return swlbr_error_create(
			SWLBR_ERROR_NOT_FOUND,
			"%s: stripped: no debug information in it, beside it%s%s (build-id %s); keep the unstripped file, built with -g",
			elf->path, *debug_dir ? " or in " : "", debug_dir,
			swlbr_build_id_format(&elf->build_id, hex));
	return swlbr_error_create(SWLBR_ERROR_NOT_FOUND,
				  "%s: no debug information: build with -g (or -gmlt)", elf->path);
}

struct swlbr_error *dw_debug_file_open(struct swlbr_elf *elf, const char *debug_dir,
				       struct dw_file **ret)
{
	struct wanted wanted = { .build_id = elf->build_id.bytes,
				 .build_id_size = elf->build_id.digest ? 0 : elf->build_id.size };
	struct swlbr_error *error;

	error = dw_file_open(elf->fd, elf->path, false, ret);
	if (error || dw_file_has_info(*ret))
		return error;
	dw_file_close(*ret);
	*ret = NULL;
	if (wanted.build_id_size && *debug_dir)
		error = try_build_id(debug_dir, &wanted, ret);
	if (!error && !*ret)
		error = try_debuglink(elf, debug_dir, &wanted, ret);
	if (!error && !*ret)
		error = not_found(elf, debug_dir);
	return error;
}

/* The section has a path, relative to the debug file, and the build-id of the common file. */
struct swlbr_error *dw_alt_file_open(struct dw_file *file, const char *debug_dir,
				     struct dw_file **ret)
{
	struct swlbr_error *error = NULL;
	struct wanted wanted = { 0 };
	size_t size, name_size;
	char *folder = folder_of(file->path);
	int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t *link = fd < 0 ? NULL : section_contents(fd, ".gnu_debugaltlink", &size);

	*ret = NULL;
	if (fd >= 0)
		close(fd);
	if (!link || !folder)
		goto out;
	name_size = strnlen((char *)link, size);
	if (name_size + 2 >= size)
		goto out;
	wanted.build_id = link + name_size + 1;
	wanted.build_id_size = size - name_size - 1;
	if (wanted.build_id_size > SWLBR_BUILD_ID_SIZE)
		wanted.build_id_size = SWLBR_BUILD_ID_SIZE;
	error = link[0] == '/' ? try_path(strdup((char *)link), &wanted, ret)
			       : try_path(format_path("%s/%s", folder, (char *)link), &wanted, ret);
	if (!error && !*ret)
		error = try_build_id(debug_dir, &wanted, ret);
	if (!error && !*ret)
		error = swlbr_error_create(
			SWLBR_ERROR_NOT_FOUND,
			"%s: parts of it were moved by dwz to %s, which is not there", file->path,
			(char *)link);
out:
	free(link);
	free(folder);
	return error;
}
