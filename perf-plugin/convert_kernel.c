// SPDX-License-Identifier: GPL-2.0-only
/* Counters that a kernel exported into the raw profile of its vmlinux. */
#include <stdio.h>

#include <swlbr/kernel_counters.h>

#include "cmd.h"
#include "convert.h"

static struct swlbr_error *add_counters(struct convert *convert, const char *path,
					const struct swlbr_kernel_counters *counters)
{
	struct convert_binary *binary;
	struct swlbr_error *error;

	if (!counters->build_id.size)
		return swlbr_error_create(
			SWLBR_ERROR_NOT_FOUND,
			"%s: the kernel has no build-id, so that its vmlinux cannot be known",
			path);
	error = convert_find_binary(convert, path, -1, counters->build_id.bytes, NULL, 0, &binary);
	if (error)
		return error;
	if (!binary->counters->per_cpu || counters->engine != binary->counters->engine)
		return swlbr_error_create(SWLBR_ERROR_MISMATCH,
					  "%s: has counters of another kind than %s", path,
					  swlbr_elf_path(binary->elf));
	if (counters->nr != binary->counters->nr_counters)
		return swlbr_error_create(SWLBR_ERROR_MISMATCH, "%s: has %llu counters, %s %llu",
					  path, (unsigned long long)counters->nr,
					  swlbr_elf_path(binary->elf),
					  (unsigned long long)binary->counters->nr_counters);
	return swlbr_profraw_add_counters(binary->profile, 0, counters->nr, counters->values);
}

struct swlbr_error *convert_kernel(struct convert *convert, const char *path)
{
	struct swlbr_kernel_counters *counters;
	struct swlbr_error *error;

	error = swlbr_kernel_counters_read(path, &counters);
	if (error)
		return error;
	error = add_counters(convert, path, counters);
	if (!convert->counted_from || !counters->since_boot)
		convert->counted_from = counters->since_boot ? "boot" : "a reset";
	swlbr_kernel_counters_destroy(counters);
	return error;
}
