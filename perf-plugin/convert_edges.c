// SPDX-License-Identifier: GPL-2.0-only
/* Branch stacks and edge profiles into a profile made of an edge profile. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <swlbr/edge_text.h>
#include <swlbr/kernel_counters.h>

#include "cmd.h"
#include "convert.h"
#include "convert_diagnosis.h"

/* What "the program", without a path, is called in messages. */
static const char *binary_name(const struct swlbr_edge_binary *binary, char hex[41])
{
	return binary->path ? binary->path : swlbr_build_id_format(&binary->build_id, hex);
}

struct swlbr_error *convert_open_edge_binary(const struct convert *convert,
					     const struct swlbr_edge_binary *binary,
					     struct swlbr_elf **ret)
{
	char then[41], now[41];
	const char *name = binary_name(binary, then);
	struct swlbr_elf_found found;
	struct swlbr_error *error;

	error = swlbr_elf_find(convert->finder, &binary->build_id, binary->path, &found);
	if (error)
		return error;
	*ret = found.elf;
	if (found.elf) {
		found.elf = NULL;
	} else if (found.match == SWLBR_ELF_CHANGED) {
		swlbr_build_id_format(&found.other_id, now);
		error = swlbr_error_create(
			SWLBR_ERROR_MISMATCH,
			"%s has changed since the recording: build-id %s then, %s now; record again, or give the binary of then as an argument",
			found.path, swlbr_build_id_format(&binary->build_id, then), now);
	} else if (found.match == SWLBR_ELF_UNREADABLE) {
		error = swlbr_error_create(SWLBR_ERROR_NOT_FOUND, "%s", found.why);
	} else {
		error = swlbr_error_create(SWLBR_ERROR_NOT_FOUND,
					   "%s is not there; give the binary as an argument", name);
	}
	swlbr_elf_found_clear(&found);
	return error;
}

/*
 * Totals where there are some, else branch stacks; never both, since both are of the same run.
 * Parts of a recording are in its stacks alone. What the kernel's PMU swlbr counted is exact, where
 * it was recorded (-R); its branch stacks are drawn from it.
 */
static struct swlbr_error *add_perfdata(struct convert *convert, struct swlbr_edge_profile *edges,
					const char *path)
{
	struct swlbr_error *error = NULL;
	bool found = false;

	if (convert->from == CONVERT_FROM_ARCS ||
	    (convert->from == CONVERT_FROM_BEST && !convert_is_filtered(convert)))
		error = convert_arcs(convert, edges, path, &found);
	if (error || found) {
		return error;
	}
	if (convert->from == CONVERT_FROM_BEST && !convert_is_filtered(convert))
		error = convert_has_kernel_counters(path, &found);
	if (error || found)
		return error ? error : convert_kernel_edges(convert, path, convert_perfdata);
	if (convert->from == CONVERT_FROM_ARCS)
		return swlbr_error_create(SWLBR_ERROR_NOT_FOUND,
					  "%s: no swlbr:arc in it; leave out --from arcs", path);
	return convert_perfdata_edges(convert, path);
}

/* Formats that do not tell of what binary they are: it is the argument. */
static struct swlbr_error *add_text(struct convert *convert, struct swlbr_edge_profile *edges,
				    const char *path)
{
	struct swlbr_error *error;
	struct swlbr_elf *elf;
	uint64_t outside;

	if (convert->nr_arguments != 1)
		return swlbr_error_create(
			SWLBR_ERROR_NOT_FOUND,
			"%s: this format does not tell of what binary it is; give that one as the argument",
			path);
	error = swlbr_elf_open(convert->arguments[0], &elf);
	if (error)
		return error;
	error = swlbr_edge_text_read(edges, elf, path, &outside);
	swlbr_elf_close(elf);
	if (!error && outside)
		cmd_warn(
			"%s: %llu rows are at no place of %s and do not count: is it the right one?",
			path, (unsigned long long)outside, convert->arguments[0]);
	return error;
}

/* Text of any kind; *@found_ret is false if it is none that is known. */
static struct swlbr_error *add_any_text(struct convert *convert, struct swlbr_edge_profile *edges,
					const char *path, bool *found_ret)
{
	enum swlbr_edge_text text;
	struct swlbr_error *error = swlbr_edge_text_probe(path, &text);

	*found_ret = !error && text != SWLBR_TEXT_NONE;
	if (!*found_ret)
		return error;
	convert->has_rows = true;
	if (text == SWLBR_TEXT_SCRIPT)
		return swlbr_stacks_read_script(convert->stacks, path);
	return add_text(convert, edges, path);
}

/* What comes through a pipe can be read once; its beginning tells text from a perf.data. */
static struct swlbr_error *add_standard_input(struct convert *convert,
					      struct swlbr_edge_profile *edges)
{
	bool found;
	struct swlbr_error *error = add_any_text(convert, edges, "-", &found);

	return error || found ? error : convert_perfdata_edges(convert, "-");
}

static struct swlbr_error *add_file(struct convert *convert, struct swlbr_edge_profile *edges,
				    const char *path)
{
	bool is_arcs, is_perfdata = false, is_profraw = false, is_kernel = false, found = false;
	struct swlbr_error *error;
	struct stat stat_buffer;

	error = swlbr_arcs_probe(path, &is_arcs);
	if (error)
		return error;
	if (!is_arcs && !strcmp(path, "-"))
		return add_standard_input(convert, edges);
	/* It cannot be looked at without being opened, which its writer would notice. */
	if (!stat(path, &stat_buffer) && S_ISFIFO(stat_buffer.st_mode))
		return convert_perfdata_edges(convert, path);
	if (is_arcs) {
		convert->has_rows = true;
		return swlbr_arcs_read(edges, path);
	}
	error = swlbr_perfdata_probe(path, &is_perfdata);
	if (!error && is_perfdata)
		return add_perfdata(convert, edges, path);
	if (!error)
		error = swlbr_profraw_probe(path, &is_profraw);
	if (!error && is_profraw)
		return convert_profraw(convert, path);
	if (!error)
		error = swlbr_kernel_counters_probe(path, &is_kernel);
	if (!error && is_kernel)
		return convert_kernel_edges(convert, path, convert_kernel);
	if (!error)
		error = add_any_text(convert, edges, path, &found);
	if (error || found)
		return error;
	return swlbr_error_create(SWLBR_ERROR_FORMAT,
				  "%s: neither a perf.data nor an edge profile (at offset 0)",
				  path);
}

/*
 * The file's counts times its weight. Stacks are weighted as they are counted; what an input adds
 * of rows and counters goes through profiles of its own.
 */
static struct swlbr_error *add_weighted(struct convert *convert, struct swlbr_edge_profile *edges,
					const char *path)
{
	uint64_t weight = cmd_weight_of(&convert->weights, path);
	struct swlbr_profraws others = convert->set;
	struct swlbr_edge_profile *one = NULL;
	struct swlbr_error *error;

	if (weight == 1)
		return add_file(convert, edges, path);
	convert->set = (struct swlbr_profraws){ 0 };
	error = swlbr_edge_profile_create(&one);
	if (!error)
		error = swlbr_stacks_set_weight(convert->stacks, (unsigned int)weight);
	if (!error)
		error = add_file(convert, one, path);
	if (!error)
		error = swlbr_stacks_set_weight(convert->stacks, 1);
	if (!error)
		error = convert_flow(convert, one);
	if (!error)
		error = swlbr_edge_profile_merge(edges, one, weight);
	swlbr_edge_profile_destroy(one);
	swlbr_profraws_clear(&convert->set);
	convert->set = others;
	return error;
}

/* An empty profile would be worse than none: a compiler takes it and says nothing. */
static struct swlbr_error *check_not_empty(const struct convert *convert,
					   struct swlbr_edge_profile *edges)
{
	const struct swlbr_edge *all;

	if (swlbr_edge_profile_edges(edges, &all))
		return NULL;
	return swlbr_error_create(SWLBR_ERROR_NOT_FOUND,
				  "%s%s: no branches that count, so that nothing was written",
				  convert->inputs[0],
				  convert->nr_inputs > 1 ? " and the other inputs" : "");
}

/* What chooses among samples would change nothing, and nobody would notice. */
static struct swlbr_error *check_filter(const struct convert *convert)
{
	if (swlbr_stacks_get_stats(convert->stacks)->files ||
	    (!convert_is_filtered(convert) && convert->from != CONVERT_FROM_STACKS))
		return NULL;
	return swlbr_error_create(
		SWLBR_ERROR_UNSUPPORTED,
		"%s%s: no branch stacks are taken from it; %s of branch stacks, and totals have none",
		convert->inputs[0], convert->nr_inputs > 1 ? " and the other inputs" : "",
		convert_is_filtered(convert)
			? "--pid, --tid, --comm, --event, --dso and --time choose samples"
			: "--from stacks takes the samples");
}

struct swlbr_error *convert_write_edges(struct convert *convert, struct swlbr_edge_profile *edges)
{
	struct swlbr_error *error = swlbr_stacks_finish(convert->stacks, convert->finder, edges);
	struct swlbr_edge_profile *combined = NULL;

	if (error)
		return error;
	error = check_not_empty(convert, edges);
	if (!error)
		error = swlbr_edge_profile_create(&combined);
	if (!error)
		error = convert_combine(convert, edges, combined);
	if (!error)
		error = convert->format->write_edges(convert, combined, convert->output);
	convert_edges_summary(convert, combined ? combined : edges, error);
	swlbr_edge_profile_destroy(combined);
	return error;
}

struct swlbr_error *convert_run_edges(struct convert *convert)
{
	struct swlbr_edge_profile *edges = NULL;
	struct swlbr_error *error;

	error = swlbr_edge_profile_create(&edges);
	if (!error)
		error = swlbr_stacks_create(&convert->filter, &convert->stacks);
	for (size_t i = 0; !error && i < convert->nr_inputs; i++)
		error = add_weighted(convert, edges, convert->inputs[i]);
	if (!error)
		error = check_filter(convert);
	if (!error)
		error = convert_flow(convert, edges);
	if (!error)
		error = convert_write_edges(convert, edges);
	else if (convert->json && convert->stacks)
		convert_edges_summary(convert, edges, error);
	swlbr_edge_profile_destroy(edges);
	return error;
}
