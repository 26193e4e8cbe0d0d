// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "arch.h"

static const struct arch *const machines[] = { &arch_x86_64 };

const struct arch *arch_of_machine(unsigned int machine)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (machines[i]->machine == machine)
			return machines[i];
	}
	return NULL;
}
