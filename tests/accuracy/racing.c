// SPDX-License-Identifier: GPL-2.0-only
/* Four threads in the same code at the same time: counters without atomics lose updates. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define NUMBERS 100000
#define ROUNDS	10

static int compare(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void sort(uint32_t *numbers, long first, long last)
{
	while (first < last) {
		uint32_t pivot = numbers[(first + last) / 2];
		long i = first, j = last;

		while (i <= j) {
			while (compare(numbers[i], pivot) < 0)
				i++;
			while (compare(numbers[j], pivot) > 0)
				j--;
			if (i <= j) {
				uint32_t swap = numbers[i];

				numbers[i++] = numbers[j];
				numbers[j--] = swap;
			}
		}
		sort(numbers, first, j);
		first = i;
	}
}

static uint32_t digest(const uint32_t *numbers)
{
	uint32_t sum = 0;

	for (long i = 0; i < NUMBERS; i++) {
		switch (numbers[i] % 7) {
		case 0:
			sum += numbers[i];
			break;
		case 1:
			sum ^= numbers[i] << 3;
			break;
		case 2:
			sum -= numbers[i] / 5;
			break;
		default:
			if (numbers[i] & 64)
				sum = sum << 1 | sum >> 31;
		}
	}
	return sum;
}

static void *work(void *argument)
{
	uint32_t seed = *(uint32_t *)argument, *numbers = malloc(NUMBERS * sizeof(*numbers));

	for (int round = 0; numbers && round < ROUNDS; round++) {
		for (long i = 0; i < NUMBERS; i++)
			numbers[i] = next(&seed);
		sort(numbers, 0, NUMBERS - 1);
		*(uint32_t *)argument += digest(numbers);
	}
	free(numbers);
	return NULL;
}

int main(void)
{
	uint32_t results[THREADS];
	pthread_t threads[THREADS];

	for (uint32_t i = 0; i < THREADS; i++) {
		results[i] = i;
		if (pthread_create(&threads[i], NULL, work, &results[i]))
			return 1;
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		printf("%u\n", results[i]);
	}
}
