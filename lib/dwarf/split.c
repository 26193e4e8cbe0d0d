// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Split DWARF: entries in .dwo files, or many of those in one package (.dwp). DWARF 5, 7.3; the
 * GNU extensions of DWARF 4 have the same parts under other names.
 */
#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "split.h"

/* Columns of the index; in version 2 there are no range lists, and 8 is something else. */
#define COLUMN_INFO	   1
#define COLUMN_ABBREV	   3
#define COLUMN_LINE	   4
#define COLUMN_STR_OFFSETS 6
#define COLUMN_RNGLISTS	   8

struct index {
	uint32_t version, nr_columns, nr_units, nr_slots;
	struct dw_reader columns, offsets; /* at the ids, and at the first unit's row */
};

/* One unit's row: where it is in DW_INFO, and its other parts. */
struct row {
	uint64_t info;
	struct dw_contributions parts;
};

static struct swlbr_error *read_index_header(const struct dw_file *file, struct index *index)
{
	struct dw_reader reader = dw_section_reader(file, DW_CU_INDEX);

	index->version = (uint32_t)dw_uint(&reader, 4);
	if (index->version != 2) { /* then it is a 2-byte field, and padding */
		reader.at = reader.start;
		index->version = (uint32_t)dw_uint(&reader, 2);
		dw_skip(&reader, 2);
	}
	index->nr_columns = (uint32_t)dw_uint(&reader, 4);
	index->nr_units = (uint32_t)dw_uint(&reader, 4);
	index->nr_slots = (uint32_t)dw_uint(&reader, 4);
	if (!reader.failed && index->version != 2 && index->version != 5)
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED, "%s: package index version %u",
					  file->path, index->version);
	dw_skip(&reader, 12ULL * index->nr_slots);
	index->columns = reader;
	dw_skip(&reader, 4ULL * index->nr_columns);
	index->offsets = reader;
	dw_has(&reader, 4ULL * index->nr_columns * index->nr_units);
	if (reader.failed || !index->nr_columns)
		return dw_error(file, DW_CU_INDEX, 0, "damaged package index");
	return NULL;
}

static void read_row(const struct index *index, uint32_t unit, struct row *row)
{
	struct dw_reader columns = index->columns, offsets = index->offsets;

	*row = (struct row){ .info = UINT64_MAX };
	dw_skip(&offsets, 4ULL * index->nr_columns * unit);
	for (uint32_t i = 0; i < index->nr_columns; i++) {
		uint64_t column = dw_uint(&columns, 4), offset = dw_uint(&offsets, 4);

		if (column == COLUMN_INFO)
			row->info = offset;
		else if (column == COLUMN_ABBREV)
			row->parts.abbrev = offset;
		else if (column == COLUMN_LINE)
			row->parts.line = offset;
		else if (column == COLUMN_STR_OFFSETS)
			row->parts.str_offsets = offset;
		else if (column == COLUMN_RNGLISTS && index->version == 5)
			row->parts.rnglists = offset;
	}
}

struct swlbr_error *dw_package_contributions(struct dw_file *file)
{
	struct index index = { 0 };
	struct swlbr_error *error = read_index_header(file, &index);

	for (uint32_t i = 0; !error && i < index.nr_units; i++) {
		struct dw_unit *unit;
		struct row row;

		read_row(&index, i, &row);
		/* The unit that begins there: its entries begin after its header. */
		unit = NULL;
		for (size_t low = 0, high = file->nr_units; low < high;) {
			size_t middle = (low + high) / 2;

			if (file->units[middle].offset < row.info)
				low = middle + 1;
			else if (file->units[middle].offset > row.info)
				high = middle;
			else {
				unit = &file->units[middle];
				break;
			}
		}
		if (!unit)
			continue;
		unit->parts = row.parts;
		unit->abbrev_offset += row.parts.abbrev;
	}
	return error;
}

/* Open @path and keep it in @split; a NULL file and no error if it is not there. */
static struct swlbr_error *open_file(struct dw_split *split, const char *path, struct dw_file **ret)
{
	struct dw_file **grown;
	struct swlbr_error *error;
	struct stat status;
	int fd;

	/* One file has several units after link-time optimization. */
	for (size_t i = 0; i < split->nr; i++) {
		if (!strcmp(split->files[i]->path, path)) {
			*ret = split->files[i];
			return NULL;
		}
	}
	*ret = NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? NULL
							   : swlbr_error_errno(errno, "%s", path);
	/* The name comes from a file, and could be that of a device. */
	if (fstat(fd, &status) || !S_ISREG(status.st_mode)) {
		close(fd);
		return NULL;
	}
	grown = reallocarray(split->files, split->nr + 1, sizeof(*grown));
	if (!grown) {
		close(fd);
		return swlbr_error_no_memory();
	}
	split->files = grown;
	error = dw_file_open(fd, path, true, ret);
	close(fd);
	if (!error)
		grown[split->nr++] = *ret;
	return error;
}

static bool join(struct dw_unit *skeleton, struct dw_file *file)
{
	for (size_t i = 0; file && i < file->nr_units; i++) {
		struct dw_unit *unit = &file->units[i];

		if (!unit->has_dwo_id || unit->dwo_id != skeleton->dwo_id || unit->skeleton)
			continue;
		skeleton->split = unit;
		unit->skeleton = skeleton;
		return true;
	}
	return false;
}

/* @name is relative to the folder of compilation, or of the binary where the files were moved. */
static struct swlbr_error *open_dwo(struct dw_unit *skeleton, const char *binary,
				    struct dw_split *split)
{
	const char *slash = strrchr(binary, '/'), *comp_dir = skeleton->comp_dir;
	struct dw_file *file = NULL;
	struct swlbr_error *error = NULL;
	char *path;

	if (skeleton->dwo_name[0] == '/' || !comp_dir)
		path = strdup(skeleton->dwo_name);
	else if (asprintf(&path, "%s/%s", comp_dir, skeleton->dwo_name) < 0)
		path = NULL;
	if (!path)
		return swlbr_error_no_memory();
	error = open_file(split, path, &file);
	free(path);
	if (!error && !file && skeleton->dwo_name[0] != '/') {
		if (asprintf(&path, "%.*s%s", slash ? (int)(slash + 1 - binary) : 0, binary,
			     skeleton->dwo_name) < 0)
			return swlbr_error_no_memory();
		error = open_file(split, path, &file);
		free(path);
	}
	if (!error)
		join(skeleton, file);
	return error;
}

static struct swlbr_error *open_package(const char *binary, struct dw_split *split,
					struct dw_file **ret)
{
	struct swlbr_error *error;
	char *path;

	if (asprintf(&path, "%s.dwp", binary) < 0)
		return swlbr_error_no_memory();
	error = open_file(split, path, ret);
	free(path);
	return error;
}

struct swlbr_error *dw_split_open(struct dw_file *file, const char *binary, struct dw_split *split)
{
	struct dw_file *package = NULL;
	struct swlbr_error *error = NULL;
	bool looked = false;

	for (size_t i = 0; !error && i < file->nr_units; i++) {
		struct dw_unit *unit = &file->units[i];

		if (!unit->has_dwo_id || !unit->dwo_name)
			continue;
		if (!looked)
			error = open_package(binary, split, &package);
		looked = true;
		if (!error && !join(unit, package))
			error = open_dwo(unit, binary, split);
		if (!error && !unit->split && !split->missing++)
			split->first_missing = unit->dwo_name;
	}
	return error;
}

void dw_split_close(struct dw_split *split)
{
	for (size_t i = 0; i < split->nr; i++)
		dw_file_close(split->files[i]);
	free(split->files);
}
