// SPDX-License-Identifier: GPL-2.0-only
/* A library that is loaded and unloaded; NUMBER makes two that differ. */
volatile long library_number = NUMBER;

__attribute__((noinline)) void library_marked(void)
{
	library_number++;
}

void library_mark(long nr)
{
	for (long i = 0; i < nr; i++)
		library_marked();
}
