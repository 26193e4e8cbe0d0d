// SPDX-License-Identifier: GPL-2.0-only
/* --weight FILE=N */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cmd.h"

/* The file that FILE=N is about, and N; false if it is not of that form. */
static bool split_weight(const char *text, size_t *size_ret, uint64_t *weight_ret)
{
	const char *equals = strrchr(text, '=');

	if (!equals || equals == text)
		return false;
	*size_ret = (size_t)(equals - text);
	return number_in(equals + 1, 10, 1, UINT64_MAX, weight_ret);
}

bool cmd_add_weight(struct cmd_weights *weights, char *text)
{
	char **grown = reallocarray(weights->texts, weights->nr + 1, sizeof(*grown));

	if (!grown)
		return false;
	weights->texts = grown;
	grown[weights->nr++] = text;
	return true;
}

uint64_t cmd_weight_of(const struct cmd_weights *weights, const char *path)
{
	uint64_t weight;
	size_t size;

	for (size_t i = 0; i < weights->nr; i++)
		if (split_weight(weights->texts[i], &size, &weight) && strlen(path) == size &&
		    !strncmp(path, weights->texts[i], size))
			return weight;
	return 1;
}

/* A misspelt name would go unnoticed. */
const char *cmd_unused_weight(const struct cmd_weights *weights, char *const *files, size_t nr)
{
	for (size_t i = 0; i < weights->nr; i++) {
		bool used = false;
		uint64_t weight;
		size_t size;

		if (!split_weight(weights->texts[i], &size, &weight))
			return weights->texts[i];
		for (size_t j = 0; j < nr; j++)
			used |= strlen(files[j]) == size &&
				!strncmp(files[j], weights->texts[i], size);
		if (!used)
			return weights->texts[i];
	}
	return NULL;
}
