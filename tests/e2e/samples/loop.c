// SPDX-License-Identifier: GPL-2.0-only
/* A loop with an inlined call, a branch that is seldom taken, and an indirect call. */
#include <stdio.h>
#include <stdlib.h>

static inline int pick(int x)
{
	if (x % 97 == 0)
		return x * 3;
	return x + 1;
}

static int twice(int x)
{
	return 2 * x;
}

static int thrice(int x)
{
	return 3 * x;
}

__attribute__((noinline)) long work(int n, int (*function)(int))
{
	long sum = 0;

	for (int i = 0; i < n; i++) {
		sum += pick(i);
		sum ^= function(i);
	}
	return sum;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1000;

	printf("%ld\n", work(n, n % 2 ? thrice : twice));
	return 0;
}
