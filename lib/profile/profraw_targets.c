// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>

#include <swlbr/flow.h>

#include "profile/profraw.h"

static size_t count_values(const struct swlbr_profraw *profile)
{
	size_t nr = 0;

	for (size_t f = 0; f < profile->nr_functions; f++) {
		const struct profraw_function *function = &profile->functions[f];

		for (uint32_t i = 0; i < function->nr_sites[SWLBR_VALUE_INDIRECT_CALL]; i++)
			nr += profraw_site(profile, function, SWLBR_VALUE_INDIRECT_CALL, i)->nr;
	}
	return nr;
}

struct swlbr_error *swlbr_profraw_call_targets(const struct swlbr_profraw *profile,
					       uint64_t names_vaddr,
					       struct swlbr_flow_target **targets_ret,
					       size_t *nr_ret)
{
	uint64_t load_bias = profile->names_delta - names_vaddr;
	struct swlbr_flow_target *targets;
	size_t nr = 0;

	targets = calloc(count_values(profile) + 1, sizeof(*targets));
	if (!targets)
		return swlbr_error_no_memory();
	for (size_t f = 0; f < profile->nr_functions; f++) {
		const struct profraw_function *function = &profile->functions[f];

		for (uint32_t i = 0; i < function->nr_sites[SWLBR_VALUE_INDIRECT_CALL]; i++) {
			const struct value_site *site =
				profraw_site(profile, function, SWLBR_VALUE_INDIRECT_CALL, i);

			for (uint32_t k = 0; !function->damaged && k < site->nr; k++)
				targets[nr++] = (struct swlbr_flow_target){
					.function = (uint32_t)f,
					.site = i,
					.vaddr = site->values[k].value - load_bias,
					.nr = site->values[k].nr,
				};
		}
	}
	*targets_ret = targets;
	*nr_ret = nr;
	return NULL;
}
