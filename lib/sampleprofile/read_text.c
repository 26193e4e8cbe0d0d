// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Reading the text form of a sample profile; see write_text.c for it. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/infile.h"
#include "sample_profile.h"

/* Calls inlined deeper than this are not what compilers make. */
#define MAX_DEPTH 2000

struct reader {
	struct swlbr_sample_profile *profile;
	const char *path;
	unsigned long line;
	uint32_t *open; /* the function, and the call at each depth below */
	size_t depth;
};

static struct swlbr_error *line_error(const struct reader *reader, const char *what)
{
	return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: line %lu: %s", reader->path,
				  reader->line, what);
}

/* A decimal number at *@at, which moves past it; false if there is none or it is too large. */
static bool number(char **at, uint64_t *ret)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	errno = 0;
	*ret = strtoull(*at, &end, 10);
	*at = end;
	return !errno;
}

/* ":N" at the end of @text, which is cut off. */
static bool cut_number(char *text, uint64_t *ret)
{
	char *colon = strrchr(text, ':'), *digits = colon ? colon + 1 : NULL;

	if (!colon || !number(&digits, ret) || *digits)
		return false;
	*colon = 0;
	return true;
}

static struct swlbr_error *read_function(struct reader *reader, char *text)
{
	struct swlbr_sample_profile *profile = reader->profile;
	uint64_t total, head;
	uint32_t name, node;
	struct swlbr_error *error;

	if (text[0] == '[')
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "%s: a context-sensitive profile is not supported",
					  reader->path);
	if (!cut_number(text, &head) || !cut_number(text, &total) || !*text)
		return line_error(reader, "no function:total:head");
	error = sample_name(profile, text, strlen(text), &name);
	if (!error)
		error = sample_node(profile, SAMPLE_TOP, (struct sample_place){ 0 }, name, &node);
	if (error)
		return error;
	add_saturating(&profile->nodes[node].total, total);
	add_saturating(&profile->nodes[node].head, head);
	reader->open[0] = node;
	reader->depth = 1;
	return NULL;
}

/*
 * The end of the first target:calls in @text, NULL if there is none. A name that is no linkage name
 * may have blanks and colons in it: the number before a blank or the end is what ends it.
 */
static char *target_end(char *text)
{
	for (char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':')) {
		size_t digits = strspn(colon + 1, "0123456789");

		if (digits && (!colon[1 + digits] || colon[1 + digits] == ' '))
			return colon + 1 + digits;
	}
	return NULL;
}

/* " target:calls" as often as it is there. */
static struct swlbr_error *read_targets(struct reader *reader, char *text, uint32_t record)
{
	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		char *end = target_end(text), *next = end && *end ? end + 1 : end;
		struct swlbr_error *error;
		uint64_t calls;
		uint32_t name;

		if (end)
			*end = 0;
		if (!end || !cut_number(text, &calls) || !*text)
			return line_error(reader, "no target:calls");
		error = sample_name(reader->profile, text, strlen(text), &name);
		if (!error)
			error = sample_target(reader->profile, record, name, calls);
		if (error)
			return error;
		text = next;
	}
	return NULL;
}

static struct swlbr_error *read_call(struct reader *reader, char *text, struct sample_place place)
{
	struct swlbr_sample_profile *profile = reader->profile;
	struct swlbr_error *error;
	uint32_t name, node;
	uint64_t total;

	if (!cut_number(text, &total) || !*text)
		return line_error(reader, "no inlined function:total");
	if (reader->depth == MAX_DEPTH)
		return line_error(reader, "calls inlined too deep");
	error = sample_name(profile, text, strlen(text), &name);
	if (!error)
		error = sample_node(profile, reader->open[reader->depth - 1], place, name, &node);
	if (error)
		return error;
	add_saturating(&profile->nodes[node].total, total);
	reader->open[reader->depth++] = node;
	return NULL;
}

/* A line inside a function, which is @depth blanks in. */
static struct swlbr_error *read_inside(struct reader *reader, char *text, size_t depth)
{
	struct sample_place place = { 0 };
	uint64_t value, discriminator = 0;
	struct swlbr_error *error;
	uint32_t record;

	if (text[0] == '!')
		return swlbr_error_create(
			SWLBR_ERROR_UNSUPPORTED,
			"%s: line %lu: a profile of pseudo probes is not supported", reader->path,
			reader->line);
	if (depth > reader->depth)
		return line_error(reader, "farther in than what it could belong to");
	reader->depth = depth;
	if (!number(&text, &value) || value > UINT32_MAX ||
	    (*text == '.' && (text++, !number(&text, &discriminator))) ||
	    discriminator > UINT32_MAX || strncmp(text, ": ", 2))
		return line_error(reader, "no offset[.discriminator]:");
	place.line = (uint32_t)value;
	place.discriminator = (uint32_t)discriminator;
	text += 2;
	/* The name of a function does not begin with a digit. */
	if (!isdigit((unsigned char)*text))
		return read_call(reader, text, place);
	if (!number(&text, &value) || (*text && *text != ' '))
		return line_error(reader, "no count");
	error = sample_record(reader->profile, reader->open[depth - 1], place, &record);
	if (error)
		return error;
	add_saturating(&reader->profile->records[record].count, value);
	return read_targets(reader, text, record);
}

static struct swlbr_error *read_line(struct reader *reader, char *line)
{
	size_t blanks = strspn(line, " ");

	if (!line[blanks] || line[blanks] == '#')
		return NULL;
	if (!blanks)
		return read_function(reader, line);
	if (!reader->depth)
		return line_error(reader, "no function before it");
	return read_inside(reader, line + blanks, blanks);
}

struct swlbr_error *swlbr_sample_profile_read_text(struct swlbr_sample_profile *profile,
						   const char *path)
{
	struct reader reader = { .profile = profile, .path = path };
	struct swlbr_error *error;
	char *text = NULL, *end;
	uint8_t *data;
	size_t size;

	error = infile_read(path, &data, &size);
	if (error)
		return error;
	reader.open = calloc(MAX_DEPTH, sizeof(*reader.open));
	if (!reader.open || !(text = malloc(size + 1)))
		error = swlbr_error_no_memory();
	if (!error) {
		memcpy(text, data, size);
		text[size] = 0;
		if (memchr(text, 0, size))
			error = line_error(&reader, "no text");
	}
	for (char *line = text; !error && line && *line; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = 0;
		reader.line++;
		error = read_line(&reader, line);
	}
	free(reader.open);
	free(text);
	free(data);
	return error;
}

struct swlbr_error *swlbr_sample_profile_probe_text(const char *path, bool *is_text_ret)
{
	char text[4096];
	uint64_t total, head;
	size_t size;
	struct swlbr_error *error;

	*is_text_ret = false;
	error = infile_peek(path, (uint8_t *)text, sizeof(text) - 1, &size);
	if (error)
		return error;
	text[size] = 0;
	text[strcspn(text, "\n")] = 0;
	*is_text_ret = *text && *text != ' ' && cut_number(text, &head) && cut_number(text, &total);
	return NULL;
}
