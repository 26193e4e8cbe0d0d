// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/*
 * The value of -i in @word, also as the last of several short options; "" if it is the next word.
 * NULL: it is not there.
 */
static const char *input_in(const char *word)
{
	size_t flags;

	/* Abbreviated as long as nothing else of perf script begins so. */
	if (!strncmp(word, "--inp", 5)) {
		const char *equals = strchr(word, '=');
		size_t length = equals ? (size_t)(equals - word) : strlen(word);

		if (length > strlen("--input") || strncmp(word, "--input", length))
			return NULL;
		return equals ? equals + 1 : "";
	}
	if (word[0] != '-')
		return NULL;
	flags = strspn(word + 1, "vf");
	return word[1 + flags] == 'i' ? word + flags + 2 : NULL;
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
	line->input = "perf.data";
	line->all_samples = size > 0 && size < (ssize_t)sizeof(line->text) - 1;
	end = line->text + size;
	for (word = line->text + strlen(line->text) + 1; word < end; word += strlen(word) + 1) {
		const char *next = word + strlen(word) + 1, *input = input_in(word);
		bool has_value = false;

		if (input && *input) {
			line->input = input;
		} else if (input) {
			has_value = true;
			line->input = next < end ? next : line->input;
		} else if (!is_harmless(word, &has_value)) {
			line->all_samples = false;
		}
		if (has_value && next < end)
			word = next;
	}
}

bool perf_has_open(const char *path)
{
	struct stat wanted, other;
	bool found = false;
	struct dirent *entry;
	DIR *dir;

	if (stat(path, &wanted))
		return false;
	dir = opendir("/proc/self/fd");
	while (dir && !found && (entry = readdir(dir)))
		found = entry->d_name[0] != '.' && !fstat(atoi(entry->d_name), &other) &&
			other.st_dev == wanted.st_dev && other.st_ino == wanted.st_ino;
	if (dir)
		closedir(dir);
	return found;
}
