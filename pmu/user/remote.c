// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "remote.h"

/* Bits of a page map entry (Documentation/admin-guide/mm/pagemap.rst). */
#define PAGEMAP_PRESENT (1ULL << 63)
#define PAGEMAP_SWAPPED (1ULL << 62)
#define PAGEMAP_FILE	(1ULL << 61)

bool remote_read(pid_t tid, uint64_t address, void *buffer, size_t size)
{
	size_t done = 0;

	while (done < size) {
		struct iovec local = { (char *)buffer + done, size - done };
		struct iovec remote = { (void *)(uintptr_t)(address + done), size - done };
		ssize_t n = process_vm_readv(tid, &local, 1, &remote, 1, 0);

		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

void remote_read_many(pid_t tid, struct remote_item *items, size_t nr, size_t size)
{
	struct iovec local[IOV_MAX], remote[IOV_MAX];

	for (size_t i = 0; i < nr;) {
		size_t batch = nr - i < IOV_MAX ? nr - i : IOV_MAX, read;
		ssize_t n;

		for (size_t k = 0; k < batch; k++) {
			local[k] = (struct iovec){ items[i + k].buffer, size };
			remote[k] = (struct iovec){ (void *)(uintptr_t)items[i + k].address, size };
		}
		n = process_vm_readv(tid, local, batch, remote, batch, 0);
		if (n < 0 && errno != EFAULT) {
			for (; i < nr; i++)
				items[i].ok = false;
			return;
		}
		read = n > 0 ? (size_t)n / size : 0;
		for (size_t k = 0; k < read; k++)
			items[i + k].ok = true;
		i += read;
		if (read < batch) /* the first one that failed; the rest is tried again */
			items[i++].ok = false;
	}
}

int remote_pagemap_open(pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", tid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

void remote_pages_touched(int pagemap, uint64_t address, size_t nr, bool *touched)
{
	while (nr) {
		uint64_t entry[512];
		size_t batch = nr < 512 ? nr : 512;
		ssize_t n = pagemap < 0 ? -1
					: pread(pagemap, entry, batch * 8,
						(off_t)(address / REMOTE_PAGE * 8));

		if (n != (ssize_t)(batch * 8)) {
			memset(touched, true, nr * sizeof(*touched));
			return;
		}
		for (size_t i = 0; i < batch; i++)
			touched[i] = entry[i] & PAGEMAP_SWAPPED ||
				     (entry[i] & PAGEMAP_PRESENT && !(entry[i] & PAGEMAP_FILE));
		touched += batch;
		address += batch * REMOTE_PAGE;
		nr -= batch;
	}
}
