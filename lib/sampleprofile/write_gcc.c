// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * gcc's auto-profile (-fauto-profile), of version 2, as gcc 12 and 13 read it, and of version 3, as
 * gcc 16 reads it (gcc/auto-profile.cc): 32-bit words in the byte order of the machine; a counter is
 * two, the low one first. A string is its length in bytes, with the NUL, and the bytes. The lengths
 * of sections are not looked at.
 *
 * Up to gcc 13 a place is a line: discriminators are cut off as they are read, and of several
 * entries of one line the last would stand. So each line is written once, with the smallest count of
 * its discriminators: gcc gives a block the largest count of its statements, and then raises those
 * that are lower than flow wants (afdo_propagate_edge), but nothing that is too high is ever lowered.
 * For the same reason a line that does nothing but decide has no entry (decisions.h).
 * In version 3 a place has its discriminator in the low half of its word.
 *
 * Version 3 begins with a summary, has a table of source files before the names and the number of
 * one of them after each name, and a time after the head of each function. Names that say -1 for a
 * file are found whatever file a function is in, and a time of 0 is none.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/outfile.h"
#include "profile/llvm_profile_format.h"
#include "profile/summary.h"
#include "sample_profile.h"

#define GCC_MAGIC	  0x67636461U /* "gcda" */
#define GCC_TAG_SUMMARY	  0xa8000000U /* from version 3 on */
#define GCC_TAG_NAMES	  0xaa000000U
#define GCC_TAG_FUNCTIONS 0xac000000U
#define GCC_TAG_MODULES	  0xae000000U
#define GCC_NO_FILE	  0xffffffffU
#define GCC_INDIRECT_CALL 7 /* kind of histogram; read and not looked at */

struct writer {
	const struct swlbr_sample_profile *profile;
	unsigned int version;
	struct sample_order order;
	struct buffer data;
};

/* A copy of what is written, as a version has it. */
struct copying {
	const struct swlbr_sample_profile *from;
	struct swlbr_sample_profile *to;
	unsigned int version;
	uint32_t *nodes, *records; /* numbers in the copy; NO_RECORD */
};

#define NO_RECORD UINT32_MAX

/*
 * gcc looks a function up by the name that it had before it was cloned or split. From version 3 on
 * it takes off itself what it has put there, and knows others by all of their name.
 */
static struct swlbr_error *copy_name(struct copying *copying, const char *name, uint32_t *ret)
{
	size_t size = copying->version < SWLBR_GCC_DISCRIMINATORS ? strcspn(name, ".")
								  : strlen(name);

	return sample_name(copying->to, name, size, ret);
}

static struct sample_place copy_place(const struct copying *copying, struct sample_place place)
{
	return (struct sample_place){ .line = place.line,
				      .discriminator = copying->version < SWLBR_GCC_DISCRIMINATORS
							       ? 0
							       : place.discriminator & 0xffff };
}

static struct swlbr_error *copy_nodes(struct copying *copying)
{
	const struct swlbr_sample_profile *from = copying->from;

	for (size_t i = 0; i < from->node_index.nr; i++) {
		const struct sample_node *node = &from->nodes[i];
		bool is_top = node->parent == SAMPLE_TOP;
		struct swlbr_error *error;
		struct sample_node *copy;
		uint32_t name;

		error = copy_name(copying, from->names[node->name], &name);
		if (!error)
			error = sample_node(copying->to,
					    is_top ? SAMPLE_TOP : copying->nodes[node->parent],
					    copy_place(copying, node->place), name,
					    &copying->nodes[i]);
		if (error)
			return error;
		copy = &copying->to->nodes[copying->nodes[i]];
		add_saturating(&copy->total, node->total);
		add_saturating(&copy->head, node->head);
	}
	return NULL;
}

/* What is known of a place of a node, over all discriminators. */
struct place {
	uint64_t least, decisions;
	bool ran, decides;
};

/* A record of @places for each place of a node, whose number goes to @copying. */
static struct swlbr_error *find_places(struct copying *copying, struct swlbr_sample_profile *places,
				       struct place *place)
{
	for (size_t i = 0; i < copying->from->record_index.nr; i++) {
		const struct sample_record *record = &copying->from->records[i];
		struct swlbr_error *error = sample_record(places, record->node,
							  copy_place(copying, record->place),
							  &copying->records[i]);
		struct place *at;

		if (error)
			return error;
		at = &place[copying->records[i]];
		if (record->place.discriminator == SAMPLE_DECISION) {
			add_saturating(&at->decisions, record->count);
			at->decides = true;
		} else {
			if (!at->ran || at->least > record->count)
				at->least = record->count;
			at->ran = true;
		}
	}
	return NULL;
}

/* Several calls of a function that are inlined at one place are one: the hottest matters. */
static struct swlbr_error *add_place(struct copying *copying, const struct sample_record *record,
				     const struct place *place, uint32_t *ret)
{
	struct swlbr_error *error;

	*ret = NO_RECORD;
	/* Where another binary has more of that line, there is more to it. */
	if (!place->ran || (place->decides && place->least <= place->decisions))
		return NULL;
	error = sample_record(copying->to, copying->nodes[record->node], record->place, ret);
	if (!error && copying->to->records[*ret].count < place->least)
		copying->to->records[*ret].count = place->least;
	return error;
}

static struct swlbr_error *copy_records(struct copying *copying)
{
	size_t nr = copying->from->record_index.nr;
	struct swlbr_sample_profile *places = NULL;
	uint32_t *numbers = calloc(nr + 1, sizeof(*numbers));
	struct place *place = calloc(nr + 1, sizeof(*place));
	struct swlbr_error *error = swlbr_sample_profile_create(&places);

	if (!error && (!numbers || !place))
		error = swlbr_error_no_memory();
	if (!error)
		error = find_places(copying, places, place);
	for (size_t i = 0; !error && i < places->record_index.nr; i++)
		error = add_place(copying, &places->records[i], &place[i], &numbers[i]);
	for (size_t i = 0; !error && i < nr; i++)
		copying->records[i] = numbers[copying->records[i]];
	swlbr_sample_profile_destroy(places);
	free(numbers);
	free(place);
	return error;
}

static struct swlbr_error *copy_targets(struct copying *copying)
{
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < copying->from->target_index.nr; i++) {
		const struct sample_target *target = &copying->from->targets[i];
		uint32_t name;

		if (copying->records[target->record] == NO_RECORD)
			continue;
		error = copy_name(copying, copying->from->names[target->name], &name);
		if (!error)
			error = sample_target(copying->to, copying->records[target->record], name,
					      target->count);
	}
	return error;
}

/* A function without counts did not run: gcc takes one that is not there for unknown. */
static struct swlbr_error *add_symbols(struct copying *copying)
{
	const struct swlbr_sample_profile *from = copying->from;
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < from->nr_symbols; i++) {
		uint32_t name, node;

		error = copy_name(copying, from->names[from->symbols[i]], &name);
		if (!error)
			error = sample_node(copying->to, SAMPLE_TOP, (struct sample_place){ 0 },
					    name, &node);
	}
	return error;
}

/* A copy with one entry for each place, under the names that gcc knows. */
static struct swlbr_error *make_copy(const struct swlbr_sample_profile *profile,
				     unsigned int version, unsigned int flags,
				     struct swlbr_sample_profile **ret)
{
	struct copying copying = {
		.from = profile,
		.version = version,
		.nodes = reallocarray(NULL, profile->node_index.nr + 1, sizeof(uint32_t)),
		.records = reallocarray(NULL, profile->record_index.nr + 1, sizeof(uint32_t)),
	};
	struct swlbr_error *error = NULL;
	uint32_t name;

	if (!copying.nodes || !copying.records)
		error = swlbr_error_no_memory();
	if (!error)
		error = swlbr_sample_profile_create(&copying.to);
	/* gcc takes a call target of number 0 for none. */
	if (!error)
		error = sample_name(copying.to, "", 0, &name);
	if (!error)
		error = copy_nodes(&copying);
	if (!error)
		error = copy_records(&copying);
	if (!error)
		error = copy_targets(&copying);
	if (!error && (flags & SWLBR_SAMPLE_SYMBOL_LIST))
		error = add_symbols(&copying);
	free(copying.nodes);
	free(copying.records);
	if (error) {
		swlbr_sample_profile_destroy(copying.to);
		return error;
	}
	*ret = copying.to;
	return NULL;
}

/* gcc's counters are signed. */
static void put_counter(struct buffer *data, uint64_t value)
{
	buffer_u64(data, value > INT64_MAX ? INT64_MAX : value);
}

/* What gcc takes for hot: the least count of those that make up 99 % of all, or another share. */
static struct swlbr_error *put_summary(struct writer *writer)
{
	const struct swlbr_sample_profile *profile = writer->profile;
	uint64_t words[64], *cutoff = words + 2 + SUMMARY_FIELDS;
	struct profile_summary summary = { 0 };
	struct buffer *data = &writer->data;
	struct swlbr_error *error;

	error = sample_summary(profile, &writer->order, &summary);
	if (error)
		return error;
	_Static_assert(2 + SUMMARY_FIELDS + 3 * SUMMARY_CUTOFFS <= 64, "fits");
	profile_summary_encode(&summary, words);
	profile_summary_deinit(&summary);
	buffer_u32(data, GCC_TAG_SUMMARY);
	put_counter(data, words[2 + SUMMARY_TOTAL_COUNT]);
	put_counter(data, words[2 + SUMMARY_MAX_COUNT]);
	put_counter(data, words[2 + SUMMARY_MAX_FUNCTION_COUNT]);
	put_counter(data, words[2 + SUMMARY_NR_COUNTS]);
	put_counter(data, words[2 + SUMMARY_NR_FUNCTIONS]);
	put_counter(data, SUMMARY_CUTOFFS);
	for (size_t i = 0; i < SUMMARY_CUTOFFS; i++, cutoff += 3) {
		buffer_u32(data, (uint32_t)cutoff[0]);
		put_counter(data, cutoff[1]);
		put_counter(data, cutoff[2]);
	}
	return NULL;
}

static void put_names(struct writer *writer)
{
	struct buffer *data = &writer->data;

	buffer_u32(data, GCC_TAG_NAMES);
	buffer_u32(data, 0);
	if (writer->version >= 3)
		buffer_u32(data, 0); /* source files */
	buffer_u32(data, (uint32_t)writer->profile->name_index.nr);
	for (size_t i = 0; i < writer->profile->name_index.nr; i++) {
		const char *name = writer->profile->names[i];

		buffer_u32(data, (uint32_t)strlen(name) + 1);
		buffer_bytes(data, name, strlen(name) + 1);
		if (writer->version >= 3)
			buffer_u32(data, GCC_NO_FILE);
	}
}

static void put_place(struct buffer *data, struct sample_place place)
{
	buffer_u32(data, place.line << 16 | place.discriminator);
}

static void put_record(struct writer *writer, uint32_t index)
{
	const struct sample_record *record = &writer->profile->records[index];
	const struct sample_order *order = &writer->order;
	struct buffer *data = &writer->data;

	put_place(data, record->place);
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
		put_place(data, writer->profile->nodes[order->calls[i]].place);
		put_body(writer, order->calls[i]);
	}
}

static struct swlbr_error *put_file(struct writer *writer)
{
	struct buffer *data = &writer->data;
	struct swlbr_error *error;

	buffer_u32(data, GCC_MAGIC);
	buffer_u32(data, writer->version);
	buffer_u32(data, 0);
	error = writer->version >= 3 ? put_summary(writer) : NULL;
	if (error)
		return error;
	put_names(writer);
	buffer_u32(data, GCC_TAG_FUNCTIONS);
	buffer_u32(data, 0);
	buffer_u32(data, (uint32_t)writer->order.nr_functions);
	for (size_t i = 0; i < writer->order.nr_functions; i++) {
		uint32_t index = writer->order.functions[i];

		put_counter(data, writer->profile->nodes[index].head);
		if (writer->version >= 3)
			put_counter(data, 0); /* when it first ran */
		put_body(writer, index);
	}
	buffer_u32(data, GCC_TAG_MODULES);
	buffer_u32(data, 0);
	buffer_u32(data, 0);
	return NULL;
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
						   unsigned int version, unsigned int flags,
						   const char *path)
{
	struct writer writer = { .version = version };
	struct swlbr_sample_profile *copy;
	struct swlbr_error *error;

	if (version < SWLBR_GCC_MIN_VERSION || version > SWLBR_GCC_MAX_VERSION)
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "%s: there is no auto-profile of version %u here", path,
					  version);
	error = make_copy(profile, version, flags, &copy);
	if (error)
		return error;
	writer.profile = copy;
	error = sample_order(copy, &writer.order);
	if (!error) {
		error = put_file(&writer);
		if (!error)
			error = write_file(&writer.data, path);
		sample_order_free(&writer.order);
	}
	buffer_free(&writer.data);
	swlbr_sample_profile_destroy(copy);
	return error;
}
