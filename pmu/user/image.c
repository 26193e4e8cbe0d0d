// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "image.h"
#include "remote.h"

/* Through map_files where we may (works for deleted files), else by path in the process's root. */
static int open_mapped(pid_t tid, const struct maps *maps, const struct map *map)
{
	char *path = NULL;
	int fd = -1;

	if (asprintf(&path, "/proc/%d/map_files/%llx-%llx", tid, (unsigned long long)map->start,
		     (unsigned long long)map->end) >= 0)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	free(path);
	path = NULL;
	if (fd >= 0 || map->deleted)
		return fd;
	if (asprintf(&path, "/proc/%d/root%s", tid, map_path(maps, map)) >= 0)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	free(path);
	return fd;
}

static void span_segments(struct image *image, const struct swlbr_elf *elf)
{
	const struct swlbr_elf_segment *segment;
	size_t nr = swlbr_elf_segments(elf, &segment);

	for (size_t i = 0; i < nr; i++) {
		uint64_t start = segment[i].vaddr & ~(REMOTE_PAGE - 1);
		uint64_t end = segment[i].vaddr + segment[i].memsz;

		if (!i || start < image->first_vaddr) {
			image->first_vaddr = start;
			image->first_offset = segment[i].offset & ~(REMOTE_PAGE - 1);
		}
		if (end > image->end_vaddr)
			image->end_vaddr = (end + REMOTE_PAGE - 1) & ~(REMOTE_PAGE - 1);
	}
}

static struct swlbr_error *read_elf(struct image *image, int fd)
{
	struct swlbr_elf *elf;
	struct swlbr_error *error = swlbr_elf_open_fd(fd, image->path, &elf);

	if (error && error->code == SWLBR_ERROR_NO_MEMORY)
		return error;
	if (error) { /* a data file mapped executable, or a damaged binary: not ours to judge */
		swlbr_error_destroy(error);
		return NULL;
	}
	image->is_elf = true;
	image->build_id = *swlbr_elf_build_id(elf);
	span_segments(image, elf);
	error = swlbr_counters_locate(elf, &image->counters);
	if (error)
		swlbr_elf_close(elf);
	else
		image->elf = elf;
	if (!error || error->code == SWLBR_ERROR_NO_MEMORY)
		return error;
	if (error->code != SWLBR_ERROR_NOT_INSTRUMENTED)
		image->refusal = strdup(error->message);
	swlbr_error_destroy(error);
	return NULL;
}

static struct image *image_create(const struct map *map, const char *path, const struct stat *st)
{
	struct image *image = calloc(1, sizeof(*image));

	if (!image)
		return NULL;
	image->inode = map->inode;
	image->major = map->major;
	image->minor = map->minor;
	image->modified = st->st_mtim;
	image->size = st->st_size;
	image->path = strdup(path);
	if (!image->path) {
		free(image);
		return NULL;
	}
	return image;
}

struct swlbr_error *image_cache_get(struct image_cache *cache, pid_t tid, const struct maps *maps,
				    const struct map *map, struct image **ret)
{
	struct swlbr_error *error = NULL;
	struct image *image;
	struct stat st = { 0 };
	int fd = -1;
	bool other_file;

	for (image = cache->images; image; image = image->next)
		if (image->inode == map->inode && image->major == map->major &&
		    image->minor == map->minor && !image->is_elf && !image->try_again) {
			*ret = image;
			return NULL;
		}
	fd = open_mapped(tid, maps, map);
	other_file = fd >= 0 && (fstat(fd, &st) || st.st_ino != map->inode);
	for (image = cache->images; image && !other_file; image = image->next)
		if (!image->try_again && image->inode == map->inode && image->major == map->major &&
		    image->minor == map->minor && image->size == st.st_size &&
		    image->modified.tv_sec == st.st_mtim.tv_sec &&
		    image->modified.tv_nsec == st.st_mtim.tv_nsec)
			break;
	if (other_file)
		image = NULL;
	if (!image) {
		image = image_create(map, map_path(maps, map), &st);
		if (!image) {
			error = swlbr_error_no_memory();
		} else {
			if (fd < 0 || other_file) {
				/* It may be the process that is going. */
				image->try_again = true;
				if (asprintf(&image->refusal,
					     "%s: the mapped file is gone or cannot be opened",
					     image->path) < 0)
					image->refusal = NULL;
			} else {
				error = read_elf(image, fd);
			}
			image->next = cache->images;
			cache->images = image;
		}
	}
	if (fd >= 0)
		close(fd);
	*ret = image;
	return error;
}

void image_cache_deinit(struct image_cache *cache)
{
	while (cache->images) {
		struct image *image = cache->images;

		cache->images = image->next;
		swlbr_counters_destroy(image->counters);
		swlbr_elf_close(image->elf);
		free(image->refusal);
		free(image->path);
		free(image);
	}
}
