// SPDX-License-Identifier: GPL-2.0-only
/* Loops, switches, recursion, conditions of several terms; a second file has a function alike. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int other(int n);

static int helper(int n)
{
	return n % 3 ? n : n / 3;
}

static int collatz(int n)
{
	return n == 1 ? 0 : 1 + collatz(n % 2 ? 3 * n + 1 : n / 2);
}

static int compare(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

static int never(int n)
{
	return n * 17;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1000, numbers[64], sum = 0;
	char text[256];

	for (int i = 0; i < n; i++) {
		switch (i % 7) {
		case 0:
			sum += helper(i);
			break;
		case 2:
			sum ^= other(i);
			break;
		case 5:
			memset(text, i, i % 200);
			sum += text[0];
			break;
		default:
			sum++;
		}
		if ((i % 2 && i % 3) || (i % 5 && sum > 10))
			sum += collatz(1 + i % 30);
	}
	for (int i = 0; i < 64; i++)
		numbers[i] = i * 7919 % 101;
	qsort(numbers, 64, sizeof(int), compare);
	if (n < 0)
		sum += never(n);
	printf("%d %d\n", sum, numbers[3]);
	return 0;
}
