// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Function names in a profile: compressed blobs, looked up by hash. */
#include <md5.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buffer.h"
#include "profile/llvm_profile_format.h"
#include "profile/names.h"

/* zlib makes at most 1032 bytes of one: a larger claim is false. */
#define INFLATE_RATIO_MAX 1032
/* The names of one blob; those of a whole web browser are a fifth of it. */
#define BLOB_MAX (1ULL << 30)

uint64_t profile_name_hash(const char *text, size_t size)
{
	uint8_t digest[MD5_DIGEST_LENGTH];
	uint64_t hash = 0;
	MD5_CTX context;

	MD5Init(&context);
	MD5Update(&context, (const uint8_t *)text, size);
	MD5Final(digest, &context);
	for (unsigned int i = 0; i < 8; i++)
		hash |= (uint64_t)digest[i] << 8 * i;
	return hash;
}

static struct swlbr_error *add_name(struct profile_names *names, const char *text, size_t size)
{
	/* Room grows at powers of two. */
	if (!(names->nr & (names->nr - 1))) {
		struct profile_name *grown =
			reallocarray(names->names, names->nr ? 2 * names->nr : 1, sizeof(*grown));

		if (!grown)
			return swlbr_error_no_memory();
		names->names = grown;
	}
	names->names[names->nr++] = (struct profile_name){
		.hash = profile_name_hash(text, size),
		.text = text,
		.size = size,
	};
	return NULL;
}

static struct swlbr_error *split_names(struct profile_names *names, const char *text, size_t size)
{
	const char *end = text + size;

	while (text < end) {
		const char *stop = memchr(text, NAME_SEPARATOR, (size_t)(end - text));
		struct swlbr_error *error = NULL;

		if (!stop)
			stop = end;
		if (stop > text)
			error = add_name(names, text, (size_t)(stop - text));
		if (error)
			return error;
		text = stop + 1;
	}
	return NULL;
}

/* The bytes of one blob into a buffer of @names. */
static struct swlbr_error *decode_blob(struct profile_names *names, struct cursor *section,
				       const char **text_ret, size_t *size_ret)
{
	struct cursor start = *section;
	uint64_t size = 0, packed_size = 0;
	const uint8_t *bytes;
	struct swlbr_error *error;
	uLongf got;
	char **buffers, *buffer;

	error = cursor_uleb128(section, "size of names", &size);
	if (!error)
		error = cursor_uleb128(section, "compressed size of names", &packed_size);
	if (!error)
		error = cursor_bytes(section, "function names", packed_size ? packed_size : size,
				     &bytes);
	if (error)
		return error;
	if (size > BLOB_MAX || (packed_size && size / INFLATE_RATIO_MAX > packed_size))
		return cursor_error(&start, "%llu bytes of names in %llu compressed ones",
				    (unsigned long long)size, (unsigned long long)packed_size);
	buffers = reallocarray(names->buffers, names->nr_buffers + 1, sizeof(*buffers));
	if (!buffers)
		return swlbr_error_no_memory();
	names->buffers = buffers;
	buffer = malloc(size + 1);
	if (!buffer)
		return swlbr_error_no_memory();
	buffers[names->nr_buffers++] = buffer;
	got = size;
	if (!packed_size)
		memcpy(buffer, bytes, size);
	else if (uncompress((Bytef *)buffer, &got, bytes, packed_size) != Z_OK || got != size)
		return cursor_error(&start, "compressed function names are damaged");
	*text_ret = buffer;
	*size_ret = size;
	return NULL;
}

static int by_hash(const void *left, const void *right)
{
	const struct profile_name *a = left, *b = right;

	return (a->hash > b->hash) - (a->hash < b->hash);
}

struct swlbr_error *profile_names_decode(struct cursor section, struct profile_names **ret)
{
	struct profile_names *names = calloc(1, sizeof(*names));
	struct swlbr_error *error = NULL;

	if (!names)
		return swlbr_error_no_memory();
	while (!error && cursor_left(&section)) {
		const char *text;
		size_t size;

		if (!section.data[section.at]) { /* the linker's padding */
			section.at++;
			continue;
		}
		error = decode_blob(names, &section, &text, &size);
		if (!error)
			error = split_names(names, text, size);
	}
	if (names->nr)
		qsort(names->names, names->nr, sizeof(*names->names), by_hash);
	*ret = names;
	return error;
}

void profile_names_destroy(struct profile_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->nr_buffers; i++)
		free(names->buffers[i]);
	free(names->buffers);
	free(names->names);
	free(names);
}

const struct profile_name *profile_names_find(const struct profile_names *names, uint64_t hash)
{
	struct profile_name key = { .hash = hash };

	if (!names || !names->nr)
		return NULL;
	return bsearch(&key, names->names, names->nr, sizeof(key), by_hash);
}

struct swlbr_error *profile_names_encode(const struct profile_name *names, size_t nr,
					 uint8_t **blob_ret, size_t *size_ret)
{
	struct buffer blob = { 0 };
	size_t size = 0, at = 0;
	uLongf packed_size;
	Bytef *packed;
	char *text;

	for (size_t i = 0; i < nr; i++)
		size += names[i].size + 1;
	text = malloc(size + 1);
	packed_size = compressBound(size);
	packed = malloc(packed_size + 1);
	for (size_t i = 0; text && i < nr; i++) {
		if (i)
			text[at++] = NAME_SEPARATOR;
		memcpy(text + at, names[i].text, names[i].size);
		at += names[i].size;
	}
	blob.failed = !text || !packed ||
		      compress2(packed, &packed_size, (Bytef *)text, at, Z_BEST_COMPRESSION) !=
			      Z_OK;
	buffer_uleb128(&blob, at);
	buffer_uleb128(&blob, packed_size);
	if (!blob.failed)
		buffer_bytes(&blob, packed, packed_size);
	free(text);
	free(packed);
	if (blob.failed) {
		buffer_free(&blob);
		return swlbr_error_no_memory();
	}
	*blob_ret = blob.data;
	*size_ret = blob.size;
	return NULL;
}
