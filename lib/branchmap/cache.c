// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <swlbr/branch_map.h>

struct swlbr_error *swlbr_branch_map_load(struct swlbr_elf *elf,
					  const struct swlbr_counters *counters,
					  struct swlbr_branch_map **ret)
{
	return swlbr_branch_map_create(elf, counters, ret);
}
