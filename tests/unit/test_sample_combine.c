// SPDX-License-Identifier: GPL-2.0-only
/* Sample profiles of two builds into one: what of small profiles comes from where, to the count. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <swlbr/sample_profile.h>

#include "check.h"

/* Counters' build: nothing is inlined into main but twice; leaf and rare are functions. */
static const char sw_text[] = "main:4400:1\n"
			      " 1: 100 leaf:100\n"
			      " 2: 40 rare:40\n"
			      " 3: 60\n"
			      " 3.2: 0\n"
			      " 4: 0\n"
			      " 5: twice:400\n"
			      "  1: 20\n"
			      "leaf:900:100\n"
			      " 0: 100\n"
			      "rare:80:40\n"
			      " 0: 40 far:4\n";

/* Stacks' build: leaf is inlined, what is rare was not sampled; a count is 10 executions. */
static const char hw_text[] = "main:350:2\n"
			      " 1: 8\n"
			      " 3: 8\n"
			      " 3.2: 5\n"
			      " 4: 5\n"
			      " 1: leaf:90\n"
			      "  0: 9\n"
			      "twice:50:3\n"
			      " 1: 2\n";

static char path[] = "/tmp/swlbr_sides_XXXXXX";

static struct swlbr_sample_profile *profile_of(const char *text)
{
	struct swlbr_sample_profile *profile = NULL;
	FILE *file = fopen(path, "w");

	if (!file || fputs(text, file) < 0 || fclose(file) ||
	    !fine(swlbr_sample_profile_create(&profile)) ||
	    (*text && !fine(swlbr_sample_profile_read_text(profile, path))))
		exit(1);
	return profile;
}

static const char *written(const struct swlbr_sample_profile *profile)
{
	static char buffer[4096];
	FILE *file;
	size_t size;

	if (!fine(swlbr_sample_profile_write_text(profile, path)))
		return "";
	file = fopen(path, "r");
	size = file ? fread(buffer, 1, sizeof(buffer) - 1, file) : 0;
	if (file)
		fclose(file);
	buffer[size] = 0;
	return buffer;
}

static void expect(enum swlbr_prefer prefer, bool rescale, const char *wanted,
		   struct swlbr_sample_combination *result, const char *name)
{
	struct swlbr_sample_profile *sw = profile_of(sw_text), *hw = profile_of(hw_text);
	struct swlbr_sample_profile *combined = profile_of("");
	const char *text;

	if (!fine(swlbr_sample_profile_combine(sw, hw, prefer, rescale, combined, result)))
		exit(1);
	text = written(combined);
	check(!strcmp(text, wanted), "%s", name);
	if (strcmp(text, wanted))
		printf("# got:\n%s", text);
	swlbr_sample_profile_destroy(sw);
	swlbr_sample_profile_destroy(hw);
	swlbr_sample_profile_destroy(combined);
}

/*
 * Both saw places 1 and 3 of main: 160 executions, 16 counts. Of main's own 4,000 bytes executed
 * by counters 200 counts tell, so that its line 2 is 800; of the stacks' 260, which are 2,600, line 4
 * is 500. Of line 3 counters know that 3.2 did not run; that stacks did not see a place says less.
 */
int main(void)
{
	struct swlbr_sample_combination result;
	int file = mkstemp(path);

	if (file < 0)
		return 1;
	close(file);
	expect(SWLBR_PREFER_HW, true,
	       "main:4300:20\n 1: 80\n 2: 40 rare:40\n 3: 80\n 3.2: 50\n 4: 50\n 1: leaf:900\n  0: 90\n"
	       "twice:500:30\n 1: 20\n"
	       "rare:80:40\n 0: 40 far:4\n",
	       &result, "prefer hw: its inlining, scaled, and what counters alone saw");
	check(result.scale.num == 160 && result.scale.den == 16 && result.shared == 2,
	      "the scale is of the places that both saw");
	check(result.from_both == 160 && result.from_hw == 210 && result.from_sw == 80 &&
		      result.left_out == 2,
	      "how much came from where: %llu %llu %llu, left out %llu",
	      (unsigned long long)result.from_both, (unsigned long long)result.from_hw,
	      (unsigned long long)result.from_sw, (unsigned long long)result.left_out);
	expect(SWLBR_PREFER_SW, true,
	       "main:4900:1\n 1: 100 leaf:100\n 2: 40 rare:40\n 3: 60\n 3.2: 0\n 4: 50\n"
	       " 5: twice:400\n  1: 20\n"
	       "leaf:900:100\n 0: 100\nrare:80:40\n 0: 40 far:4\n",
	       &result, "prefer sw: its inlining, and what stacks saw of lines that did not run");
	check(result.left_out == 2 && result.from_both == 160 && result.from_hw == 50,
	      "and what is there in another context is left out");
	expect(SWLBR_PREFER_SUM, false,
	       "main:4750:3\n 1: 108 leaf:100\n 2: 40 rare:40\n 3: 68\n 3.2: 5\n 4: 5\n 1: leaf:90\n"
	       "  0: 9\n 5: twice:400\n  1: 20\n"
	       "leaf:900:100\n 0: 100\nrare:80:40\n 0: 40 far:4\ntwice:50:3\n 1: 2\n",
	       &result, "sum: all of both");
	unlink(path);
	return failures != 0;
}
