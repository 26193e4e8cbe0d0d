// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* From a function's own graph to the map of the whole binary. */
#include <stdlib.h>
#include <string.h>

#include "builder.h"

struct swlbr_error *builder_grow(void *array, size_t *max, size_t nr, size_t size)
{
	void **pointer = array, *grown;
	size_t want = *max ? *max + *max / 2 : 1024;

	if (nr < *max)
		return NULL;
	grown = reallocarray(*pointer, want, size);
	if (!grown)
		return swlbr_error_no_memory();
	*pointer = grown;
	*max = want;
	return NULL;
}

static struct swlbr_error *add_pending(struct builder *builder, enum swlbr_map_edge_kind kind,
				       uint64_t target)
{
	struct swlbr_error *error = builder_grow(&builder->pending, &builder->max_pending,
						 builder->nr_pending, sizeof(*builder->pending));

	if (error)
		return error;
	builder->pending[builder->nr_pending++] = (struct pending_edge){
		.from = (uint32_t)builder->map->nr_blocks - 1,
		.kind = kind,
		.target = target,
	};
	return NULL;
}

/* Entries of all jump tables of a binary, one time for each jump: 400 MB. What is more leaves. */
#define MAX_TABLE_EDGES (1 << 24)

static struct swlbr_error *add_table_edges(struct builder *builder, uint32_t jump)
{
	const struct function_graph *graph = &builder->graph;
	const struct jump_table *table =
		graph->table_of[jump] ? &graph->tables[graph->table_of[jump] - 1] : NULL;
	struct swlbr_error *error = NULL;

	/* A tail call through a pointer, or a table that was not found. */
	if (!table || !table->nr || table->nr > MAX_TABLE_EDGES - builder->nr_table_edges) {
		builder->map->blocks[builder->map->nr_blocks - 1].leaves = true;
		return NULL;
	}
	builder->nr_table_edges += table->nr;
	for (uint32_t k = 0; !error && k < table->nr; k++)
		error = add_pending(builder, SWLBR_MAP_INDIRECT,
				    jump_table_target(&builder->image, table, k));
	return error;
}

static struct swlbr_error *add_edges(struct builder *builder, const struct local_block *local)
{
	uint32_t last = local->first_insn + local->nr_insns - 1;
	const struct arch_insn *insn = &builder->graph.insns[last];
	struct swlbr_map_block *block = &builder->map->blocks[builder->map->nr_blocks - 1];
	uint64_t next = insn->vaddr + insn->size;
	uint64_t label = jump_labels_target(&builder->labels, insn->vaddr);
	struct swlbr_error *error = NULL;

	if (label) {
		block->end_kind = SWLBR_MAP_END_COND;
		error = add_pending(builder, SWLBR_MAP_FALLTHROUGH, next);
		return error ? error : add_pending(builder, SWLBR_MAP_TAKEN, label);
	}
	switch (insn->flow) {
	case ARCH_FLOW_NEXT:
		block->end_kind = SWLBR_MAP_END_NONE;
		return add_pending(builder, SWLBR_MAP_FALLTHROUGH, next);
	case ARCH_FLOW_COND:
		block->end_kind = SWLBR_MAP_END_COND;
		block->condition = insn->condition <= ARCH_CONDITION_NOT_EQUAL
					   ? insn->condition
					   : SWLBR_MAP_CONDITION_OTHER;
		error = add_pending(builder, SWLBR_MAP_FALLTHROUGH, next);
		return error ? error : add_pending(builder, SWLBR_MAP_TAKEN, insn->target);
	case ARCH_FLOW_JUMP:
		block->end_kind = SWLBR_MAP_END_JUMP;
		if (insn->other_target)
			error = add_pending(builder, SWLBR_MAP_TAKEN, insn->other_target);
		return error ? error : add_pending(builder, SWLBR_MAP_TAKEN, insn->target);
	case ARCH_FLOW_INDIRECT_JUMP:
		block->end_kind = SWLBR_MAP_END_INDIRECT_JUMP;
		return add_table_edges(builder, last);
	case ARCH_FLOW_CALL:
		block->end_kind = SWLBR_MAP_END_CALL;
		return add_pending(builder, SWLBR_MAP_AFTER_CALL, next);
	case ARCH_FLOW_INDIRECT_CALL:
		block->end_kind = SWLBR_MAP_END_INDIRECT_CALL;
		return add_pending(builder, SWLBR_MAP_AFTER_CALL, next);
	case ARCH_FLOW_RETURN:
		block->end_kind = SWLBR_MAP_END_RETURN;
		return NULL;
	default:
		block->end_kind = SWLBR_MAP_END_STOP;
		return NULL;
	}
}

struct swlbr_error *builder_add_site(struct builder *builder, const struct local_site *site,
				     uint32_t block)
{
	static const uint32_t kinds[] = {
		[SITE_ONE] = SWLBR_MAP_SITE_ONE,
		[SITE_CONSTANT] = SWLBR_MAP_SITE_CONSTANT,
		[SITE_SELECT] = SWLBR_MAP_SITE_SELECT,
		[SITE_SUM] = SWLBR_MAP_SITE_SUM,
	};
	struct swlbr_branch_map *map = builder->map;
	struct swlbr_error *error =
		builder_grow(&map->sites, &builder->max_sites, map->nr_sites, sizeof(*map->sites));

	if (error)
		return error;
	map->sites[map->nr_sites++] = (struct swlbr_map_site){
		.vaddr = site->vaddr,
		.counter = site->site.counter,
		.added = site->site.k,
		.block = block,
		.kind = kinds[site->site.kind],
	};
	return NULL;
}

static struct swlbr_error *add_sites(struct builder *builder, const struct local_block *local)
{
	struct swlbr_error *error = NULL;

	for (uint32_t i = 0; !error && i < local->nr_sites; i++)
		error = builder_add_site(builder, &builder->graph.sites[local->first_site + i],
					 (uint32_t)builder->map->nr_blocks - 1);
	return error;
}

static struct swlbr_error *add_block(struct builder *builder, const struct local_block *local)
{
	struct swlbr_branch_map *map = builder->map;
	const struct arch_insn *last = function_graph_last_insn(&builder->graph, local);
	struct swlbr_error *error = builder_grow(&map->blocks, &builder->max_blocks, map->nr_blocks,
						 sizeof(*map->blocks));

	if (!error)
		error = builder_grow(&builder->callee, &builder->max_callees, map->nr_blocks,
				     sizeof(*builder->callee));
	if (error)
		return error;
	builder->callee[map->nr_blocks] = last->flow == ARCH_FLOW_CALL ? last->target : 0;
	map->blocks[map->nr_blocks++] = (struct swlbr_map_block){
		.start = builder->graph.insns[local->first_insn].vaddr,
		.last = last->vaddr,
		.end = last->vaddr + last->size,
		.function = (uint32_t)map->nr_functions - 1,
		.callee = SWLBR_NONE,
		.value_function = local->value_function,
		.value_site = local->value_site,
		.padding = !jump_labels_target(&builder->labels, last->vaddr) &&
			   function_graph_is_padding(&builder->graph, local),
	};
	error = add_edges(builder, local);
	return error ? error : add_sites(builder, local);
}

/*
 * Names are parts of the file's string tables, each with its own bytes: only where they overlap are
 * they more than all that is loaded and some. Such functions stay without a name.
 */
static struct swlbr_error *add_name(struct builder *builder, const char *name, uint32_t *ret)
{
	struct swlbr_branch_map *map = builder->map;
	size_t size = strlen(name) + 1;

	if (size > builder->max_all_names - map->names_size)
		return NULL;
	while (map->names_size + size > builder->max_names) {
		struct swlbr_error *error =
			builder_grow(&map->names, &builder->max_names, builder->max_names, 1);

		if (error)
			return error;
	}
	*ret = (uint32_t)map->names_size;
	memcpy(map->names + map->names_size, name, size);
	map->names_size += size;
	return NULL;
}

struct swlbr_error *builder_add_function(struct builder *builder)
{
	struct swlbr_branch_map *map = builder->map;
	const struct function_graph *graph = &builder->graph;
	struct swlbr_map_function *function;
	struct swlbr_error *error;

	if (!graph->nr_insns)
		return NULL;
	error = builder_grow(&map->functions, &builder->max_functions, map->nr_functions,
			     sizeof(*map->functions));
	if (error)
		return error;
	function = &map->functions[map->nr_functions++];
	*function = (struct swlbr_map_function){
		.start = graph->range.start,
		.end = graph->range.end,
		.name = SWLBR_NONE,
		.first_block = (uint32_t)map->nr_blocks,
		.nr_blocks = graph->nr_blocks,
		.instrumented = graph->nr_sites != 0,
	};
	if (graph->range.name)
		error = add_name(builder, graph->range.name, &function->name);
	for (uint32_t i = 0; !error && i < graph->nr_blocks; i++)
		error = add_block(builder, &graph->blocks[i]);
	return error;
}
