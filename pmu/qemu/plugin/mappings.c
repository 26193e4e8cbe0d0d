// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which file the program's code is from. Looked up when code is translated: what /proc/self/maps
 * has at that place of the emulator's own memory is what the program has there.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin.h"

struct mapping {
	struct lane_mapping told; /* id 0: memory without a file */
	uint64_t time;		  /* ns, when it was seen first */
	char *path;
	bool there; /* it is so now */
	bool put;   /* the recorder was told */
};

static struct mapping *mappings;
static size_t nr_mappings, max_mappings;
static uint16_t nr_ids;
static bool pending; /* there is one that the recorder was not told of */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void mappings_lock(void)
{
	pthread_mutex_lock(&lock);
}

void mappings_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static bool is_in(const struct mapping *mapping, uint64_t vaddr)
{
	return mapping->there && vaddr - mapping->told.start < mapping->told.length;
}

static struct mapping *find(uint64_t vaddr)
{
	static size_t newest;

	if (newest < nr_mappings && is_in(&mappings[newest], vaddr))
		return &mappings[newest];
	for (size_t i = 0; i < nr_mappings; i++) {
		if (!is_in(&mappings[i], vaddr))
			continue;
		newest = i;
		return &mappings[i];
	}
	return NULL;
}

/* The kernel writes a newline in a path as \012. */
static char *copy_path(const char *text)
{
	char *copy = malloc(strlen(text) + 1), *to = copy;

	for (; copy && *text; text++) {
		if (!strncmp(text, "\\012", 4)) {
			*to++ = '\n';
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	if (copy)
		*to = '\0';
	return copy;
}

/* Fill in @ret from the line of the maps file that covers @host, of guest address @vaddr. */
static bool parse_line(char *line, uint64_t vaddr, uint64_t host, struct mapping *ret)
{
	unsigned long long start, end, offset, inode;
	unsigned int major, minor;
	int path = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%llx-%llx %*s %llx %x:%x %llu %n", &start, &end, &offset, &major, &minor,
		   &inode, &path) < 6 ||
	    host < start || host >= end)
		return false;
	*ret = (struct mapping){
		.told = { .start = vaddr - (host - start),
			  .length = end - start,
			  .offset = offset,
			  .inode = inode,
			  .major = major,
			  .minor = minor },
		.there = true,
	};
	if (inode && path && line[path] == '/')
		ret->path = copy_path(line + path);
	return true;
}

static bool scan(uint64_t vaddr, uint64_t host, struct mapping *ret)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	while (file && !found && getline(&line, &size, file) > 0)
		found = parse_line(line, vaddr, host, ret);
	free(line);
	if (file)
		fclose(file);
	return found;
}

/* A mapping that was there before and came back, or that became longer, keeps its number. */
static struct mapping *add(struct mapping *mapping)
{
	struct mapping *grown;

	for (size_t i = 0; i < nr_mappings; i++) {
		struct mapping *old = &mappings[i];

		if (memcmp(&old->told, &mapping->told, offsetof(struct lane_mapping, id)) ||
		    !old->path != !mapping->path || (old->path && strcmp(old->path, mapping->path)))
			continue;
		free(mapping->path);
		old->there = true;
		return old;
	}
	if (nr_mappings == max_mappings) {
		size_t max = max_mappings ? 2 * max_mappings : 32;

		grown = reallocarray(mappings, max, sizeof(*grown));
		if (!grown)
			return NULL;
		mappings = grown;
		max_mappings = max;
	}
	/* Numbers are 16 bit; the code of mappings past these counts as in no file. */
	if (mapping->path && nr_ids < UINT16_MAX)
		mapping->told.id = ++nr_ids;
	mapping->time = lane_now();
	mapping->put = !mapping->told.id;
	pending |= !mapping->put;
	mappings[nr_mappings] = *mapping;
	return &mappings[nr_mappings++];
}

uint16_t mappings_find(uint64_t vaddr, const void *host)
{
	struct mapping *mapping, found;
	uint16_t id;

	mappings_lock();
	mapping = find(vaddr);
	if (!mapping && host && scan(vaddr, (uint64_t)(uintptr_t)host, &found)) {
		mapping = add(&found);
		if (!mapping)
			free(found.path);
	}
	id = mapping ? (uint16_t)mapping->told.id : 0;
	mappings_unlock();
	return id;
}

void mappings_forget(uint64_t start, uint64_t length)
{
	mappings_lock();
	for (size_t i = 0; i < nr_mappings; i++) {
		struct lane_mapping *told = &mappings[i].told;

		if (told->start < start + length && start < told->start + told->length)
			mappings[i].there = false;
	}
	mappings_unlock();
}

void mappings_put(struct lane_writer *writer, bool all)
{
	if (!writer->lane || !(pending || all))
		return;
	mappings_lock();
	pending = false;
	for (size_t i = 0; i < nr_mappings; i++) {
		struct mapping *mapping = &mappings[i];

		if (!mapping->told.id || (mapping->put && !(all && mapping->there)))
			continue;
		lane_put(writer, LANE_RECORD_MAPPING, all ? lane_now() : mapping->time,
			 &mapping->told, sizeof(mapping->told), mapping->path,
			 strnlen(mapping->path, PATH_MAX) + 1);
		mapping->put = true;
	}
	mappings_unlock();
}
