// SPDX-License-Identifier: GPL-2.0-only
/* Counters and values of a perf.data into raw profiles. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cmd.h"
#include "convert.h"

/* A row of swlbr:value. */
struct value_row {
	uint64_t function;
	uint32_t kind, site;
	size_t order;
	struct swlbr_value entry;
};

/* What one process image has recorded of one binary. */
struct image {
	pid_t pid;
	uint8_t id[SWLBR_BUILD_ID_SIZE];
	struct swlbr_profraw *profile;
	struct value_row *rows;
	size_t nr_rows, max_rows;
};

struct input {
	struct convert *convert;
	const char *path;
	struct convert_mapping *mappings;
	size_t nr_mappings, max_mappings;
	struct image *images; /* of processes that may still have rows to come */
	size_t nr_images;
	uint64_t nr_rows;
	uint64_t nr_lost; /* records that the kernel had no room for */
};

static struct swlbr_error *add_mapping(struct input *input, const struct swlbr_record *record)
{
	struct convert_mapping *mapping;
	char *path;
	struct convert_mapping *grown;

	if (record->mmap2.path[0] != '/')
		return NULL;
	for (size_t i = input->nr_mappings; i-- > 0;) { /* segments of one file come together */
		mapping = &input->mappings[i];
		if (mapping->pid != record->pid)
			break;
		if (!strcmp(mapping->path, record->mmap2.path) &&
		    mapping->build_id.size == record->mmap2.build_id.size)
			return NULL;
	}
	grown = array_grow(input->mappings, input->nr_mappings, &input->max_mappings,
			   sizeof(*grown));
	if (!grown)
		return swlbr_error_no_memory();
	input->mappings = grown;
	path = strdup(record->mmap2.path);
	if (!path)
		return swlbr_error_no_memory();
	input->mappings[input->nr_mappings++] = (struct convert_mapping){
		.pid = record->pid,
		.build_id = record->mmap2.build_id,
		.path = path,
	};
	return NULL;
}

static int by_site(const void *left, const void *right)
{
	const struct value_row *a = left, *b = right;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* The values of an image site by site into its profile: the image is whole. */
static struct swlbr_error *flush_values(struct image *image)
{
	struct value_row *rows = image->rows;
	struct swlbr_value *values;
	struct swlbr_error *error = NULL;
	size_t end;

	if (!image->nr_rows) {
		swlbr_profraw_end_process(image->profile);
		return NULL;
	}
	values = reallocarray(NULL, image->nr_rows, sizeof(*values));
	if (!values)
		return swlbr_error_no_memory();
	qsort(rows, image->nr_rows, sizeof(*rows), by_site);
	for (size_t i = 0; !error && i < image->nr_rows; i = end) {
		for (end = i; end < image->nr_rows && rows[end].function == rows[i].function &&
			      rows[end].kind == rows[i].kind && rows[end].site == rows[i].site;
		     end++)
			values[end - i] = rows[end].entry;
		error = swlbr_profraw_add_values(image->profile, rows[i].function, rows[i].kind,
						 rows[i].site, end - i, values);
	}
	free(values);
	image->nr_rows = 0;
	swlbr_profraw_end_process(image->profile);
	return error;
}

/* The images of @pid are whole; all, if it is -1. */
static struct swlbr_error *end_images(struct input *input, pid_t pid)
{
	struct swlbr_error *error = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < input->nr_images; i++) {
		struct image *image = &input->images[i];

		if (error || (pid != -1 && image->pid != pid)) {
			input->images[kept++] = *image;
			continue;
		}
		error = flush_values(image);
		free(image->rows);
	}
	input->nr_images = kept;
	return error;
}

static struct swlbr_error *find_image(struct input *input, pid_t pid, const uint8_t *id,
				      struct image **ret)
{
	struct convert_binary *binary;
	struct image *grown;
	struct swlbr_error *error;
	bool new_process = true;

	for (size_t i = 0; i < input->nr_images; i++) {
		if (input->images[i].pid != pid)
			continue;
		if (!memcmp(input->images[i].id, id, SWLBR_BUILD_ID_SIZE)) {
			*ret = &input->images[i];
			return NULL;
		}
		new_process = false; /* this is another binary of it */
	}
	error = convert_find_binary(input->convert, input->path, pid, id, input->mappings,
				    input->nr_mappings, &binary);
	if (error)
		return error;
	grown = reallocarray(input->images, input->nr_images + 1, sizeof(*grown));
	if (!grown)
		return swlbr_error_no_memory();
	input->images = grown;
	*ret = &grown[input->nr_images++];
	**ret = (struct image){ .pid = pid, .profile = binary->profile };
	memcpy((*ret)->id, id, SWLBR_BUILD_ID_SIZE);
	input->convert->processes += new_process;
	return NULL;
}

static struct swlbr_error *check_engine(const struct swlbr_record *record, uint32_t engine)
{
	if (engine == SWLBR_ENGINE_LLVM)
		return NULL;
	return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
				  "counters of engine %u are not known (at offset %llu)", engine,
				  (unsigned long long)record->offset);
}

static struct swlbr_error *add_counters(struct input *input, const struct swlbr_record *record)
{
	struct swlbr_error *error = check_engine(record, record->counters.engine);
	struct image *image;

	input->nr_rows++;
	if (!error)
		error = find_image(input, record->pid, record->counters.build_id.bytes, &image);
	if (!error)
		error = swlbr_profraw_add_counters(image->profile, record->counters.first,
						   record->counters.nr, record->counters.value);
	return error;
}

static struct swlbr_error *add_value(struct input *input, const struct swlbr_record *record)
{
	struct swlbr_error *error = check_engine(record, record->value.engine);
	struct image *image;
	struct value_row *grown;

	if (!error)
		error = find_image(input, record->pid, record->value.build_id.bytes, &image);
	if (error)
		return error;
	grown = array_grow(image->rows, image->nr_rows, &image->max_rows, sizeof(*grown));
	if (!grown)
		return swlbr_error_no_memory();
	image->rows = grown;
	image->rows[image->nr_rows] = (struct value_row){
		.function = record->value.function,
		.kind = record->value.value_kind,
		.site = record->value.site,
		.order = image->nr_rows,
		.entry = { .value = record->value.value, .nr = record->value.nr },
	};
	image->nr_rows++;
	return NULL;
}

static struct swlbr_error *add_record(struct input *input, struct swlbr_perfdata *file,
				      const struct swlbr_record *record)
{
	switch (record->kind) {
	case SWLBR_RECORD_SAMPLE:
		return convert_kernel_sample(input->convert, input->path, file, record,
					     &input->nr_rows);
	case SWLBR_RECORD_LOST:
		input->nr_lost += record->nr_lost;
		return NULL;
	case SWLBR_RECORD_MMAP2:
		return add_mapping(input, record);
	case SWLBR_RECORD_COMM:
		return record->comm.exec ? end_images(input, record->pid) : NULL;
	case SWLBR_RECORD_EXIT:
		return record->tid == record->pid ? end_images(input, record->pid) : NULL;
	case SWLBR_RECORD_COUNTERS:
		return add_counters(input, record);
	case SWLBR_RECORD_VALUE:
		return add_value(input, record);
	case SWLBR_RECORD_LOST_COUNTS:
		cmd_warn("%s: process %d: executions of its last %.3f s may be missing: %s",
			 input->path, record->pid,
			 record->time > record->lost.since
				 ? (double)(record->time - record->lost.since) / 1e9
				 : 0.0,
			 record->lost.why);
		return NULL;
	default:
		return NULL;
	}
}

static struct swlbr_error *add_records(struct input *input, struct swlbr_perfdata *file)
{
	for (;;) {
		struct swlbr_error *error;
		struct swlbr_record record;
		bool end = false;

		error = swlbr_perfdata_next(file, &record, &end);
		if (error)
			return error;
		if (end)
			return end_images(input, -1);
		error = add_record(input, file, &record);
		if (error && error->code == SWLBR_ERROR_MISMATCH &&
		    strncmp(error->message, input->path, strlen(input->path)))
			return swlbr_error_prefix(error, "%s: record at offset %llu", input->path,
						  (unsigned long long)record.offset);
		if (error && error->code == SWLBR_ERROR_UNSUPPORTED)
			return swlbr_error_prefix(error, "%s", input->path);
		if (error)
			return error;
	}
}

struct swlbr_error *convert_perfdata(struct convert *convert, const char *path)
{
	struct input input = { .convert = convert, .path = path };
	struct swlbr_perfdata *file;
	struct swlbr_error *error;

	error = swlbr_perfdata_open(path, &file);
	if (error)
		return error;
	error = add_records(&input, file);
	if (!error && swlbr_perfdata_unfinished(file))
		error = swlbr_error_create(
			SWLBR_ERROR_FORMAT,
			"%s: the recording was not finished: the size of the records in the header is 0",
			path);
	swlbr_perfdata_close(file);
	if (!error && input.nr_lost)
		cmd_warn("%s: %llu records are lost: counts are too low; try perf record -m", path,
			 (unsigned long long)input.nr_lost);
	if (!error && !input.nr_rows)
		error = swlbr_error_create(
			SWLBR_ERROR_NOT_FOUND,
			"%s: no counters in it: made by 'perf swlbr record', of a program built with 'perf swlbr cflags'?",
			path);
	for (size_t i = 0; i < input.nr_images; i++)
		free(input.images[i].rows);
	for (size_t i = 0; i < input.nr_mappings; i++)
		free(input.mappings[i].path);
	free(input.images);
	free(input.mappings);
	return error;
}
