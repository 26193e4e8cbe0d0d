// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Text files, line by line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/lines.h"

struct swlbr_error *lines_open(struct lines *lines, const char *path)
{
	bool is_input = !strcmp(path, "-");

	*lines = (struct lines){ .path = is_input ? "standard input" : path };
	lines->line = malloc(LINES_SIZE);
	if (!lines->line)
		return swlbr_error_no_memory();
	lines->file = is_input ? stdin : fopen(path, "re");
	return lines->file ? NULL : swlbr_error_errno(errno, "%s", path);
}

void lines_close(struct lines *lines)
{
	if (lines->file && lines->file != stdin)
		fclose(lines->file);
	free(lines->line);
	*lines = (struct lines){ 0 };
}

struct swlbr_error *lines_error(const struct lines *lines, const char *what)
{
	return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: %s (line %llu)", lines->path, what,
				  (unsigned long long)lines->number);
}

struct swlbr_error *lines_next(struct lines *lines, bool *found_ret)
{
	size_t size;

	*found_ret = false;
	if (!fgets(lines->line, LINES_SIZE, lines->file)) {
		if (ferror(lines->file))
			return swlbr_error_errno(errno, "%s", lines->path);
		return NULL;
	}
	lines->number++;
	size = strlen(lines->line);
	lines->cut_off = !size || lines->line[size - 1] != '\n';
	if (!lines->cut_off)
		lines->line[--size] = '\0';
	else if (!feof(lines->file))
		return lines_error(lines, "a line that is too long, or not text");
	if (size && lines->line[size - 1] == '\r')
		lines->line[size - 1] = '\0';
	*found_ret = true;
	return NULL;
}
