// SPDX-License-Identifier: GPL-2.0-only
/* Rows of swlbr:arc into an edge profile: the totals that a recording of counters has. */
#include <stdlib.h>
#include <string.h>

#include <swlbr/perfdata_writer.h>

#include "base/saturate.h"
#include "cmd.h"
#include "convert.h"

/* A binary that was mapped, and its number in the profile once a row is of it. */
struct arc_binary {
	struct swlbr_build_id build_id;
	char *path;
	uint32_t index;
	bool used;
};

struct arc_reader {
	struct swlbr_edge_profile *edges;
	struct swlbr_flow_share *share;
	const char *path;
	struct arc_binary *binaries;
	size_t nr_binaries;
	uint32_t outside;
	uint64_t nr_rows;
};

/*
 * A build-id of rows is filled up with zeroes: the mappings, which are written first, have its
 * size, and the path.
 */
static struct swlbr_error *add_binary(struct arc_reader *reader,
				      const struct swlbr_build_id *build_id, const char *path)
{
	struct arc_binary *grown;

	grown = reallocarray(reader->binaries, reader->nr_binaries + 1, sizeof(*grown));
	if (!grown)
		return swlbr_error_no_memory();
	reader->binaries = grown;
	grown[reader->nr_binaries] = (struct arc_binary){ .build_id = *build_id };
	if (path && !(grown[reader->nr_binaries].path = strdup(path)))
		return swlbr_error_no_memory();
	reader->nr_binaries++;
	return NULL;
}

static struct arc_binary *find_binary(const struct arc_reader *reader,
				      const struct swlbr_build_id *build_id)
{
	for (size_t i = 0; i < reader->nr_binaries; i++) {
		if (swlbr_build_id_equal(&reader->binaries[i].build_id, build_id))
			return &reader->binaries[i];
	}
	return NULL;
}

static struct swlbr_error *add_mapping(struct arc_reader *reader, const struct swlbr_record *record)
{
	if (!record->mmap2.build_id.size || find_binary(reader, &record->mmap2.build_id))
		return NULL;
	return add_binary(reader, &record->mmap2.build_id, record->mmap2.path);
}

/* The number in the profile of the binary that a row is of. */
static struct swlbr_error *use_binary(struct arc_reader *reader,
				      const struct swlbr_build_id *build_id, uint32_t *ret)
{
	struct arc_binary *binary = find_binary(reader, build_id);
	struct swlbr_error *error = NULL;

	if (!binary) {
		error = add_binary(reader, build_id, NULL);
		binary = error ? NULL : find_binary(reader, build_id);
	}
	if (!error && !binary->used) {
		struct swlbr_edge_binary key = { .build_id = binary->build_id,
						 .path = binary->path };

		error = swlbr_edge_profile_binary(reader->edges, &key, &binary->index);
		binary->used = !error;
	}
	if (!error)
		*ret = binary->index;
	return error;
}

static struct swlbr_error *add_arc(struct arc_reader *reader, const struct swlbr_record *record)
{
	struct swlbr_edge edge = {
		.from = record->arc.from,
		.to = record->arc.to,
		.nr = record->arc.nr,
		.source = SWLBR_SOURCE_SW,
		.kind = SWLBR_EDGE_BRANCH,
	};
	struct swlbr_error *error;

	error = use_binary(reader, &record->arc.build_id, &edge.from_binary);
	if (error)
		return error;
	edge.to_binary = edge.from_binary;
	switch (record->arc.kind) {
	case SWLBR_ARC_BRANCH:
		add_saturating(&reader->share->branches, edge.nr);
		add_saturating(&reader->share->exact, record->arc.exact ? edge.nr : 0);
		break;
	case SWLBR_ARC_RANGE:
		edge.kind = SWLBR_EDGE_RANGE;
		if (edge.to < edge.from)
			return swlbr_error_create(
				SWLBR_ERROR_FORMAT,
				"%s: a range that ends before it begins (at offset %llu)",
				reader->path, (unsigned long long)record->offset);
		break;
	case SWLBR_ARC_CALL:
		edge.from_binary = reader->outside;
		break;
	default: /* a kind of a later version */
		return NULL;
	}
	reader->nr_rows++;
	return swlbr_edge_profile_add(reader->edges, &edge);
}

static struct swlbr_error *add_records(struct arc_reader *reader, struct swlbr_perfdata *file)
{
	for (;;) {
		struct swlbr_record record;
		struct swlbr_error *error;
		bool end = false;

		error = swlbr_perfdata_next(file, &record, &end);
		if (error || end)
			return error;
		if (record.kind == SWLBR_RECORD_MMAP2)
			error = add_mapping(reader, &record);
		else if (record.kind == SWLBR_RECORD_ARC)
			error = add_arc(reader, &record);
		if (error)
			return error;
	}
}

/* Only files that have the event are read twice. */
static bool has_arcs(const struct swlbr_perfdata *file)
{
	const char *name;

	for (size_t i = 0; (name = swlbr_perfdata_event_name(file, i)); i++) {
		if (!strcmp(name, "swlbr:arc"))
			return true;
	}
	return false;
}

struct swlbr_error *convert_arcs(struct convert *convert, struct swlbr_edge_profile *edges,
				 const char *path, bool *found_ret)
{
	static const struct swlbr_edge_binary outside = { .path = "[outside]" };
	struct arc_reader reader = { .edges = edges, .share = &convert->share, .path = path };
	struct swlbr_perfdata *file;
	struct swlbr_error *error;

	*found_ret = false;
	error = swlbr_perfdata_open(path, &file);
	if (error)
		return error;
	if (has_arcs(file)) {
		error = swlbr_edge_profile_binary(edges, &outside, &reader.outside);
		if (!error)
			error = add_records(&reader, file);
	}
	swlbr_perfdata_close(file);
	for (size_t i = 0; i < reader.nr_binaries; i++)
		free(reader.binaries[i].path);
	free(reader.binaries);
	*found_ret = reader.nr_rows != 0;
	return error;
}
