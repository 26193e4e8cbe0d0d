// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include <swlbr/edge_profile.h>

#include "arcs_format.h"
#include "base/outfile.h"

/* A name's longest form, a path's each byte escaped as \ooo; and of the other columns together. */
#define NAME_SIZE  (4 * 4096 + 64)
#define OTHER_SIZE 256

static char *put_text(char *at, const char *text)
{
	while (*text)
		*at++ = *text++;
	return at;
}

/* In a base of up to 16. */
static char *put_number(char *at, uint64_t number, unsigned int base)
{
	char digits[20];
	size_t nr = 0;

	do
		digits[nr++] = "0123456789abcdef"[number % base];
	while (number /= base);
	while (nr)
		*at++ = digits[--nr];
	return at;
}

static char *put_decimal(char *at, uint64_t number)
{
	*at++ = '\t';
	return put_number(at, number, 10);
}

/* A build-id in hex, or a path in which \ooo stands for odd bytes; at most NAME_SIZE bytes. */
static char *put_name(char *at, const struct swlbr_edge_binary *binary)
{
	char *end = at + NAME_SIZE - 8;

	if (binary->build_id.size)
		return at + strlen(swlbr_build_id_format(&binary->build_id, at));
	for (const char *path = binary->path; *path && at < end; path++) {
		unsigned char byte = (unsigned char)*path;

		if (byte < ' ' || byte == '\\' || byte == 0x7f)
			at += sprintf(at, "\\%03o", byte);
		else
			*at++ = (char)byte;
	}
	return at;
}

static char *put_address(char *at, const struct swlbr_edge_binary *binary, uint64_t address)
{
	at = put_text(at, binary->file_offsets ? "+0x" : "0x");
	return put_number(at, address, 16);
}

static struct swlbr_error *write_edge(struct swlbr_outfile *file,
				      const struct swlbr_edge_profile *profile,
				      const struct swlbr_edge *edge)
{
	const struct swlbr_edge_binary *from, *to;
	char row[2 * NAME_SIZE + OTHER_SIZE], *at = row;

	from = swlbr_edge_profile_get_binary(profile, edge->from_binary);
	to = swlbr_edge_profile_get_binary(profile, edge->to_binary);
	at = put_text(at, edge->kind == SWLBR_EDGE_BRANCH ? "branch\t" : "range\t");
	at = put_name(at, from);
	*at++ = '\t';
	at = put_address(at, from, edge->from);
	*at++ = '\t';
	if (edge->from_binary != edge->to_binary) {
		at = put_name(at, to);
		*at++ = ':';
	}
	at = put_address(at, to, edge->to);
	at = put_decimal(at, edge->nr);
	at = put_decimal(at, edge->mispredicted);
	at = put_decimal(at, edge->cycles);
	*at++ = '\t';
	at = put_text(at, swlbr_source_name(edge->source));
	*at++ = '\n';
	return swlbr_outfile_write(file, row, (size_t)(at - row));
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
