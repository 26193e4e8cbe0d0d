// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Edge profiles in other tools' text: google/autofdo's (sample_reader.cc), llvm-profgen's
 * unsymbolized (PerfReader.cpp), perf2bolt's pre-aggregated (DataAggregator.cpp).
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include <swlbr/edge_text.h>

#include "base/array.h"
#include "base/infile.h"
#include "base/lines.h"
#include "base/number.h"

/* llvm-profgen takes segments to begin at pages of this size, whatever the machine's are. */
#define PAGE_SIZE 0x1000ULL

struct text_row {
	uint64_t from, to, nr;
	enum swlbr_edge_kind kind;
};

struct text_reader {
	struct lines lines;
	struct swlbr_edge_profile *profile;
	struct swlbr_elf *elf;
	uint32_t binary; /* @elf in the profile */
	uint64_t outside;
	/* Of files of rows: what they are of is known only at their end. */
	struct text_row *rows;
	size_t nr_rows, max_rows;
};

/* Does the text begin with hex digits, one of the separators, hex digits, and ":"? */
static bool is_row(const char *text)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	size_t at = strspn(text, digits);

	if (!at || text[at] != '-')
		return false;
	at += 1 + (text[at + 1] == '>');
	return strspn(text + at, digits) && text[at + strspn(text + at, digits)] == ':';
}

static bool is_bolt(const char *text)
{
	return text[0] && strchr("BFf", text[0]) && text[1] == ' ' && text[2] &&
	       strchr("0123456789abcdefX", text[2]);
}

/* One of a branch stack, as perf prints it: 0x1234/0x5678/... */
static bool is_script(const char *text)
{
	for (; (text = strstr(text, "0x")); text += 2) {
		size_t digits = strspn(text + 2, "0123456789abcdef");

		if (digits && !strncmp(text + 2 + digits, "/0x", 3))
			return true;
	}
	return false;
}

struct swlbr_error *swlbr_edge_text_probe(const char *path, enum swlbr_edge_text *ret)
{
	static const size_t max = 64 * 1024;
	char *text = malloc(max + 1), *second;
	struct swlbr_error *error;
	size_t size = 0;

	*ret = SWLBR_TEXT_NONE;
	if (!text)
		return swlbr_error_no_memory();
	error = infile_peek_text(path, (uint8_t *)text, max, &size);
	text[error ? 0 : size] = '\0';
	second = strchr(text, '\n');
	if (error || strlen(text) != size)
		;
	else if (is_bolt(text))
		*ret = SWLBR_TEXT_BOLT;
	else if (second && second != text &&
		 strspn(text, "0123456789") == (size_t)(second - text) && is_row(second + 1))
		*ret = SWLBR_TEXT_ROWS;
	else if (strstr(text, "PERF_RECORD_MMAP") || is_script(text))
		*ret = SWLBR_TEXT_SCRIPT;
	free(text);
	return error;
}

static struct swlbr_error *keep_row(struct text_reader *reader, const struct text_row *row)
{
	struct text_row *grown =
		array_grow(reader->rows, reader->nr_rows, &reader->max_rows, sizeof(*grown));

	if (!grown)
		return swlbr_error_no_memory();
	reader->rows = grown;
	reader->rows[reader->nr_rows++] = *row;
	return NULL;
}

/* "from-to:nr", "from->to:nr", or "address:nr", which is a sample and says nothing of edges. */
static struct swlbr_error *read_row(struct text_reader *reader, bool *is_sample_ret)
{
	struct text_row row = { .kind = SWLBR_EDGE_RANGE };
	const char *text = reader->lines.line;

	if (!number_at(&text, 16, "-:", &row.from))
		return lines_error(&reader->lines, "not a row (from-to:count, in hex)");
	*is_sample_ret = *text == ':';
	if (*text == '-') {
		text++;
		if (*text == '>') {
			row.kind = SWLBR_EDGE_BRANCH;
			text++;
		}
		if (!number_at(&text, 16, ":", &row.to))
			return lines_error(&reader->lines, "not a row (from-to:count, in hex)");
	}
	text++;
	if (!number_at(&text, 10, "", &row.nr))
		return lines_error(&reader->lines, "not a count");
	if (row.kind == SWLBR_EDGE_RANGE && !*is_sample_ret && row.to < row.from)
		return lines_error(&reader->lines, "a range that ends before it begins");
	return *is_sample_ret ? NULL : keep_row(reader, &row);
}

/* A block: how many rows, and these. @found_ret: there is one. */
static struct swlbr_error *read_block(struct text_reader *reader, bool *found_ret,
				      bool *has_samples)
{
	const char *text;
	struct swlbr_error *error;
	uint64_t nr;
	bool is_sample;

	do {
		error = lines_next(&reader->lines, found_ret);
		if (error || !*found_ret)
			return error;
		text = reader->lines.line;
	} while (!*text);
	if (!number_at(&text, 10, "", &nr))
		return lines_error(&reader->lines, "not the number of rows that follow");
	while (!error && nr--) {
		bool found;

		error = lines_next(&reader->lines, &found);
		if (!error && !found)
			error = lines_error(&reader->lines, "the rows end before their number");
		if (!error)
			error = read_row(reader, &is_sample);
		if (!error && is_sample)
			*has_samples = true;
	}
	return error;
}

/* The address of a place of the binary. */
static bool translate(const struct text_reader *reader, bool file_offsets, uint64_t offset,
		      uint64_t *ret)
{
	const struct swlbr_elf_segment *segments;
	size_t nr = swlbr_elf_segments(reader->elf, &segments);

	for (size_t i = 0; i < nr; i++) {
		const struct swlbr_elf_segment *segment = &segments[i];

		if (!(segment->flags & PF_X))
			continue;
		if (!file_offsets) { /* from the first segment with code */
			*ret = (segment->vaddr & ~(PAGE_SIZE - 1)) + offset;
			return *ret - segment->vaddr < segment->memsz;
		}
		if (offset - segment->offset < segment->filesz) {
			*ret = offset - segment->offset + segment->vaddr;
			return true;
		}
	}
	return false;
}

static struct swlbr_error *add_rows(struct text_reader *reader, bool file_offsets)
{
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < reader->nr_rows; i++) {
		const struct text_row *row = &reader->rows[i];
		struct swlbr_edge edge = {
			.from_binary = reader->binary,
			.to_binary = reader->binary,
			.kind = row->kind,
			.source = SWLBR_SOURCE_HW,
			.nr = row->nr,
		};

		if (translate(reader, file_offsets, row->from, &edge.from) &&
		    translate(reader, file_offsets, row->to, &edge.to) &&
		    (edge.kind == SWLBR_EDGE_BRANCH || edge.from <= edge.to))
			error = swlbr_edge_profile_add(reader->profile, &edge);
		else
			reader->outside++;
	}
	return error;
}

static struct swlbr_error *read_rows(struct text_reader *reader)
{
	struct swlbr_error *error = NULL;
	bool found = true, has_samples = false;
	int blocks = 0;

	while (!error && found) {
		error = read_block(reader, &found, &has_samples);
		blocks += found;
	}
	if (!error && blocks > 3)
		error = lines_error(&reader->lines, "more than three blocks of rows");
	return error ? error : add_rows(reader, blocks == 3 || has_samples);
}

/* An address: hex, behind "BUILDID:" perhaps; known_ret is false for X, which is not known. */
static struct swlbr_error *bolt_address(struct text_reader *reader, const char *text,
					uint32_t *binary_ret, uint64_t *ret, bool *known_ret)
{
	const char *colon = strchr(text, ':');
	struct swlbr_edge_binary binary = { 0 };
	size_t digits = colon ? (size_t)(colon - text) : 0;

	*known_ret = *text != 'X';
	*binary_ret = reader->binary;
	if (!*known_ret)
		return NULL;
	if (colon) {
		if (digits % 2 || digits > 2 * SWLBR_BUILD_ID_SIZE || !digits ||
		    strspn(text, "0123456789abcdef") != digits)
			return lines_error(&reader->lines, "not a build-id");
		for (size_t i = 0; i < digits / 2; i++) {
			char byte[3] = { text[2 * i], text[2 * i + 1], 0 };

			binary.build_id.bytes[i] = (uint8_t)strtoul(byte, NULL, 16);
		}
		binary.build_id.size = (uint8_t)(digits / 2);
		text = colon + 1;
	}
	if (!number_at(&text, 16, "", ret))
		return lines_error(&reader->lines, "not an address");
	return colon ? swlbr_edge_profile_binary(reader->profile, &binary, binary_ret) : NULL;
}

static struct swlbr_error *add_bolt_row(struct text_reader *reader)
{
	char *rest = reader->lines.line, *word[6] = { NULL };
	struct swlbr_edge edge = { .source = SWLBR_SOURCE_HW };
	bool from_known, to_known, branch;
	struct swlbr_error *error;
	const char *number;
	size_t nr = 0;

	while (nr < 6 && (word[nr] = strsep(&rest, " \t")))
		nr += *word[nr] != '\0';
	if (!nr)
		return NULL;
	branch = !strcmp(word[0], "B");
	if (!branch && strcmp(word[0], "F") && strcmp(word[0], "f"))
		return lines_error(&reader->lines, "a row that is none of B, F and f");
	if (nr != (branch ? 5 : 4))
		return lines_error(&reader->lines, "a row with a wrong number of columns");
	error = bolt_address(reader, word[1], &edge.from_binary, &edge.from, &from_known);
	if (!error)
		error = bolt_address(reader, word[2], &edge.to_binary, &edge.to, &to_known);
	if (error)
		return error;
	edge.kind = branch ? SWLBR_EDGE_BRANCH : SWLBR_EDGE_RANGE;
	number = word[3];
	if (!number_at(&number, 10, "", &edge.nr))
		return lines_error(&reader->lines, "not a count");
	number = branch ? word[4] : "0";
	if (!number_at(&number, 10, "", &edge.mispredicted))
		return lines_error(&reader->lines, "not a count");
	if (!branch && (edge.from_binary != edge.to_binary || edge.to < edge.from))
		return lines_error(&reader->lines,
				   "a range that ends before it begins, or elsewhere");
	if (!from_known || !to_known) {
		reader->outside++;
		return NULL;
	}
	return swlbr_edge_profile_add(reader->profile, &edge);
}

static struct swlbr_error *read_bolt(struct text_reader *reader)
{
	struct swlbr_error *error;
	bool found;

	for (;;) {
		error = lines_next(&reader->lines, &found);
		if (error || !found)
			return error;
		error = add_bolt_row(reader);
		if (error)
			return error;
	}
}

struct swlbr_error *swlbr_edge_text_read(struct swlbr_edge_profile *profile, struct swlbr_elf *elf,
					 const char *path, uint64_t *outside_ret)
{
	struct text_reader reader = { .profile = profile, .elf = elf };
	const struct swlbr_edge_binary binary = {
		.build_id = *swlbr_elf_build_id(elf),
		.path = swlbr_elf_path(elf),
	};
	enum swlbr_edge_text kind;
	struct swlbr_error *error;

	error = swlbr_edge_text_probe(path, &kind);
	if (!error)
		error = swlbr_edge_profile_binary(profile, &binary, &reader.binary);
	if (!error)
		error = lines_open(&reader.lines, path);
	if (!error)
		error = kind == SWLBR_TEXT_BOLT ? read_bolt(&reader) : read_rows(&reader);
	lines_close(&reader.lines);
	free(reader.rows);
	*outside_ret = reader.outside;
	return error;
}
