// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Reading of .profraw files, and repair of damaged ones: function by function. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/infile.h"
#include "profile/llvm_profile_format.h"
#include "profile/profraw.h"

/* One raw profile being read. */
struct reading {
	struct cursor cursor;
	struct swlbr_profraw *profile;
	const struct swlbr_reporter *reporter;
	uint64_t header[PROFRAW_HEADER_WORDS];
	const struct llvm_record_layout *layout;
	uint64_t nr_sites;    /* claimed so far */
	uint64_t nr_counters; /* that are there */
	bool cut_off;	      /* the file ends inside this profile */
	bool lost;	      /* the place of the next profile is not known */
};

static void report(const struct swlbr_reporter *reporter, const char *line)
{
	if (reporter && reporter->report)
		reporter->report(reporter->context, line);
}

static void report_error(const struct swlbr_reporter *reporter, struct swlbr_error *error)
{
	report(reporter, error->message);
	swlbr_error_destroy(error);
}

static uint64_t swap64(uint64_t value)
{
	return __builtin_bswap64(value);
}

static bool is_magic(uint64_t word)
{
	return word == PROFRAW_MAGIC_64 || word == PROFRAW_MAGIC_32;
}

/* The first word, read as little-endian. */
static bool is_any_magic(uint64_t word)
{
	return is_magic(word) || is_magic(swap64(word));
}

static struct swlbr_error *unsupported(const struct cursor *cursor, const char *what)
{
	return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED, "%s: %s", cursor->file, what);
}

/* Sets the byte order, and reads past the magic. */
static struct swlbr_error *read_magic(struct cursor *cursor)
{
	struct swlbr_error *error;
	uint64_t word = 0;

	cursor->big_endian = false;
	error = cursor_u64(cursor, "header", &word);
	if (error)
		return error;
	if (!is_any_magic(word)) {
		cursor->at -= sizeof(word);
		return cursor_error(cursor, "not a raw profile");
	}
	cursor->big_endian = !is_magic(word);
	if (word == PROFRAW_MAGIC_32 || swap64(word) == PROFRAW_MAGIC_32)
		return unsupported(cursor, "profiles of 32-bit programs are not read");
	return NULL;
}

static struct swlbr_error *check_version(const struct cursor *cursor, uint64_t word)
{
	uint64_t version = word & PROFILE_VERSION_MASK;
	char text[128];

	if (version < LLVM_RAW_VERSION_MIN || version > LLVM_RAW_VERSION_MAX) {
		snprintf(text, sizeof(text),
			 "raw profile version %" PRIu64
			 " is not known (8 to 10 are: LLVM 14 to 22)",
			 version);
		return unsupported(cursor, text);
	}
	if (word & PROFILE_VARIANT_BYTE_COVERAGE)
		return unsupported(cursor, "has one-byte coverage flags instead of counters");
	if (word & PROFILE_VARIANT_DBG_CORRELATE)
		return unsupported(cursor, "its data records are in debug info");
	if (word & PROFILE_VARIANT_TEMPORAL)
		return unsupported(cursor, "temporal profiles are not read");
	return NULL;
}

static struct swlbr_error *read_header(struct reading *reading)
{
	struct cursor *cursor = &reading->cursor;
	struct swlbr_profraw *profile = reading->profile;
	struct swlbr_error *error;

	error = read_magic(cursor);
	if (!error)
		error = cursor_u64(cursor, "header", &reading->header[PROFRAW_VERSION]);
	if (!error)
		error = check_version(cursor, reading->header[PROFRAW_VERSION]);
	if (error)
		return error;
	profile->version_word = reading->header[PROFRAW_VERSION];
	profile->version = (unsigned int)(profile->version_word & PROFILE_VERSION_MASK);
	profile->big_endian = cursor->big_endian;
	reading->layout = &llvm_record_layouts[profile->version];
	for (unsigned int i = PROFRAW_VERSION + 1; i < PROFRAW_HEADER_WORDS; i++) {
		if (profraw_header_since[i] > profile->version)
			continue;
		error = cursor_u64(cursor, "header", &reading->header[i]);
		if (error)
			return error;
	}
	profile->counters_delta = reading->header[PROFRAW_COUNTERS_DELTA];
	profile->bitmap_delta = reading->header[PROFRAW_BITMAP_DELTA];
	profile->names_delta = reading->header[PROFRAW_NAMES_DELTA];
	return NULL;
}

static struct swlbr_error *read_binary_ids(struct reading *reading)
{
	struct swlbr_error *error;
	struct cursor ids;

	error = cursor_sub(&reading->cursor, "binary ids", reading->header[PROFRAW_BINARY_IDS_SIZE],
			   &ids);
	while (!error && cursor_left(&ids)) {
		const uint8_t *bytes;
		uint64_t size = 0;

		error = cursor_u64(&ids, "length of a binary id", &size);
		if (!error)
			error = cursor_bytes(&ids, "binary id", size, &bytes);
		if (!error)
			error = cursor_bytes(&ids, "padding of a binary id", -size & 7, NULL);
		if (!error && size)
			error = profraw_add_binary_id(reading->profile, bytes, size);
	}
	return error;
}

/* At @at in a record: inside it, so nothing can fail. */
static uint64_t record_field(const struct cursor *record, size_t at, size_t size)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)record->data[record->big_endian ? at + size - 1 - i : at + i]
			 << 8 * i;
	return value;
}

static struct swlbr_error *read_records(struct reading *reading)
{
	const struct llvm_record_layout *layout = reading->layout;
	struct swlbr_profraw *profile = reading->profile;
	uint64_t nr = reading->header[PROFRAW_NR_DATA];

	if (nr > cursor_left(&reading->cursor) / layout->size)
		return cursor_error(&reading->cursor,
				    "%" PRIu64 " data records do not fit in the file", nr);
	profile->functions = calloc(nr + 1, sizeof(*profile->functions));
	if (!profile->functions)
		return swlbr_error_no_memory();
	for (uint64_t i = 0; i < nr; i++) {
		struct profraw_function *function = &profile->functions[profile->nr_functions++];
		struct swlbr_error *error;
		struct cursor record;

		error = cursor_sub(&reading->cursor, "data record", layout->size, &record);
		if (error)
			return error;
		function->name_ref = record_field(&record, LLVM_RECORD_NAME_REF, 8);
		function->func_hash = record_field(&record, LLVM_RECORD_FUNC_HASH, 8);
		function->function_pointer = record_field(&record, layout->function_pointer, 8);
		function->values = record_field(&record, layout->values, 8);
		function->nr_counters = (uint32_t)record_field(&record, layout->nr_counters, 4);
		/* In bytes from the section's beginning, checked when all is read. */
		function->first_counter = record_field(&record, LLVM_RECORD_COUNTER_POINTER, 8) -
					  (profile->counters_delta - i * layout->size);
		if (layout->nr_bitmap_bytes) {
			function->nr_bitmap_bytes =
				(uint32_t)record_field(&record, layout->nr_bitmap_bytes, 4);
			function->first_bitmap = record_field(&record, layout->bitmap_pointer, 8) -
						 (profile->bitmap_delta - i * layout->size);
		}
		for (unsigned int kind = 0; kind < layout->nr_kinds; kind++)
			function->nr_sites[kind] =
				(uint16_t)record_field(&record, layout->nr_sites + 2 * kind, 2);
	}
	return NULL;
}

/*
 * The next @size bytes, or as many as are there. Once the file has ended, all is empty; a claim
 * of no bytes is not cut off.
 */
static struct cursor read_rest(struct reading *reading, uint64_t size)
{
	struct cursor rest = reading->cursor;

	rest.data += rest.at;
	rest.base += rest.at;
	rest.at = 0;
	rest.size = reading->cut_off ? 0 : cursor_left(&reading->cursor);
	if (size > rest.size)
		reading->cut_off = true;
	else
		rest.size = size;
	reading->cursor.at += rest.size;
	return rest;
}

static struct swlbr_error *read_counters(struct reading *reading)
{
	struct swlbr_profraw *profile = reading->profile;
	uint64_t nr = reading->header[PROFRAW_NR_COUNTERS];
	struct cursor counters;

	read_rest(reading, reading->header[PROFRAW_PADDING_BEFORE_COUNTERS]);
	counters = read_rest(reading, nr > UINT64_MAX / 8 ? UINT64_MAX : nr * 8);
	reading->nr_counters = counters.size / 8;
	profile->counters = calloc(reading->nr_counters + 1, sizeof(*profile->counters));
	if (!profile->counters)
		return swlbr_error_no_memory();
	for (uint64_t i = 0; i < reading->nr_counters; i++)
		profile->counters[i] = record_field(&counters, 8 * i, 8);
	profile->nr_counters = reading->nr_counters;
	read_rest(reading, reading->header[PROFRAW_PADDING_AFTER_COUNTERS]);
	return NULL;
}

static struct swlbr_error *read_bytes(struct reading *reading, uint64_t size,
				      struct profraw_bytes *bytes)
{
	struct cursor rest = read_rest(reading, size);

	return profraw_bytes_copy(bytes, rest.data, rest.size);
}

static struct swlbr_error *read_vtables(struct reading *reading)
{
	struct swlbr_profraw *profile = reading->profile;
	uint64_t nr = reading->header[PROFRAW_NR_VTABLES];
	struct cursor vtables;

	vtables = read_rest(reading, nr > UINT64_MAX / PROFRAW_VTABLE_SIZE
					     ? UINT64_MAX
					     : nr * PROFRAW_VTABLE_SIZE);
	nr = vtables.size / PROFRAW_VTABLE_SIZE;
	profile->vtables = calloc(nr + 1, sizeof(*profile->vtables));
	if (!profile->vtables)
		return swlbr_error_no_memory();
	for (uint64_t i = 0; i < nr; i++)
		profile->vtables[i] = (struct profraw_vtable){
			.name_hash = record_field(&vtables, i * PROFRAW_VTABLE_SIZE, 8),
			.address = record_field(&vtables, i * PROFRAW_VTABLE_SIZE + 8, 8),
			.size = (uint32_t)record_field(&vtables, i * PROFRAW_VTABLE_SIZE + 16, 4),
		};
	profile->nr_vtables = nr;
	return NULL;
}

static void damage(struct reading *reading, struct profraw_function *function, const char *why)
{
	function->damaged = true;
	profraw_report(reading->profile, function, reading->reporter, "%s; left out", why);
}

/* Why @function's counters are of no use, or NULL. Makes first_counter an index. */
static const char *counters_fault(struct reading *reading, struct profraw_function *function)
{
	uint64_t at = function->first_counter, claimed = reading->header[PROFRAW_NR_COUNTERS];
	struct swlbr_profraw *profile = reading->profile;

	if (!function->nr_counters)
		return "has no counters";
	if (at % 8 || at / 8 >= claimed || function->nr_counters > claimed - at / 8)
		return "its counters are outside the counters section";
	function->first_counter = at / 8;
	if (at / 8 >= profile->nr_counters || function->nr_counters > profile->nr_counters - at / 8)
		return "the file is cut off before its counters end";
	for (uint32_t i = 0; i < function->nr_counters; i++) {
		if (profile->counters[function->first_counter + i] > COUNTER_PLAUSIBLE_MAX)
			return "a counter is over 2^56: wrapped around or overwritten";
	}
	if (function->nr_bitmap_bytes &&
	    (function->first_bitmap >= profile->bitmap.size ||
	     function->nr_bitmap_bytes > profile->bitmap.size - function->first_bitmap))
		return "its bitmap is outside the bitmap section";
	return NULL;
}

/* Sites cost memory; a sound file has a byte for each. */
static bool sites_are_plausible(struct reading *reading, const struct profraw_function *function)
{
	reading->nr_sites += profraw_function_sites(function);
	return reading->nr_sites <= reading->cursor.size;
}

static void check_functions(struct reading *reading)
{
	struct swlbr_profraw *profile = reading->profile;

	for (size_t i = 0; i < profile->nr_functions; i++) {
		struct profraw_function *function = &profile->functions[i];
		const char *why = counters_fault(reading, function);

		if (!sites_are_plausible(reading, function)) {
			reading->nr_sites -= profraw_function_sites(function);
			memset(function->nr_sites, 0, sizeof(function->nr_sites));
			reading->lost = true;
			why = "has more value sites than the file has bytes";
		}
		if (why)
			damage(reading, function, why);
	}
	/* Not before: functions may, in damaged files, share counters. */
	for (size_t i = 0; i < profile->nr_counters; i++) {
		if (profile->counters[i] > COUNTER_PLAUSIBLE_MAX)
			profile->counters[i] = 0;
	}
}

/* The values of the sites of one kind. */
static struct swlbr_error *read_value_record(struct reading *reading, struct cursor *data,
					     const struct profraw_function *function)
{
	uint32_t kind = 0, nr_sites = 0;
	const uint8_t *nr_values;
	struct swlbr_error *error;

	error = cursor_u32(data, "kind of values", &kind);
	if (!error)
		error = cursor_u32(data, "number of value sites", &nr_sites);
	if (error)
		return error;
	if (kind >= SWLBR_VALUE_KINDS || nr_sites != function->nr_sites[kind])
		return cursor_error(data, "%u value sites of kind %u", nr_sites, kind);
	error = cursor_bytes(data, "value sites", ((uint64_t)nr_sites + 7) & ~7ULL, &nr_values);
	for (uint32_t i = 0; !error && i < nr_sites; i++) {
		struct value_site *site = profraw_site(reading->profile, function, kind, i);
		uint32_t nr = nr_values[i];
		struct cursor entries;

		error = cursor_sub(data, "values", (uint64_t)nr * VALUE_ENTRY_SIZE, &entries);
		if (error || !nr)
			continue;
		free(site->values); /* of the same kind before, in a damaged file */
		site->nr = 0;
		site->values = calloc(nr, sizeof(*site->values));
		if (!site->values)
			return swlbr_error_no_memory();
		for (; site->nr < nr; site->nr++)
			site->values[site->nr] = (struct swlbr_value){
				.value = record_field(&entries, site->nr * VALUE_ENTRY_SIZE, 8),
				.nr = record_field(&entries, site->nr * VALUE_ENTRY_SIZE + 8, 8),
			};
	}
	return error;
}

static struct swlbr_error *read_value_data(struct reading *reading,
					   const struct profraw_function *function)
{
	uint32_t size = 0, nr_kinds = 0;
	struct swlbr_error *error;
	struct cursor data, start = reading->cursor;

	error = cursor_u32(&start, "value data", &size);
	if (!error)
		error = cursor_sub(&reading->cursor, "value data", size, &data);
	if (!error)
		error = cursor_u32(&data, "value data", &size);
	if (!error)
		error = cursor_u32(&data, "value data", &nr_kinds);
	if (!error && (size % 8 || nr_kinds > SWLBR_VALUE_KINDS))
		error = cursor_error(&data, "value data of %u bytes and %u kinds", size, nr_kinds);
	while (!error && nr_kinds--)
		error = read_value_record(reading, &data, function);
	return error;
}

static void drop_values(struct reading *reading, const struct profraw_function *function)
{
	for (uint32_t i = 0; i < profraw_function_sites(function); i++) {
		struct value_site *site = &reading->profile->sites[function->first_site + i];

		free(site->values);
		*site = (struct value_site){ 0 };
	}
}

static struct swlbr_error *read_values(struct reading *reading)
{
	struct swlbr_profraw *profile = reading->profile;
	bool lost = reading->lost || reading->cut_off;

	for (size_t i = 0; i < profile->nr_functions; i++) {
		const struct profraw_function *function = &profile->functions[i];
		struct swlbr_error *error;

		if (!profraw_function_sites(function))
			continue;
		error = lost ? NULL : read_value_data(reading, function);
		if (error && error->code == SWLBR_ERROR_NO_MEMORY)
			return error;
		if (!error && !lost)
			continue;
		drop_values(reading, function);
		if (!function->damaged)
			profraw_report(profile, function, reading->reporter,
				       "its value profile is lost: %s",
				       error ? error->message : "it comes after the damage");
		/* Each function's values are found by the size of those before. */
		lost = true;
		swlbr_error_destroy(error);
	}
	reading->lost = lost;
	return NULL;
}

static struct swlbr_error *read_sections(struct reading *reading)
{
	struct swlbr_profraw *profile = reading->profile;
	uint64_t names_size = reading->header[PROFRAW_NAMES_SIZE];
	uint64_t vnames_size = reading->header[PROFRAW_VNAMES_SIZE];
	struct swlbr_error *error;

	error = read_counters(reading);
	if (!error)
		error = read_bytes(reading, reading->header[PROFRAW_NR_BITMAP_BYTES],
				   &profile->bitmap);
	if (!error)
		read_rest(reading, reading->header[PROFRAW_PADDING_AFTER_BITMAP]);
	if (!error)
		error = read_bytes(reading, names_size, &profile->names);
	if (!error)
		read_rest(reading, -names_size & 7);
	if (!error)
		error = read_vtables(reading);
	if (!error)
		error = read_bytes(reading, vnames_size, &profile->vtable_names);
	if (!error)
		read_rest(reading, -vnames_size & 7);
	return error;
}

/* The names, so far as they are there; without any the profile waits for its binary. */
static struct swlbr_error *read_names(struct reading *reading)
{
	struct swlbr_profraw *profile = reading->profile;
	struct swlbr_error *error;
	struct cursor section = { .file = profile->name,
				  .data = profile->names.data,
				  .size = profile->names.size };

	error = profile_names_decode(section, &profile->name_table);
	if (error && error->code == SWLBR_ERROR_FORMAT) {
		report_error(reading->reporter, error);
		error = NULL;
	}
	return error;
}

static struct swlbr_error *read_profile(struct reading *reading)
{
	struct swlbr_profraw *profile = reading->profile;
	struct swlbr_error *error;

	error = read_header(reading);
	if (!error)
		error = read_binary_ids(reading);
	if (!error)
		error = read_records(reading);
	if (!error)
		error = read_sections(reading);
	if (!error)
		error = read_names(reading);
	if (error)
		return error;
	if (reading->cut_off) {
		char line[512];

		snprintf(line, sizeof(line), "%s: the file is cut off at %zu bytes", profile->name,
			 reading->cursor.size);
		report(reading->reporter, line);
	}
	check_functions(reading);
	error = profraw_records_done(profile);
	if (!error)
		error = read_values(reading);
	if (!error && !swlbr_profraw_lacks_names(profile))
		error = profraw_decode_names(profile, reading->reporter);
	return error;
}

/* Moves to the next profile; false if there is none. */
static bool find_next(const struct reading *reading, struct cursor *cursor)
{
	if (!reading->lost) {
		while (cursor_left(cursor) && !cursor->data[cursor->at])
			cursor->at++;
		return cursor_left(cursor) != 0;
	}
	cursor->at = (cursor->at + 7) & ~(size_t)7;
	while (cursor->at < cursor->size && cursor_left(cursor) >= 8) {
		struct cursor here = { .data = cursor->data + cursor->at };
		uint64_t word = record_field(&here, 0, 8);

		if (is_any_magic(word))
			return true;
		cursor->at += 8;
	}
	return false;
}

/* The profile at @cursor, appended to @set; false in @more_ret after the last. */
static struct swlbr_error *read_next(struct cursor *cursor, const struct swlbr_reporter *reporter,
				     struct swlbr_profraws *set, bool *more_ret)
{
	struct reading reading = { .cursor = *cursor, .reporter = reporter };
	struct swlbr_error *error;

	error = profraw_new(cursor->file, &reading.profile);
	if (error)
		return error;
	error = read_profile(&reading);
	if (!error)
		error = profraws_append(set, reading.profile);
	if (error) {
		swlbr_profraw_destroy(reading.profile);
		return error;
	}
	*cursor = reading.cursor;
	*more_ret = !reading.cut_off && find_next(&reading, cursor);
	return NULL;
}

struct swlbr_error *swlbr_profraw_read_memory(const char *name, const void *data, size_t size,
					      const struct swlbr_reporter *reporter,
					      struct swlbr_profraws *set)
{
	struct cursor cursor = { .file = name, .data = data, .size = size };
	size_t nr_before = set->nr;
	struct swlbr_error *error;
	bool more = true;

	if (!size)
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: empty (the program may have been killed)", name);
	while (more) {
		error = read_next(&cursor, reporter, set, &more);
		if (!error)
			continue;
		if (set->nr == nr_before || error->code == SWLBR_ERROR_NO_MEMORY)
			return error;
		report_error(reporter, error);
		break;
	}
	return NULL;
}

struct swlbr_error *swlbr_profraw_read(const char *path, const struct swlbr_reporter *reporter,
				       struct swlbr_profraws *set)
{
	struct swlbr_error *error;
	uint8_t *data;
	size_t size;

	error = infile_read(path, &data, &size);
	if (error)
		return error;
	error = swlbr_profraw_read_memory(path, data, size, reporter, set);
	free(data);
	return error;
}

struct swlbr_error *swlbr_profraw_probe(const char *path, bool *is_profraw_ret)
{
	struct cursor cursor = { .file = path };
	struct swlbr_error *error;
	uint8_t bytes[8] = { 0 };

	error = infile_peek(path, bytes, sizeof(bytes), &cursor.size);
	if (error)
		return error;
	cursor.data = bytes;
	*is_profraw_ret = cursor.size == 8 && is_any_magic(record_field(&cursor, 0, 8));
	return NULL;
}
