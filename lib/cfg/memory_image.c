// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <elf.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "memory_image.h"

/* Sections that are read-only once the loader has relocated them. */
static const char *const relro_names[] = { ".data.rel.ro", ".got", ".init_array", ".fini_array" };

static void find_relro(struct memory_image *image, const struct swlbr_elf *elf)
{
	for (size_t i = 0; i < sizeof(relro_names) / sizeof(relro_names[0]); i++) {
		const struct swlbr_elf_section *section = swlbr_elf_section(elf, relro_names[i]);

		if (section && section->size && section->vaddr + section->size > section->vaddr)
			image->relro[image->nr_relro++] =
				(struct memory_range){ section->vaddr,
						       section->vaddr + section->size };
	}
}

/* Linkers make four to ten; neighbours share a page of the file at most. */
#define MAX_SEGMENTS 64
#define MAX_SHARED   (1 << 16)

static struct swlbr_error *check_size(const struct swlbr_elf *elf,
				      const struct swlbr_elf_segment *segments, size_t nr)
{
	uint64_t size = 0, end = 0;

	for (size_t i = 0; i < nr && nr <= MAX_SEGMENTS; i++) {
		size += segments[i].filesz;
		if (segments[i].offset + segments[i].filesz > end)
			end = segments[i].offset + segments[i].filesz;
	}
	if (nr > MAX_SEGMENTS || size > end + nr * MAX_SHARED)
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "%s: %zu segments of %llu bytes in %llu bytes of file",
					  swlbr_elf_path(elf), nr, (unsigned long long)size,
					  (unsigned long long)end);
	return NULL;
}

uint64_t memory_image_size(const struct memory_image *image)
{
	uint64_t size = 0;

	for (size_t i = 0; i < image->nr_segments; i++)
		size += image->segments[i].size;
	return size;
}

struct swlbr_error *memory_image_init(struct memory_image *image, struct swlbr_elf *elf)
{
	const struct swlbr_elf_segment *segments;
	size_t nr = swlbr_elf_segments(elf, &segments);
	struct swlbr_error *error;

	*image = (struct memory_image){ 0 };
	error = check_size(elf, segments, nr);
	if (error)
		return error;
	image->segments = calloc(nr ? nr : 1, sizeof(*image->segments));
	if (!image->segments)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < nr; i++) {
		struct memory_segment *segment = &image->segments[image->nr_segments];

		/* elf.c has seen that the file holds filesz bytes; zeroes past them are left out. */
		segment->size = segments[i].filesz < segments[i].memsz ? segments[i].filesz
								       : segments[i].memsz;
		segment->vaddr = segments[i].vaddr;
		segment->flags = segments[i].flags;
		if (!segment->size || segment->vaddr + segment->size < segment->vaddr)
			continue;
		segment->data = malloc(segment->size);
		if (!segment->data)
			return swlbr_error_no_memory();
		image->nr_segments++;
		error = swlbr_elf_read(elf, segment->vaddr, segment->data, segment->size);
		if (error)
			return error;
	}
	find_relro(image, elf);
	return NULL;
}

void memory_image_deinit(struct memory_image *image)
{
	for (size_t i = 0; i < image->nr_segments; i++)
		free(image->segments[i].data);
	free(image->segments);
}

static const struct memory_segment *segment_of(const struct memory_image *image, uint64_t vaddr)
{
	for (size_t i = 0; i < image->nr_segments; i++) {
		const struct memory_segment *segment = &image->segments[i];

		if (vaddr - segment->vaddr < segment->size)
			return segment;
	}
	return NULL;
}

const uint8_t *memory_image_from(const struct memory_image *image, uint64_t vaddr, size_t *size_ret)
{
	const struct memory_segment *segment = segment_of(image, vaddr);

	*size_ret = segment ? segment->size - (vaddr - segment->vaddr) : 0;
	return segment ? segment->data + (vaddr - segment->vaddr) : NULL;
}

const uint8_t *memory_image_at(const struct memory_image *image, uint64_t vaddr, size_t size)
{
	size_t left;
	const uint8_t *data = memory_image_from(image, vaddr, &left);

	return left >= size ? data : NULL;
}

bool memory_image_is_constant(const struct memory_image *image, uint64_t vaddr)
{
	const struct memory_segment *segment = segment_of(image, vaddr);

	if (!segment)
		return false;
	if (!(segment->flags & PF_W))
		return true;
	for (size_t i = 0; i < image->nr_relro; i++) {
		if (vaddr >= image->relro[i].start && vaddr < image->relro[i].end)
			return true;
	}
	return false;
}

bool memory_image_is_code(const struct memory_image *image, uint64_t vaddr)
{
	const struct memory_segment *segment = segment_of(image, vaddr);

	return segment && (segment->flags & PF_X);
}

bool memory_image_u32(const struct memory_image *image, uint64_t vaddr, uint32_t *ret)
{
	const uint8_t *data = memory_image_at(image, vaddr, sizeof(*ret));

	if (!data)
		return false;
	memcpy(ret, data, sizeof(*ret));
	*ret = le32toh(*ret);
	return true;
}

bool memory_image_u64(const struct memory_image *image, uint64_t vaddr, uint64_t *ret)
{
	const uint8_t *data = memory_image_at(image, vaddr, sizeof(*ret));

	if (!data)
		return false;
	memcpy(ret, data, sizeof(*ret));
	*ret = le64toh(*ret);
	return true;
}
