// SPDX-License-Identifier: GPL-2.0-only
/* A static function of the same name as one in loops.c. */
int other(int n);

static int helper(int n)
{
	int sum = 0;

	for (int i = 0; i < n % 8; i++)
		sum += i;
	return sum;
}

int other(int n)
{
	return n > 100 ? helper(n) : n;
}
