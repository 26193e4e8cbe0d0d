// SPDX-License-Identifier: GPL-2.0-only
/* What counting the branch stacks of a perf.data costs, without looking for files and writing. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <swlbr/branch_stacks.h>

/* Of the processor: other programs do not count. */
static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	const struct swlbr_stacks_stats *stats;
	struct swlbr_stacks *stacks = NULL;
	struct swlbr_perfdata *file = NULL;
	struct swlbr_error *error;
	double begin = now();

	if (argc != 2)
		return 1;
	error = swlbr_perfdata_open(argv[1], &file);
	if (!error)
		error = swlbr_stacks_create(NULL, &stacks);
	if (!error)
		error = swlbr_stacks_read(stacks, file);
	if (error) {
		fprintf(stderr, "%s\n", error->message);
		return 1;
	}
	stats = swlbr_stacks_get_stats(stacks);
	printf("%.4f s, %llu samples, %llu entries\n", now() - begin,
	       (unsigned long long)stats->samples, (unsigned long long)stats->entries);
	swlbr_stacks_destroy(stacks);
	swlbr_perfdata_close(file);
	return 0;
}
