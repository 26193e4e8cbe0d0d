// SPDX-License-Identifier: GPL-2.0-only
/* Finding the binary that counters were recorded of. */
#include <stdlib.h>
#include <string.h>

#include "convert.h"

static bool is_digest(const uint8_t *id)
{
	return id[0] == 0xd1 && id[1] == 0x9e;
}

static const char *format_id(const struct swlbr_build_id *id, char buffer[41])
{
	return id->size ? swlbr_build_id_format(id, buffer) : "none";
}

/* Rows have no size: the zeroes at the end are not shown. */
static const char *format_row_id(const uint8_t *bytes, char buffer[41])
{
	struct swlbr_build_id id = { .size = SWLBR_BUILD_ID_SIZE };

	memcpy(id.bytes, bytes, SWLBR_BUILD_ID_SIZE);
	while (id.size > 8 && !id.bytes[id.size - 1])
		id.size--;
	return swlbr_build_id_format(&id, buffer);
}

static bool has_id(const struct swlbr_elf *elf, const uint8_t *id)
{
	return !memcmp(swlbr_elf_build_id(elf)->bytes, id, SWLBR_BUILD_ID_SIZE);
}

struct swlbr_error *convert_open_binary(const char *path, struct swlbr_elf **elf_ret,
					struct swlbr_counters **counters_ret)
{
	struct swlbr_error *error;
	struct swlbr_elf *elf;

	error = swlbr_elf_open(path, &elf);
	if (error)
		return error;
	error = swlbr_counters_locate(elf, counters_ret);
	if (error) {
		swlbr_elf_close(elf);
		return error;
	}
	*elf_ret = elf;
	return NULL;
}

/* The search for one binary: what came near is kept for the message. */
struct search {
	const uint8_t *id;
	struct swlbr_elf *elf;		/* found */
	struct swlbr_build_id other_id; /* of a file that is not it any more */
	const char *other_path;
	const char *missing_path; /* of a file that is not there */
};

/* Is the file at @path it? @expected: the recording says that it was. */
static void try_path(struct search *search, const char *path, bool expected)
{
	struct swlbr_error *error;
	struct swlbr_elf *elf;

	error = swlbr_elf_open(path, &elf);
	if (error) {
		if (expected)
			search->missing_path = path;
		swlbr_error_destroy(error);
		return;
	}
	if (has_id(elf, search->id)) {
		search->elf = elf;
		return;
	}
	if (expected) {
		search->other_path = path;
		search->other_id = *swlbr_elf_build_id(elf);
	}
	swlbr_elf_close(elf);
}

static bool tried_before(const struct convert_mapping *mappings, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (mappings[i].build_id.size == mappings[index].build_id.size &&
		    !strcmp(mappings[i].path, mappings[index].path))
			return true;
	}
	return false;
}

/* Mappings without a build-id are asked only for a digest: it takes reading all of a file. */
static void search_mappings(struct search *search, const struct convert_mapping *mappings,
			    size_t nr, pid_t pid)
{
	const char *first_of_process = NULL;

	for (size_t i = 0; i < nr && !search->elf; i++) {
		const struct convert_mapping *mapping = &mappings[i];
		bool same = mapping->build_id.size &&
			    !memcmp(mapping->build_id.bytes, search->id, SWLBR_BUILD_ID_SIZE);

		if (mapping->path[0] != '/' || (mapping->build_id.size && !same) ||
		    (!mapping->build_id.size && !is_digest(search->id)))
			continue;
		if (!same && mapping->pid == pid && !first_of_process)
			first_of_process = mapping->path;
		if (!tried_before(mappings, i))
			try_path(search, mapping->path, same);
	}
	/* A process maps its program first. */
	if (!search->elf && first_of_process && !search->other_path)
		try_path(search, first_of_process, true);
}

static struct swlbr_error *not_found(const struct search *search, const char *path)
{
	char then[41], now[41];

	format_row_id(search->id, then);
	if (search->other_path)
		return swlbr_error_create(
			SWLBR_ERROR_MISMATCH,
			"%s: %s has changed since the recording: build-id %s then, %s now; record again, or give the binary of then as an argument",
			path, search->other_path, then, format_id(&search->other_id, now));
	if (search->missing_path)
		return swlbr_error_create(
			SWLBR_ERROR_NOT_FOUND,
			"%s: %s (build-id %s) is not there any more; give the binary as an argument",
			path, search->missing_path, then);
	return swlbr_error_create(SWLBR_ERROR_NOT_FOUND,
				  "%s: no binary with build-id %s is known; give it as an argument",
				  path, then);
}

static struct swlbr_error *add_binary(struct convert *convert, struct swlbr_elf *elf,
				      const uint8_t *id, struct convert_binary **ret)
{
	struct convert_binary *binary, *grown;
	struct swlbr_error *error;

	grown = reallocarray(convert->binaries, convert->nr_binaries + 1, sizeof(*grown));
	if (!grown) {
		swlbr_elf_close(elf);
		return swlbr_error_no_memory();
	}
	convert->binaries = grown;
	binary = &grown[convert->nr_binaries++];
	*binary = (struct convert_binary){ .elf = elf };
	memcpy(binary->id, id, SWLBR_BUILD_ID_SIZE);
	error = swlbr_counters_locate(elf, &binary->counters);
	if (!error)
		error = swlbr_profraw_create(elf, binary->counters, &binary->profile);
	*ret = binary;
	return error;
}

struct swlbr_error *convert_find_binary(struct convert *convert, const char *path, pid_t pid,
					const uint8_t id[SWLBR_BUILD_ID_SIZE],
					const struct convert_mapping *mappings, size_t nr_mappings,
					struct convert_binary **ret)
{
	struct search search = { .id = id };

	for (size_t i = 0; i < convert->nr_binaries; i++) {
		struct convert_binary *binary = &convert->binaries[i];

		if (memcmp(binary->id, id, SWLBR_BUILD_ID_SIZE))
			continue;
		*ret = binary;
		return binary->profile ? NULL
				       : swlbr_profraw_create(binary->elf, binary->counters,
							      &binary->profile);
	}
	search_mappings(&search, mappings, nr_mappings, pid);
	for (size_t i = 0; i < convert->nr_arguments && !search.elf; i++)
		try_path(&search, convert->arguments[i], false);
	if (!search.elf)
		return not_found(&search, path);
	return add_binary(convert, search.elf, id, ret);
}

struct swlbr_error *convert_take_recorded(struct convert *convert)
{
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < convert->nr_binaries; i++) {
		struct swlbr_profraw *profile = convert->binaries[i].profile;

		convert->binaries[i].profile = NULL;
		if (profile)
			error = swlbr_profraws_add(&convert->set, profile, NULL);
	}
	return error;
}

void convert_free_binaries(struct convert *convert)
{
	for (size_t i = 0; i < convert->nr_binaries; i++) {
		swlbr_profraw_destroy(convert->binaries[i].profile);
		swlbr_counters_destroy(convert->binaries[i].counters);
		swlbr_elf_close(convert->binaries[i].elf);
	}
	free(convert->binaries);
	convert->binaries = NULL;
	convert->nr_binaries = 0;
}
