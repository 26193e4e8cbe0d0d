// SPDX-License-Identifier: GPL-2.0-only
/* Calls that longjmp ends, of functions that have one counter each. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf back;
static volatile int sink;

__attribute__((noinline)) static void deep(int i)
{
	sink = i;
	if (i % 3 == 0)
		longjmp(back, 1);
	sink = i + 1;
}

__attribute__((noinline)) static void middle(int i)
{
	deep(i);
	sink += 2;
}

__attribute__((noinline)) static void top(int i)
{
	middle(i);
	sink += 3;
}

int main(void)
{
	volatile long jumps = 0;

	for (volatile int i = 0; i < 30000; i++) {
		if (!setjmp(back))
			top(i);
		else
			jumps++;
	}
	printf("%ld\n", jumps);
	exit(0);
}
