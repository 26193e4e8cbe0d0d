// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A kernel draws branch stacks of two entries: a branch into a straight line of code, and the one
 * that ends it. Which line a counter counts is found here: from the block that has the increment
 * back to where control comes by a branch, and on to where it leaves by one. Where a line may begin
 * or end in several ways each is a line, up to a few. Where the other way has a counter of its own,
 * the line goes this way.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#include <swlbr/kernel_lines.h>

#include "base/array.h"
#include "pmu/include/uapi/linux/swlbr.h"

/* Of one counter; the kernel takes 64. */
#define MAX_BEGINS	4
#define MAX_PER_COUNTER 16
/* Blocks in a line. */
#define MAX_BLOCKS 64

/* Blocks in the order of something they lead to: those of i are order[first[i]...first[i + 1] - 1]. */
struct index {
	uint32_t *first, *order;
};

struct branch {
	uint64_t from, to;
	uint8_t kind; /* PERF_BR_* */
};

struct maker {
	const struct swlbr_branch_map *map;
	struct index in_edges; /* edges, by the block they lead to */
	struct index callers;  /* blocks, by the function they call */
	uint32_t *returning;   /* a block of each function that returns, or SWLBR_NONE */
	uint64_t text, text_end;
	struct swlbr_line *lines;
	size_t nr, max;
	uint32_t *nr_of_counter;
};

static struct swlbr_error *make_index(struct index *index, size_t nr_keys, size_t nr,
				      uint32_t (*key)(const struct swlbr_branch_map *map, size_t i),
				      const struct swlbr_branch_map *map)
{
	index->first = calloc(nr_keys + 2, sizeof(*index->first));
	index->order = calloc(nr + 1, sizeof(*index->order));
	if (!index->first || !index->order)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < nr; i++) {
		if (key(map, i) != SWLBR_NONE)
			index->first[key(map, i) + 2]++;
	}
	for (size_t i = 0; i <= nr_keys; i++)
		index->first[i + 1] += index->first[i];
	for (size_t i = 0; i < nr; i++) {
		if (key(map, i) != SWLBR_NONE)
			index->order[index->first[key(map, i) + 1]++] = (uint32_t)i;
	}
	return NULL;
}

static uint32_t edge_target(const struct swlbr_branch_map *map, size_t i)
{
	return map->edges[i].to;
}

static uint32_t callee(const struct swlbr_branch_map *map, size_t i)
{
	return map->blocks[i].callee;
}

static uint8_t branch_kind(const struct swlbr_map_block *block)
{
	switch (block->end_kind) {
	case SWLBR_MAP_END_COND:
		return PERF_BR_COND;
	case SWLBR_MAP_END_INDIRECT_JUMP:
		return PERF_BR_IND;
	case SWLBR_MAP_END_CALL:
		return PERF_BR_CALL;
	case SWLBR_MAP_END_INDIRECT_CALL:
		return PERF_BR_IND_CALL;
	case SWLBR_MAP_END_RETURN:
		return PERF_BR_RET;
	default:
		return PERF_BR_UNCOND;
	}
}

static bool has_counter(const struct swlbr_branch_map *map, uint32_t block)
{
	return map->blocks[block].nr_sites;
}

/* The edge from @block of a kind, NULL if there is none. */
static const struct swlbr_map_edge *edge_of(const struct swlbr_branch_map *map,
					    const struct swlbr_map_block *block, bool fallthrough)
{
	for (uint32_t i = 0; i < block->nr_edges; i++) {
		const struct swlbr_map_edge *edge = &map->edges[block->first_edge + i];

		if (edge->kind != SWLBR_MAP_AFTER_CALL &&
		    (edge->kind == SWLBR_MAP_FALLTHROUGH) == fallthrough)
			return edge;
	}
	return NULL;
}

/* Branches to the beginning of @function, of its callers. */
static size_t calls_of(const struct maker *maker, uint32_t function, struct branch *ret, size_t max)
{
	const struct swlbr_branch_map *map = maker->map;
	size_t nr = 0;

	for (uint32_t i = maker->callers.first[function];
	     i < maker->callers.first[function + 1] && nr < max; i++) {
		const struct swlbr_map_block *from = &map->blocks[maker->callers.order[i]];

		ret[nr++] = (struct branch){ .from = from->last,
					     .to = map->functions[function].start,
					     .kind = branch_kind(from) };
	}
	return nr;
}

/* Branches to the beginning of @block; fallthrough_ret: the block before it that runs into it. */
static size_t branches_to(const struct maker *maker, uint32_t block, struct branch *ret, size_t max,
			  uint32_t *fallthrough_ret)
{
	const struct swlbr_branch_map *map = maker->map;
	const struct swlbr_map_block *to = &map->blocks[block];
	size_t nr = 0;

	*fallthrough_ret = SWLBR_NONE;
	for (uint32_t i = maker->in_edges.first[block]; i < maker->in_edges.first[block + 1]; i++) {
		const struct swlbr_map_edge *edge = &map->edges[maker->in_edges.order[i]];
		const struct swlbr_map_block *from = &map->blocks[edge->from];

		if (edge->kind == SWLBR_MAP_FALLTHROUGH) {
			if (from->end == to->start)
				*fallthrough_ret = edge->from;
		} else if (edge->kind == SWLBR_MAP_AFTER_CALL) {
			uint32_t last = from->callee == SWLBR_NONE ? SWLBR_NONE
								   : maker->returning[from->callee];

			if (last != SWLBR_NONE && nr < max)
				ret[nr++] = (struct branch){ .from = map->blocks[last].last,
							     .to = to->start,
							     .kind = PERF_BR_RET };
		} else if (nr < max) {
			ret[nr++] = (struct branch){ .from = from->last,
						     .to = to->start,
						     .kind = branch_kind(from) };
		}
	}
	if (map->functions[to->function].first_block == block)
		nr += calls_of(maker, to->function, ret + nr, max - nr);
	return nr;
}

/* Where lines through @block begin. A line that is fallen into begins further up. */
static size_t begins(const struct maker *maker, uint32_t block, struct branch *ret)
{
	size_t nr = 0;

	for (int i = 0; i < MAX_BLOCKS && block != SWLBR_NONE && nr < MAX_BEGINS; i++)
		nr += branches_to(maker, block, ret + nr, MAX_BEGINS - nr, &block);
	return nr;
}

/* The branch that ends a line which comes to @block's end, or false; *next: it goes on there. */
static bool end_at(const struct maker *maker, uint32_t block, struct branch *ret, uint32_t *next)
{
	const struct swlbr_branch_map *map = maker->map;
	const struct swlbr_map_block *from = &map->blocks[block];
	const struct swlbr_map_edge *taken = edge_of(map, from, false);
	const struct swlbr_map_edge *on = edge_of(map, from, true);

	*next = SWLBR_NONE;
	*ret = (struct branch){ .from = from->last, .kind = branch_kind(from) };
	if (on && (from->end_kind == SWLBR_MAP_END_NONE ||
		   (taken && has_counter(map, taken->to) && !has_counter(map, on->to)))) {
		if (map->blocks[on->to].start == from->end)
			*next = on->to;
		return false;
	}
	if (from->end_kind == SWLBR_MAP_END_RETURN) {
		uint32_t caller = maker->callers.first[from->function];
		const struct swlbr_map_block *to;

		if (caller == maker->callers.first[from->function + 1])
			return false;
		to = &map->blocks[maker->callers.order[caller]];
		ret->to = to->end;
		return to->end_kind == SWLBR_MAP_END_CALL;
	}
	if (from->end_kind == SWLBR_MAP_END_STOP || from->end_kind == SWLBR_MAP_END_NONE)
		return false;
	if (from->callee != SWLBR_NONE)
		ret->to = map->functions[from->callee].start;
	else if (taken)
		ret->to = map->blocks[taken->to].start;
	else
		return false;
	return true;
}

static bool line_end(const struct maker *maker, uint32_t block, struct branch *ret)
{
	uint32_t next = block;

	for (int i = 0; i < MAX_BLOCKS && next != SWLBR_NONE; i++) {
		if (end_at(maker, next, ret, &next))
			return true;
	}
	return false;
}

static bool in_text(const struct maker *maker, const struct branch *branch)
{
	return branch->from >= maker->text && branch->from < maker->text_end &&
	       branch->to >= maker->text && branch->to < maker->text_end;
}

static struct swlbr_error *add_line(struct maker *maker, uint64_t counter,
				    const struct branch *into, const struct branch *out)
{
	struct swlbr_line *grown;

	if (!in_text(maker, into) || !in_text(maker, out) || into->to > out->from ||
	    maker->nr_of_counter[counter] == MAX_PER_COUNTER)
		return NULL;
	grown = array_grow(maker->lines, maker->nr, &maker->max, sizeof(*grown));
	if (!grown)
		return swlbr_error_no_memory();
	maker->lines = grown;
	maker->nr_of_counter[counter]++;
	maker->lines[maker->nr++] = (struct swlbr_line){
		.counter = (uint32_t)counter,
		.into_kind = into->kind,
		.out_kind = out->kind,
		.into_from = (uint32_t)(into->from - maker->text),
		.into_to = (uint32_t)(into->to - maker->text),
		.out_from = (uint32_t)(out->from - maker->text),
		.out_to = (uint32_t)(out->to - maker->text),
	};
	return NULL;
}

static struct swlbr_error *add_site(struct maker *maker, const struct swlbr_map_site *site)
{
	struct branch into[MAX_BEGINS], out;
	struct swlbr_error *error = NULL;
	size_t nr;

	/* What is added otherwise is not how often the code ran. */
	if (site->kind != SWLBR_MAP_SITE_ONE || !line_end(maker, site->block, &out))
		return NULL;
	nr = begins(maker, site->block, into);
	for (size_t i = 0; !error && i < nr; i++)
		error = add_line(maker, site->counter, &into[i], &out);
	return error;
}

static int by_counter(const void *left, const void *right)
{
	const struct swlbr_line *a = left, *b = right;

	if (a->counter != b->counter)
		return a->counter < b->counter ? -1 : 1;
	return memcmp(a, b, sizeof(*a));
}

static struct swlbr_error *find_returning(struct maker *maker)
{
	const struct swlbr_branch_map *map = maker->map;

	maker->returning = malloc((map->nr_functions + 1) * sizeof(*maker->returning));
	if (!maker->returning)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < map->nr_functions; i++)
		maker->returning[i] = SWLBR_NONE;
	for (size_t i = 0; i < map->nr_blocks; i++) {
		if (map->blocks[i].end_kind == SWLBR_MAP_END_RETURN)
			maker->returning[map->blocks[i].function] = (uint32_t)i;
	}
	return NULL;
}

static struct swlbr_error *find_text(struct swlbr_elf *elf, struct maker *maker)
{
	struct swlbr_elf_symbol start, end;

	if (!swlbr_elf_symbol(elf, "_text", &start) || !swlbr_elf_symbol(elf, "_etext", &end))
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "%s: no symbols _text and _etext", swlbr_elf_path(elf));
	maker->text = start.vaddr;
	maker->text_end = end.vaddr;
	return NULL;
}

static struct swlbr_error *write_lines(const struct maker *maker, const struct swlbr_elf *elf,
				       const struct swlbr_counters *counters,
				       struct swlbr_kernel_lines *ret)
{
	const struct swlbr_build_id *id = swlbr_elf_build_id(elf);
	struct swlbr_header header = {
		.version = SWLBR_FORMAT_VERSION,
		.header_size = sizeof(header),
		.record_size = sizeof(*maker->lines),
		.nr_records = maker->nr,
		.kind = SWLBR_KIND_LINES,
		.engine = counters->engine,
		.build_id_size = id->size,
	};

	if (id->digest)
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED, "%s: has no build-id",
					  swlbr_elf_path(elf));
	if (!maker->nr)
		return swlbr_error_create(SWLBR_ERROR_NOT_FOUND,
					  "%s: no counter is known to count a line of code",
					  swlbr_elf_path(elf));
	memcpy(header.magic, SWLBR_MAGIC, SWLBR_MAGIC_SIZE);
	memcpy(header.build_id, id->bytes, SWLBR_ID_SIZE);
	ret->size = sizeof(header) + maker->nr * sizeof(*maker->lines);
	ret->data = malloc(ret->size);
	if (!ret->data)
		return swlbr_error_no_memory();
	memcpy(ret->data, &header, sizeof(header));
	memcpy(ret->data + sizeof(header), maker->lines, maker->nr * sizeof(*maker->lines));
	ret->nr = maker->nr;
	ret->nr_counters = maker->map->nr_counters;
	for (uint64_t i = 0; i < maker->map->nr_counters; i++)
		ret->nr_with_line += maker->nr_of_counter[i] != 0;
	return NULL;
}

struct swlbr_error *swlbr_kernel_lines_make(struct swlbr_elf *elf,
					    const struct swlbr_counters *counters,
					    const struct swlbr_branch_map *map,
					    struct swlbr_kernel_lines *ret)
{
	struct maker maker = { .map = map };
	struct swlbr_error *error;

	*ret = (struct swlbr_kernel_lines){ 0 };
	if (!counters || !counters->per_cpu)
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "%s: not the vmlinux of a kernel with CONFIG_SWLBR",
					  swlbr_elf_path(elf));
	error = find_text(elf, &maker);
	if (!error)
		error = make_index(&maker.in_edges, map->nr_blocks, map->nr_edges, edge_target,
				   map);
	if (!error)
		error = make_index(&maker.callers, map->nr_functions, map->nr_blocks, callee, map);
	if (!error)
		error = find_returning(&maker);
	maker.nr_of_counter = calloc(map->nr_counters + 1, sizeof(*maker.nr_of_counter));
	if (!error && !maker.nr_of_counter)
		error = swlbr_error_no_memory();
	for (size_t i = 0; !error && i < map->nr_sites; i++)
		error = add_site(&maker, &map->sites[i]);
	if (!error) {
		if (maker.nr)
			qsort(maker.lines, maker.nr, sizeof(*maker.lines), by_counter);
		error = write_lines(&maker, elf, counters, ret);
	}
	free(maker.in_edges.first);
	free(maker.in_edges.order);
	free(maker.callers.first);
	free(maker.callers.order);
	free(maker.returning);
	free(maker.nr_of_counter);
	free(maker.lines);
	return error;
}

void swlbr_kernel_lines_deinit(struct swlbr_kernel_lines *lines)
{
	free(lines->data);
	*lines = (struct swlbr_kernel_lines){ 0 };
}
