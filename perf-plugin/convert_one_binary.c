// SPDX-License-Identifier: GPL-2.0-only
/* Formats that hold the edge profile of one binary. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <swlbr/edge_writers.h>

#include "base/saturate.h"

#include "cmd.h"
#include "convert_samples.h"

struct swlbr_error *convert_edge_weights(struct swlbr_edge_profile *edges, uint64_t **ret,
					 uint64_t *total_ret)
{
	const struct swlbr_edge *all;
	size_t nr = swlbr_edge_profile_edges(edges, &all);
	uint64_t *weights = calloc(swlbr_edge_profile_nr_binaries(edges) + 1, sizeof(*weights));

	if (!weights)
		return swlbr_error_no_memory();
	*total_ret = 0;
	for (size_t i = 0; i < nr; i++) {
		if (all[i].kind != SWLBR_EDGE_RANGE)
			continue;
		add_saturating(&weights[all[i].from_binary], all[i].nr);
		add_saturating(total_ret, all[i].nr);
	}
	*ret = weights;
	return NULL;
}

/* The binary of the argument, or that in which most ran. */
static struct swlbr_error *choose(const struct convert *convert, struct swlbr_edge_profile *edges,
				  uint32_t *ret, double *share_ret)
{
	size_t nr = swlbr_edge_profile_nr_binaries(edges);
	uint64_t *weights, total, best = 0;
	struct swlbr_error *error;
	bool found = false;

	error = convert_edge_weights(edges, &weights, &total);
	if (error)
		return error;
	for (uint32_t i = 0; i < nr; i++) {
		const struct swlbr_edge_binary *binary = swlbr_edge_profile_get_binary(edges, i);

		if (binary->file_offsets || weights[i] < best)
			continue;
		if (convert->nr_arguments &&
		    !swlbr_elf_finder_has(convert->finder, &binary->build_id, binary->path))
			continue;
		best = weights[i];
		*ret = i;
		found = true;
	}
	*share_ret = total ? 100.0 * (double)best / (double)total : 100;
	free(weights);
	if (found)
		return NULL;
	if (convert->nr_arguments)
		return swlbr_error_create(SWLBR_ERROR_MISMATCH,
					  "%s: nothing in it is of %s: is it another build?",
					  convert->inputs[0], convert->arguments[0]);
	return swlbr_error_create(
		SWLBR_ERROR_NOT_FOUND,
		"%s: it has offsets in files, since these were not at hand; give the binary as an argument",
		convert->inputs[0]);
}

typedef struct swlbr_error *write_fn(struct swlbr_edge_profile *edges, uint32_t binary,
				     struct swlbr_elf *elf, const char *path);

/* The caller closes @elf_ret. */
static struct swlbr_error *choose_and_open(const struct convert *convert,
					   struct swlbr_edge_profile *edges, uint32_t *binary_ret,
					   struct swlbr_elf **elf_ret, double *share_ret)
{
	struct swlbr_error *error = choose(convert, edges, binary_ret, share_ret);

	if (error)
		return error;
	return convert_open_edge_binary(convert, swlbr_edge_profile_get_binary(edges, *binary_ret),
					elf_ret);
}

static struct swlbr_error *write_one(struct convert *convert, struct swlbr_edge_profile *edges,
				     const char *path, write_fn *write)
{
	struct swlbr_elf *elf = NULL;
	struct swlbr_error *error;
	uint32_t binary = 0;
	double share;

	error = choose_and_open(convert, edges, &binary, &elf, &share);
	if (!error)
		error = write(edges, binary, elf, path);
	if (!error && !convert->quiet)
		fprintf(stderr, "[ perf swlbr convert: wrote %s: of %s, where %.1f %% ran ]\n",
			path, swlbr_elf_path(elf), share);
	swlbr_elf_close(elf);
	return error;
}

struct swlbr_error *convert_write_llvm_unsymbolized(struct convert *convert,
						    struct swlbr_edge_profile *edges,
						    const char *path)
{
	return write_one(convert, edges, path, swlbr_llvm_unsymbolized_write);
}

struct swlbr_error *convert_write_bolt(struct convert *convert, struct swlbr_edge_profile *edges,
				       const char *path)
{
	return write_one(convert, edges, path, swlbr_bolt_fdata_write);
}

struct swlbr_error *convert_write_bolt_preagg(struct convert *convert,
					      struct swlbr_edge_profile *edges, const char *path)
{
	return write_one(convert, edges, path, swlbr_bolt_preagg_write);
}

struct swlbr_error *convert_write_autofdo_text(struct convert *convert,
					       struct swlbr_edge_profile *edges, const char *path)
{
	return write_one(convert, edges, path, swlbr_autofdo_text_write);
}

static void print_propeller(const struct swlbr_propeller_stats *stats)
{
	uint64_t whole = stats->counted;

	add_saturating(&whole, stats->left_out);
	fprintf(stderr,
		"[ %" PRIu64 " functions, of whose %" PRIu64 " basic blocks %" PRIu64
		" ran; %.2f %% of what ran is in basic blocks that are known ]\n",
		stats->functions, stats->blocks, stats->blocks_ran,
		whole ? 100.0 * (double)stats->counted / (double)whole : 0);
	if (stats->ambiguous)
		fprintf(stderr,
			"[   left out: %" PRIu64
			" functions whose names others have too; with debug information (-g), source files tell them apart ]\n",
			stats->ambiguous);
	if (stats->unnamed)
		fprintf(stderr, "[   left out: %" PRIu64 " functions without a usable symbol ]\n",
			stats->unnamed);
	if (stats->copied)
		fprintf(stderr,
			"[   left out: %" PRIu64
			" functions of which the compiler has copied basic blocks ]\n",
			stats->copied);
}

struct swlbr_error *convert_write_propeller(struct convert *convert,
					    struct swlbr_edge_profile *edges, const char *path)
{
	struct swlbr_propeller_stats stats;
	struct swlbr_elf *elf = NULL;
	struct swlbr_error *error;
	char *symbols = NULL;
	uint32_t binary = 0;
	double share;

	if (convert->symbol_order)
		symbols = strdup(convert->symbol_order);
	else if (asprintf(&symbols, "%s.symbols", path) < 0)
		symbols = NULL;
	if (!symbols)
		return swlbr_error_no_memory();
	error = choose_and_open(convert, edges, &binary, &elf, &share);
	if (!error)
		error = swlbr_propeller_write(edges, binary, elf, path, symbols, &stats);
	if (!error && !convert->quiet) {
		fprintf(stderr,
			"[ perf swlbr convert: wrote %s and %s: of %s, where %.1f %% ran ]\n", path,
			symbols, swlbr_elf_path(elf), share);
		print_propeller(&stats);
	}
	free(symbols);
	swlbr_elf_close(elf);
	return error;
}
