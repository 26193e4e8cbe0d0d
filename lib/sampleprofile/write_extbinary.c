// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The extensible binary form of a sample profile, of LLVM 12 and later (version 103;
 * llvm/lib/ProfileData/SampleProfWriter.cpp, include/llvm/ProfileData/SampleProf.h): a magic
 * number, a table of sections, the sections. Numbers are LEB128 where nothing else is said.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buffer.h"
#include "base/outfile.h"
#include "profile/llvm_profile_format.h"
#include "profile/names.h"
#include "profile/summary.h"
#include "sample_profile.h"

/* "SPROF42" and the number of the form, 4. */
#define EXTBINARY_MAGIC	  0x5350524f46343204ULL
#define EXTBINARY_VERSION 103

enum section_type {
	SECTION_SUMMARY = 1,
	SECTION_NAMES = 2,
	SECTION_SYMBOLS = 3,
	SECTION_OFFSETS = 4,
	SECTION_METADATA = 5,
	SECTION_CONTEXT_NAMES = 6,
	SECTION_PROFILES = 32,
};

#define FLAG_COMPRESSED	     (1ULL << 0)
#define FLAG_OF_SECTION(bit) (1ULL << (32 + (bit)))
#define FLAG_NAMES_MD5	     (FLAG_OF_SECTION(0) | FLAG_OF_SECTION(1)) /* of fixed length */
#define FLAG_NAMES_UNIQUE    FLAG_OF_SECTION(2)
#define FLAG_SUMMARY_FS	     FLAG_OF_SECTION(2)

/* The table's order is the one in which readers go; offsets are known only after the profiles. */
static const enum section_type table_order[] = {
	SECTION_SUMMARY,  SECTION_NAMES,   SECTION_CONTEXT_NAMES, SECTION_OFFSETS,
	SECTION_PROFILES, SECTION_SYMBOLS, SECTION_METADATA,
};
#define NR_SECTIONS (sizeof(table_order) / sizeof(table_order[0]))

/* Their order in the file, as indices of the table. */
static const unsigned int file_order[NR_SECTIONS] = { 0, 1, 2, 4, 5, 3, 6 };

struct section {
	uint64_t flags;
	struct buffer data; /* uncompressed */
};

struct writer {
	const struct swlbr_sample_profile *profile;
	struct sample_order order;
	unsigned int flags;
	uint32_t *names;      /* numbers of the names in use, sorted by name */
	uint32_t *name_index; /* where in @names a name is */
	uint64_t *offsets;    /* of functions in the profiles, in order */
	size_t nr_names;
	struct section sections[NR_SECTIONS];
};

static struct buffer *section_data(struct writer *writer, enum section_type type)
{
	for (size_t i = 0; i < NR_SECTIONS; i++)
		if (table_order[i] == type)
			return &writer->sections[i].data;
	return NULL;
}

static void set_flags(struct writer *writer, enum section_type type, uint64_t flags)
{
	for (size_t i = 0; i < NR_SECTIONS; i++)
		if (table_order[i] == type)
			writer->sections[i].flags |= flags;
}

static int by_name(const void *left, const void *right, void *context)
{
	char **names = context;

	return strcmp(names[*(const uint32_t *)left], names[*(const uint32_t *)right]);
}

/* Sort out which names are in use; the others came with what was merged or left out. */
static struct swlbr_error *collect_names(struct writer *writer)
{
	const struct swlbr_sample_profile *profile = writer->profile;
	size_t nr = profile->name_index.nr;

	writer->names = calloc(nr + 1, sizeof(uint32_t));
	writer->name_index = calloc(nr + 1, sizeof(uint32_t));
	if (!writer->names || !writer->name_index)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < profile->node_index.nr; i++)
		writer->name_index[profile->nodes[i].name] = 1;
	for (size_t i = 0; i < profile->target_index.nr; i++)
		writer->name_index[profile->targets[i].name] = 1;
	for (uint32_t i = 0; i < nr; i++)
		if (writer->name_index[i])
			writer->names[writer->nr_names++] = i;
	qsort_r(writer->names, writer->nr_names, sizeof(uint32_t), by_name, profile->names);
	for (uint32_t i = 0; i < writer->nr_names; i++)
		writer->name_index[writer->names[i]] = i;
	return NULL;
}

static void put_names(struct writer *writer)
{
	struct buffer *data = section_data(writer, SECTION_NAMES);
	bool md5 = writer->flags & SWLBR_SAMPLE_MD5;

	if (md5)
		set_flags(writer, SECTION_NAMES, FLAG_NAMES_MD5);
	buffer_uleb128(data, writer->nr_names);
	for (size_t i = 0; i < writer->nr_names; i++) {
		const char *name = writer->profile->names[writer->names[i]];

		if (md5) {
			buffer_u64(data, profile_name_hash(name, strlen(name)));
			continue;
		}
		buffer_bytes(data, name, strlen(name) + 1);
		/* Such names must not lose that suffix when they are looked for. */
		if (strstr(name, ".__uniq."))
			set_flags(writer, SECTION_NAMES, FLAG_NAMES_UNIQUE);
	}
}

static struct swlbr_error *put_summary(struct writer *writer)
{
	struct buffer *data = section_data(writer, SECTION_SUMMARY);
	struct profile_summary summary = { 0 };
	struct swlbr_error *error;
	uint64_t words[64];

	error = sample_summary(writer->profile, &writer->order, &summary);
	if (error)
		return error;
	_Static_assert(2 + SUMMARY_FIELDS + 3 * SUMMARY_CUTOFFS <= 64, "fits");
	profile_summary_encode(&summary, words);
	profile_summary_deinit(&summary);
	buffer_uleb128(data, words[2 + SUMMARY_TOTAL_COUNT]);
	buffer_uleb128(data, words[2 + SUMMARY_MAX_COUNT]);
	buffer_uleb128(data, words[2 + SUMMARY_MAX_FUNCTION_COUNT]);
	buffer_uleb128(data, words[2 + SUMMARY_NR_COUNTS]);
	buffer_uleb128(data, words[2 + SUMMARY_NR_FUNCTIONS]);
	buffer_uleb128(data, SUMMARY_CUTOFFS);
	for (size_t i = 0; i < 3 * SUMMARY_CUTOFFS; i++)
		buffer_uleb128(data, words[2 + SUMMARY_FIELDS + i]);
	if (writer->profile->fs_discriminators)
		set_flags(writer, SECTION_SUMMARY, FLAG_SUMMARY_FS);
	return NULL;
}

static void put_place(struct buffer *data, struct sample_place place)
{
	buffer_uleb128(data, place.line);
	buffer_uleb128(data, place.discriminator);
}

static void put_record(struct writer *writer, struct buffer *data, uint32_t index)
{
	const struct sample_order *order = &writer->order;
	const struct sample_record *record = &writer->profile->records[index];

	put_place(data, record->place);
	buffer_uleb128(data, record->count);
	buffer_uleb128(data, order->target_start[index + 1] - order->target_start[index]);
	for (uint32_t i = order->target_start[index]; i < order->target_start[index + 1]; i++) {
		const struct sample_target *target = &writer->profile->targets[order->targets[i]];

		buffer_uleb128(data, writer->name_index[target->name]);
		buffer_uleb128(data, target->count);
	}
}

/* A function or inlined call, without what comes before its name. */
static void put_body(struct writer *writer, struct buffer *data, uint32_t index)
{
	const struct sample_order *order = &writer->order;
	const struct sample_node *node = &writer->profile->nodes[index];

	buffer_uleb128(data, writer->name_index[node->name]);
	buffer_uleb128(data, node->total);
	buffer_uleb128(data, order->record_start[index + 1] - order->record_start[index]);
	for (uint32_t i = order->record_start[index]; i < order->record_start[index + 1]; i++)
		put_record(writer, data, order->records[i]);
	buffer_uleb128(data, order->call_start[index + 1] - order->call_start[index]);
	for (uint32_t i = order->call_start[index]; i < order->call_start[index + 1]; i++) {
		put_place(data, writer->profile->nodes[order->calls[i]].place);
		put_body(writer, data, order->calls[i]);
	}
}

static void put_profiles(struct writer *writer)
{
	struct buffer *data = section_data(writer, SECTION_PROFILES);

	for (size_t i = 0; i < writer->order.nr_functions; i++) {
		uint32_t index = writer->order.functions[i];

		writer->offsets[i] = data->size;
		buffer_uleb128(data, writer->profile->nodes[index].head);
		put_body(writer, data, index);
	}
}

static void put_offsets(struct writer *writer)
{
	struct buffer *data = section_data(writer, SECTION_OFFSETS);

	buffer_uleb128(data, writer->order.nr_functions);
	for (size_t i = 0; i < writer->order.nr_functions; i++) {
		const struct sample_node *node =
			&writer->profile->nodes[writer->order.functions[i]];

		buffer_uleb128(data, writer->name_index[node->name]);
		buffer_uleb128(data, writer->offsets[i]);
	}
}

static struct swlbr_error *put_symbols(struct writer *writer)
{
	const struct swlbr_sample_profile *profile = writer->profile;
	struct buffer *data = section_data(writer, SECTION_SYMBOLS);
	uint32_t *names;

	if (!(writer->flags & SWLBR_SAMPLE_SYMBOL_LIST))
		return NULL;
	names = reallocarray(NULL, profile->nr_symbols + 1, sizeof(*names));
	if (!names)
		return swlbr_error_no_memory();
	if (profile->nr_symbols)
		memcpy(names, profile->symbols, profile->nr_symbols * sizeof(*names));
	qsort_r(names, profile->nr_symbols, sizeof(*names), by_name, profile->names);
	for (size_t i = 0; i < profile->nr_symbols; i++)
		if (!i || names[i] != names[i - 1])
			buffer_bytes(data, profile->names[names[i]],
				     strlen(profile->names[names[i]]) + 1);
	free(names);
	return NULL;
}

static struct swlbr_error *fill(struct writer *writer)
{
	struct swlbr_error *error = collect_names(writer);

	writer->offsets = calloc(writer->order.nr_functions + 1, sizeof(uint64_t));
	if (!error && !writer->offsets)
		error = swlbr_error_no_memory();
	if (!error)
		error = put_summary(writer);
	if (!error)
		error = put_symbols(writer);
	if (error)
		return error;
	put_names(writer);
	buffer_uleb128(section_data(writer, SECTION_CONTEXT_NAMES), 0);
	put_profiles(writer);
	put_offsets(writer);
	for (size_t i = 0; i < NR_SECTIONS; i++)
		if (writer->sections[i].data.failed)
			return swlbr_error_no_memory();
	return NULL;
}

/* The sizes before and after, then the bytes. An empty section stays empty. */
static struct swlbr_error *compress_section(struct section *section)
{
	struct buffer packed = { 0 };
	uLongf size = compressBound(section->data.size);
	uint8_t *bytes;

	section->flags |= FLAG_COMPRESSED;
	if (!section->data.size)
		return NULL;
	bytes = malloc(size);
	if (!bytes)
		return swlbr_error_no_memory();
	if (compress2(bytes, &size, section->data.data, section->data.size, Z_BEST_COMPRESSION) ==
	    Z_OK) {
		buffer_uleb128(&packed, section->data.size);
		buffer_uleb128(&packed, size);
		buffer_bytes(&packed, bytes, size);
	} else {
		packed.failed = true;
	}
	free(bytes);
	buffer_free(&section->data);
	section->data = packed;
	return packed.failed ? swlbr_error_no_memory() : NULL;
}

/* What comes before the sections. */
static void put_head(const struct writer *writer, struct buffer *head)
{
	uint64_t sizes[NR_SECTIONS], at;

	buffer_uleb128(head, EXTBINARY_MAGIC);
	buffer_uleb128(head, EXTBINARY_VERSION);
	buffer_u64(head, NR_SECTIONS);
	at = head->size + NR_SECTIONS * 4 * sizeof(uint64_t);
	for (size_t i = 0; i < NR_SECTIONS; i++) {
		sizes[file_order[i]] = at;
		at += writer->sections[file_order[i]].data.size;
	}
	for (size_t i = 0; i < NR_SECTIONS; i++) {
		buffer_u64(head, table_order[i]);
		buffer_u64(head, writer->sections[i].flags);
		buffer_u64(head, sizes[i]);
		buffer_u64(head, writer->sections[i].data.size);
	}
}

static struct swlbr_error *write_file(const struct writer *writer, const char *path)
{
	struct swlbr_outfile *file;
	struct buffer head = { 0 };
	struct swlbr_error *error = swlbr_outfile_open(path, &file);

	if (error)
		return error;
	put_head(writer, &head);
	error = head.failed ? swlbr_error_no_memory()
			    : swlbr_outfile_write(file, head.data, head.size);
	for (size_t i = 0; !error && i < NR_SECTIONS; i++) {
		const struct buffer *data = &writer->sections[file_order[i]].data;

		if (data->size)
			error = swlbr_outfile_write(file, data->data, data->size);
	}
	buffer_free(&head);
	if (error) {
		swlbr_outfile_discard(file);
		return error;
	}
	return swlbr_outfile_commit(file);
}

struct swlbr_error *swlbr_sample_profile_write_extbinary(const struct swlbr_sample_profile *profile,
							 unsigned int flags, const char *path)
{
	struct writer writer = { .profile = profile, .flags = flags };
	struct swlbr_error *error = sample_order(profile, &writer.order);

	if (error)
		return error;
	error = fill(&writer);
	for (size_t i = 0; !error && (flags & SWLBR_SAMPLE_COMPRESS) && i < NR_SECTIONS; i++)
		error = compress_section(&writer.sections[i]);
	if (!error)
		error = write_file(&writer, path);
	for (size_t i = 0; i < NR_SECTIONS; i++)
		buffer_free(&writer.sections[i].data);
	free(writer.names);
	free(writer.name_index);
	free(writer.offsets);
	sample_order_free(&writer.order);
	return error;
}
