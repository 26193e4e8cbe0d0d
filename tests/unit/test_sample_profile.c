// SPDX-License-Identifier: GPL-2.0-only
/* A sample profile is read as it was written, and sums do not depend on who comes first. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <swlbr/sample_profile.h>

#include "check.h"

static const char text[] = "main:3300:1\n"
			   " 1: 1\n"
			   " 2: 100 work:60 _ZN4rest3fooEv:40\n"
			   " 2.3: 7 operator-<int*, std::vector<int> >:5 plain:2\n"
			   " 65533: 0\n"
			   " 4: helper:1200\n"
			   "  1: 12 leaf:12\n"
			   "  1.2: deeper:20\n"
			   "   0: 5\n"
			   " 4: other:8\n"
			   "  9: 2\n"
			   "work:640:60\n"
			   " 0: 60\n"
			   "leaf:0:12\n";

static const char other_text[] = "work:10:3\n"
				 " 0: 3\n"
				 " 5: 1\n"
				 "alone:18446744073709551615:2\n"
				 " 1: 18446744073709551615\n";

static char in_path[] = "/tmp/swlbr_sample_XXXXXX", out_path[] = "/tmp/swlbr_sample_XXXXXX";

static struct swlbr_sample_profile *new_profile(void)
{
	struct swlbr_sample_profile *profile = NULL;

	if (!fine(swlbr_sample_profile_create(&profile)))
		exit(1);
	return profile;
}

static struct swlbr_error *read_string(struct swlbr_sample_profile *profile, const char *string)
{
	FILE *file = fopen(in_path, "w");

	if (!file || fputs(string, file) < 0 || fclose(file))
		exit(1);
	return swlbr_sample_profile_read_text(profile, in_path);
}

static const char *written(const struct swlbr_sample_profile *profile)
{
	static char buffers[2][4096];
	static int which;
	char *buffer = buffers[which ^= 1];
	FILE *file;
	size_t size;

	if (!fine(swlbr_sample_profile_write_text(profile, out_path)))
		return "";
	file = fopen(out_path, "r");
	size = file ? fread(buffer, 1, sizeof(buffers[0]) - 1, file) : 0;
	if (file)
		fclose(file);
	buffer[size] = 0;
	return buffer;
}

static void check_round(void)
{
	struct swlbr_sample_profile *profile = new_profile();
	uint64_t total;

	check(fine(read_string(profile, text)), "the text is read");
	check(!strcmp(written(profile), text), "and written as it was");
	check(swlbr_sample_profile_functions(profile, &total) == 3 && total == 3940,
	      "functions and their total");
	swlbr_sample_profile_destroy(profile);
}

static void check_sums(void)
{
	struct swlbr_sample_profile *a = new_profile(), *b = new_profile();
	struct swlbr_sample_profile *ab = new_profile(), *ba = new_profile();
	const char *sum;

	fine(read_string(a, text));
	fine(read_string(b, other_text));
	check(fine(swlbr_sample_profile_merge(ab, a, 2)) &&
		      fine(swlbr_sample_profile_merge(ab, b, 3)),
	      "profiles are summed with weights");
	fine(swlbr_sample_profile_merge(ba, b, 3));
	fine(swlbr_sample_profile_merge(ba, a, 2));
	sum = written(ab);
	check(!strcmp(sum, written(ba)), "in any order");
	check(strstr(sum, "work:1310:129\n 0: 129\n 5: 3\n"), "counts, totals and heads add up");
	check(strstr(sum, " 2: 200 work:120 _ZN4rest3fooEv:80\n"), "call targets too");
	check(strstr(sum, "alone:18446744073709551615:6\n 1: 18446744073709551615\n"),
	      "sums saturate");
	swlbr_sample_profile_destroy(a);
	swlbr_sample_profile_destroy(b);
	swlbr_sample_profile_destroy(ab);
	swlbr_sample_profile_destroy(ba);
}

static void check_damage(void)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "main:1\n", "line 1: no function:total:head" },
		{ " 1: 2\n", "line 1: no function before it" },
		{ "f:1:1\n  1: 2\n", "line 2: farther in" },
		{ "f:1:1\n 1: 99999999999999999999\n", "line 2: no count" },
		{ "f:1:1\n 1.: 5\n", "line 2: no offset" },
		{ "f:1:1\n 1: 5 g\n", "line 2: no target:calls" },
		{ "f:1:1\n 1: g\n", "line 2: no inlined function:total" },
		{ "[main:1 @ f]:1:1\n", "context-sensitive" },
		{ "f:1:1\n 1: 1\n !CFGChecksum: 1\n", "line 3: a profile of pseudo probes" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct swlbr_sample_profile *profile = new_profile();
		struct swlbr_error *error = read_string(profile, cases[i].text);

		check(error && strstr(error->message, cases[i].says) &&
			      strstr(error->message, in_path),
		      "damage is told: %s (%s)", cases[i].says, error ? error->message : "none");
		swlbr_error_destroy(error);
		swlbr_sample_profile_destroy(profile);
	}
}

int main(void)
{
	int in = mkstemp(in_path), out = mkstemp(out_path);

	if (in < 0 || out < 0)
		return 1;
	close(in);
	close(out);
	check_round();
	check_sums();
	check_damage();
	unlink(in_path);
	unlink(out_path);
	return failures != 0;
}
