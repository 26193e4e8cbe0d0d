// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include <swlbr/edge_profile.h>

#include "arcs_format.h"
#include "base/infile.h"
#include "base/lines.h"
#include "base/number.h"

struct reader {
	struct swlbr_edge_profile *profile;
	struct lines lines;
	/* The binary of the row before: rows of one come together. */
	char *last_name;
	bool last_offsets;
	uint32_t last_index;
};

static bool parse_decimal(const char *text, uint64_t *ret)
{
	return number_in(text, 10, 0, UINT64_MAX, ret);
}

/* "0x..." or "+0x...", the latter a file offset. */
static bool parse_address(const char *text, bool *offset_ret, uint64_t *ret)
{
	*offset_ret = *text == '+';
	text += *offset_ret;
	return !strncmp(text, "0x", 2) && number_in(text, 16, 0, UINT64_MAX, ret);
}

static bool parse_build_id(const char *name, struct swlbr_build_id *id)
{
	size_t size = strspn(name, "0123456789abcdef");

	*id = (struct swlbr_build_id){ 0 };
	if (!size || name[size] || size % 2 || size > 2 * SWLBR_BUILD_ID_SIZE)
		return false;
	for (size_t i = 0; i < size / 2; i++) {
		char digits[3] = { name[2 * i], name[2 * i + 1], 0 };

		id->bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	id->size = (uint8_t)(size / 2);
	id->digest = size == 2 * SWLBR_BUILD_ID_SIZE && id->bytes[0] == 0xd1 &&
		     id->bytes[1] == 0x9e;
	return true;
}

/* In place; false for a backslash without three octal digits. */
static bool unescape(char *name)
{
	char *to = name;

	for (; *name; name++) {
		unsigned int value = 0;

		if (*name != '\\') {
			*to++ = *name;
			continue;
		}
		for (int i = 1; i <= 3; i++) {
			if (name[i] < '0' || name[i] > '7')
				return false;
			value = 8 * value + (unsigned int)(name[i] - '0');
		}
		if (!value || value > 255)
			return false;
		*to++ = (char)value;
		name += 3;
	}
	*to = 0;
	return true;
}

static struct swlbr_error *add_binary(struct reader *reader, const char *name, bool offsets,
				      uint32_t *ret)
{
	struct swlbr_edge_binary binary = { .file_offsets = offsets };
	struct swlbr_error *error;
	char *path = NULL;

	if (reader->last_name && offsets == reader->last_offsets &&
	    !strcmp(name, reader->last_name)) {
		*ret = reader->last_index;
		return NULL;
	}
	if (!parse_build_id(name, &binary.build_id)) {
		path = strdup(name);
		if (!path)
			return swlbr_error_no_memory();
		if (!*name || !unescape(path)) {
			free(path);
			return lines_error(&reader->lines, "not the name of a binary");
		}
		binary.path = path;
	}
	error = swlbr_edge_profile_binary(reader->profile, &binary, ret);
	free(path);
	if (error)
		return error;
	free(reader->last_name);
	reader->last_name = strdup(name);
	reader->last_offsets = offsets;
	reader->last_index = *ret;
	return NULL;
}

static struct swlbr_error *add_row(struct reader *reader, char **column)
{
	struct swlbr_edge edge = { 0 };
	struct swlbr_error *error;
	bool from_offset, to_offset;
	char *to = strrchr(column[3], ':'), *to_name = column[1];

	if (!strcmp(column[0], "branch"))
		edge.kind = SWLBR_EDGE_BRANCH;
	else if (!strcmp(column[0], "range"))
		edge.kind = SWLBR_EDGE_RANGE;
	else
		return lines_error(&reader->lines, "neither a branch nor a range");
	if (to) {
		to_name = column[3];
		*to++ = 0;
	} else {
		to = column[3];
	}
	if (!parse_address(column[2], &from_offset, &edge.from) ||
	    !parse_address(to, &to_offset, &edge.to))
		return lines_error(&reader->lines, "not an address (0x... or +0x...)");
	if (!parse_decimal(column[4], &edge.nr) || !parse_decimal(column[5], &edge.mispredicted) ||
	    !parse_decimal(column[6], &edge.cycles))
		return lines_error(&reader->lines, "not a count");
	while (strcmp(column[7], swlbr_source_name(edge.source))) {
		if (++edge.source == SWLBR_SOURCES)
			return lines_error(&reader->lines, "source is none of sw, hw and emu");
	}
	if (edge.kind == SWLBR_EDGE_RANGE &&
	    (edge.to < edge.from || to_name != column[1] || from_offset != to_offset))
		return lines_error(&reader->lines,
				   "a range that ends before it begins, or elsewhere");
	error = add_binary(reader, to_name, to_offset, &edge.to_binary);
	if (!error)
		error = add_binary(reader, column[1], from_offset, &edge.from_binary);
	return error ? error : swlbr_edge_profile_add(reader->profile, &edge);
}

static struct swlbr_error *add_line(struct reader *reader, char *line)
{
	char *column[ARCS_COLUMNS];

	for (size_t i = 0; i < ARCS_COLUMNS; i++) {
		column[i] = strsep(&line, "\t");
		if (!column[i] || (i == ARCS_COLUMNS - 1 && line))
			return lines_error(&reader->lines, "not a row of 8 columns");
	}
	return add_row(reader, column);
}

static struct swlbr_error *add_lines(struct reader *reader)
{
	struct lines *lines = &reader->lines;
	bool found;
	struct swlbr_error *error = lines_next(lines, &found);

	if (!error && !found)
		return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: empty, not an arcs file",
					  lines->path);
	if (!error && strcmp(lines->line, ARCS_HEADER))
		return lines_error(lines, "not an arcs file: no header line");
	while (!error && found) {
		if (lines->cut_off)
			return lines_error(lines, "the last line is cut off");
		error = lines_next(lines, &found);
		if (!error && found && !lines->cut_off)
			error = add_line(reader, lines->line);
	}
	return error;
}

struct swlbr_error *swlbr_arcs_read(struct swlbr_edge_profile *profile, const char *path)
{
	struct reader reader = { .profile = profile };
	struct swlbr_error *error = lines_open(&reader.lines, path);

	if (!error)
		error = add_lines(&reader);
	lines_close(&reader.lines);
	free(reader.last_name);
	return error;
}

struct swlbr_error *swlbr_arcs_probe(const char *path, bool *is_arcs_ret)
{
	static const char header[] = ARCS_HEADER "\n";
	uint8_t begin[sizeof(header) - 1];
	size_t size = 0;
	struct swlbr_error *error = infile_peek_text(path, begin, sizeof(begin), &size);

	*is_arcs_ret = !error && size == sizeof(begin) && !memcmp(begin, header, size);
	return error;
}
