// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the scanner's loop costs natively: "scan_cost COUNTERS" lets the kernel's own text of look_at(),
 * which the build takes out of pmu.c into look_at.h, look at that many counters, of which none has
 * changed, and prints nanoseconds a counter: median of 201 rounds, with counters in caches, and with
 * caches full of other data before each round.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef uint32_t u32;
typedef uint64_t u64;
struct pt_regs;
struct scanner {
	u64 *last;
	u64 changed;
};

#define READ_ONCE(x) (*(const volatile u64 *)&(x))
#define likely(x)    __builtin_expect(!!(x), 1)

#define ROUNDS	    201
#define CHUNK	    512
#define OTHER_BYTES ((size_t)256 << 20)

static __attribute__((noinline)) void add_delta(struct scanner *scanner, u32 counter, u64 delta,
						struct pt_regs *regs)
{
	(void)counter;
	(void)regs;
	scanner->changed += delta;
}

#include "look_at.h"

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double cost(struct scanner *scanner, const u64 *counters, u64 nr, char *other)
{
	double rounds[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		double start;

		if (other)
			memset(other, i, OTHER_BYTES);
		start = now_ns();
		for (u64 at = 0; at < nr; at += CHUNK)
			look_at(scanner, at, counters + at, nr - at < CHUNK ? nr - at : CHUNK,
				NULL);
		rounds[i] = (now_ns() - start) / nr;
	}
	qsort(rounds, ROUNDS, sizeof(rounds[0]), compare);
	return rounds[ROUNDS / 2];
}

int main(int argc, char **argv)
{
	u64 nr = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
	struct scanner scanner = { .last = calloc(nr, sizeof(u64)) };
	u64 *counters = calloc(nr, sizeof(u64));
	char *other = malloc(OTHER_BYTES);

	if (!nr || !counters || !scanner.last || !other) {
		fprintf(stderr, "usage: scan_cost COUNTERS\n");
		return 2;
	}
	/* Pages that nobody wrote to would all be one page of zeros. */
	for (u64 i = 0; i < nr; i++)
		scanner.last[i] = counters[i] = i;
	printf("%.2f", cost(&scanner, counters, nr, NULL));
	printf(" %.2f\n", cost(&scanner, counters, nr, other));
	return scanner.changed != 0;
}
