// SPDX-License-Identifier: GPL-2.0-only
/*
 * The least that counting branch stacks can cost: a loop that maps a file of stacks_generate and
 * counts addresses in two hash tables. Nothing is checked, mapped to binaries or written; the file
 * is made so that masking is enough to make addresses of different processes equal. Prints seconds
 * of the processor and what it counted.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOG2 21 /* slots of a table */

struct slot {
	uint64_t from, to, nr;
};

/* See stacks_generate: bases of processes are multiples of 512 MB. */
#define MASK 0x1fffffffULL

static uint64_t distinct;

static void count(struct slot *table, uint64_t from, uint64_t to)
{
	from &= MASK;
	to &= MASK;

	uint64_t hash = (from * 0x9e3779b97f4a7c15ULL ^ to) * 0x94d049bb133111ebULL;
	uint64_t at = hash >> (64 - LOG2);

	while (table[at].nr && (table[at].from != from || table[at].to != to))
		at = (at + 1) & ((1 << LOG2) - 1);
	distinct += !table[at].nr;
	table[at].from = from;
	table[at].to = to;
	table[at].nr++;
}

/* Of the processor: other programs do not count. */
static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct slot *branches = calloc((size_t)1 << LOG2, sizeof(*branches));
	struct slot *ranges = calloc((size_t)1 << LOG2, sizeof(*ranges));
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	uint64_t samples = 0, entries = 0;
	double begin = now();
	struct stat stat;
	const uint8_t *file;

	if (fd < 0 || fstat(fd, &stat) || !branches || !ranges)
		return 1;
	file = mmap(NULL, stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED)
		return 1;
	for (off_t at = *(const uint64_t *)(file + 40); at < stat.st_size;) {
		const uint16_t *size = (const uint16_t *)(file + at + 6);

		if (*(const uint32_t *)(file + at) == 9) {
			const uint64_t *stack = (const uint64_t *)(file + at + 8 + 32);
			uint64_t nr = stack[-1];

			for (uint64_t i = 0; i < nr; i++) {
				count(branches, stack[3 * i], stack[3 * i + 1]);
				if (i + 1 < nr)
					count(ranges, stack[3 * i + 4], stack[3 * i]);
			}
			samples++;
			entries += nr;
		}
		at += *size;
	}
	printf("%.4f s, %lu samples, %lu entries, %lu distinct\n", now() - begin, samples, entries,
	       distinct);
	return 0;
}
