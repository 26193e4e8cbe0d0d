// SPDX-License-Identifier: GPL-2.0-only
/* What sample profiles are made with: spans that overlap, scopes in scopes, discriminators, names. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dwarf/functions.h"
#include "sampleprofile/discriminator.h"
#include "sampleprofile/entries.h"
#include "sampleprofile/spans.h"

static void check_spans(const char *what, const struct span *given, size_t nr,
			const struct span *expected, size_t nr_expected)
{
	struct spans spans = { 0 };
	bool same;

	for (size_t i = 0; i < nr; i++)
		swlbr_error_destroy(
			spans_add(&spans, given[i].begin, given[i].end, given[i].count));
	swlbr_error_destroy(spans_sum(&spans));
	same = spans.nr == nr_expected;
	for (size_t i = 0; same && i < nr_expected; i++)
		same = spans.entries[i].begin == expected[i].begin &&
		       spans.entries[i].end == expected[i].end &&
		       spans.entries[i].count == expected[i].count;
	check(same, "spans: %s", what);
	spans_free(&spans);
}

static void check_all_spans(void)
{
	static const struct span overlap[] = { { 10, 20, 100 }, { 10, 30, 200 } };
	static const struct span overlap_sum[] = { { 10, 20, 300 }, { 20, 30, 200 } };
	static const struct span cold[] = { { 0, 50, 0 }, { 10, 20, 100 }, { 30, 40, 200 } };
	static const struct span cold_sum[] = {
		{ 0, 10, 0 }, { 10, 20, 100 }, { 20, 30, 0 }, { 30, 40, 200 }, { 40, 50, 0 },
	};
	static const struct span apart[] = { { 30, 40, 7 }, { 10, 20, 5 }, { 20, 20, 9 } };
	static const struct span apart_sum[] = { { 10, 20, 5 }, { 30, 40, 7 } };
	static const struct span large[] = { { 0, 9, UINT64_MAX }, { 0, 9, 5 }, { 3, 12, 1 } };
	static const struct span large_sum[] = { { 0, 3, UINT64_MAX },
						 { 3, 9, UINT64_MAX },
						 { 9, 12, 1 } };

	check_spans("counts add up where they overlap", overlap, 2, overlap_sum, 2);
	check_spans("what did not run has 0 as far as nothing else says", cold, 3, cold_sum, 5);
	check_spans("what nothing covers is not there", apart, 3, apart_sum, 2);
	check_spans("sums saturate, and what is under them is not lost", large, 3, large_sum, 3);
}

static void check_areas(void)
{
	/* A function, two calls in it, a call in the first, and one that covers the second. */
	struct dw_area areas[] = {
		{ 0, 100, 0 }, { 10, 40, 1 }, { 20, 30, 2 }, { 60, 80, 3 }, { 60, 80, 4 },
	};
	static const struct dw_area expected[] = {
		{ 0, 10, 0 },  { 10, 20, 1 }, { 20, 30, 2 },  { 30, 40, 1 },
		{ 40, 60, 0 }, { 60, 80, 4 }, { 80, 100, 0 },
	};
	struct dw_area *flat = NULL;
	size_t nr = 0;
	bool same;

	swlbr_error_destroy(dw_areas_flatten(areas, 5, &flat, &nr));
	same = nr == 7;
	for (size_t i = 0; same && i < nr; i++)
		same = flat[i].low == expected[i].low && flat[i].high == expected[i].high &&
		       flat[i].scope == expected[i].scope;
	check(same, "areas: the innermost scope stands");
	check(nr == 7 && dw_areas_find(flat, nr, 30) == 3 && dw_areas_find(flat, nr, 0) == 0 &&
		      dw_areas_find(flat, nr, 100) == 7,
	      "areas: found by address");
	free(flat);
}

/* A part of a discriminator as clang writes it. */
static uint32_t part(uint32_t value)
{
	if (!value)
		return 1;
	return value < 32 ? value << 1 : (value & 0x1f) << 1 | 0x40 | (value >> 5) << 7;
}

static unsigned int part_bits(uint32_t value)
{
	return !value ? 1 : value < 32 ? 7 : 14;
}

static void check_discriminators(void)
{
	static const uint32_t bases[] = { 0, 1, 31, 32, 100, 4095 },
			      factors[] = { 1, 2, 8, 31, 64 };
	bool same = true;

	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		same &= discriminator_base(part(bases[i])) == bases[i];
		for (size_t j = 0; j < sizeof(factors) / sizeof(factors[0]); j++) {
			uint32_t both = part(bases[i]) | part(factors[j]) << part_bits(bases[i]);

			same &= discriminator_base(both) == bases[i] &&
				discriminator_duplication(both) == factors[j];
		}
	}
	check(same, "discriminators: base and duplication factor");
	check(discriminator_duplication(0) == 1 && discriminator_base(0) == 0,
	      "discriminators: none is base 0, once");
	check(discriminator_base(7 | 5 << 3) == 5 && discriminator_base(7 | 3 << 16 | 1 << 28) == 3,
	      "discriminators: of a probe, its number, or the base in it");
}

static void check_names(void)
{
	static const struct {
		const char *name, *canonical;
	} names[] = {
		{ "f", "f" },
		{ "f.llvm.123", "f" },
		{ "f.part.0", "f" },
		{ "f.part.0.llvm.9", "f" },
		{ "f.__uniq.12", "f.__uniq.12" },
		{ "f.__uniq.12.llvm.3", "f.__uniq.12" },
		{ "f.cold", "f.cold" },
		{ "f.llvm.1.cold", "f.llvm.1.cold" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		check(canonical_size(names[i].name) == strlen(names[i].canonical), "%s is %s",
		      names[i].name, names[i].canonical);
}

int main(void)
{
	check_all_spans();
	check_areas();
	check_discriminators();
	check_names();
	return failures != 0;
}
