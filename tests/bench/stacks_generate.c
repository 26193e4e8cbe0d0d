// SPDX-License-Identifier: GPL-2.0-only
/*
 * A perf.data with branch stacks, for benchmarks: as 'perf record -b' writes it, no stack twice.
 *
 *   stacks_generate walk ARCS PROGRAM NR OUT    random walks over the branches and ranges of an arcs
 *                                               file (one binary's), which are put at PROGRAM's path
 *   stacks_generate many NR OUT                 20 binaries in 50 processes, each loaded elsewhere,
 *                                               and more than 100,000 distinct branches
 */
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ENTRIES 32

struct entry {
	uint64_t from, to, flags;
};

static FILE *out;
static uint64_t written;

static void fail(const char *what)
{
	fprintf(stderr, "stacks_generate: %s\n", what);
	exit(1);
}

static void put(const void *data, size_t size)
{
	if (fwrite(data, 1, size, out) != size)
		fail("cannot write");
	written += size;
}

/* xorshift64*: the same file every time. */
static uint64_t random_number(void)
{
	static uint64_t state = 88172645463325252ULL;

	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 2685821657736338717ULL;
}

static void put_header(uint64_t data_size)
{
	struct {
		uint64_t magic, size, attr_size, attrs[2], data[2], types[2], features[4];
		struct perf_event_attr attr;
		uint64_t ids[2];
	} header = {
		.magic = 0x32454c4946524550ULL,
		.size = 104,
		.attr_size = sizeof(struct perf_event_attr) + 16,
		.attrs = { 104, sizeof(struct perf_event_attr) + 16 },
		.data = { sizeof(header), data_size },
		.attr = { .type = PERF_TYPE_HARDWARE,
			  .size = sizeof(struct perf_event_attr),
			  .config = PERF_COUNT_HW_CPU_CYCLES,
			  .sample_period = 100003,
			  .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
					 PERF_SAMPLE_BRANCH_STACK,
			  .branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER,
			  .mmap = 1,
			  .comm = 1,
			  .task = 1,
			  .sample_id_all = 1,
			  .mmap2 = 1 },
	};

	put(&header, sizeof(header));
}

static void put_record_header(uint32_t type, uint16_t misc, size_t size)
{
	struct perf_event_header header = { type, misc, size };

	put(&header, sizeof(header));
}

static void put_sample_id(uint32_t pid, uint64_t time)
{
	uint32_t ids[2] = { pid, pid };

	put(ids, sizeof(ids));
	put(&time, sizeof(time));
}

static void put_comm(uint32_t pid, const char *name)
{
	uint32_t ids[2] = { pid, pid };
	char comm[16] = { 0 };
	size_t padded = (strlen(name) + 8) & ~(size_t)7;

	strncpy(comm, name, sizeof(comm) - 1);
	put_record_header(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, 8 + 8 + padded + 16);
	put(ids, sizeof(ids));
	put(comm, padded);
	put_sample_id(pid, 0);
}

static void put_mmap(uint32_t pid, uint64_t start, uint64_t size, uint64_t offset, const char *path)
{
	size_t padded = (strlen(path) + 8) & ~(size_t)7;
	struct {
		uint32_t pid, tid;
		uint64_t start, size, offset, inode[3];
		uint32_t prot, flags;
	} body = { pid, pid, start, size, offset, { 0, 1, 0 }, PROT_READ | PROT_EXEC, MAP_PRIVATE };
	char name[4096] = { 0 };

	snprintf(name, sizeof(name), "%s", path);
	put_record_header(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, 8 + sizeof(body) + padded + 16);
	put(&body, sizeof(body));
	put(name, padded);
	put_sample_id(pid, 0);
}

static void put_sample(uint32_t pid, uint64_t time, const struct entry *entries)
{
	struct {
		uint64_t ip;
		uint32_t pid, tid;
		uint64_t time, nr;
	} body = { entries[0].to, pid, pid, time, ENTRIES };

	put_record_header(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER,
			  8 + sizeof(body) + ENTRIES * sizeof(*entries));
	put(&body, sizeof(body));
	put(entries, ENTRIES * sizeof(*entries));
}

/* The walk over an arcs file. */

struct arc {
	uint64_t from, to;
	uint64_t nr, up_to; /* and the sum of those of the same from, up to this */
};

static struct arc *branches, *ranges;
static size_t nr_branches, nr_ranges;

static int by_from(const void *left, const void *right)
{
	const struct arc *a = left, *b = right;

	return (a->from > b->from) - (a->from < b->from);
}

static void sum_up(struct arc *arcs, size_t nr)
{
	qsort(arcs, nr, sizeof(*arcs), by_from);
	for (size_t i = 0; i < nr; i++)
		arcs[i].up_to = arcs[i].nr +
				(i && arcs[i - 1].from == arcs[i].from ? arcs[i - 1].up_to : 0);
}

static void read_arcs(const char *path)
{
	char line[16384], kind[16];
	FILE *file = fopen(path, "r");

	if (!file)
		fail("cannot open the arcs file");
	while (fgets(line, sizeof(line), file)) {
		struct arc arc = { 0 }, **list;
		size_t *nr;

		if (sscanf(line, "%15s %*s +%lx +%lx %lu", kind, &arc.from, &arc.to, &arc.nr) != 4)
			continue;
		list = strcmp(kind, "branch") ? &ranges : &branches;
		nr = strcmp(kind, "branch") ? &nr_ranges : &nr_branches;
		*list = realloc(*list, (*nr + 1) * sizeof(arc));
		(*list)[(*nr)++] = arc;
	}
	fclose(file);
	if (!nr_branches || !nr_ranges)
		fail("no branches in the arcs file");
	sum_up(branches, nr_branches);
	sum_up(ranges, nr_ranges);
}

/* One of those that begin at @from, as often as their counts say; NULL if there is none. */
static const struct arc *choose(const struct arc *arcs, size_t nr, uint64_t from)
{
	size_t low = 0, high = nr, end;
	uint64_t target;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (arcs[middle].from < from)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < nr && arcs[end].from == from;)
		end++;
	if (low == end)
		return NULL;
	target = random_number() % arcs[end - 1].up_to;
	while (arcs[low].up_to <= target)
		low++;
	return &arcs[low];
}

static const struct arc *next_branch(const struct arc *branch)
{
	const struct arc *range = choose(ranges, nr_ranges, branch->to);
	const struct arc *next = range ? choose(branches, nr_branches, range->to) : NULL;

	return next ? next : &branches[random_number() % nr_branches];
}

static void generate_walk(const char *arcs, const char *program, size_t nr)
{
	const uint64_t base = 0x400000;
	const struct arc *branch;

	read_arcs(arcs);
	put_comm(100, "walk");
	put_mmap(100, base, 0xa000, 0, program);
	branch = branches;
	for (size_t i = 0; i < nr; i++) {
		struct entry entries[ENTRIES];

		/* Now and then elsewhere, lest the walk stay in the hottest loop. */
		if (random_number() % 4 == 0)
			branch = &branches[random_number() % nr_branches];
		for (int j = ENTRIES - 1; j >= 0; j--) {
			entries[j] = (struct entry){ base + branch->from, base + branch->to, 2 };
			branch = next_branch(branch);
		}
		put_sample(100, 1000 + i, entries);
	}
}

/* Many binaries and processes. */

#define BINARIES  20
#define PROCESSES 50
#define BLOCKS	  4000 /* of each binary */
#define BLOCK	  64   /* bytes from block to block */

/* Where a block goes: to one of three blocks of its binary, or into another binary. */
static void next_place(unsigned int *binary, unsigned int *block)
{
	uint64_t chance = random_number();
	unsigned int hash = (*binary * BLOCKS + *block) * 2654435761U;

	if (chance % 64 == 0) {
		*binary = (*binary + 1 + hash % 5) % BINARIES;
		*block = hash % BLOCKS;
	} else {
		*block = (*block * 7 + hash % 1000 + (unsigned int)(chance >> 32) % 3) % BLOCKS;
	}
}

static void generate_many(size_t nr)
{
	static uint64_t bases[PROCESSES][BINARIES];

	for (unsigned int i = 0; i < PROCESSES; i++) {
		put_comm(1000 + i, "many");
		for (unsigned int j = 0; j < BINARIES; j++) {
			char path[64];

			snprintf(path, sizeof(path), "/nowhere/lib%u.so", j);
			/* The same after masking: stacks_floor has no mappings to go by. */
			bases[i][j] = 0x7f0000000000 + i * 0x20000000ULL + j * 0x1000000ULL;
			put_mmap(1000 + i, bases[i][j], 0x100000, 0x1000, path);
		}
	}
	for (size_t i = 0; i < nr; i++) {
		unsigned int process = random_number() % PROCESSES;
		unsigned int binary = random_number() % BINARIES;
		unsigned int block = random_number() % BLOCKS;
		struct entry entries[ENTRIES];

		for (int j = ENTRIES - 1; j >= 0; j--) {
			entries[j].from = bases[process][binary] + block * BLOCK + 40;
			next_place(&binary, &block);
			entries[j].to = bases[process][binary] + block * BLOCK;
			entries[j].flags = 2;
		}
		put_sample(1000 + process, 1000 + i, entries);
	}
}

int main(int argc, char **argv)
{
	bool walk = argc == 6 && !strcmp(argv[1], "walk");
	size_t nr;
	uint64_t header;

	if (!walk && !(argc == 4 && !strcmp(argv[1], "many")))
		fail("usage: walk ARCS PROGRAM NR OUT | many NR OUT");
	nr = strtoul(argv[walk ? 4 : 2], NULL, 10);
	out = fopen(argv[walk ? 5 : 3], "w");
	if (!out)
		fail("cannot open the output");
	setvbuf(out, NULL, _IOFBF, 1 << 20);
	put_header(0);
	header = written;
	if (walk)
		generate_walk(argv[2], argv[3], nr);
	else
		generate_many(nr);
	rewind(out);
	put_header(written - header);
	return fclose(out) != 0;
}
