// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "maps.h"

static struct swlbr_error *read_text(pid_t tid, char **text_ret)
{
	char path[64], *text = NULL;
	size_t size = 0, room = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return swlbr_error_errno(errno, "%s", path);
	for (;;) {
		ssize_t n;

		if (room - size < 16384) {
			char *grown = realloc(text, room = 2 * room + 65536);

			if (!grown) {
				free(text);
				close(fd);
				return swlbr_error_no_memory();
			}
			text = grown;
		}
		n = read(fd, text + size, room - size - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			struct swlbr_error *error = swlbr_error_errno(errno, "%s", path);

			free(text);
			close(fd);
			return error;
		}
		if (!n)
			break;
		size += (size_t)n;
	}
	close(fd);
	text[size] = 0;
	*text_ret = text;
	return NULL;
}

static bool parse_line(char *line, struct map *map, const char **path_ret)
{
	unsigned long long start, end, offset, inode;
	char prot[5];
	static const char deleted[] = " (deleted)";
	int path_at = 0;
	size_t length;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, prot, &offset,
		   &map->major, &map->minor, &inode, &path_at) < 7)
		return false;
	map->start = start;
	map->end = end;
	map->offset = offset;
	map->inode = inode;
	map->prot = (prot[0] == 'r' ? PROT_READ : 0) | (prot[1] == 'w' ? PROT_WRITE : 0) |
		    (prot[2] == 'x' ? PROT_EXEC : 0);
	map->shared = prot[3] == 's';
	length = strlen(line);
	map->deleted = length > sizeof(deleted) &&
		       !strcmp(line + length - sizeof(deleted) + 1, deleted);
	if (map->deleted)
		line[length - sizeof(deleted) + 1] = 0;
	*path_ret = line + path_at;
	return true;
}

struct swlbr_error *maps_read(pid_t tid, struct maps *maps)
{
	struct swlbr_error *error;
	size_t room = 0;
	char *line, *next;

	*maps = (struct maps){ 0 };
	error = read_text(tid, &maps->text);
	if (error)
		return error;
	for (line = maps->text; *line; line = next) {
		const char *path;

		next = strchrnul(line, '\n');
		if (*next)
			*next++ = 0;
		if (maps->nr == room) {
			struct map *grown;

			room = room ? 2 * room : 64;
			grown = reallocarray(maps->map, room, sizeof(*grown));
			if (!grown) {
				maps_deinit(maps);
				return swlbr_error_no_memory();
			}
			maps->map = grown;
		}
		if (!parse_line(line, &maps->map[maps->nr], &path))
			continue;
		maps->map[maps->nr++].path = (size_t)(path - maps->text);
	}
	return NULL;
}

void maps_deinit(struct maps *maps)
{
	free(maps->map);
	free(maps->text);
	*maps = (struct maps){ 0 };
}

const char *map_path(const struct maps *maps, const struct map *map)
{
	return maps->text + map->path;
}
