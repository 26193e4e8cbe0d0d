// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "builder.h"

const char *swlbr_branch_map_name(const struct swlbr_branch_map *map,
				  const struct swlbr_map_function *function)
{
	return function->name == SWLBR_NONE ? NULL : map->names + function->name;
}

void swlbr_branch_map_destroy(struct swlbr_branch_map *map)
{
	if (!map)
		return;
	free(map->functions);
	free(map->blocks);
	free(map->edges);
	free(map->sites);
	free(map->names);
	free(map);
}

/* Stubs that jump to other binaries are no functions of this one. */
static bool is_stub(const struct swlbr_elf *elf, uint64_t vaddr)
{
	const struct swlbr_elf_section *sections;
	size_t nr = swlbr_elf_sections(elf, &sections);

	for (size_t i = 0; i < nr; i++) {
		if ((!strncmp(sections[i].name, ".plt", 4) || !strcmp(sections[i].name, ".iplt")) &&
		    vaddr - sections[i].vaddr < sections[i].size)
			return true;
	}
	return false;
}

/* What goes to functions without counters is not followed. */
static void mark_leaving(struct swlbr_branch_map *map)
{
	for (size_t i = 0; i < map->nr_edges; i++) {
		struct swlbr_map_block *from = &map->blocks[map->edges[i].from];
		uint32_t to = map->blocks[map->edges[i].to].function;

		if (map->functions[from->function].instrumented && !map->functions[to].instrumented)
			from->leaves = true;
	}
}

/* Blocks that nothing leads to can be run all the same: by the unwinder, by an unknown table. */
static void mark_entered(struct swlbr_branch_map *map)
{
	for (size_t i = 0; i < map->nr_blocks; i++)
		map->blocks[i].entered = !map->blocks[i].padding;
	for (size_t i = 0; i < map->nr_edges; i++)
		map->blocks[map->edges[i].to].entered = false;
	for (size_t i = 0; i < map->nr_functions; i++) {
		if (map->functions[i].nr_blocks)
			map->blocks[map->functions[i].first_block].entered = false;
	}
	for (size_t i = 0; i < map->nr_blocks; i++)
		map->blocks[i].entered |= map->blocks[i].jumped_to;
}

static void find_landings(struct builder *builder)
{
	struct swlbr_branch_map *map = builder->map;

	for (size_t i = 0; builder->pads.nr && i < map->nr_blocks; i++) {
		struct swlbr_map_block *block = &map->blocks[i];
		const struct landing_site *site;
		uint32_t to;

		if (block->end_kind != SWLBR_MAP_END_CALL &&
		    block->end_kind != SWLBR_MAP_END_INDIRECT_CALL)
			continue;
		site = landing_pads_site(&builder->pads, block->last);
		to = site ? swlbr_branch_map_block_at(map, site->pad) : SWLBR_NONE;
		if (to == SWLBR_NONE || map->blocks[to].start != site->pad)
			continue;
		block->landing = to + 1;
		block->lands = site->sure;
	}
}

static struct swlbr_error *build(struct builder *builder)
{
	const struct swlbr_elf_section *features = swlbr_elf_section(builder->elf, ".altinstr_aux");
	struct swlbr_error *error = memory_image_init(&builder->image, builder->elf);

	builder->max_all_names = 4 * memory_image_size(&builder->image) + (16 << 20);
	if (builder->max_all_names > SWLBR_NONE)
		builder->max_all_names = SWLBR_NONE;
	if (!error)
		error = code_ranges_find(builder->elf, &builder->image, &builder->ranges);
	if (!error)
		error = landing_pads_find(builder->elf, &builder->image, &builder->pads);
	builder->context.pads = &builder->pads;
	if (!error)
		error = jump_labels_find(builder->elf, &builder->image, &builder->labels);
	builder->context.labels = &builder->labels;
	if (features)
		builder->context.features =
			(struct swlbr_range){ .vaddr = features->vaddr, .size = features->size };
	for (size_t i = 0; !error && i < builder->ranges.nr; i++) {
		if (is_stub(builder->elf, builder->ranges.ranges[i].start))
			continue;
		error = function_graph_build(&builder->graph, &builder->context,
					     &builder->ranges.ranges[i]);
		if (!error)
			error = builder_note_addresses(builder);
		if (!error)
			error = builder_add_function(builder);
	}
	if (!error)
		error = builder_resolve(builder);
	if (!error)
		error = builder_find_address_taken(builder);
	if (!error)
		error = builder_find_noreturn(builder);
	if (!error)
		error = builder_renew_sites(builder);
	if (!error) {
		mark_leaving(builder->map);
		mark_entered(builder->map);
		find_landings(builder);
	}
	return error;
}

struct swlbr_error *swlbr_branch_map_create(struct swlbr_elf *elf,
					    const struct swlbr_counters *counters,
					    struct swlbr_branch_map **ret)
{
	const struct arch *arch = arch_of_machine(swlbr_elf_machine(elf));
	struct builder builder = { .elf = elf };
	struct swlbr_elf_symbol target;
	struct swlbr_error *error;

	if (!arch || !swlbr_elf_is_64(elf) || swlbr_elf_is_big_endian(elf))
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "%s: code of machine %u cannot be read (x86-64 can)",
					  swlbr_elf_path(elf), swlbr_elf_machine(elf));
	if (counters && counters->nr_counters >= SWLBR_NONE)
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED, "%s: %llu counters",
					  swlbr_elf_path(elf),
					  (unsigned long long)counters->nr_counters);
	builder.map = calloc(1, sizeof(*builder.map));
	if (!builder.map)
		return swlbr_error_no_memory();
	builder.map->build_id = *swlbr_elf_build_id(elf);
	builder.map->machine = swlbr_elf_machine(elf);
	builder.map->nr_counters = counters ? counters->nr_counters : 0;
	builder.context = (struct value_context){ .arch = arch, .image = &builder.image };
	if (counters) {
		builder.context.counters = counters->counters;
		builder.context.bias_vaddr = counters->bias_vaddr;
		builder.context.data = counters->data;
		builder.context.record_size =
			counters->nr_functions ? counters->data.size / counters->nr_functions : 0;
		if (swlbr_elf_symbol(elf, "__llvm_profile_instrument_target", &target))
			builder.context.instrument_target = target.vaddr;
	}
	error = build(&builder);
	memory_image_deinit(&builder.image);
	code_ranges_deinit(&builder.ranges);
	landing_pads_deinit(&builder.pads);
	jump_labels_deinit(&builder.labels);
	function_graph_deinit(&builder.graph);
	free(builder.pending);
	free(builder.callee);
	free(builder.taken);
	free(builder.noreturn);
	free(builder.affected);
	if (error) {
		swlbr_branch_map_destroy(builder.map);
		return swlbr_error_prefix(error, "%s: branch map", swlbr_elf_path(elf));
	}
	*ret = builder.map;
	return NULL;
}
