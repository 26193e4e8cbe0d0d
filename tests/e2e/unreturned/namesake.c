// SPDX-License-Identifier: GPL-2.0-only
/* A function of the program's own, without counters, called as one of libc that never returns. */
#include <stdio.h>

static volatile int sink;

__attribute__((noinline, no_profile_instrument_function)) int err(int i)
{
	sink = i;
	return i & 1;
}

__attribute__((noinline)) static int caller(int i)
{
	int odd = err(i);

	return odd + sink;
}

int main(void)
{
	long sum = 0;

	for (int i = 0; i < 30000; i++)
		sum += caller(i);
	printf("%ld\n", sum);
}
