// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "perf-plugin/dlfilter/command_line.h"

/* The value of an option in @word, if it has that name: "-i" with "-iF", "--input" with "--input=F". */
static const char *joined_value(const char *word, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(word, name, length) || !word[length])
		return NULL;
	if (word[1] != '-')
		return word + length;
	return word[length] == '=' ? word + length + 1 : NULL;
}

/* Options that say nothing of which samples; those with a value, and those without. */
static bool is_harmless(const char *word, bool *has_value_ret)
{
	static const char *const with[] = { "--dlfilter", "--dlarg", "-F", "--fields" };
	static const char *const without[] = { "script",  "--itrace", "-f",
					       "--force", "-v",	      "--verbose" };

	for (size_t i = 0; i < sizeof(with) / sizeof(*with); i++) {
		*has_value_ret = !strcmp(word, with[i]);
		if (*has_value_ret || joined_value(word, with[i]))
			return true;
	}
	for (size_t i = 0; i < sizeof(without) / sizeof(*without); i++)
		if (!strcmp(word, without[i]))
			return true;
	return joined_value(word, "--itrace");
}

void perf_command_line(struct perf_command_line *line)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? 0 : read(fd, line->text, sizeof(line->text) - 1);
	const char *word, *end;

	if (fd >= 0)
		close(fd);
	if (size < 0)
		size = 0;
	line->text[size] = '\0';
	line->input = NULL;
	line->all_samples = size > 0 && size < (ssize_t)sizeof(line->text) - 1;
	end = line->text + size;
	for (word = line->text + strlen(line->text) + 1; word < end; word += strlen(word) + 1) {
		const char *next = word + strlen(word) + 1, *input = NULL;
		bool has_value = false;

		if (!strcmp(word, "-i") || !strcmp(word, "--input")) {
			input = next < end ? next : NULL;
			has_value = true;
		} else if (joined_value(word, "-i") || joined_value(word, "--input")) {
			input = joined_value(word, "-i") ? joined_value(word, "-i")
							 : joined_value(word, "--input");
		} else if (!is_harmless(word, &has_value)) {
			line->all_samples = false;
		}
		if (input && !line->input)
			line->input = input;
		if (has_value && next < end)
			word = next;
	}
	if (!line->input)
		line->input = "perf.data";
}
