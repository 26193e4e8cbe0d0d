// SPDX-License-Identifier: GPL-2.0-only
/* Raw profiles: reading, summing, and both kinds of output. */
#include <stdint.h>
#include <stdlib.h>

#include <swlbr/instr_profile.h>
#include <swlbr/profraw.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void report(void *context, const char *line)
{
	*(size_t *)context += line[0] != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t reports = 0;
	const struct swlbr_reporter reporter = { .report = report, .context = &reports };
	struct swlbr_profraws read = { 0 }, sum = { 0 };
	struct swlbr_error *error;

	error = swlbr_profraw_read_memory("input", data, size, &reporter, &read);
	for (size_t i = 0; !error && i < read.nr; i++) {
		error = swlbr_profraws_add(&sum, read.profiles[i], NULL);
		read.profiles[i] = NULL;
	}
	if (!error)
		error = swlbr_profraws_write(&sum, "/dev/null");
	swlbr_error_destroy(error);
	if (sum.nr)
		swlbr_error_destroy(swlbr_instr_profile_write(&sum, "/dev/null", &reporter));
	swlbr_profraws_clear(&read);
	swlbr_profraws_clear(&sum);
	return 0;
}
