// SPDX-License-Identifier: GPL-2.0-only
/*
 * The emulator executes what the program asks for as it is, outside the emulator. Here the call is
 * made first, with the emulator in front, where that is possible.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin.h"
#include "qemu_plugin_api.h"

#define MAX_WORDS (1 << 20)

/* The text at @address, which the caller frees; NULL if it is not readable. */
static char *read_text(uint64_t address)
{
	size_t size = 0, max = 0;
	char *text = NULL;

	do {
		/* Up to the page's end: the next one may not be there. */
		size_t part = 4096 - ((address + size) & 4095);

		if (size + part > max) {
			char *grown = realloc(text, 2 * (size + part));

			if (!grown)
				break;
			text = grown;
			max = 2 * (size + part);
		}
		if (size > 32 * 4096 * 32 || !guest_read(address + size, text + size, part))
			break;
		if (memchr(text + size, '\0', part))
			return text;
		size += part;
	} while (1);
	free(text);
	return NULL;
}

static void free_words(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

/* argv or the environment, NULL at its end; freed by free_words(). */
static char **read_words(uint64_t address)
{
	char **words = calloc(1, sizeof(*words));
	size_t nr = 0;

	while (words && address && nr < MAX_WORDS) {
		uint64_t pointer;
		char **grown;

		if (!guest_read(address + 8 * nr, &pointer, sizeof(pointer)))
			break;
		if (!pointer)
			return words;
		grown = reallocarray(words, nr + 2, sizeof(*words));
		if (!grown)
			break;
		words = grown;
		words[nr + 1] = NULL;
		words[nr] = read_text(pointer);
		if (!words[nr])
			break;
		nr++;
	}
	if (!address)
		return words;
	free_words(words);
	return NULL;
}

/* The program at @path, or at its place below the sysroot, where the emulator looks first too. */
static int find_program(const char **path, char below[PATH_MAX], struct guest_program *program)
{
	if (options.sysroot && **path == '/' &&
	    snprintf(below, PATH_MAX, "%s%s", options.sysroot, *path) < PATH_MAX &&
	    !guest_program_find(below, options.sysroot, program)) {
		*path = below;
		return 0;
	}
	return guest_program_find(*path, options.sysroot, program);
}

static void run(const char *path, char **argv, char **env)
{
	char below[PATH_MAX], qemu[PATH_MAX];
	struct guest_program program;
	ssize_t size = readlink("/proc/self/exe", qemu, sizeof(qemu) - 1);
	char **command;

	if (!strcmp(path, "/proc/self/exe"))
		path = qemu_plugin_path_to_binary();
	if (size < 0 || !path || access(path, X_OK) || find_program(&path, below, &program) ||
	    program.machine != options.machine)
		return;
	qemu[size] = '\0';
	command = guest_program_command(&program, qemu, options.text, options.sysroot, path, argv);
	if (command)
		execve(qemu, command, env);
	free(command);
}

void follow_exec(struct vcpu *vcpu, uint64_t path, uint64_t argv, uint64_t envp)
{
	char *text = read_text(path), **words = read_words(argv), **env = read_words(envp);

	if (text && words && env)
		run(text, words, env);
	if (text && !access(text, X_OK)) {
		vcpu->execs = true;
		lane_put(&vcpu->writer, LANE_RECORD_EXEC, lane_now(), text, strlen(text) + 1, NULL,
			 0);
	}
	free_words(env);
	free_words(words);
	free(text);
}
