// SPDX-License-Identifier: GPL-2.0-only
/* The library that endings.c opens and closes. */
static volatile int sink;

__attribute__((noinline)) void marked(void)
{
	sink++;
}

void library_mark(int nr)
{
	for (int i = 0; i < nr; i++)
		marked();
}
