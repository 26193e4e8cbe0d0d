// SPDX-License-Identifier: GPL-2.0-only
/* A .profraw that the program itself wrote into raw profiles. */
#include <stdlib.h>

#include "convert.h"

/* A file cut off before its names still has counters: the binary has the names too. */
static struct swlbr_error *find_names(struct convert *convert, const char *path,
				      struct swlbr_profraw *profile)
{
	for (size_t i = 0; i < convert->nr_arguments; i++) {
		struct swlbr_counters *counters;
		struct swlbr_error *error;
		struct swlbr_elf *elf;

		error = convert_open_binary(convert->arguments[i], &elf, &counters);
		if (error) {
			swlbr_error_destroy(error); /* it need not be of this input */
			continue;
		}
		error = swlbr_profraw_names_from(profile, elf, counters, &convert->reporter);
		swlbr_counters_destroy(counters);
		swlbr_elf_close(elf);
		if (!error)
			return NULL;
		if (error->code != SWLBR_ERROR_MISMATCH)
			return error;
		swlbr_error_destroy(error);
	}
	return swlbr_error_create(
		SWLBR_ERROR_FORMAT,
		"%s: the function names are cut off or damaged; give the program as an argument",
		path);
}

struct swlbr_error *convert_profraw(struct convert *convert, const char *path)
{
	struct swlbr_profraws read = { 0 };
	struct swlbr_error *error;
	size_t added = 0;

	error = swlbr_profraw_read(path, &convert->reporter, &read);
	for (size_t i = 0; !error && i < read.nr; i++) {
		if (swlbr_profraw_lacks_names(read.profiles[i]))
			error = find_names(convert, path, read.profiles[i]);
	}
	for (; !error && added < read.nr; added++) {
		error = swlbr_profraws_add(&convert->set, read.profiles[added], NULL);
		read.profiles[added] = NULL; /* taken, also on error */
	}
	swlbr_profraws_clear(&read);
	return error;
}
