// SPDX-License-Identifier: GPL-2.0-only
/* Counters that a kernel exported into the raw profile of its vmlinux. */
#include <stdio.h>
#include <string.h>

#include <linux/perf_event.h>

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
	for (uint64_t i = 0; i < counters->nr; i++)
		convert->kernel_count += counters->values[i];
	convert->before_perf += counters->before_perf;
	swlbr_kernel_counters_destroy(counters);
	return error;
}

void convert_kernel_summary(const struct convert *convert)
{
	if (!convert->counted_from)
		return;
	fprintf(stderr, "[   counted from %s on", convert->counted_from);
	if (convert->before_perf && convert->kernel_count)
		fprintf(stderr, ", %.1f %% of it before perf existed",
			100.0 * (double)convert->before_perf / (double)convert->kernel_count);
	fprintf(stderr, " ]\n");
}

/* The build-id of the kernel that the file was recorded on, NULL if it does not tell. */
static const struct swlbr_build_id *kernel_id(const struct swlbr_perfdata *file,
					      struct swlbr_perfdata_binary *binary)
{
	for (size_t i = 0; swlbr_perfdata_binary(file, i, binary); i++) {
		/* Modules are in brackets too, but have their own names. */
		if (binary->kernel && binary->build_id.size &&
		    (!strncmp(binary->path, "[kernel", strlen("[kernel")) ||
		     strstr(binary->path, "vmlinux")))
			return &binary->build_id;
	}
	return NULL;
}

static bool is_kernel_event(const struct swlbr_perfdata_event *event)
{
	return event->pmu && !strcmp(event->pmu, "swlbr") && (event->sample_type & PERF_SAMPLE_RAW);
}

bool convert_is_kernel_sample(const struct swlbr_perfdata *file, const struct swlbr_record *record)
{
	struct swlbr_perfdata_event event;
	uint32_t counter, nr;

	return swlbr_perfdata_delta(file, record, 0, &counter, &nr) &&
	       swlbr_perfdata_event(file, record->sample.event, &event) && is_kernel_event(&event);
}

struct swlbr_error *convert_has_kernel_counters(const char *path, bool *ret)
{
	struct swlbr_perfdata_event event;
	struct swlbr_perfdata *file;
	struct swlbr_error *error = swlbr_perfdata_open(path, &file);

	*ret = false;
	if (error)
		return error;
	for (size_t i = 0; swlbr_perfdata_event(file, i, &event); i++)
		*ret |= is_kernel_event(&event);
	swlbr_perfdata_close(file);
	return NULL;
}

struct swlbr_error *convert_kernel_edges(struct convert *convert, const char *path,
					 struct swlbr_error *(*add)(struct convert *convert,
								    const char *path))
{
	struct swlbr_error *error = add(convert, path);

	return error ? error : convert_take_recorded(convert);
}

struct swlbr_error *convert_kernel_sample(struct convert *convert, const char *path,
					  const struct swlbr_perfdata *file,
					  const struct swlbr_record *record, uint64_t *nr_ret)
{
	struct swlbr_perfdata_binary kernel;
	const struct swlbr_build_id *id;
	struct convert_binary *binary;
	struct swlbr_error *error;
	uint32_t counter, nr;

	if (!convert_is_kernel_sample(file, record))
		return NULL;
	id = kernel_id(file, &kernel);
	if (!id)
		return swlbr_error_create(SWLBR_ERROR_NOT_FOUND,
					  "%s: does not tell the build-id of its kernel", path);
	error = convert_find_binary(convert, path, -1, id->bytes, NULL, 0, &binary);
	for (uint32_t i = 0; !error && swlbr_perfdata_delta(file, record, i, &counter, &nr); i++) {
		uint64_t value = nr;

		error = swlbr_profraw_add_counters(binary->profile, counter, 1, &value);
		++*nr_ret;
	}
	return error;
}
