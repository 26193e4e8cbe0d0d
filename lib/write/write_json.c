// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * An edge profile as JSON: an array with an object for each row of the arcs file, one on a line.
 * Addresses are strings in hex, since JSON's readers take numbers for doubles; so are an edge's
 * ends in another binary: "to_binary" is there where it is not "binary".
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <swlbr/edge_writers.h>

#include "rows.h"

/* @text in quotes. Bytes that are not ASCII are left as they are: paths are UTF-8 by custom. */
static struct swlbr_error *write_string(struct swlbr_outfile *file, const char *text)
{
	struct swlbr_error *error = swlbr_outfile_write(file, "\"", 1);

	for (; !error && *text; text++) {
		if (*text == '"' || *text == '\\')
			error = write_format(file, "\\%c", *text);
		else if ((unsigned char)*text < ' ')
			error = write_format(file, "\\u%04x", *text);
		else
			error = swlbr_outfile_write(file, text, 1);
	}
	return error ? error : swlbr_outfile_write(file, "\"", 1);
}

static struct swlbr_error *write_binary(struct swlbr_outfile *file, const char *key,
					const struct swlbr_edge_binary *binary)
{
	struct swlbr_error *error = write_format(file, ",\"%s\":", key);
	char hex[41];

	if (error)
		return error;
	return write_string(file, binary->build_id.size
					  ? swlbr_build_id_format(&binary->build_id, hex)
					  : binary->path);
}

static struct swlbr_error *write_edge(struct swlbr_outfile *file,
				      const struct swlbr_edge_profile *edges,
				      const struct swlbr_edge *edge)
{
	const struct swlbr_edge_binary *from, *to;
	struct swlbr_error *error;

	from = swlbr_edge_profile_get_binary(edges, edge->from_binary);
	to = swlbr_edge_profile_get_binary(edges, edge->to_binary);
	error = write_format(file, "{\"kind\":\"%s\"",
			     edge->kind == SWLBR_EDGE_BRANCH ? "branch" : "range");
	if (!error)
		error = write_binary(file, "binary", from);
	if (!error && edge->from_binary != edge->to_binary)
		error = write_binary(file, "to_binary", to);
	if (!error)
		error = write_format(file,
				     ",\"from\":\"%s0x%" PRIx64 "\",\"to\":\"%s0x%" PRIx64
				     "\",\"nr\":%" PRIu64 ",\"mispredicted\":%" PRIu64
				     ",\"cycles\":%" PRIu64 ",\"source\":\"%s\"}",
				     from->file_offsets ? "+" : "", edge->from,
				     to->file_offsets ? "+" : "", edge->to, edge->nr,
				     edge->mispredicted, edge->cycles,
				     swlbr_source_name(edge->source));
	return error;
}

struct swlbr_error *swlbr_json_write(struct swlbr_edge_profile *edges, const char *path)
{
	const struct swlbr_edge *all;
	size_t nr = swlbr_edge_profile_edges(edges, &all);
	struct swlbr_outfile *file;
	struct swlbr_error *error = swlbr_outfile_open(path, &file);

	if (error)
		return error;
	error = write_format(file, "[");
	for (size_t i = 0; !error && i < nr; i++) {
		error = write_format(file, i ? ",\n" : "\n");
		if (!error)
			error = write_edge(file, edges, &all[i]);
	}
	if (!error)
		error = write_format(file, "\n]\n");
	if (error) {
		swlbr_outfile_discard(file);
		return error;
	}
	return swlbr_outfile_commit(file);
}
