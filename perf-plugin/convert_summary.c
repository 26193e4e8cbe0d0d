// SPDX-License-Identifier: GPL-2.0-only
/* What a conversion to an edge profile has done, for people and for machines. */
#include <stdio.h>
#include <string.h>

#include "base/saturate.h"
#include "cmd.h"
#include "convert.h"
#include "convert_diagnosis.h"

struct totals {
	uint64_t branches, ranges; /* distinct */
	uint64_t branch_count, range_count;
	size_t binaries;
};

static void sum(struct swlbr_edge_profile *edges, struct totals *totals)
{
	const struct swlbr_edge *all;
	size_t nr = swlbr_edge_profile_edges(edges, &all);

	*totals = (struct totals){ .binaries = swlbr_edge_profile_nr_binaries(edges) };
	for (size_t i = 0; i < nr; i++) {
		if (all[i].kind == SWLBR_EDGE_BRANCH) {
			totals->branches++;
			add_saturating(&totals->branch_count, all[i].nr);
		} else {
			totals->ranges++;
			add_saturating(&totals->range_count, all[i].nr);
		}
	}
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static const char *match_name(enum swlbr_elf_match match)
{
	switch (match) {
	case SWLBR_ELF_BY_BUILD_ID:
		return "build-id agrees";
	case SWLBR_ELF_BY_NAME:
		return "found by name";
	case SWLBR_ELF_CHANGED:
		return "changed since";
	case SWLBR_ELF_MISSING:
		return "not found";
	case SWLBR_ELF_UNREADABLE:
		return "not readable";
	}
	return "";
}

static void warn(void *context, const char *key, const char *text)
{
	(void)context;
	(void)key;
	cmd_warn("%s", text);
}

static void print_drops(const struct swlbr_stacks_stats *stats)
{
	for (int drop = 0; drop < SWLBR_DROPS; drop++) {
		if (stats->drops[drop])
			fprintf(stderr, "[   left out: %llu %s ]\n",
				(unsigned long long)stats->drops[drop],
				swlbr_stack_drop_text(drop));
	}
}

static void print_binaries(const struct convert *convert, const struct swlbr_stacks_stats *stats)
{
	struct swlbr_stacks_binary binary;

	for (size_t i = 0; swlbr_stacks_get_binary(convert->stacks, i, &binary); i++) {
		if (binary.entries &&
		    (convert->verbose || percent(binary.entries, stats->branches_kept) >= 1))
			fprintf(stderr, "[   %5.1f %% in %s (%s) ]\n",
				percent(binary.entries, stats->entries), binary.path,
				match_name(binary.match));
	}
}

static void print_text(const struct convert *convert, const struct totals *totals,
		       const struct swlbr_error *error)
{
	const struct swlbr_stacks_stats *stats = swlbr_stacks_get_stats(convert->stacks);

	convert_diagnose(convert, warn, NULL);
	if (error || convert->quiet)
		return;
	fprintf(stderr,
		"[ perf swlbr convert: wrote %s: %llu branches (%llu executions), %llu ranges (%llu executions), of %zu binar%s, from %zu input%s ]\n",
		convert->output, (unsigned long long)totals->branches,
		(unsigned long long)totals->branch_count, (unsigned long long)totals->ranges,
		(unsigned long long)totals->range_count, totals->binaries,
		totals->binaries == 1 ? "y" : "ies", convert->nr_inputs,
		convert->nr_inputs == 1 ? "" : "s");
	if (convert->share.branches)
		fprintf(stderr,
			"[   known by counters: %llu executions of branches, %.1f %% exactly, the rest inferred ]\n",
			(unsigned long long)convert->share.branches,
			percent(convert->share.exact, convert->share.branches));
	convert_kernel_summary(convert);
	convert_combine_summary(convert);
	if (!stats->files)
		return;
	fprintf(stderr,
		"[   %llu samples, %llu with branch stacks; %llu entries, %.2f %% counted ]\n",
		(unsigned long long)stats->samples, (unsigned long long)stats->stacks,
		(unsigned long long)stats->entries, percent(stats->branches_kept, stats->entries));
	print_binaries(convert, stats);
	print_drops(stats);
}

static void put_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte == '"' || byte == '\\')
			printf("\\%c", byte);
		else if (byte < ' ' || byte == 0x7f)
			printf("\\u%04x", byte);
		else
			putchar(byte);
	}
	putchar('"');
}

static void put_number(const char *key, uint64_t value)
{
	printf("  \"%s\": %llu,\n", key, (unsigned long long)value);
}

static void put_binaries(const struct convert *convert)
{
	struct swlbr_stacks_binary binary;
	const char *separator = "";
	char hex[41];

	printf("  \"binaries\": [");
	for (size_t i = 0; swlbr_stacks_get_binary(convert->stacks, i, &binary); i++) {
		if (!binary.entries)
			continue;
		printf("%s\n    { \"path\": ", separator);
		put_string(binary.path);
		printf(", \"build_id\": \"%s\", \"entries\": %llu, \"not_in_file\": %llu, \"file\": ",
		       swlbr_build_id_format(&binary.build_id, hex),
		       (unsigned long long)binary.entries,
		       (unsigned long long)binary.not_in_segments);
		put_string(match_name(binary.match));
		printf(" }");
		separator = ",";
	}
	printf("%s],\n", *separator ? "\n  " : "");
}

static void put_combination(const struct swlbr_combination *result)
{
	if (!result->both)
		return;
	put_number("branches_seen_by_both", result->shared);
	put_number("executions_seen_by_both", result->from_both);
	put_number("executions_seen_by_counters_alone", result->from_sw);
	put_number("executions_seen_by_stacks_alone", result->from_hw);
	put_number("ranges_left_out", result->ranges_left_out);
}

static void put_finding(void *context, const char *key, const char *text)
{
	const char **separator = context;

	printf("%s\n    { \"key\": \"%s\", \"text\": ", *separator, key);
	put_string(text);
	printf(" }");
	*separator = ",";
}

static void print_json(const struct convert *convert, const struct totals *totals,
		       const struct swlbr_error *error)
{
	const struct swlbr_stacks_stats *stats = swlbr_stacks_get_stats(convert->stacks);
	const char *separator = "";

	printf("{\n  \"output\": ");
	put_string(convert->output);
	printf(",\n");
	put_number("inputs", convert->nr_inputs);
	put_number("damaged_inputs", stats->damaged_files);
	put_number("unfinished_inputs", stats->unfinished_files);
	put_number("branches", totals->branches);
	put_number("branch_executions", totals->branch_count);
	put_number("branches_of_counters", convert->share.branches);
	put_number("branches_exact", convert->share.exact);
	put_number("ranges", totals->ranges);
	put_number("range_executions", totals->range_count);
	put_number("samples", stats->samples);
	put_number("filtered_samples", stats->filtered);
	put_number("samples_of_unknown_events", stats->unknown_events);
	put_number("stacks", stats->stacks);
	put_number("empty_stacks", stats->empty_stacks);
	put_number("call_stacks", stats->call_stacks);
	put_number("entries", stats->entries);
	put_number("entries_counted", stats->branches_kept);
	put_combination(&convert->combination);
	put_number("lost", stats->lost);
	put_number("throttled", stats->throttled);
	printf("  \"dropped\": {");
	for (int drop = 0; drop < SWLBR_DROPS; drop++)
		printf("%s \"%s\": %llu", drop ? "," : "", swlbr_stack_drop_name(drop),
		       (unsigned long long)stats->drops[drop]);
	printf(" },\n");
	put_binaries(convert);
	printf("  \"findings\": [");
	convert_diagnose(convert, put_finding, &separator);
	printf("%s],\n  \"error\": ", *separator ? "\n  " : "");
	if (error)
		put_string(error->message);
	else
		printf("null");
	printf("\n}\n");
	fflush(stdout);
}

void convert_edges_summary(const struct convert *convert, struct swlbr_edge_profile *edges,
			   const struct swlbr_error *error)
{
	struct totals totals;

	sum(edges, &totals);
	if (convert->json)
		print_json(convert, &totals, error);
	else
		print_text(convert, &totals, error);
}
