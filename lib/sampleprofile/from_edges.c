// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* An edge profile of a binary, and its debug information, into a sample profile. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "decisions.h"
#include "discriminator.h"
#include "entries.h"
#include "sample_profile.h"
#include "spans.h"

struct build {
	struct swlbr_sample_profile *profile;
	struct swlbr_elf *elf;
	struct swlbr_dwarf *dwarf;
	struct code *code;
	struct entries entries;
	struct spans spans;
	uint64_t count; /* of the span whose pieces are being added */
	struct decisions *decisions;
	struct swlbr_sample_stats stats;
};

static struct swlbr_error *add_range(struct build *build, const struct swlbr_edge *edge)
{
	struct swlbr_error *error;
	unsigned int size = 0;

	add_saturating(&build->stats.ranges, edge->nr);
	error = code_insn_size(build->code, edge->to, &size);
	if (error)
		return error;
	if (!size || edge->from > edge->to) {
		add_saturating(&build->stats.ranges_bad, edge->nr);
		return NULL;
	}
	return spans_add(&build->spans, edge->from, edge->to + size, edge->nr);
}

/* All code of the functions (all of a name) that ranges begin in did not run, if others don't say. */
static struct swlbr_error *add_cold_code(struct build *build, size_t nr_ranges)
{
	const struct entries *entries = &build->entries;
	bool *touched = calloc(entries->nr_groups + 1, sizeof(*touched));
	struct swlbr_error *error = NULL;

	if (!touched)
		return swlbr_error_no_memory();
	for (size_t i = 0; !error && i < nr_ranges; i++) {
		const struct entry *entry = entries_find(entries, build->spans.entries[i].begin);

		if (!entry) {
			add_saturating(&build->stats.ranges_unknown, build->spans.entries[i].count);
			continue;
		}
		if (touched[entry->group])
			continue;
		touched[entry->group] = true;
		for (uint32_t j = entries->start[entry->group];
		     !error && j < entries->start[entry->group + 1]; j++) {
			const struct entry *part = &entries->entries[entries->by_group[j]];

			error = spans_add(&build->spans, part->low, part->high, 0);
		}
	}
	free(touched);
	return error;
}

/* Are the discriminators of @scope to be left as they are? */
static bool is_plain(const struct build *build, const struct swlbr_dwarf_scope *scope)
{
	return build->profile->fs_discriminators || (build->profile->for_gcc && scope->by_gcc);
}

/* A line of @scope as the profile has it. */
static struct sample_place place_of(const struct build *build,
				    const struct swlbr_dwarf_scope *scope, uint32_t line,
				    uint32_t discriminator)
{
	return (struct sample_place){
		.line = (line - scope->decl_line) & 0xffff,
		.discriminator = is_plain(build, scope) ? discriminator
							: discriminator_base(discriminator),
	};
}

/*
 * Start-up code that clang makes for each file is called alike in all of them: its counts would be
 * of none. llvm-profgen leaves it out too.
 */
static bool is_ambiguous(const char *name)
{
	return !strncmp(name, "__cxx_global_var_init", strlen("__cxx_global_var_init")) ||
	       !strncmp(name, "__tls_init", strlen("__tls_init"));
}

/* What gcc has split off a function is called by it, and is inlined into a piece of its name. */
static bool is_split_part(const struct build *build, const struct swlbr_dwarf_scope *scope)
{
	return build->profile->for_gcc && scope->by_gcc && !scope->caller->caller &&
	       scope->call_line == scope->decl_line && scope->name && scope->caller->name &&
	       !strcmp(scope->name, scope->caller->name);
}

/*
 * The node of @scope, to whose total and whose callers' @bytes are added. @leaf_ret is the scope
 * that the node is of: what is inlined below a nameless call is its caller's. It is NULL if the
 * function itself has no name, or if something on the way is ambiguous.
 */
static struct swlbr_error *scope_node(struct build *build, const struct swlbr_dwarf_scope *scope,
				      uint64_t bytes, uint32_t *node_ret,
				      const struct swlbr_dwarf_scope **leaf_ret)
{
	struct swlbr_sample_profile *profile = build->profile;
	const struct swlbr_dwarf_scope *caller = scope->caller;
	struct sample_place place = { 0 };
	uint32_t parent = SAMPLE_TOP, name;
	struct swlbr_error *error;

	if (caller && is_split_part(build, scope)) {
		error = scope_node(build, caller, bytes, node_ret, leaf_ret);
		if (!error && *leaf_ret == caller)
			*leaf_ret = scope;
		return error;
	}
	if (caller) {
		error = scope_node(build, caller, bytes, &parent, leaf_ret);
		if (error || *leaf_ret != caller) { /* above is a nameless one */
			*node_ret = parent;
			return error;
		}
		place = place_of(build, caller, scope->call_line, scope->call_discriminator);
	}
	*leaf_ret = caller;
	*node_ret = parent;
	if (!scope->name)
		return NULL;
	if (is_ambiguous(scope->name)) {
		*leaf_ret = NULL;
		return NULL;
	}
	error = sample_name(profile, scope->name, strlen(scope->name), &name);
	if (!error)
		error = sample_node(profile, parent, place, name, node_ret);
	if (error)
		return error;
	*leaf_ret = scope;
	add_saturating(&profile->nodes[*node_ret].total, bytes);
	return NULL;
}

/*
 * The place that @piece is of, for body samples and call targets; @found_ret is false if it is of
 * none. Where a nameless call was, the place is that of the call.
 */
static struct swlbr_error *piece_record(struct build *build, const struct swlbr_dwarf_piece *piece,
					uint64_t bytes, uint32_t *record_ret, bool *found_ret)
{
	const struct swlbr_dwarf_scope *leaf = NULL, *below = piece->scope;
	uint32_t line = piece->line, discriminator = piece->discriminator, node = 0;
	struct swlbr_error *error;

	error = scope_node(build, piece->scope, bytes, &node, &leaf);
	*found_ret = leaf != NULL;
	if (error || !leaf)
		return error;
	for (; below != leaf; below = below->caller) {
		line = below->call_line;
		discriminator = below->call_discriminator;
	}
	return sample_record(build->profile, node, place_of(build, leaf, line, discriminator),
			     record_ret);
}

/* Of the code at one place the largest count stands. */
static struct swlbr_error *add_piece(void *context, const struct swlbr_dwarf_piece *piece)
{
	struct build *build = context;
	uint64_t size = piece->end - piece->begin, count = build->count;
	struct swlbr_error *error;
	uint32_t record;
	bool found;

	error = piece_record(build, piece, multiply_saturating(count, size), &record, &found);
	if (error || !found)
		return error;
	if (!is_plain(build, piece->scope) && count)
		count = multiply_saturating(count, discriminator_duplication(piece->discriminator));
	if (build->profile->records[record].count < count)
		build->profile->records[record].count = count;
	return NULL;
}

static struct swlbr_error *add_spans(struct build *build)
{
	struct swlbr_error *error = spans_sum(&build->spans);

	for (size_t i = 0; !error && i < build->spans.nr; i++) {
		const struct span *span = &build->spans.entries[i];

		build->count = span->count;
		error = swlbr_dwarf_pieces(build->dwarf, span->begin, span->end, add_piece, build);
	}
	return error;
}

/* What decides is of concern in code that gcc made; nobody has tried it with other code. */
static struct swlbr_error *judge_block(void *context, const struct block_piece *pieces, size_t nr)
{
	struct build *build = context;
	struct decisions_piece *judged = reallocarray(NULL, nr + 1, sizeof(*judged));
	struct swlbr_error *error = judged ? NULL : swlbr_error_no_memory();

	for (size_t i = 0; !error && i < nr; i++) {
		bool found;

		judged[i].decides = pieces[i].decides && pieces[i].piece.scope->by_gcc;
		error = piece_record(build, &pieces[i].piece, 0, &judged[i].record, &found);
		if (!error && (!found || !pieces[i].piece.line))
			judged[i].record = SAMPLE_TOP;
	}
	if (!error)
		decisions_add(build->decisions, judged, nr, build->count);
	free(judged);
	return error;
}

static struct swlbr_error *add_decisions(struct build *build)
{
	struct swlbr_error *error;

	if (!build->profile->by_line || !build->code->arch)
		return NULL;
	error = decisions_create(build->profile, &build->decisions);
	for (size_t i = 0; !error && i < build->spans.nr; i++) {
		const struct span *span = &build->spans.entries[i];

		build->count = span->count;
		error = blocks_of(build->code, build->dwarf, span->begin, span->end, judge_block,
				  build);
	}
	if (!error)
		error = decisions_mark(build->decisions, build->profile);
	decisions_destroy(build->decisions);
	return error;
}

struct call {
	struct build *build;
	uint32_t name;
	uint64_t count;
};

static struct swlbr_error *add_target(void *context, const struct swlbr_dwarf_piece *piece)
{
	struct call *call = context;
	struct swlbr_error *error;
	uint32_t record;
	bool found;

	error = piece_record(call->build, piece, 0, &record, &found);
	if (error || !found)
		return error;
	return sample_target(call->build->profile, record, call->name, call->count);
}

/* A taken branch is a call if it goes to the entry of a function. */
static struct swlbr_error *add_branch(struct build *build, const struct swlbr_edge *edge,
				      uint32_t binary)
{
	const struct entry *entry;
	struct call call = { .build = build, .count = edge->nr };
	struct swlbr_error *error;
	const char *name;
	uint32_t node;

	add_saturating(&build->stats.branches, edge->nr);
	if (edge->to_binary != binary)
		return NULL;
	entry = entries_find(&build->entries, edge->to);
	if (!entry || entry->low != edge->to || !entry->is_entry)
		return NULL;
	add_saturating(&build->stats.calls, edge->nr);
	name = entry->name;
	error = sample_name(build->profile, name, canonical_size(name), &call.name);
	if (!error && !is_ambiguous(name)) {
		error = sample_node(build->profile, SAMPLE_TOP, (struct sample_place){ 0 },
				    call.name, &node);
		if (!error)
			add_saturating(&build->profile->nodes[node].head, edge->nr);
	}
	if (error)
		return error;
	/* A call from another binary has no place, but it is one more execution of the callee. */
	if (edge->from_binary != binary)
		return NULL;
	return swlbr_dwarf_pieces(build->dwarf, edge->from, edge->from + 1, add_target, &call);
}

/* A place that called runs at least as often as it calls; not in inlined calls, as llvm-profgen. */
static struct swlbr_error *raise_callers(struct swlbr_sample_profile *profile)
{
	uint64_t *sums = calloc(profile->record_index.nr + 1, sizeof(*sums));

	if (!sums)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < profile->target_index.nr; i++)
		add_saturating(&sums[profile->targets[i].record], profile->targets[i].count);
	for (size_t i = 0; i < profile->record_index.nr; i++)
		if (profile->records[i].count < sums[i] &&
		    profile->nodes[profile->records[i].node].parent == SAMPLE_TOP)
			profile->records[i].count = sums[i];
	free(sums);
	return NULL;
}

static struct swlbr_error *check_not_empty(const struct build *build)
{
	const struct swlbr_sample_stats *stats = &build->stats;
	const char *path = swlbr_elf_path(build->elf);

	if (!stats->ranges)
		return swlbr_error_create(
			SWLBR_ERROR_NOT_FOUND,
			"%s: no straight-line code in the edge profile: branch stacks of one entry tell of none",
			path);
	if (stats->ranges_bad >= stats->ranges)
		return swlbr_error_create(SWLBR_ERROR_MISMATCH,
					  "%s: none of the profile's %" PRIu64
					  " ranges ends at an instruction: is it of another build?",
					  path, stats->ranges);
	if (stats->ranges_bad + stats->ranges_unknown >= stats->ranges)
		return swlbr_error_create(
			SWLBR_ERROR_NOT_FOUND,
			"%s: its debug information tells nothing of the code that ran: build all of it with -g (or -gmlt)",
			path);
	return NULL;
}

static struct swlbr_error *start(struct build *build)
{
	struct swlbr_elf_symbol symbol;

	struct swlbr_error *error = code_open(build->elf, &build->code);

	if (error)
		return error;
	/* clang -mllvm -enable-fs-discriminator leaves this variable behind. */
	if (swlbr_elf_symbol(build->elf, "__llvm_fs_discriminator__", &symbol))
		build->profile->fs_discriminators = true;
	return entries_read(build->elf, build->dwarf, &build->entries);
}

static struct swlbr_error *add_edges(struct build *build, const struct swlbr_edge *edges, size_t nr,
				     uint32_t binary)
{
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < nr; i++)
		if (edges[i].kind == SWLBR_EDGE_RANGE && edges[i].from_binary == binary &&
		    edges[i].to_binary == binary)
			error = add_range(build, &edges[i]);
	if (!error)
		error = add_cold_code(build, build->spans.nr);
	if (!error)
		error = check_not_empty(build);
	if (!error)
		error = add_spans(build);
	if (!error)
		error = add_decisions(build);
	for (size_t i = 0; !error && i < nr; i++)
		if (edges[i].kind == SWLBR_EDGE_BRANCH &&
		    (edges[i].from_binary == binary || edges[i].to_binary == binary))
			error = add_branch(build, &edges[i], binary);
	return error;
}

struct swlbr_error *swlbr_sample_profile_add_edges(struct swlbr_sample_profile *profile,
						   struct swlbr_edge_profile *edges,
						   uint32_t binary, struct swlbr_elf *elf,
						   struct swlbr_dwarf *dwarf,
						   struct swlbr_sample_stats *stats_ret)
{
	struct build build = { .elf = elf, .dwarf = dwarf };
	struct swlbr_error *error;
	const struct swlbr_edge *all;
	size_t nr = swlbr_edge_profile_edges(edges, &all);

	/* One of its own, since the largest count at a place is that of one binary. */
	error = swlbr_sample_profile_create(&build.profile);
	if (!error) {
		build.profile->for_gcc = profile->for_gcc;
		build.profile->by_line = profile->by_line;
		error = start(&build);
	}
	if (!error)
		error = add_edges(&build, all, nr, binary);
	if (!error)
		error = raise_callers(build.profile);
	if (!error)
		error = swlbr_sample_profile_merge(profile, build.profile, 1);
	if (stats_ret)
		*stats_ret = build.stats;
	entries_free(&build.entries);
	spans_free(&build.spans);
	free(build.code);
	swlbr_sample_profile_destroy(build.profile);
	return error;
}
