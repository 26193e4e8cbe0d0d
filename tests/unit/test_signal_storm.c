// SPDX-License-Identifier: GPL-2.0-only
/* Which rates of signals are told, and how often. */
#include "check.h"
#include "pmu/user/signal_storm.h"

/* How often @rate signals a second for @seconds, with a pause of @pause seconds in the middle, tell. */
static int told(unsigned int rate, unsigned int seconds, unsigned int pause)
{
	struct signal_storm storm = { 0 };
	uint64_t now = 5000000000ULL;
	int nr = 0;

	for (unsigned int i = 0; i < rate * seconds; i++) {
		now += 1000000000ULL / rate;
		if (i == rate * seconds / 2)
			now += pause * 1000000000ULL;
		nr += signal_storm_count(&storm, now);
	}
	return nr;
}

int main(void)
{
	check(told(997, 20, 0) == 0, "997 a second are a profiler's");
	check(told(3000, 1, 0) == 0, "3000 for less than a second");
	check(told(3000, 4, 0) == 1, "3000 for four seconds are told once");
	check(told(3000, 2, 60) == 0, "a second of them, again much later");
	return failures != 0;
}
