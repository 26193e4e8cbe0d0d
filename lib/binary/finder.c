// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Finding the file of a binary that was recorded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <swlbr/elf_finder.h>

struct candidate {
	char *path;
	struct swlbr_build_id build_id;
};

struct swlbr_elf_finder {
	struct candidate *candidates;
	size_t nr_candidates;
	char *cache; /* perf's folder of binaries by build-id; NULL if there is none */
};

/* As perf: PERF_BUILDID_DIR, else ~/.debug. */
static char *cache_folder(void)
{
	const char *folder = getenv("PERF_BUILDID_DIR"), *home = getenv("HOME");
	char *path;

	if (folder && *folder)
		return strdup(folder);
	if (!home || asprintf(&path, "%s/.debug", home) < 0)
		return NULL;
	return path;
}

struct swlbr_error *swlbr_elf_finder_create(struct swlbr_elf_finder **ret)
{
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return swlbr_error_no_memory();
	(*ret)->cache = cache_folder();
	return NULL;
}

void swlbr_elf_finder_destroy(struct swlbr_elf_finder *finder)
{
	if (!finder)
		return;
	for (size_t i = 0; i < finder->nr_candidates; i++)
		free(finder->candidates[i].path);
	free(finder->candidates);
	free(finder->cache);
	free(finder);
}

struct swlbr_error *swlbr_elf_finder_add(struct swlbr_elf_finder *finder, const char *path)
{
	struct candidate *grown, candidate = { 0 };
	struct swlbr_error *error;
	struct swlbr_elf *elf;

	error = swlbr_elf_open(path, &elf);
	if (error)
		return error;
	candidate.build_id = *swlbr_elf_build_id(elf);
	swlbr_elf_close(elf);
	candidate.path = strdup(path);
	grown = reallocarray(finder->candidates, finder->nr_candidates + 1, sizeof(*grown));
	if (!grown || !candidate.path) {
		finder->candidates = grown ? grown : finder->candidates;
		free(candidate.path);
		return swlbr_error_no_memory();
	}
	finder->candidates = grown;
	grown[finder->nr_candidates++] = candidate;
	return NULL;
}

bool swlbr_elf_finder_has(const struct swlbr_elf_finder *finder,
			  const struct swlbr_build_id *build_id, const char *path)
{
	for (size_t i = 0; i < finder->nr_candidates; i++) {
		const struct candidate *candidate = &finder->candidates[i];

		if (build_id->size ? swlbr_build_id_equal(&candidate->build_id, build_id)
				   : !strcmp(candidate->path, path))
			return true;
	}
	return false;
}

/* Note that the file at @path is not it. Takes @error, which may be NULL. */
static struct swlbr_error *note_miss(struct swlbr_elf_found *found, enum swlbr_elf_match match,
				     const char *path, struct swlbr_error *error)
{
	struct swlbr_error *result = NULL;

	swlbr_elf_found_clear(found);
	found->match = match;
	found->path = strdup(path);
	if (error)
		found->why = strdup(error->message);
	if (!found->path || (error && !found->why))
		result = swlbr_error_no_memory();
	swlbr_error_destroy(error);
	return result;
}

/* Is the file at @path it? With an id, the id decides. */
static struct swlbr_error *try_path(struct swlbr_elf_found *found, const struct swlbr_build_id *id,
				    const char *path)
{
	struct swlbr_build_id other;
	struct swlbr_error *error;
	struct swlbr_elf *elf;

	if (access(path, F_OK))
		return NULL;
	error = swlbr_elf_open(path, &elf);
	if (error)
		return note_miss(found, SWLBR_ELF_UNREADABLE, path, error);
	if (!id || swlbr_build_id_equal(swlbr_elf_build_id(elf), id)) {
		swlbr_elf_found_clear(found);
		found->match = id ? SWLBR_ELF_BY_BUILD_ID : SWLBR_ELF_BY_NAME;
		found->elf = elf;
		return NULL;
	}
	other = *swlbr_elf_build_id(elf);
	swlbr_elf_close(elf);
	error = note_miss(found, SWLBR_ELF_CHANGED, path, NULL);
	found->other_id = other;
	return error;
}

/* Where perf buildid-cache keeps the binary: by a link to its folder, or of old to itself. */
static struct swlbr_error *try_cache(const struct swlbr_elf_finder *finder,
				     struct swlbr_elf_found *found, const struct swlbr_build_id *id)
{
	static const char *const names[] = { "/elf", "" };
	char hex[41];

	if (!finder->cache)
		return NULL;
	swlbr_build_id_format(id, hex);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !found->elf; i++) {
		struct swlbr_elf_found cached = { .match = SWLBR_ELF_MISSING };
		struct swlbr_error *error;
		char *path;

		if (asprintf(&path, "%s/.build-id/%.2s/%s%s", finder->cache, hex, hex + 2,
			     names[i]) < 0)
			return swlbr_error_no_memory();
		error = try_path(&cached, id, path);
		free(path);
		if (error || !cached.elf) {
			swlbr_elf_found_clear(&cached);
			if (error)
				return error;
			continue;
		}
		swlbr_elf_found_clear(found);
		*found = cached;
	}
	return NULL;
}

struct swlbr_error *swlbr_elf_find(const struct swlbr_elf_finder *finder,
				   const struct swlbr_build_id *build_id, const char *path,
				   struct swlbr_elf_found *ret)
{
	const struct swlbr_build_id *id = build_id && build_id->size ? build_id : NULL;
	struct swlbr_error *error = NULL;

	*ret = (struct swlbr_elf_found){ .match = SWLBR_ELF_MISSING };
	for (size_t i = 0; i < finder->nr_candidates && !ret->elf && !error; i++) {
		const struct candidate *candidate = &finder->candidates[i];

		if (id ? swlbr_build_id_equal(&candidate->build_id, id)
		       : path && !strcmp(basename(candidate->path), basename(path)))
			error = try_path(ret, id, candidate->path);
	}
	if (!error && !ret->elf && path && path[0])
		error = try_path(ret, id, path);
	if (!error && !ret->elf && id)
		error = try_cache(finder, ret, id);
	if (error)
		swlbr_elf_found_clear(ret);
	return error;
}

void swlbr_elf_found_clear(struct swlbr_elf_found *found)
{
	swlbr_elf_close(found->elf);
	free(found->path);
	free(found->why);
	*found = (struct swlbr_elf_found){ .match = SWLBR_ELF_MISSING };
}
