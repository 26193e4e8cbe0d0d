// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Writing of indexed profiles (.profdata). */
#include <stdlib.h>
#include <string.h>

#include <swlbr/instr_profile.h>

#include "profile/indexed_record.h"
#include "profile/llvm_profile_format.h"
#include "profile/output.h"
#include "profile/summary.h"

/* A name in the hash table, and where its functions are. */
struct entry {
	const struct profile_name *name;
	size_t first, nr; /* of the sources */
	struct entry *next;
};

struct bucket {
	struct entry *head; /* the last inserted first */
	uint64_t offset;
	uint64_t nr;
};

struct writing {
	struct profile_output out;
	const struct swlbr_profraws *set;
	const struct swlbr_reporter *reporter;
	struct indexed_source *sources;
	size_t nr_sources;
	struct entry *entries;
	size_t nr_entries;
	struct bucket *buckets;
	size_t nr_buckets;
	uint64_t flags;
	unsigned int version;
	struct profile_summary summary, cs_summary;
};

/* Words of the header before the summary. */
static unsigned int header_words(unsigned int version)
{
	if (version >= INDEXED_VERSION_VTABLES)
		return 9;
	if (version >= 10)
		return 8;
	if (version >= INDEXED_VERSION_BINARY_IDS)
		return 7;
	return 5;
}

enum header_offset {
	HEADER_HASH_TABLE = 4 * 8,
	HEADER_BINARY_IDS = 6 * 8,
	HEADER_VTABLE_NAMES = 8 * 8,
};

/* The variants that the indexed version word has too. */
#define KEPT_VARIANTS                                                                \
	(PROFILE_VARIANT_LOOP_ENTRIES | PROFILE_VARIANT_IR | PROFILE_VARIANT_CS_IR | \
	 PROFILE_VARIANT_INSTR_ENTRY | PROFILE_VARIANT_FUNCTION_ENTRY_ONLY)

static void raise_version(struct writing *writing, unsigned int version)
{
	if (writing->version < version)
		writing->version = version;
}

/* The lowest version that holds the data. Raw version 8 is of tools that may know only 7. */
static void choose_version(struct writing *writing)
{
	writing->version = INDEXED_VERSION_BASE;
	for (size_t i = 0; i < writing->set->nr; i++) {
		const struct swlbr_profraw *profile = writing->set->profiles[i];

		writing->flags |= profile->version_word & KEPT_VARIANTS;
		if (profile->nr_binary_ids && profile->version > 8)
			raise_version(writing, INDEXED_VERSION_BINARY_IDS);
		if (profile->bitmap.size)
			raise_version(writing, profile->version > 9 ? INDEXED_VERSION_VTABLES
								    : INDEXED_VERSION_BITMAP);
		if (profile->nr_vtables || profile->vtable_names.size)
			raise_version(writing, INDEXED_VERSION_VTABLES);
		for (size_t k = 0; k < profile->nr_functions; k++) {
			if (profile->functions[k].nr_sites[SWLBR_VALUE_VTABLE])
				raise_version(writing, INDEXED_VERSION_VTABLES);
		}
	}
}

static struct swlbr_error *make_entries(struct writing *writing)
{
	writing->entries = calloc(writing->nr_sources + 1, sizeof(*writing->entries));
	if (!writing->entries)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < writing->nr_sources; i++) {
		const struct profile_name *name = writing->sources[i].name;
		struct entry *entry = &writing->entries[writing->nr_entries];

		if (i && entry[-1].name->size == name->size &&
		    !memcmp(entry[-1].name->text, name->text, name->size)) {
			entry[-1].nr++;
			continue;
		}
		*entry = (struct entry){ .name = name, .first = i, .nr = 1 };
		writing->nr_entries++;
	}
	return NULL;
}

static void insert(struct bucket *buckets, size_t nr_buckets, struct entry *entry)
{
	struct bucket *bucket = &buckets[entry->name->hash & (nr_buckets - 1)];

	entry->next = bucket->head;
	bucket->head = entry;
	bucket->nr++;
}

static struct swlbr_error *resize(struct writing *writing, size_t nr_buckets)
{
	struct bucket *buckets = calloc(nr_buckets, sizeof(*buckets));

	if (!buckets)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < writing->nr_buckets; i++) {
		struct entry *entry = writing->buckets[i].head;

		while (entry) {
			struct entry *next = entry->next;

			insert(buckets, nr_buckets, entry);
			entry = next;
		}
	}
	free(writing->buckets);
	writing->buckets = buckets;
	writing->nr_buckets = nr_buckets;
	return NULL;
}

static size_t final_buckets(size_t nr_entries)
{
	size_t nr = 1;

	if (nr_entries <= 2)
		return 1;
	while (nr <= nr_entries * 4 / 3)
		nr *= 2;
	return nr;
}

/*
 * OnDiskChainedHashTableGenerator: the way the table grows decides the order of the functions in
 * the file, which llvm-profdata shows.
 */
static struct swlbr_error *make_table(struct writing *writing)
{
	struct swlbr_error *error = resize(writing, 64);

	for (size_t i = 0; !error && i < writing->nr_entries; i++) {
		if (4 * (i + 1) >= 3 * writing->nr_buckets)
			error = resize(writing, 2 * writing->nr_buckets);
		if (!error)
			insert(writing->buckets, writing->nr_buckets, &writing->entries[i]);
	}
	if (!error && final_buckets(writing->nr_entries) != writing->nr_buckets)
		error = resize(writing, final_buckets(writing->nr_entries));
	return error;
}

static void write_header(struct writing *writing)
{
	struct profile_output *out = &writing->out;
	unsigned int nr_words = header_words(writing->version);
	size_t nr_summary = profile_summary_words();

	output_u64(out, INDEXED_MAGIC);
	output_u64(out, writing->version | writing->flags);
	output_u64(out, 0);
	output_u64(out, INDEXED_HASH_MD5);
	if (writing->flags & PROFILE_VARIANT_CS_IR)
		nr_summary *= 2;
	for (size_t i = 4; i < nr_words + nr_summary; i++) /* filled in at the end */
		output_u64(out, 0);
}

static uint64_t record_size(const struct writing *writing, const struct indexed_record *record)
{
	uint64_t words = 2 + (uint64_t)record->nr_counts;

	if (writing->version >= INDEXED_VERSION_BITMAP)
		words += 1 + (uint64_t)record->nr_bitmap_bytes;
	return 8 * words + value_data_size(record->nr_sites, record->sites);
}

static void write_record(struct writing *writing, const struct indexed_record *record)
{
	struct profile_output *out = &writing->out;

	output_u64(out, record->func_hash);
	output_u64(out, record->nr_counts);
	for (uint32_t i = 0; i < record->nr_counts; i++)
		output_u64(out, record->counts[i]);
	if (writing->version >= INDEXED_VERSION_BITMAP) {
		output_u64(out, record->nr_bitmap_bytes);
		for (uint32_t i = 0; i < record->nr_bitmap_bytes; i++)
			output_u64(out, record->bitmap[i]);
	}
	output_value_data(out, record->nr_sites, record->sites, true);
}

static struct swlbr_error *summarize(struct writing *writing, const struct indexed_record *record)
{
	struct profile_summary *summary = &writing->summary;

	if (record->func_hash & FUNC_HASH_CS_FLAG)
		summary = &writing->cs_summary;
	return profile_summary_add(summary, record->counts, record->nr_counts);
}

/* All functions of one name: their size stands before them. */
static struct swlbr_error *write_entry(struct writing *writing, const struct entry *entry)
{
	struct indexed_record *records = calloc(entry->nr, sizeof(*records));
	struct swlbr_error *error = NULL;
	size_t nr = 0, done = 0;
	uint64_t size = 0;

	if (!records)
		return swlbr_error_no_memory();
	while (!error && done < entry->nr) {
		size_t used = 0;

		error = indexed_record_merge(writing->sources + entry->first + done,
					     entry->nr - done, writing->reporter, &records[nr],
					     &used);
		if (error)
			break;
		size += record_size(writing, &records[nr]);
		error = summarize(writing, &records[nr]);
		nr++;
		done += used;
	}
	output_u64(&writing->out, entry->name->hash);
	output_u64(&writing->out, entry->name->size);
	output_u64(&writing->out, size);
	output_bytes(&writing->out, entry->name->text, entry->name->size);
	for (size_t i = 0; i < nr; i++) {
		write_record(writing, &records[i]);
		indexed_record_deinit(&records[i]);
	}
	free(records);
	return error;
}

static struct swlbr_error *write_table(struct writing *writing)
{
	struct profile_output *out = &writing->out;
	uint64_t offset;

	for (size_t i = 0; i < writing->nr_buckets; i++) {
		struct bucket *bucket = &writing->buckets[i];
		uint8_t nr[2] = { (uint8_t)bucket->nr, (uint8_t)(bucket->nr >> 8) };

		if (!bucket->nr)
			continue;
		bucket->offset = swlbr_outfile_offset(out->file);
		output_bytes(out, nr, sizeof(nr));
		for (const struct entry *entry = bucket->head; entry; entry = entry->next) {
			struct swlbr_error *error = write_entry(writing, entry);

			if (error)
				return error;
		}
	}
	output_padding(out, swlbr_outfile_offset(out->file));
	offset = swlbr_outfile_offset(out->file);
	output_u64(out, writing->nr_buckets);
	output_u64(out, writing->nr_entries);
	for (size_t i = 0; i < writing->nr_buckets; i++)
		output_u64(out, writing->buckets[i].offset);
	output_patch_u64(out, HEADER_HASH_TABLE, offset);
	return NULL;
}

static int by_bytes(const void *left, const void *right)
{
	const struct profraw_bytes *a = *(struct profraw_bytes *const *)left;
	const struct profraw_bytes *b = *(struct profraw_bytes *const *)right;
	int order = memcmp(a->data, b->data, a->size < b->size ? a->size : b->size);

	return order ? order : (a->size > b->size) - (a->size < b->size);
}

static struct swlbr_error *write_binary_ids(struct writing *writing)
{
	const struct swlbr_profraws *set = writing->set;
	struct profile_output *out = &writing->out;
	const struct profraw_bytes **ids;
	size_t nr = 0, nr_distinct = 0;
	uint64_t size = 0;

	for (size_t i = 0; i < set->nr; i++)
		nr += set->profiles[i]->nr_binary_ids;
	ids = calloc(nr + 1, sizeof(*ids));
	if (!ids)
		return swlbr_error_no_memory();
	nr = 0;
	for (size_t i = 0; i < set->nr; i++) {
		for (size_t k = 0; k < set->profiles[i]->nr_binary_ids; k++)
			ids[nr++] = &set->profiles[i]->binary_ids[k];
	}
	qsort(ids, nr, sizeof(*ids), by_bytes);
	for (size_t i = 0; i < nr; i++) {
		if (nr_distinct && !by_bytes(&ids[nr_distinct - 1], &ids[i]))
			continue;
		ids[nr_distinct++] = ids[i];
		size += 8 + ((ids[i]->size + 7) & ~7ULL);
	}
	output_patch_u64(out, HEADER_BINARY_IDS, swlbr_outfile_offset(out->file));
	output_u64(out, size);
	for (size_t i = 0; i < nr_distinct; i++) {
		output_u64(out, ids[i]->size);
		output_bytes(out, ids[i]->data, ids[i]->size);
		output_padding(out, ids[i]->size);
	}
	free(ids);
	return NULL;
}

static int by_text(const void *left, const void *right)
{
	const struct profile_name *a = left, *b = right;
	int order = memcmp(a->text, b->text, a->size < b->size ? a->size : b->size);

	return order ? order : (a->size > b->size) - (a->size < b->size);
}

/* The distinct names of @tables as one blob; empty if there are none. */
static struct swlbr_error *encode_names(struct profile_names *const *tables, size_t nr_tables,
					struct profraw_bytes *ret)
{
	struct profile_name *names;
	size_t nr = 0, nr_distinct = 0;
	struct swlbr_error *error = NULL;

	for (size_t i = 0; i < nr_tables; i++)
		nr += tables[i] ? tables[i]->nr : 0;
	names = calloc(nr + 1, sizeof(*names));
	if (!names)
		return swlbr_error_no_memory();
	nr = 0;
	for (size_t i = 0; i < nr_tables; i++) {
		for (size_t k = 0; tables[i] && k < tables[i]->nr; k++)
			names[nr++] = tables[i]->names[k];
	}
	qsort(names, nr, sizeof(*names), by_text);
	for (size_t i = 0; i < nr; i++) {
		if (!nr_distinct || by_text(&names[nr_distinct - 1], &names[i]))
			names[nr_distinct++] = names[i];
	}
	if (nr_distinct)
		error = profile_names_encode(names, nr_distinct, &ret->data, &ret->size);
	free(names);
	return error;
}

static struct swlbr_error *write_vtable_names(struct writing *writing)
{
	const struct swlbr_profraws *set = writing->set;
	struct profile_output *out = &writing->out;
	struct profraw_bytes blob = { 0 };
	struct profile_names **tables;
	struct swlbr_error *error = NULL;

	tables = calloc(set->nr + 1, sizeof(*tables));
	if (!tables)
		return swlbr_error_no_memory();
	for (size_t i = 0; !error && i < set->nr; i++) {
		struct cursor section = { .file = set->profiles[i]->name,
					  .data = set->profiles[i]->vtable_names.data,
					  .size = set->profiles[i]->vtable_names.size };

		error = profile_names_decode(section, &tables[i]);
		if (error && error->code == SWLBR_ERROR_FORMAT) {
			/* Names are only for people: hashes are in the values. */
			if (writing->reporter && writing->reporter->report)
				writing->reporter->report(writing->reporter->context,
							  error->message);
			swlbr_error_destroy(error);
			error = NULL;
		}
	}
	if (!error)
		error = encode_names(tables, set->nr, &blob);
	for (size_t i = 0; i < set->nr; i++)
		profile_names_destroy(tables[i]);
	free(tables);
	if (error)
		return error;
	output_patch_u64(out, HEADER_VTABLE_NAMES, swlbr_outfile_offset(out->file));
	output_u64(out, blob.size);
	output_bytes(out, blob.data, blob.size);
	output_padding(out, blob.size);
	free(blob.data);
	return NULL;
}

static struct swlbr_error *write_summary(struct writing *writing, struct profile_summary *summary,
					 size_t index)
{
	size_t nr = profile_summary_words();
	uint64_t offset = 8ULL * (header_words(writing->version) + index * nr);
	uint64_t *words = calloc(nr, sizeof(*words));

	if (!words)
		return swlbr_error_no_memory();
	profile_summary_encode(summary, words);
	for (size_t i = 0; i < nr; i++)
		output_patch_u64(&writing->out, offset + 8 * i, words[i]);
	free(words);
	return NULL;
}

static struct swlbr_error *write_all(struct writing *writing)
{
	struct swlbr_error *error;

	write_header(writing);
	error = write_table(writing);
	if (!error && writing->version >= INDEXED_VERSION_BINARY_IDS)
		error = write_binary_ids(writing);
	if (!error && writing->version >= INDEXED_VERSION_VTABLES)
		error = write_vtable_names(writing);
	if (!error)
		error = write_summary(writing, &writing->summary, 0);
	if (!error && (writing->flags & PROFILE_VARIANT_CS_IR))
		error = write_summary(writing, &writing->cs_summary, 1);
	return error;
}

static struct swlbr_error *prepare(struct writing *writing)
{
	struct swlbr_error *error;

	error = profraw_check_variants(writing->set);
	if (!error)
		error = indexed_sources(writing->set, &writing->sources, &writing->nr_sources);
	if (!error)
		error = make_entries(writing);
	if (!error)
		error = make_table(writing);
	if (!error)
		choose_version(writing);
	return error;
}

struct swlbr_error *swlbr_instr_profile_write(const struct swlbr_profraws *set, const char *path,
					      const struct swlbr_reporter *reporter)
{
	struct writing writing = { .set = set, .reporter = reporter };
	struct swlbr_error *error;

	error = prepare(&writing);
	if (!error)
		error = output_open(&writing.out, path);
	if (!error) {
		error = write_all(&writing);
		if (error) { /* before anything that went wrong in the output */
			swlbr_error_destroy(writing.out.error);
			writing.out.error = error;
		}
		error = output_commit(&writing.out);
	}
	profile_summary_deinit(&writing.summary);
	profile_summary_deinit(&writing.cs_summary);
	free(writing.buckets);
	free(writing.entries);
	free(writing.sources);
	return error;
}
