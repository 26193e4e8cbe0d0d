// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The cache of branch maps: one file a binary, in the user's cache folder (XDG Base Directory
 * Specification). Files appear by rename, so writers and readers do not meet; what is damaged, or
 * of another revision of the analysis, is made anew.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include <swlbr/branch_map.h>

#include "base/infile.h"
#include "base/outfile.h"
#include "map_file.h"

/* What the map is made of beside what the build-id stands for: stripped files have the same id. */
static uint32_t layout_of(const struct swlbr_elf *elf)
{
	const struct swlbr_elf_section *sections;
	size_t nr = swlbr_elf_sections(elf, &sections);
	uLong crc = crc32(0, Z_NULL, 0);

	for (size_t i = 0; i < nr; i++) {
		uint64_t place[3] = { sections[i].vaddr, sections[i].offset, sections[i].size };

		crc = crc32(crc, (const Bytef *)sections[i].name, (uInt)strlen(sections[i].name));
		crc = crc32(crc, (const Bytef *)place, sizeof(place));
	}
	return (uint32_t)crc;
}

static bool make_folder(char *path)
{
	for (char *at = path + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = 0;
		if (mkdir(path, 0700) && errno != EEXIST) {
			*at = '/';
			return false;
		}
		*at = '/';
	}
	return true;
}

/* Where the map of @elf is kept, NULL if there is no place; the caller's to free(). */
static char *path_of(const struct swlbr_elf *elf)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char id[41], *path;

	swlbr_build_id_format(swlbr_elf_build_id(elf), id);
	if (cache && *cache == '/') {
		if (asprintf(&path, "%s/swlbr/map/%s-%08x", cache, id, layout_of(elf)) < 0)
			return NULL;
	} else if (home && *home == '/') {
		if (asprintf(&path, "%s/.cache/swlbr/map/%s-%08x", home, id, layout_of(elf)) < 0)
			return NULL;
	} else {
		return NULL;
	}
	return path;
}

static struct swlbr_branch_map *read_map(const char *path, const struct swlbr_elf *elf)
{
	struct swlbr_branch_map *map = NULL;
	struct swlbr_error *error;
	uint8_t *data;
	size_t size;

	error = infile_read(path, &data, &size);
	if (error) { /* not there: most of the time */
		swlbr_error_destroy(error);
		return NULL;
	}
	map = map_file_decode(data, size, swlbr_elf_build_id(elf));
	free(data);
	return map;
}

static void write_map(char *path, const struct swlbr_branch_map *map)
{
	struct swlbr_outfile *file;
	struct swlbr_error *error;

	if (!make_folder(path))
		return;
	error = swlbr_outfile_open_flags(path, SWLBR_OUTFILE_PRIVATE, &file);
	if (!error) {
		error = map_file_write(map, file);
		if (error)
			swlbr_outfile_discard(file);
		else
			error = swlbr_outfile_commit(file);
	}
	swlbr_error_destroy(error);
}

struct swlbr_error *swlbr_branch_map_load(struct swlbr_elf *elf,
					  const struct swlbr_counters *counters,
					  struct swlbr_branch_map **ret)
{
	uint64_t nr_counters = counters ? counters->nr_counters : 0;
	struct swlbr_error *error = NULL;
	char *path = path_of(elf);

	*ret = path ? read_map(path, elf) : NULL;
	if (*ret && (*ret)->nr_counters != nr_counters) {
		swlbr_branch_map_destroy(*ret);
		*ret = NULL;
	}
	if (!*ret) {
		error = swlbr_branch_map_create(elf, counters, ret);
		if (!error && path)
			write_map(path, *ret);
	}
	free(path);
	return error;
}
