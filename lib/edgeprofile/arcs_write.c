// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <swlbr/edge_profile.h>

#include "arcs_format.h"
#include "base/outfile.h"

/* A line holds two names of at most a path's length, each byte perhaps escaped as \ooo. */
#define NAME_SIZE (4 * 4096 + 64)

/* The column's text of @binary: a build-id in hex, or a path in which \ooo stands for odd bytes. */
static const char *format_name(const struct swlbr_edge_binary *binary, char buffer[NAME_SIZE])
{
	const char *path = binary->path;
	char *at = buffer, *end = buffer + NAME_SIZE - 8;

	if (binary->build_id.size)
		return swlbr_build_id_format(&binary->build_id, buffer);
	for (; *path && at < end; path++) {
		unsigned char byte = (unsigned char)*path;

		if (byte < ' ' || byte == '\\' || byte == 0x7f)
			at += sprintf(at, "\\%03o", byte);
		else
			*at++ = (char)byte;
	}
	*at = 0;
	return buffer;
}

static struct swlbr_error *write_edge(struct swlbr_outfile *file,
				      const struct swlbr_edge_profile *profile,
				      const struct swlbr_edge *edge)
{
	const struct swlbr_edge_binary *from, *to;
	char from_name[NAME_SIZE], to_name[NAME_SIZE], row[2 * NAME_SIZE + 256];
	bool other = edge->from_binary != edge->to_binary;
	int size;

	from = swlbr_edge_profile_get_binary(profile, edge->from_binary);
	to = swlbr_edge_profile_get_binary(profile, edge->to_binary);
	size = snprintf(row, sizeof(row),
			"%s\t%s\t%s0x%" PRIx64 "\t%s%s%s0x%" PRIx64 "\t%" PRIu64 "\t%" PRIu64
			"\t%" PRIu64 "\t%s\n",
			edge->kind == SWLBR_EDGE_BRANCH ? "branch" : "range",
			format_name(from, from_name), from->file_offsets ? "+" : "", edge->from,
			other ? format_name(to, to_name) : "", other ? ":" : "",
			to->file_offsets ? "+" : "", edge->to, edge->nr, edge->mispredicted,
			edge->cycles, swlbr_source_name(edge->source));
	return swlbr_outfile_write(file, row, (size_t)size);
}

static struct swlbr_error *write_arcs(struct swlbr_edge_profile *profile, const char *path,
				      unsigned int flags)
{
	static const char header[] = ARCS_HEADER "\n";
	const struct swlbr_edge *edges;
	size_t nr = swlbr_edge_profile_edges(profile, &edges);
	struct swlbr_outfile *file;
	struct swlbr_error *error;

	error = swlbr_outfile_open_flags(path, flags, &file);
	if (error)
		return error;
	error = swlbr_outfile_write(file, header, sizeof(header) - 1);
	for (size_t i = 0; !error && i < nr; i++)
		error = write_edge(file, profile, &edges[i]);
	if (error) {
		swlbr_outfile_discard(file);
		return error;
	}
	return swlbr_outfile_commit(file);
}

struct swlbr_error *swlbr_arcs_write(struct swlbr_edge_profile *profile, const char *path)
{
	return write_arcs(profile, path, 0);
}

struct swlbr_error *swlbr_arcs_record(struct swlbr_edge_profile *profile, const char *path)
{
	return write_arcs(profile, path, SWLBR_OUTFILE_KEEP_OLD);
}
