// SPDX-License-Identifier: GPL-2.0-only
/* perf swlbr merge: the sum of profiles of one kind. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <swlbr/edge_profile.h>
#include <swlbr/sample_profile.h>

#include "cmd.h"

static const char usage[] =
	"\n"
	" Usage: perf swlbr merge [<options>] -o <file> <file>...\n"
	"\n"
	"    -o, --output <file>   output file name\n"
	"        --weight <file>=<n>\n"
	"                          count what is in <file> n times; may be repeated\n"
	"    -q, --quiet           no summary\n"
	"    -h, --help            this text\n"
	"\n"
	" The files are all arcs files, or all sample profiles in text form. perf.data and .profraw\n"
	" files are summed by perf swlbr convert.\n"
	"\n"
	" Examples:\n"
	"    perf swlbr merge -o week.arcs monday.arcs tuesday.arcs\n"
	"    perf swlbr merge --weight long.prof=10 -o all.prof long.prof short.prof\n"
	"\n";

enum kind { KIND_NONE, KIND_ARCS, KIND_SAMPLES };

struct merge {
	struct cmd_weights weights;
	const char *output;
	char **inputs;
	size_t nr_inputs;
	bool quiet;
	enum kind kind;
	struct swlbr_edge_profile *edges;
	struct swlbr_sample_profile *samples;
};

static const char *kind_name(enum kind kind)
{
	return kind == KIND_ARCS ? "an arcs file" : "a sample profile";
}

static struct swlbr_error *find_kind(const char *path, enum kind *ret)
{
	struct swlbr_error *error;
	bool is_it;

	error = swlbr_arcs_probe(path, &is_it);
	*ret = KIND_ARCS;
	if (error || is_it)
		return error;
	error = swlbr_sample_profile_probe_text(path, &is_it);
	*ret = KIND_SAMPLES;
	if (error || is_it)
		return error;
	return swlbr_error_create(
		SWLBR_ERROR_UNSUPPORTED,
		"%s: neither an arcs file nor a sample profile in text form (at offset 0)", path);
}

static struct swlbr_error *add_arcs(struct merge *merge, const char *path, uint64_t weight)
{
	struct swlbr_edge_profile *one;
	struct swlbr_error *error = swlbr_edge_profile_create(&one);

	if (!error)
		error = swlbr_arcs_read(one, path);
	if (!error)
		error = swlbr_edge_profile_merge(merge->edges, one, weight);
	swlbr_edge_profile_destroy(one);
	return error;
}

static struct swlbr_error *add_samples(struct merge *merge, const char *path, uint64_t weight)
{
	struct swlbr_sample_profile *one;
	struct swlbr_error *error = swlbr_sample_profile_create(&one);

	if (!error)
		error = swlbr_sample_profile_read_text(one, path);
	if (!error)
		error = swlbr_sample_profile_merge(merge->samples, one, weight);
	swlbr_sample_profile_destroy(one);
	return error;
}

static struct swlbr_error *add_file(struct merge *merge, const char *path)
{
	struct swlbr_error *error;
	enum kind kind;

	error = find_kind(path, &kind);
	if (error)
		return error;
	if (merge->kind != KIND_NONE && kind != merge->kind)
		return swlbr_error_create(SWLBR_ERROR_MISMATCH,
					  "%s is %s, but %s is %s: one kind at a time", path,
					  kind_name(kind), merge->inputs[0],
					  kind_name(merge->kind));
	merge->kind = kind;
	return kind == KIND_ARCS ? add_arcs(merge, path, cmd_weight_of(&merge->weights, path))
				 : add_samples(merge, path, cmd_weight_of(&merge->weights, path));
}

static struct swlbr_error *run(struct merge *merge)
{
	struct swlbr_error *error = swlbr_edge_profile_create(&merge->edges);

	if (!error)
		error = swlbr_sample_profile_create(&merge->samples);
	for (size_t i = 0; !error && i < merge->nr_inputs; i++)
		error = add_file(merge, merge->inputs[i]);
	if (!error)
		error = merge->kind == KIND_ARCS
				? swlbr_arcs_write(merge->edges, merge->output)
				: swlbr_sample_profile_write_text(merge->samples, merge->output);
	if (!error && !merge->quiet)
		fprintf(stderr, "[ perf swlbr merge: wrote %s: the sum of %zu files ]\n",
			merge->output, merge->nr_inputs);
	swlbr_edge_profile_destroy(merge->edges);
	swlbr_sample_profile_destroy(merge->samples);
	return error;
}

/* -1: go on; else the exit status. */
static int parse_options(struct merge *merge, int argc, char **argv)
{
	enum { WEIGHT = 256 };
	static const struct option long_options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "weight", required_argument, NULL, WEIGHT },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *unused;
	int option;

	optind = 0; /* glibc: begin anew */
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":o:qh", long_options, NULL)) != -1) {
		switch (option) {
		case 'o':
			merge->output = optarg;
			break;
		case WEIGHT:
			if (!cmd_add_weight(&merge->weights, optarg))
				return cmd_fail(swlbr_error_no_memory());
			break;
		case 'q':
			merge->quiet = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return fflush(stdout) ? 1 : 0;
		case ':':
			return cmd_usage_error("merge", "option '%s' wants a value",
					       argv[optind - 1]);
		default:
			return cmd_usage_error("merge", "unknown option '%s'", argv[optind - 1]);
		}
	}
	merge->inputs = argv + optind;
	merge->nr_inputs = (size_t)(argc - optind);
	if (!merge->output)
		return cmd_usage_error("merge", "no output file given (-o)");
	if (!merge->nr_inputs)
		return cmd_usage_error("merge", "no files given");
	unused = cmd_unused_weight(&merge->weights, merge->inputs, merge->nr_inputs);
	if (unused)
		return cmd_usage_error(
			"merge", "--weight %s: no FILE=N, N above 0, of one of the files", unused);
	return -1;
}

int cmd_merge(int argc, char **argv)
{
	struct merge merge = { 0 };
	int status = parse_options(&merge, argc, argv);

	if (status < 0) {
		struct swlbr_error *error = run(&merge);

		status = error ? cmd_fail(error) : 0;
	}
	free(merge.weights.texts);
	return status;
}
