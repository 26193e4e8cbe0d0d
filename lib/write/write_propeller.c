// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Propeller's profile (H. Shen et al., "Propeller: A Profile Guided, Relinking Optimizer for
 * Warehouse-Scale Applications", ASPLOS 2023), for each function that ran:
 *	m SOURCE	for a name that several functions have
 *	f NAME...	its names
 *	c ID...		blocks that ran, in the order of their layout, the entry first
 * What is not in the cluster, the compiler puts into a section of its own, apart from it.
 */
#include <ctype.h>
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <swlbr/dwarf.h>
#include <swlbr/edge_writers.h>

#include "base/saturate.h"
#include "propeller.h"
#include "rows.h"

#define NONE UINT32_MAX

/* A function of the map that ran. */
struct ran {
	const struct bb_function *function;
	size_t first_name, nr_names; /* in struct propeller */
	char *source;		     /* for a name that others have too */
	size_t first_block;	     /* in @order */
	uint32_t nr_blocks;
	struct layout_function layout;
	bool left_out;
};

/* A symbol of a function. */
struct name {
	const char *name;
	uint64_t address;
	bool ambiguous; /* there is one of that name elsewhere */
	bool taken;	/* a function of the map has it */
};

struct propeller {
	struct bb_addr_map map;
	struct block_counts counts;
	struct name *names;   /* by address */
	struct name *by_name; /* the same */
	size_t nr_names;
	struct ran *ran; /* by number in the map */
	size_t nr_ran;
	uint32_t *number;     /* of blocks of the map: in their function's layout, or NONE */
	uint32_t *order;      /* of all functions, one after the other: blocks of the map */
	struct ran **written; /* those of @ran that are not left out */
	uint32_t *functions;  /* the order of these */
	struct swlbr_propeller_stats *stats;
};

static int by_name(const void *left, const void *right)
{
	const struct name *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	if (order)
		return order;
	return (a->address > b->address) - (a->address < b->address);
}

static int by_address(const void *left, const void *right)
{
	const struct name *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Blanks end a name in both files, and there is no way to write them. */
static bool can_be_written(const char *text)
{
	for (const char *at = text; *at; at++)
		if (isspace((unsigned char)*at) || iscntrl((unsigned char)*at))
			return false;
	return *text && *text != '#';
}

static struct swlbr_error *read_names(struct propeller *propeller, struct swlbr_elf *elf)
{
	struct swlbr_elf_symbol *symbols;
	struct swlbr_error *error;
	struct name *names;
	size_t nr, kept = 0;

	error = swlbr_elf_symbols_of(elf, SHT_SYMTAB, &symbols, &nr);
	if (error)
		return error;
	names = propeller->names = calloc(nr + 1, sizeof(*names));
	propeller->by_name = calloc(nr + 1, sizeof(*names));
	if (!names || !propeller->by_name)
		error = swlbr_error_no_memory();
	for (size_t i = 0; !error && i < nr; i++)
		if (symbols[i].type == STT_FUNC && can_be_written(symbols[i].name))
			names[kept++] = (struct name){ .name = symbols[i].name,
						       .address = symbols[i].vaddr };
	free(symbols);
	if (!error && !kept)
		error = swlbr_error_create(
			SWLBR_ERROR_NOT_FOUND,
			"%s: stripped: Propeller knows functions by their symbols, and there are none",
			swlbr_elf_path(elf));
	if (error)
		return error;
	qsort(names, kept, sizeof(*names), by_name);
	for (size_t i = 1; i < kept; i++)
		if (!strcmp(names[i].name, names[i - 1].name) &&
		    names[i].address != names[i - 1].address)
			names[i].ambiguous = names[i - 1].ambiguous = true;
	memcpy(propeller->by_name, names, kept * sizeof(*names));
	qsort(names, kept, sizeof(*names), by_address);
	propeller->nr_names = kept;
	return NULL;
}

/* The names at an address that no other function has; if there are none, one of the others. */
static void take_names(struct propeller *propeller, struct ran *ran)
{
	size_t low = 0, high = propeller->nr_names, end, kept;
	struct name *names = propeller->names;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (names[middle].address < ran->function->entry)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = kept = low; end < propeller->nr_names; end++) {
		struct name name = names[end];

		if (name.address != ran->function->entry)
			break;
		if (name.ambiguous || (kept > low && !strcmp(names[kept - 1].name, name.name)))
			continue;
		names[end] = names[kept];
		names[kept++] = name;
	}
	ran->first_name = low;
	ran->nr_names = kept > low ? kept - low : end > low;
	/* A second function at one address would have the names of the first. */
	if (!ran->nr_names || names[low].taken) {
		ran->left_out = true;
		propeller->stats->unnamed++;
		return;
	}
	names[low].taken = true;
}

static struct swlbr_error *find_ran(struct propeller *propeller)
{
	const struct bb_addr_map *map = &propeller->map;

	propeller->ran = calloc(map->nr_functions + 1, sizeof(*propeller->ran));
	propeller->number = calloc(map->nr_blocks + 1, sizeof(*propeller->number));
	propeller->order = calloc(map->nr_blocks + 1, sizeof(*propeller->order));
	if (!propeller->ran || !propeller->number || !propeller->order)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < map->nr_functions; i++) {
		const struct bb_function *function = &map->functions[i];
		struct ran ran = { .function = function };

		for (size_t j = 0; !ran.nr_blocks && j < function->nr_blocks; j++)
			ran.nr_blocks = propeller->counts.executions[function->first_block + j] > 0;
		if (ran.nr_blocks)
			propeller->ran[propeller->nr_ran++] = ran;
	}
	return NULL;
}

static bool is_ambiguous(const struct propeller *propeller, const struct ran *ran)
{
	return !ran->left_out && propeller->names[ran->first_name].ambiguous;
}

static const char *source_at(const struct swlbr_dwarf *dwarf, uint64_t address)
{
	const char *source = NULL;
	size_t function;

	if (dwarf && swlbr_dwarf_function_at(dwarf, address, &function))
		source = swlbr_dwarf_source_of(dwarf, function);
	return source && can_be_written(source) ? source : NULL;
}

/* The source file tells functions of one name apart, unless there are two of them in it. */
static struct swlbr_error *take_source(struct propeller *propeller, const struct swlbr_dwarf *dwarf,
				       struct ran *ran)
{
	const struct name *name = &propeller->names[ran->first_name];
	const struct name *end = propeller->by_name + propeller->nr_names, *same;
	const char *source = source_at(dwarf, name->address);

	same = bsearch(name, propeller->by_name, propeller->nr_names, sizeof(*name), by_name);
	while (same > propeller->by_name && !strcmp(same[-1].name, name->name))
		same--;
	for (; source && same < end && !strcmp(same->name, name->name); same++) {
		const char *other =
			same->address == name->address ? NULL : source_at(dwarf, same->address);

		if (other && !strcmp(other, source))
			source = NULL;
	}
	if (!source) {
		ran->left_out = true;
		propeller->stats->ambiguous++;
		return NULL;
	}
	ran->source = strdup(source);
	return ran->source ? NULL : swlbr_error_no_memory();
}

/* The debug information is read only if something needs it, and without any it is done without. */
static struct swlbr_error *take_sources(struct propeller *propeller, struct swlbr_elf *elf)
{
	struct swlbr_dwarf *dwarf = NULL;
	struct swlbr_error *error;
	bool needed = false;

	for (size_t i = 0; i < propeller->nr_ran; i++) {
		take_names(propeller, &propeller->ran[i]);
		needed |= is_ambiguous(propeller, &propeller->ran[i]);
	}
	if (!needed)
		return NULL;
	error = swlbr_dwarf_open(elf, NULL, &dwarf);
	if (error && error->code == SWLBR_ERROR_NO_MEMORY)
		return error;
	swlbr_error_destroy(error);
	error = NULL;
	for (size_t i = 0; !error && i < propeller->nr_ran; i++)
		if (is_ambiguous(propeller, &propeller->ran[i]))
			error = take_source(propeller, dwarf, &propeller->ran[i]);
	swlbr_dwarf_close(dwarf);
	return error;
}

static int by_value(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

/* The compiler has copied blocks, as it was told by a profile; a cluster cannot tell copies apart. */
static bool has_copies(const struct propeller *propeller, const uint32_t *blocks, uint32_t nr,
		       uint32_t *ids)
{
	for (uint32_t i = 0; i < nr; i++)
		ids[i] = propeller->map.blocks[blocks[i]].id;
	qsort(ids, nr, sizeof(*ids), by_value);
	for (uint32_t i = 1; i < nr; i++)
		if (ids[i] == ids[i - 1])
			return true;
	return false;
}

/* What is laid out of a function: its entry, and what ran. */
struct laid_out {
	struct layout_block *blocks;
	uint32_t *indices; /* of the map's blocks */
	uint32_t nr;
	struct layout_jump *jumps;
	uint32_t nr_jumps;
	uint32_t *order;
};

static void collect_blocks(struct propeller *propeller, struct ran *ran, struct laid_out *laid)
{
	const struct bb_function *function = ran->function;

	for (size_t i = 0; i < function->nr_blocks; i++) {
		size_t block = function->first_block + i;
		uint64_t size = propeller->map.blocks[block].size;
		uint64_t count = propeller->counts.executions[block];

		if (i && !count)
			continue;
		propeller->number[block] = laid->nr;
		laid->indices[laid->nr] = (uint32_t)block;
		laid->blocks[laid->nr++] = (struct layout_block){ size, count };
		add_saturating(&ran->layout.size, size);
		add_saturating(&ran->layout.executed, multiply_saturating(count, size));
	}
}

/* @jumps: of the function, @nr of them. */
static struct swlbr_error *lay_out(struct propeller *propeller, struct ran *ran,
				   const struct block_jump *jumps, size_t nr, uint32_t *order)
{
	size_t max = ran->function->nr_blocks + 1;
	struct laid_out laid = { calloc(max, sizeof(*laid.blocks)),
				 calloc(max, sizeof(uint32_t)),
				 0,
				 calloc(nr + 1, sizeof(*laid.jumps)),
				 0,
				 calloc(max, sizeof(uint32_t)) };
	struct swlbr_error *error = NULL;

	if (!laid.blocks || !laid.indices || !laid.jumps || !laid.order || nr >= NONE)
		error = swlbr_error_no_memory();
	else
		collect_blocks(propeller, ran, &laid);
	for (size_t i = 0; !error && i < nr; i++)
		laid.jumps[laid.nr_jumps++] =
			(struct layout_jump){ propeller->number[jumps[i].from],
					      propeller->number[jumps[i].to], jumps[i].nr };
	if (!error && has_copies(propeller, laid.indices, laid.nr, laid.order)) {
		ran->left_out = true;
		propeller->stats->copied++;
	} else if (!error) {
		error = ext_tsp_order(laid.blocks, laid.nr, laid.jumps, laid.nr_jumps, laid.order);
	}
	for (uint32_t i = 0; !error && !ran->left_out && i < laid.nr; i++)
		order[i] = laid.indices[laid.order[i]];
	ran->nr_blocks = laid.nr;
	free(laid.blocks);
	free(laid.indices);
	free(laid.jumps);
	free(laid.order);
	return error;
}

/* Jumps are sorted by where they leave, and lead to blocks of the same function. */
static struct swlbr_error *lay_out_all(struct propeller *propeller)
{
	const struct block_jump *jumps = propeller->counts.jumps;
	struct swlbr_error *error = NULL;
	size_t first = 0, placed = 0;

	for (size_t i = 0; !error && i < propeller->nr_ran; i++) {
		struct ran *ran = &propeller->ran[i];
		size_t start = ran->function->first_block, end = start + ran->function->nr_blocks;
		size_t last;

		while (first < propeller->counts.nr_jumps && jumps[first].from < start)
			first++;
		for (last = first; last < propeller->counts.nr_jumps && jumps[last].from < end;)
			last++;
		ran->first_block = placed;
		if (!ran->left_out)
			error = lay_out(propeller, ran, jumps + first, last - first,
					propeller->order + placed);
		placed += ran->nr_blocks;
		first = last;
		if (error || ran->left_out)
			continue;
		propeller->stats->functions++;
		propeller->stats->blocks += ran->function->nr_blocks;
		propeller->stats->blocks_ran += ran->nr_blocks;
	}
	return error;
}

/* Calls between functions of the map, into calls between those that are written. */
static size_t renumber_calls(struct propeller *propeller, uint32_t *numbers,
			     struct layout_call *calls)
{
	size_t kept = 0;
	uint32_t nr = 0;

	for (size_t i = 0; i < propeller->map.nr_functions; i++)
		numbers[i] = NONE;
	for (size_t i = 0; i < propeller->nr_ran; i++)
		if (!propeller->ran[i].left_out)
			numbers[propeller->ran[i].function - propeller->map.functions] = nr++;
	for (size_t i = 0; i < propeller->counts.nr_calls; i++) {
		struct layout_call call = propeller->counts.calls[i];

		call.from = numbers[call.from];
		call.to = numbers[call.to];
		if (call.from != NONE && call.to != NONE)
			calls[kept++] = call;
	}
	return kept;
}

static struct swlbr_error *order_functions(struct propeller *propeller)
{
	size_t max = propeller->map.nr_functions + 1, nr = 0, nr_calls;
	struct layout_function *functions = calloc(max, sizeof(*functions));
	struct layout_call *calls = calloc(propeller->counts.nr_calls + 1, sizeof(*calls));
	uint32_t *numbers = calloc(max, sizeof(*numbers));
	struct swlbr_error *error = NULL;

	propeller->functions = calloc(max, sizeof(*propeller->functions));
	propeller->written = calloc(max, sizeof(*propeller->written));
	if (!functions || !calls || !numbers || !propeller->functions || !propeller->written) {
		error = swlbr_error_no_memory();
	} else {
		nr_calls = renumber_calls(propeller, numbers, calls);
		for (size_t i = 0; i < propeller->nr_ran; i++)
			if (!propeller->ran[i].left_out) {
				propeller->written[nr] = &propeller->ran[i];
				functions[nr++] = propeller->ran[i].layout;
			}
		error = call_clusters_order(functions, (uint32_t)nr, calls, (uint32_t)nr_calls,
					    propeller->functions);
	}
	free(functions);
	free(calls);
	free(numbers);
	return error;
}

static struct swlbr_error *write_text(struct swlbr_outfile *file, const char *text)
{
	return swlbr_outfile_write(file, text, strlen(text));
}

static struct swlbr_error *write_cluster(const struct propeller *propeller, const struct ran *ran,
					 struct swlbr_outfile *file)
{
	struct swlbr_error *error = NULL;

	if (ran->source) {
		error = write_text(file, "m ");
		if (!error)
			error = write_text(file, ran->source);
		if (!error)
			error = write_text(file, "\n");
	}
	if (!error)
		error = write_text(file, "f");
	for (size_t i = 0; !error && i < ran->nr_names; i++) {
		error = write_text(file, " ");
		if (!error)
			error = write_text(file, propeller->names[ran->first_name + i].name);
	}
	if (!error)
		error = write_text(file, "\nc");
	for (uint32_t i = 0; !error && i < ran->nr_blocks; i++)
		error = write_format(
			file, " %" PRIu32,
			propeller->map.blocks[propeller->order[ran->first_block + i]].id);
	return error ? error : write_text(file, "\n");
}

/* The linker gives all functions of one name the place of the first line: once is enough. */
static struct swlbr_error *write_symbol(const struct propeller *propeller, const struct ran *ran,
					struct swlbr_outfile *file)
{
	const struct name *name = &propeller->names[ran->first_name];
	struct name *same;
	struct swlbr_error *error;

	if (name->ambiguous) {
		same = bsearch(name, propeller->by_name, propeller->nr_names, sizeof(*name),
			       by_name);
		while (same > propeller->by_name && !strcmp(same[-1].name, name->name))
			same--;
		if (!same->ambiguous)
			return NULL;
		same->ambiguous = false;
	}
	error = write_text(file, name->name);
	return error ? error : write_text(file, "\n");
}

static struct swlbr_error *write_files(const struct propeller *propeller, const char *clusters,
				       const char *symbols)
{
	struct swlbr_outfile *cluster_file = NULL, *symbol_file = NULL;
	struct swlbr_error *error = swlbr_outfile_open(clusters, &cluster_file);

	if (!error)
		error = swlbr_outfile_open(symbols, &symbol_file);
	if (!error)
		error = write_text(cluster_file, "v1\n");
	for (size_t i = 0; !error && i < propeller->stats->functions; i++) {
		const struct ran *ran = propeller->written[propeller->functions[i]];

		error = write_cluster(propeller, ran, cluster_file);
		if (!error)
			error = write_symbol(propeller, ran, symbol_file);
	}
	if (!error) {
		error = swlbr_outfile_commit(cluster_file);
		cluster_file = NULL;
	}
	if (!error)
		return swlbr_outfile_commit(symbol_file);
	swlbr_outfile_discard(cluster_file);
	swlbr_outfile_discard(symbol_file);
	return error;
}

static struct swlbr_error *check_ran(const struct propeller *propeller, const struct swlbr_elf *elf)
{
	const struct swlbr_propeller_stats *stats = propeller->stats;

	if (stats->functions)
		return NULL;
	if (!propeller->nr_ran)
		return swlbr_error_create(
			SWLBR_ERROR_NOT_FOUND,
			"%s: none of its basic blocks ran: the profile has %" PRIu64
			" executions of its code, and they are in none of the %zu functions of the basic block address map",
			swlbr_elf_path(elf), stats->left_out, propeller->map.nr_functions);
	return swlbr_error_create(SWLBR_ERROR_NOT_FOUND,
				  "%s: %zu functions ran, and all had to be left out: %" PRIu64
				  " without a symbol, %" PRIu64
				  " whose names others have too, %" PRIu64 " with copied blocks",
				  swlbr_elf_path(elf), propeller->nr_ran, stats->unnamed,
				  stats->ambiguous, stats->copied);
}

static void propeller_free(struct propeller *propeller)
{
	for (size_t i = 0; i < propeller->nr_ran; i++)
		free(propeller->ran[i].source);
	free(propeller->ran);
	free(propeller->written);
	free(propeller->number);
	free(propeller->order);
	free(propeller->functions);
	free(propeller->names);
	free(propeller->by_name);
	block_counts_free(&propeller->counts);
	bb_addr_map_free(&propeller->map);
}

struct swlbr_error *swlbr_propeller_write(struct swlbr_edge_profile *edges, uint32_t binary,
					  struct swlbr_elf *elf, const char *clusters,
					  const char *symbols, struct swlbr_propeller_stats *stats)
{
	struct propeller propeller = { .stats = stats };
	struct swlbr_error *error;

	*stats = (struct swlbr_propeller_stats){ 0 };
	error = bb_addr_map_read(elf, &propeller.map);
	if (!error)
		error = block_counts_of(edges, binary, &propeller.map, &propeller.counts);
	stats->counted = propeller.counts.counted;
	stats->left_out = propeller.counts.left_out;
	if (!error)
		error = read_names(&propeller, elf);
	if (!error)
		error = find_ran(&propeller);
	if (!error)
		error = take_sources(&propeller, elf);
	if (!error)
		error = lay_out_all(&propeller);
	if (!error)
		error = check_ran(&propeller, elf);
	if (!error)
		error = order_functions(&propeller);
	if (!error)
		error = write_files(&propeller, clusters, symbols);
	propeller_free(&propeller);
	return error;
}
