// SPDX-License-Identifier: GPL-2.0-only
/* Branch stacks of a perf.data into an edge profile. */
#include "cmd.h"
#include "convert.h"

struct swlbr_error *convert_perfdata_edges(struct convert *convert, const char *path)
{
	struct swlbr_perfdata *file;
	struct swlbr_error *error;

	error = swlbr_perfdata_open(path, &file);
	if (error)
		return error;
	error = swlbr_stacks_read(convert->stacks, file);
	/* What is before the damage is sound, and a recording of hours may hang on it. */
	if (error && error->code == SWLBR_ERROR_FORMAT) {
		cmd_warn("%s; what comes before is used", error->message);
		swlbr_error_destroy(error);
		error = NULL;
	}
	for (size_t i = 0; swlbr_perfdata_note(file, i); i++)
		cmd_warn("%s", swlbr_perfdata_note(file, i));
	if (swlbr_perfdata_unfinished(file))
		cmd_warn(
			"%s: the recorder was not ended properly; its records are used up to the end of the file",
			path);
	swlbr_perfdata_close(file);
	return error;
}
