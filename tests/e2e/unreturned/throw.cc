// SPDX-License-Identifier: GPL-2.0-only
// Calls that an exception ends: with a destructor on its way, and by a tail call.
#include <cstdio>
#include <stdexcept>

static volatile int sink;

struct counted {
	~counted() { sink = sink + 1; }
};

__attribute__((noinline)) static int thrower(int i)
{
	if (i % 7 == 0)
		throw std::runtime_error("seven");
	return i % 3;
}

__attribute__((noinline)) static int plain(int i)
{
	return 2 * thrower(i) + 1;
}

__attribute__((noinline)) static int jumper(int i)
{
	sink = i;
	return plain(i + 1);
}

__attribute__((noinline)) static int cleaner(int i)
{
	counted one;

	return jumper(i) + i;
}

int main()
{
	long sum = 0;

	for (int i = 0; i < 30000; i++) {
		try {
			sum += cleaner(i);
		} catch (const std::exception &) {
			sum--;
		}
	}
	printf("%ld\n", sum);
}
