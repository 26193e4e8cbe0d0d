// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * gcc's auto-profile (-fauto-profile), version 2, as gcc 12 and 13 read it (gcc/auto-profile.c):
 * 32-bit words in the byte order of the machine; a counter is two, the low one first. A string is
 * its length in bytes, with the NUL, and the bytes. The lengths of sections are not looked at.
 *
 * Up to gcc 13 a place is a line: discriminators are cut off as they are read, and of several
 * entries of one line the last would stand. So each line is written once, with the smallest count of
 * its discriminators: gcc gives a block the largest count of its statements, and then raises those
 * that are lower than flow wants (afdo_propagate_edge), but nothing that is too high is ever lowered.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/outfile.h"
#include "sample_profile.h"

#define GCC_MAGIC	  0x67636461U /* "gcda" */
#define GCC_VERSION	  2
#define GCC_TAG_NAMES	  0xaa000000U
#define GCC_TAG_FUNCTIONS 0xac000000U
#define GCC_TAG_MODULES	  0xae000000U
#define GCC_INDIRECT_CALL 7 /* kind of histogram; read and not looked at */

struct writer {
	const struct swlbr_sample_profile *profile;
	struct sample_order order;
	struct buffer data;
};

/* gcc looks a function up by the name that it had before it was cloned or split. */
static size_t original_size(const char *name)
{
	return strcspn(name, ".");
}

static struct swlbr_error *copy_name(struct swlbr_sample_profile *copy, const char *name,
				     uint32_t *ret)
{
	return sample_name(copy, name, original_size(name), ret);
}

static struct swlbr_error *copy_nodes(const struct swlbr_sample_profile *profile,
				      struct swlbr_sample_profile *copy, uint32_t *map)
{
	for (size_t i = 0; i < profile->node_index.nr; i++) {
		const struct sample_node *node = &profile->nodes[i];
		uint32_t parent = node->parent == SAMPLE_TOP ? SAMPLE_TOP : map[node->parent];
		struct swlbr_error *error;
		uint32_t name;

		error = copy_name(copy, profile->names[node->name], &name);
		if (!error)
			error = sample_node(copy, parent,
					    (struct sample_place){ .line = node->place.line }, name,
					    &map[i]);
		if (error)
			return error;
		add_saturating(&copy->nodes[map[i]].total, node->total);
		add_saturating(&copy->nodes[map[i]].head, node->head);
	}
	return NULL;
}

/* The smallest count of each line of a node as records of @lines; @map: those of the profile's. */
static struct swlbr_error *find_lines(const struct swlbr_sample_profile *profile,
				      struct swlbr_sample_profile *lines, uint32_t *map)
{
	for (size_t i = 0; i < profile->record_index.nr; i++) {
		const struct sample_record *record = &profile->records[i];
		size_t before = lines->record_index.nr;
		struct swlbr_error *error;

		error = sample_record(lines, record->node,
				      (struct sample_place){ .line = record->place.line }, &map[i]);
		if (error)
			return error;
		if (lines->record_index.nr > before || lines->records[map[i]].count > record->count)
			lines->records[map[i]].count = record->count;
	}
	return NULL;
}

/* Several calls of a function that are inlined on one line are one: the hottest matters. */
static struct swlbr_error *copy_records(const struct swlbr_sample_profile *profile,
					struct swlbr_sample_profile *copy, const uint32_t *nodes,
					uint32_t *map)
{
	struct swlbr_sample_profile *lines = NULL;
	uint32_t *of_lines = calloc(profile->record_index.nr + 1, sizeof(*of_lines));
	struct swlbr_error *error = swlbr_sample_profile_create(&lines);

	if (!error && !of_lines)
		error = swlbr_error_no_memory();
	if (!error)
		error = find_lines(profile, lines, map);
	for (size_t i = 0; !error && i < lines->record_index.nr; i++) {
		const struct sample_record *line = &lines->records[i];

		error = sample_record(copy, nodes[line->node], line->place, &of_lines[i]);
		if (!error && copy->records[of_lines[i]].count < line->count)
			copy->records[of_lines[i]].count = line->count;
	}
	for (size_t i = 0; !error && i < profile->record_index.nr; i++)
		map[i] = of_lines[map[i]];
	swlbr_sample_profile_destroy(lines);
	free(of_lines);
	return error;
}

/* A function without counts did not run: gcc takes one that is not there for unknown. */
static struct swlbr_error *add_symbols(const struct swlbr_sample_profile *profile,
				       struct swlbr_sample_profile *copy)
{
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < profile->nr_symbols; i++) {
		uint32_t name, node;

		error = copy_name(copy, profile->names[profile->symbols[i]], &name);
		if (!error)
			error = sample_node(copy, SAMPLE_TOP, (struct sample_place){ 0 }, name,
					    &node);
	}
	return error;
}

/* A copy with one entry for each line, under the names that gcc knows. */
static struct swlbr_error *by_line(const struct swlbr_sample_profile *profile, unsigned int flags,
				   struct swlbr_sample_profile **ret)
{
	uint32_t *nodes = reallocarray(NULL, profile->node_index.nr + 1, sizeof(*nodes));
	uint32_t *records = reallocarray(NULL, profile->record_index.nr + 1, sizeof(*records));
	struct swlbr_sample_profile *copy = NULL;
	struct swlbr_error *error = NULL;
	uint32_t name;

	if (!nodes || !records)
		error = swlbr_error_no_memory();
	if (!error)
		error = swlbr_sample_profile_create(&copy);
	/* gcc takes a call target of number 0 for none. */
	if (!error)
		error = sample_name(copy, "", 0, &name);
	if (!error)
		error = copy_nodes(profile, copy, nodes);
	if (!error)
		error = copy_records(profile, copy, nodes, records);
	for (size_t i = 0; !error && i < profile->target_index.nr; i++) {
		const struct sample_target *target = &profile->targets[i];

		error = copy_name(copy, profile->names[target->name], &name);
		if (!error)
			error = sample_target(copy, records[target->record], name, target->count);
	}
	if (!error && (flags & SWLBR_SAMPLE_SYMBOL_LIST))
		error = add_symbols(profile, copy);
	free(nodes);
	free(records);
	if (error) {
		swlbr_sample_profile_destroy(copy);
		return error;
	}
	*ret = copy;
	return NULL;
}

/* gcc's counters are signed. */
static void put_counter(struct buffer *data, uint64_t value)
{
	buffer_u64(data, value > INT64_MAX ? INT64_MAX : value);
}

static void put_names(struct writer *writer)
{
	struct buffer *data = &writer->data;

	buffer_u32(data, GCC_TAG_NAMES);
	buffer_u32(data, 0);
	buffer_u32(data, (uint32_t)writer->profile->name_index.nr);
	for (size_t i = 0; i < writer->profile->name_index.nr; i++) {
		const char *name = writer->profile->names[i];

		buffer_u32(data, (uint32_t)strlen(name) + 1);
		buffer_bytes(data, name, strlen(name) + 1);
	}
}

static void put_record(struct writer *writer, uint32_t index)
{
	const struct sample_record *record = &writer->profile->records[index];
	const struct sample_order *order = &writer->order;
	struct buffer *data = &writer->data;

	buffer_u32(data, record->place.line << 16);
	buffer_u32(data, order->target_start[index + 1] - order->target_start[index]);
	put_counter(data, record->count);
	for (uint32_t i = order->target_start[index]; i < order->target_start[index + 1]; i++) {
		const struct sample_target *target = &writer->profile->targets[order->targets[i]];

		buffer_u32(data, GCC_INDIRECT_CALL);
		put_counter(data, target->name);
		put_counter(data, target->count);
	}
}

static void put_body(struct writer *writer, uint32_t index)
{
	const struct sample_order *order = &writer->order;
	struct buffer *data = &writer->data;

	buffer_u32(data, writer->profile->nodes[index].name);
	buffer_u32(data, order->record_start[index + 1] - order->record_start[index]);
	buffer_u32(data, order->call_start[index + 1] - order->call_start[index]);
	for (uint32_t i = order->record_start[index]; i < order->record_start[index + 1]; i++)
		put_record(writer, order->records[i]);
	for (uint32_t i = order->call_start[index]; i < order->call_start[index + 1]; i++) {
		buffer_u32(data, writer->profile->nodes[order->calls[i]].place.line << 16);
		put_body(writer, order->calls[i]);
	}
}

static void put_file(struct writer *writer)
{
	struct buffer *data = &writer->data;

	buffer_u32(data, GCC_MAGIC);
	buffer_u32(data, GCC_VERSION);
	buffer_u32(data, 0);
	put_names(writer);
	buffer_u32(data, GCC_TAG_FUNCTIONS);
	buffer_u32(data, 0);
	buffer_u32(data, (uint32_t)writer->order.nr_functions);
	for (size_t i = 0; i < writer->order.nr_functions; i++) {
		uint32_t index = writer->order.functions[i];

		put_counter(data, writer->profile->nodes[index].head);
		put_body(writer, index);
	}
	buffer_u32(data, GCC_TAG_MODULES);
	buffer_u32(data, 0);
	buffer_u32(data, 0);
}

static struct swlbr_error *write_file(const struct buffer *data, const char *path)
{
	struct swlbr_outfile *file;
	struct swlbr_error *error;

	if (data->failed)
		return swlbr_error_no_memory();
	error = swlbr_outfile_open(path, &file);
	if (error)
		return error;
	error = swlbr_outfile_write(file, data->data, data->size);
	if (error) {
		swlbr_outfile_discard(file);
		return error;
	}
	return swlbr_outfile_commit(file);
}

struct swlbr_error *swlbr_sample_profile_write_gcc(const struct swlbr_sample_profile *profile,
						   unsigned int flags, const char *path)
{
	struct swlbr_sample_profile *copy;
	struct writer writer = { 0 };
	struct swlbr_error *error;

	error = by_line(profile, flags, &copy);
	if (error)
		return error;
	writer.profile = copy;
	error = sample_order(copy, &writer.order);
	if (!error) {
		put_file(&writer);
		error = write_file(&writer.data, path);
		sample_order_free(&writer.order);
	}
	buffer_free(&writer.data);
	swlbr_sample_profile_destroy(copy);
	return error;
}
