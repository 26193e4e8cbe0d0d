// SPDX-License-Identifier: GPL-2.0-only
/* An edge profile, and the debug information of its binaries, into a sample profile. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <swlbr/sample_profile.h>

#include "base/saturate.h"

#include "cmd.h"
#include "convert_samples.h"

/* What the counts of a binary are of: one that has both is the counters', which it was built for. */
enum side { SIDE_SW, SIDE_HW, SIDES };

/* One binary of the edge profile. */
struct source {
	uint64_t weight;
	enum side side;
	struct swlbr_error *error; /* why it is left out */
	struct swlbr_sample_stats stats;
};

struct samples {
	struct swlbr_sample_profile *sides[SIDES];
	struct swlbr_sample_combination combination;
	bool by_source; /* the sides are of different builds */
	bool for_gcc;
	struct convert *convert;
	struct swlbr_edge_profile *edges;
	struct swlbr_sample_profile *profile;
	struct source *sources; /* as many as binaries */
	size_t nr_sources, heaviest;
	uint64_t total; /* weight */
};

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void tell_missing_dwo(struct samples *samples, const struct swlbr_elf *elf,
			     const struct swlbr_dwarf *dwarf)
{
	const char *first;
	size_t missing = swlbr_dwarf_missing_dwo(dwarf, &first);
	char line[512];

	if (!missing)
		return;
	snprintf(line, sizeof(line), "%s: the debug information of %zu of its parts is missing: %s",
		 swlbr_elf_path(elf), missing, first);
	samples->convert->reporter.report(samples->convert->reporter.context, line);
}

/*
 * Debug files that are installed are those of the distribution's libraries: nobody means to compile
 * these, and their static functions may be called what the program's are. So they are looked for
 * only for the binary where most ran, and for those that are asked for.
 */
static const char *debug_dir(const struct samples *samples, uint32_t index)
{
	bool wanted = samples->convert->nr_arguments || index == samples->heaviest;

	return wanted ? NULL : "";
}

static struct swlbr_error *add_binary(struct samples *samples, uint32_t index)
{
	const struct swlbr_edge_binary *binary =
		swlbr_edge_profile_get_binary(samples->edges, index);
	struct source *source = &samples->sources[index];
	struct swlbr_dwarf *dwarf = NULL;
	struct swlbr_elf *elf = NULL;
	struct swlbr_error *error;

	if (binary->file_offsets)
		return swlbr_error_create(
			SWLBR_ERROR_NOT_FOUND,
			"%s: the profile has offsets in it, since it was not at hand; convert the recording again where it is",
			binary->path ? binary->path : "a binary");
	error = convert_open_edge_binary(samples->convert, binary, &elf);
	if (!error)
		error = swlbr_dwarf_open(elf, debug_dir(samples, index), &dwarf);
	if (!error)
		tell_missing_dwo(samples, elf, dwarf);
	if (!error && (samples->convert->sample_flags & SWLBR_SAMPLE_SYMBOL_LIST))
		error = swlbr_sample_profile_add_symbols(samples->profile, dwarf);
	if (!error)
		error = swlbr_sample_profile_add_edges(samples->sides[source->side], samples->edges,
						       index, elf, dwarf, &source->stats);
	swlbr_dwarf_close(dwarf);
	swlbr_elf_close(elf);
	return error;
}

/* That of the binary where most ran: the others (libc, the loader) seldom have what it takes. */
static struct swlbr_error *take_error(struct samples *samples)
{
	struct source *worst = NULL;
	struct swlbr_error *error;

	for (size_t i = 0; i < samples->nr_sources; i++)
		if (samples->sources[i].error &&
		    (!worst || samples->sources[i].weight > worst->weight))
			worst = &samples->sources[i];
	error = worst->error;
	worst->error = NULL;
	return error;
}

/* Is it one of the arguments, if there are any? */
static bool is_wanted(const struct samples *samples, uint32_t index)
{
	const struct swlbr_edge_binary *binary =
		swlbr_edge_profile_get_binary(samples->edges, index);

	return !samples->convert->nr_arguments ||
	       swlbr_elf_finder_has(samples->convert->finder, &binary->build_id, binary->path);
}

static struct swlbr_error *add_binaries(struct samples *samples)
{
	size_t taken = 0, wanted = 0;

	for (size_t i = 0; i < samples->nr_sources; i++)
		if (samples->sources[i].weight > samples->sources[samples->heaviest].weight)
			samples->heaviest = i;
	for (uint32_t i = 0; i < samples->nr_sources; i++) {
		struct source *source = &samples->sources[i];

		if (!source->weight || !is_wanted(samples, i))
			continue;
		wanted++;
		source->error = add_binary(samples, i);
		if (source->error && source->error->code == SWLBR_ERROR_NO_MEMORY)
			return take_error(samples);
		taken += !source->error;
	}
	if (taken)
		return NULL;
	if (samples->total && !wanted)
		return swlbr_error_create(SWLBR_ERROR_MISMATCH,
					  "%s: nothing in it is of %s: is it another build?",
					  samples->convert->inputs[0],
					  samples->convert->arguments[0]);
	if (!samples->total)
		return swlbr_error_create(
			SWLBR_ERROR_NOT_FOUND,
			"%s: taken branches, but no code between them: branch stacks of one entry tell of none",
			samples->convert->inputs[0]);
	return take_error(samples);
}

/* Binaries that are left out are told of where they are more than a trifle. */
static void print_left_out(const struct samples *samples)
{
	for (uint32_t i = 0; i < samples->nr_sources; i++) {
		const struct source *source = &samples->sources[i];
		double share = percent(source->weight, samples->total);

		if (source->error && (samples->convert->verbose || share >= 0.1))
			fprintf(stderr, "[ left out, %.1f %% of what ran: %s ]\n", share,
				source->error->message);
	}
}

static void print_summary(const struct samples *samples)
{
	uint64_t ranges = 0, unknown = 0, bad = 0, total;
	size_t binaries = 0, functions;
	uint64_t weight = 0;

	for (size_t i = 0; i < samples->nr_sources; i++) {
		const struct source *source = &samples->sources[i];

		if (!source->stats.ranges || source->error)
			continue;
		binaries++;
		weight += source->weight;
		ranges += source->stats.ranges;
		unknown += source->stats.ranges_unknown;
		bad += source->stats.ranges_bad;
	}
	functions = swlbr_sample_profile_functions(samples->profile, &total);
	fprintf(stderr,
		"[ %zu functions, total count %" PRIu64
		", of %zu binar%s, where %.1f %% ran; of that %.2f %% in functions with debug information",
		functions, total, binaries, binaries == 1 ? "y" : "ies",
		percent(weight, samples->total), percent(ranges - unknown - bad, ranges));
	if (bad)
		fprintf(stderr, "; %.2f %% do not fit the binary", percent(bad, ranges));
	fprintf(stderr, " ]\n");
	print_left_out(samples);
}

static void find_sides(struct samples *samples)
{
	const struct swlbr_edge *all;
	size_t nr = swlbr_edge_profile_edges(samples->edges, &all);

	for (size_t i = 0; i < samples->nr_sources; i++)
		samples->sources[i].side = SIDE_HW;
	for (size_t i = 0; i < nr; i++)
		if (all[i].source == SWLBR_SOURCE_SW)
			samples->sources[all[i].from_binary].side = SIDE_SW;
}

/*
 * Where counters and stacks have no branch in common, they are of different builds. By default
 * counters are preferred here too: they are exact, and code that the compiler has duplicated in the
 * stacks' build has its executions shared out among the copies there, of which the largest stands.
 */
static struct swlbr_error *combine_sides(struct samples *samples)
{
	struct convert *convert = samples->convert;
	const struct swlbr_combination *edges = &convert->combination;
	enum swlbr_prefer prefer = SWLBR_PREFER_SW;
	bool by_period = false;
	uint64_t total;

	for (int source = 0; source < SWLBR_SOURCES; source++)
		by_period |= edges->scale_from[source] == SWLBR_SCALE_PERIOD;
	if (convert->prefer == CONVERT_PREFER_HW)
		prefer = SWLBR_PREFER_HW;
	else if (convert->prefer == CONVERT_PREFER_SUM)
		prefer = SWLBR_PREFER_SUM;
	samples->by_source = edges->both && !edges->shared &&
			     swlbr_sample_profile_functions(samples->sides[SIDE_SW], &total) &&
			     swlbr_sample_profile_functions(samples->sides[SIDE_HW], &total);
	convert->by_source = samples->by_source;
	if (samples->by_source)
		return swlbr_sample_profile_combine(samples->sides[SIDE_SW],
						    samples->sides[SIDE_HW], prefer,
						    prefer != SWLBR_PREFER_SUM || !by_period,
						    samples->profile, &samples->combination);
	for (int side = 0; side < SIDES; side++) {
		struct swlbr_error *error =
			swlbr_sample_profile_merge(samples->profile, samples->sides[side], 1);

		if (error)
			return error;
	}
	return NULL;
}

static void print_combination(const struct samples *samples)
{
	const struct swlbr_sample_combination *result = &samples->combination;
	uint64_t whole = result->from_both;

	if (!samples->by_source)
		return;
	add_saturating(&whole, result->from_sw);
	add_saturating(&whole, result->from_hw);
	fprintf(stderr,
		"[ two builds, combined by source place: of the counts %.1f %% seen by both (%" PRIu64
		" places), %.1f %% only by counters, %.1f %% only by stacks; %" PRIu64
		" functions left out, since they are there in other contexts ]\n",
		percent(result->from_both, whole), result->shared, percent(result->from_sw, whole),
		percent(result->from_hw, whole), result->left_out);
	if (!result->shared)
		cmd_warn("no place was seen by counters and by stacks: are they of one program?");
}

typedef struct swlbr_error *write_fn(const struct convert *convert,
				     const struct swlbr_sample_profile *profile, const char *path);

static unsigned int gcov_version(const struct convert *convert)
{
	return convert->gcov_version ? convert->gcov_version : SWLBR_GCC_MIN_VERSION;
}

static struct swlbr_error *write_gcc(const struct convert *convert,
				     const struct swlbr_sample_profile *profile, const char *path)
{
	return swlbr_sample_profile_write_gcc(profile, gcov_version(convert), convert->sample_flags,
					      path);
}

static struct swlbr_error *create_sides(struct samples *samples)
{
	for (int side = 0; side < SIDES; side++) {
		struct swlbr_error *error = swlbr_sample_profile_create(&samples->sides[side]);

		if (error)
			return error;
		if (samples->for_gcc)
			swlbr_sample_profile_for_gcc(samples->sides[side],
						     gcov_version(samples->convert));
	}
	return NULL;
}

static struct swlbr_error *write_samples(struct convert *convert, struct swlbr_edge_profile *edges,
					 const char *path, write_fn *write)
{
	struct samples samples = { .convert = convert,
				   .for_gcc = write == write_gcc,
				   .edges = edges,
				   .nr_sources = swlbr_edge_profile_nr_binaries(edges) };
	struct swlbr_error *error;
	uint64_t *weights = NULL;

	samples.sources = calloc(samples.nr_sources + 1, sizeof(*samples.sources));
	if (!samples.sources)
		return swlbr_error_no_memory();
	error = swlbr_sample_profile_create(&samples.profile);
	if (!error)
		error = create_sides(&samples);
	if (!error)
		error = convert_edge_weights(edges, &weights, &samples.total);
	for (size_t i = 0; !error && i < samples.nr_sources; i++)
		samples.sources[i].weight = weights[i];
	find_sides(&samples);
	if (!error)
		error = add_binaries(&samples);
	if (!error)
		error = combine_sides(&samples);
	if (!error && convert->normalize)
		swlbr_sample_profile_normalize(samples.profile);
	if (!error)
		error = write(convert, samples.profile, path);
	if (!error && !convert->quiet) {
		print_summary(&samples);
		print_combination(&samples);
	}
	for (size_t i = 0; i < samples.nr_sources; i++)
		swlbr_error_destroy(samples.sources[i].error);
	free(weights);
	free(samples.sources);
	swlbr_sample_profile_destroy(samples.profile);
	for (int side = 0; side < SIDES; side++)
		swlbr_sample_profile_destroy(samples.sides[side]);
	return error;
}

static struct swlbr_error *write_text(const struct convert *convert,
				      const struct swlbr_sample_profile *profile, const char *path)
{
	(void)convert;
	return swlbr_sample_profile_write_text(profile, path);
}

static struct swlbr_error *write_extbinary(const struct convert *convert,
					   const struct swlbr_sample_profile *profile,
					   const char *path)
{
	return swlbr_sample_profile_write_extbinary(profile, convert->sample_flags, path);
}

struct swlbr_error *convert_write_llvm_sample(struct convert *convert,
					      struct swlbr_edge_profile *edges, const char *path)
{
	return write_samples(convert, edges, path, write_text);
}

struct swlbr_error *convert_write_llvm_extbinary(struct convert *convert,
						 struct swlbr_edge_profile *edges, const char *path)
{
	return write_samples(convert, edges, path, write_extbinary);
}

struct swlbr_error *convert_write_gcc_afdo(struct convert *convert,
					   struct swlbr_edge_profile *edges, const char *path)
{
	return write_samples(convert, edges, path, write_gcc);
}
