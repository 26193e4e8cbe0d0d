// SPDX-License-Identifier: GPL-2.0-only
/* Counters and stacks side by side: what of small profiles comes from where, to the count. */
#include <stdlib.h>
#include <string.h>

#include <swlbr/combine.h>

#include "check.h"
#include "edge_profiles.h"

enum { SW = SWLBR_SOURCE_SW, HW = SWLBR_SOURCE_HW, EMU = SWLBR_SOURCE_EMU };
enum { BRANCH = SWLBR_EDGE_BRANCH, RANGE = SWLBR_EDGE_RANGE };

struct row {
	int kind;
	uint64_t from, to;
	int source;
	uint64_t nr, mispredicted, cycles;
};

/* Rows end with one whose nr is 0. */
static struct swlbr_edge_profile *profile_of(const struct row *rows)
{
	struct swlbr_edge_profile *profile = new_profile();
	struct swlbr_edge_binary binary = { .path = "/bin/program" };
	uint32_t index;

	if (!fine(swlbr_edge_profile_binary(profile, &binary, &index)))
		exit(1);
	for (; rows->nr; rows++) {
		struct swlbr_edge edge = {
			.kind = rows->kind,
			.from = rows->from,
			.to = rows->to,
			.source = rows->source,
			.nr = rows->nr,
			.mispredicted = rows->mispredicted,
			.cycles = rows->cycles,
		};

		if (!fine(swlbr_edge_profile_add(profile, &edge)))
			exit(1);
	}
	return profile;
}

static bool same_rows(struct swlbr_edge_profile *profile, const struct row *wanted)
{
	const struct swlbr_edge *edges;
	size_t nr = swlbr_edge_profile_edges(profile, &edges), i = 0;
	bool same = true;

	for (; wanted[i].nr; i++) {
		const struct row *row = &wanted[i];

		same &= i < nr && (int)edges[i].kind == row->kind && edges[i].from == row->from &&
			edges[i].to == row->to && (int)edges[i].source == row->source &&
			edges[i].nr == row->nr && edges[i].mispredicted == row->mispredicted &&
			edges[i].cycles == row->cycles;
	}
	same &= i == nr;
	for (size_t j = 0; !same && j < nr; j++)
		printf("# %d %#llx %#llx source %d: %llu %llu %llu\n", edges[j].kind,
		       (unsigned long long)edges[j].from, (unsigned long long)edges[j].to,
		       edges[j].source, (unsigned long long)edges[j].nr,
		       (unsigned long long)edges[j].mispredicted,
		       (unsigned long long)edges[j].cycles);
	return same;
}

static void expect(const struct row *rows, enum swlbr_prefer prefer,
		   const struct swlbr_scale *known, const struct row *wanted,
		   struct swlbr_combination *result, const char *name)
{
	struct swlbr_edge_profile *profile = profile_of(rows), *combined = new_profile();

	check(fine(swlbr_edge_profile_combine(profile, prefer, known, combined, result)) &&
		      same_rows(combined, wanted),
	      "%s", name);
	swlbr_edge_profile_destroy(profile);
	swlbr_edge_profile_destroy(combined);
}

/* Both saw 0x10 and 0x20: 1,100 executions, 11 samples, so that a sample is 100 of them. */
static const struct row both[] = {
	{ BRANCH, 0x10, 0x100, SW, 1000, 0, 0 },
	{ BRANCH, 0x10, 0x100, HW, 8, 2, 40 },
	{ BRANCH, 0x20, 0x100, SW, 100, 0, 0 },
	{ BRANCH, 0x20, 0x100, HW, 3, 0, 9 },
	{ BRANCH, 0x30, 0x100, SW, 7, 0, 0 },
	{ BRANCH, 0x40, 0x100, HW, 2, 1, 4 },
	{ 0 },
};

static void check_policies(void)
{
	static const struct row sw[] = {
		{ BRANCH, 0x10, 0x100, SW, 1000, 250, 5000 },
		{ BRANCH, 0x20, 0x100, SW, 100, 0, 300 },
		{ BRANCH, 0x30, 0x100, SW, 7, 0, 0 },
		{ BRANCH, 0x40, 0x100, HW, 200, 100, 400 },
		{ 0 },
	};
	static const struct row hw[] = {
		{ BRANCH, 0x10, 0x100, HW, 800, 200, 4000 },
		{ BRANCH, 0x20, 0x100, HW, 300, 0, 900 },
		{ BRANCH, 0x30, 0x100, SW, 7, 0, 0 },
		{ BRANCH, 0x40, 0x100, HW, 200, 100, 400 },
		{ 0 },
	};
	static const struct row sum[] = {
		{ BRANCH, 0x10, 0x100, SW, 1000, 0, 0 },
		{ BRANCH, 0x10, 0x100, HW, 800, 200, 4000 },
		{ BRANCH, 0x20, 0x100, SW, 100, 0, 0 },
		{ BRANCH, 0x20, 0x100, HW, 300, 0, 900 },
		{ BRANCH, 0x30, 0x100, SW, 7, 0, 0 },
		{ BRANCH, 0x40, 0x100, HW, 200, 100, 400 },
		{ 0 },
	};
	struct swlbr_combination result;

	expect(both, SWLBR_PREFER_SW, NULL, sw, &result, "prefer sw: its counts, hardware's costs");
	check(result.both && result.shared == 2 && result.from_both == 1100 &&
		      result.from_sw == 7 && result.from_hw == 200,
	      "prefer sw: how much came from where");
	check(result.scale_from[HW] == SWLBR_SCALE_SHARED && result.scale[HW].num == 1100 &&
		      result.scale[HW].den == 11,
	      "the scale is of what both saw");
	expect(both, SWLBR_PREFER_HW, NULL, hw, &result, "prefer hw: scaled to executions");
	check(result.from_both == 1100 && result.from_sw == 7 && result.from_hw == 200,
	      "prefer hw: how much came from where");
	expect(both, SWLBR_PREFER_SUM, NULL, sum, &result, "sum: both, in executions");
}

static void check_period(void)
{
	/* A sample in 320 taken branches, 32 entries deep: 10 a count. */
	static const struct swlbr_scale known[SWLBR_SOURCES] = { [HW] = { 3200, 320 } };
	static const struct row sum[] = {
		{ BRANCH, 0x10, 0x100, SW, 1000, 0, 0 },
		{ BRANCH, 0x10, 0x100, HW, 80, 20, 400 },
		{ BRANCH, 0x20, 0x100, SW, 100, 0, 0 },
		{ BRANCH, 0x20, 0x100, HW, 30, 0, 90 },
		{ BRANCH, 0x30, 0x100, SW, 7, 0, 0 },
		{ BRANCH, 0x40, 0x100, HW, 20, 10, 40 },
		{ 0 },
	};
	static const struct row apart[] = {
		{ BRANCH, 0x10, 0x100, SW, 1000, 0, 0 },
		{ BRANCH, 0x20, 0x100, HW, 3, 0, 0 },
		{ 0 },
	};
	static const struct row apart_sw[] = {
		{ BRANCH, 0x10, 0x100, SW, 1000, 0, 0 },
		{ BRANCH, 0x20, 0x100, HW, 30, 0, 0 },
		{ 0 },
	};
	struct swlbr_combination result;

	expect(both, SWLBR_PREFER_SUM, known, sum, &result, "sum: scaled by period and depth");
	check(result.scale_from[HW] == SWLBR_SCALE_PERIOD, "and says so");
	expect(both, SWLBR_PREFER_SUM, (struct swlbr_scale[SWLBR_SOURCES]){ 0 },
	       (struct row[]){ { BRANCH, 0x10, 0x100, SW, 1000, 0, 0 },
			       { BRANCH, 0x10, 0x100, HW, 800, 200, 4000 },
			       { BRANCH, 0x20, 0x100, SW, 100, 0, 0 },
			       { BRANCH, 0x20, 0x100, HW, 300, 0, 900 },
			       { BRANCH, 0x30, 0x100, SW, 7, 0, 0 },
			       { BRANCH, 0x40, 0x100, HW, 200, 100, 400 },
			       { 0 } },
	       &result, "a period that is not known: by what both saw");
	expect(apart, SWLBR_PREFER_SW, known, apart_sw, &result,
	       "nothing that both saw: by period and depth");
	expect(apart, SWLBR_PREFER_SW, NULL, apart, &result, "nor a period: as they were");
	check(result.shared == 0 && result.both, "and says that nothing was seen by both");
}

static void check_sources(void)
{
	static const struct row rows[] = {
		{ BRANCH, 0x10, 0x100, SW, 1000, 0, 0 }, { BRANCH, 0x10, 0x100, HW, 10, 0, 0 },
		{ BRANCH, 0x10, 0x100, EMU, 500, 0, 0 }, { BRANCH, 0x20, 0x100, HW, 1, 0, 0 },
		{ BRANCH, 0x30, 0x100, EMU, 1, 0, 0 },	 { 0 },
	};
	static const struct row sw[] = {
		{ BRANCH, 0x10, 0x100, SW, 1000, 0, 0 },
		{ BRANCH, 0x20, 0x100, HW, 100, 0, 0 },
		{ BRANCH, 0x30, 0x100, EMU, 2, 0, 0 },
		{ 0 },
	};
	static const struct row one[] = {
		{ BRANCH, 0x10, 0x100, HW, 10, 3, 7 },
		{ BRANCH, 0x10, 0x100, EMU, 5, 0, 0 },
		{ RANGE, 0x100, 0x110, HW, 9, 0, 0 },
		{ 0 },
	};
	static const struct row rare[] = {
		{ BRANCH, 0x10, 0x100, SW, 10, 0, 0 },
		{ BRANCH, 0x10, 0x100, HW, 1000, 1, 0 },
		{ BRANCH, 0x20, 0x100, HW, 1, 0, 0 },
		{ 0 },
	};
	static const struct row rare_sw[] = {
		{ BRANCH, 0x10, 0x100, SW, 10, 1, 0 },
		{ BRANCH, 0x20, 0x100, HW, 1, 0, 0 },
		{ 0 },
	};
	struct swlbr_combination result;

	expect(rows, SWLBR_PREFER_SW, NULL, sw, &result, "each source has a scale of its own");
	expect(one, SWLBR_PREFER_SW, NULL, one, &result, "without counters nothing changes");
	check(!result.both, "and there are no two sides");
	expect(rare, SWLBR_PREFER_SW, NULL, rare_sw, &result, "what ran stays above 0");
}

/* Counters: 0x100 to 0x110, and from an instruction of 4 bytes on to 0x130. */
static void check_ranges(void)
{
	static const struct row rows[] = {
		{ RANGE, 0x100, 0x110, SW, 50, 0, 0 }, /* and of stacks: */
		{ RANGE, 0x100, 0x110, HW, 5, 0, 0 },  /* the same */
		{ RANGE, 0x100, 0x130, HW, 4, 0, 0 },  /* cut otherwise */
		{ RANGE, 0x104, 0x10c, HW, 4, 0, 0 },  /* inside */
		{ RANGE, 0x112, 0x130, HW, 3, 0, 0 },  /* begins where counters saw nothing */
		{ RANGE, 0x114, 0x130, SW, 60, 0, 0 },
		{ RANGE, 0x120, 0x134, HW, 2, 0, 0 }, /* goes on where counters saw nothing */
		{ RANGE, 0x120, 0x200, HW, 2, 0, 0 }, /* over code that they did not see */
		{ RANGE, 0x200, 0x210, SW, 9, 0, 0 },
		{ RANGE, 0x300, 0x310, HW, 1, 0, 0 }, /* elsewhere */
		{ 0 },
	};
	static const struct row sw[] = {
		{ RANGE, 0x100, 0x110, SW, 50, 0, 0 }, { RANGE, 0x112, 0x130, HW, 3, 0, 0 },
		{ RANGE, 0x114, 0x130, SW, 60, 0, 0 }, { RANGE, 0x120, 0x134, HW, 2, 0, 0 },
		{ RANGE, 0x120, 0x200, HW, 2, 0, 0 },  { RANGE, 0x200, 0x210, SW, 9, 0, 0 },
		{ RANGE, 0x300, 0x310, HW, 1, 0, 0 },  { 0 },
	};
	static const struct row hw[] = {
		{ RANGE, 0x100, 0x110, HW, 5, 0, 0 },
		{ RANGE, 0x100, 0x130, HW, 4, 0, 0 },
		{ RANGE, 0x104, 0x10c, HW, 4, 0, 0 },
		{ RANGE, 0x112, 0x130, HW, 3, 0, 0 },
		{ RANGE, 0x120, 0x134, HW, 2, 0, 0 },
		{ RANGE, 0x120, 0x200, HW, 2, 0, 0 },
		{ RANGE, 0x200, 0x210, SW, 9, 0, 0 },
		{ RANGE, 0x300, 0x310, HW, 1, 0, 0 },
		{ 0 },
	};
	struct swlbr_combination result;

	expect(rows, SWLBR_PREFER_SW, NULL, sw, &result,
	       "prefer sw: ranges of stacks are of code that counters did not see");
	check(result.ranges_left_out == 2, "ranges of code that counters saw are left out: %llu",
	      (unsigned long long)result.ranges_left_out);
	expect(rows, SWLBR_PREFER_HW, NULL, hw, &result,
	       "prefer hw: ranges of counters are of code that stacks did not see");
}

int main(void)
{
	check_policies();
	check_period();
	check_sources();
	check_ranges();
	return failures != 0;
}
