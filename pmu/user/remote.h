/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading the memory of another process. */
#ifndef SWLBR_USER_REMOTE_H
#define SWLBR_USER_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define REMOTE_PAGE 4096ULL

/* Read @size bytes at @address of thread @tid's memory; false if not all could be read. */
bool remote_read(pid_t tid, uint64_t address, void *buffer, size_t size);

/* One of many small reads. */
struct remote_item {
	uint64_t address;
	void *buffer;
	bool ok; /* set by remote_read_many() */
};

/* Read @size bytes for each of @nr items, in as few system calls as there can be. */
void remote_read_many(pid_t tid, struct remote_item *items, size_t nr, size_t size);

/* An open /proc/TID/pagemap, -1 if it cannot be read. */
int remote_pagemap_open(pid_t tid);

/*
 * Which of the @nr pages from @address (page aligned) the process has written to, so that they can
 * differ from the file. All of them where the page map cannot tell.
 */
void remote_pages_touched(int pagemap, uint64_t address, size_t nr, bool *touched);

#endif
