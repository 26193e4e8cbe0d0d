// SPDX-License-Identifier: GPL-2.0-only
/* A program with 40 MB of counters, all of them busy, for `seconds` (argument, default 5). */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define NR (40ULL * 1024 * 1024 / 8)

__asm__(".pushsection __llvm_prf_cnts,\"aw\",@progbits\n"
	".balign 8\n"
	"large_counters: .zero 41943040\n"
	".popsection\n");
extern volatile uint64_t large_counters[];

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 5;
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		for (uint64_t i = 0; i < NR; i++)
			large_counters[i]++;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) / 1e9 <
		 seconds);
	return 0;
}
