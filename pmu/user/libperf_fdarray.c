// SPDX-License-Identifier: GPL-2.0-only
/*
 * What libperf.a of Linux 6.1 calls and leaves to its user: an array of file descriptors to poll,
 * with a word of libperf's beside each. (libperf.so has it inside; Makefile links the archive.)
 * libperf looks into the structure: tools/lib/api/fd/array.h has its layout and what each does.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

struct fdarray {
	int nr, nr_alloc, nr_autogrow;
	struct pollfd *entries;
	struct fdarray_priv {
		void *ptr;
		unsigned int flags;
	} * priv;
};

#define NONFILTERABLE 1U /* of flags */

void fdarray__init(struct fdarray *array, int nr_autogrow);
void fdarray__exit(struct fdarray *array);
int fdarray__grow(struct fdarray *array, int extra);
int fdarray__add(struct fdarray *array, int fd, short events, unsigned int flags);
int fdarray__filter(struct fdarray *array, short events,
		    void (*destroy)(struct fdarray *array, int at, void *arg), void *arg);
int fdarray__poll(struct fdarray *array, int timeout);

void fdarray__init(struct fdarray *array, int nr_autogrow)
{
	*array = (struct fdarray){ .nr_autogrow = nr_autogrow };
}

void fdarray__exit(struct fdarray *array)
{
	free(array->entries);
	free(array->priv);
	fdarray__init(array, 0);
}

int fdarray__grow(struct fdarray *array, int extra)
{
	size_t nr = (size_t)array->nr_alloc + (size_t)extra;
	struct pollfd *entries = reallocarray(array->entries, nr, sizeof(*entries));
	struct fdarray_priv *priv;

	if (!entries)
		return -ENOMEM;
	array->entries = entries;
	priv = reallocarray(array->priv, nr, sizeof(*priv));
	if (!priv)
		return -ENOMEM;
	array->priv = priv;
	array->nr_alloc = (int)nr;
	return 0;
}

int fdarray__add(struct fdarray *array, int fd, short events, unsigned int flags)
{
	int at = array->nr;

	if (at == array->nr_alloc && fdarray__grow(array, array->nr_autogrow))
		return -ENOMEM;
	array->entries[at] = (struct pollfd){ .fd = fd, .events = events };
	array->priv[at] = (struct fdarray_priv){ .flags = flags };
	array->nr++;
	return at;
}

/* Drop those on which one of @events has come; returns how many others there are. */
int fdarray__filter(struct fdarray *array, short events,
		    void (*destroy)(struct fdarray *array, int at, void *arg), void *arg)
{
	int nr = 0;

	for (int at = 0; at < array->nr; at++) {
		struct pollfd *entry = &array->entries[at];

		if (!entry->events || array->priv[at].flags & NONFILTERABLE)
			continue;
		if (!(entry->revents & events)) {
			nr++;
			continue;
		}
		if (destroy)
			destroy(array, at, arg);
		entry->events = entry->revents = 0;
		entry->fd = -1;
	}
	return nr;
}

int fdarray__poll(struct fdarray *array, int timeout)
{
	return poll(array->entries, (nfds_t)array->nr, timeout);
}
