// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* From places in binaries to an edge profile: each distinct one is translated once, at the end. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "edgeprofile/stacks.h"

#define PAGE_SIZE 4096

struct finishing {
	struct swlbr_stacks *stacks;
	const struct swlbr_elf_finder *finder;
	struct swlbr_edge_profile *profile;
};

static uint32_t binary_of(uint64_t place)
{
	return place >> PLACE_OFFSET_BITS;
}

/* Note how often each binary branches; the others need not be looked for. */
static void count_entries(struct swlbr_stacks *stacks)
{
	for (int source = 0; source < SWLBR_SOURCES; source++) {
		const struct branch_table *table = &stacks->total[source].branches;

		for (size_t i = 0; table->slots && i < (size_t)1 << table->log2; i++) {
			if (table->slots[i].from != PLACE_NONE)
				stacks->binaries[binary_of(table->slots[i].from)].entries +=
					table->slots[i].nr;
		}
	}
	for (size_t i = 0; i < stacks->nr_spills; i++) {
		if (!stacks->spills[i].range)
			stacks->binaries[binary_of(stacks->spills[i].branch.from)].entries +=
				stacks->spills[i].branch.nr;
	}
}

/* Binaries with an end of a branch or a range in them. */
static bool *find_used(const struct swlbr_stacks *stacks)
{
	bool *used = calloc(stacks->nr_binaries ? stacks->nr_binaries : 1, sizeof(*used));

	for (int source = 0; used && source < SWLBR_SOURCES; source++) {
		const struct branch_table *branches = &stacks->total[source].branches;
		const struct range_table *ranges = &stacks->total[source].ranges;

		for (size_t i = 0; branches->slots && i < (size_t)1 << branches->log2; i++) {
			if (branches->slots[i].from == PLACE_NONE)
				continue;
			used[binary_of(branches->slots[i].from)] = true;
			used[binary_of(branches->slots[i].to)] = true;
		}
		for (size_t i = 0; ranges->slots && i < (size_t)1 << ranges->log2; i++) {
			if (ranges->slots[i].from != PLACE_NONE)
				used[binary_of(ranges->slots[i].from)] = true;
		}
	}
	return used;
}

/* The symbol that the kernel's places are told from: what stands behind its name. */
static bool find_reference(struct stacks_binary *binary)
{
	static const char *const others[] = { "_text", "_stext" };
	const char *name = strchr(binary->path, ']');
	struct swlbr_elf_symbol symbol;
	bool found = name && name[1] && swlbr_elf_symbol(binary->found.elf, name + 1, &symbol);

	for (size_t i = 0; !found && i < 2; i++)
		found = swlbr_elf_symbol(binary->found.elf, others[i], &symbol);
	if (found)
		binary->base = symbol.vaddr - KERNEL_OFFSET;
	return found;
}

/* Where distributions put it; only a build-id tells whether it is the one that ran. */
static struct swlbr_error *find_installed_kernel(const struct finishing *finishing,
						 struct stacks_binary *binary)
{
	static const char *const places[] = {
		"/boot/vmlinux-%s",
		"/usr/lib/debug/boot/vmlinux-%s",
		"/lib/modules/%s/build/vmlinux",
		"/usr/lib/debug/lib/modules/%s/vmlinux",
	};
	const char *release = finishing->stacks->release;
	struct swlbr_error *error = NULL;

	if (!binary->build_id.size || !*release || strchr(release, '/'))
		return NULL;
	for (size_t i = 0; !error && !binary->found.elf && i < sizeof(places) / sizeof(*places);
	     i++) {
		char path[256];

		snprintf(path, sizeof(path), places[i], release);
		swlbr_elf_found_clear(&binary->found);
		error = swlbr_elf_find(finishing->finder, &binary->build_id, path, &binary->found);
	}
	return error;
}

static struct swlbr_error *find_kernel(const struct finishing *finishing,
				       struct stacks_binary *binary)
{
	struct swlbr_error *error =
		swlbr_elf_find(finishing->finder, &binary->build_id, "vmlinux", &binary->found);

	if (!error && !binary->found.elf)
		error = find_installed_kernel(finishing, binary);
	if (error || !binary->found.elf || find_reference(binary))
		return error;
	swlbr_elf_found_clear(&binary->found);
	binary->found.match = SWLBR_ELF_UNREADABLE;
	binary->found.why = strdup("the vmlinux has no symbol _text or _stext");
	return binary->found.why ? NULL : swlbr_error_no_memory();
}

/* Look for the file, and make it a binary of the profile. */
static struct swlbr_error *find_binary(const struct finishing *finishing,
				       struct stacks_binary *binary)
{
	struct swlbr_edge_binary named = { .build_id = binary->build_id, .path = binary->path };
	struct swlbr_error *error;

	if (binary->kind == BINARY_KERNEL)
		error = find_kernel(finishing, binary);
	else
		error = swlbr_elf_find(finishing->finder, &binary->build_id, binary->path,
				       &binary->found);
	if (error)
		return error;
	if (binary->found.elf) {
		binary->machine = swlbr_elf_machine(binary->found.elf);
		binary->stripped = !swlbr_elf_section(binary->found.elf, ".symtab");
		binary->file = strdup(swlbr_elf_path(binary->found.elf));
		if (!binary->file)
			return swlbr_error_no_memory();
		named.build_id = *swlbr_elf_build_id(binary->found.elf);
		named.path = swlbr_elf_path(binary->found.elf);
	}
	named.file_offsets = !binary->found.elf;
	if (!binary->found.elf)
		binary->base = binary->kind == BINARY_KERNEL ? -KERNEL_OFFSET : 0;
	return swlbr_edge_profile_binary(finishing->profile, &named, &binary->index);
}

/* Is @offset in the pages that the loader maps for the segment? */
static bool in_pages(const struct swlbr_elf_segment *segment, uint64_t offset)
{
	uint64_t begin = segment->offset & ~(uint64_t)(PAGE_SIZE - 1);
	uint64_t end = (segment->offset + segment->filesz + PAGE_SIZE - 1) &
		       ~(uint64_t)(PAGE_SIZE - 1);

	return offset >= begin && offset < end;
}

/*
 * The segment that @offset was mapped of. Two segments may share a page of the file, and both map
 * it: the one whose own bytes hold the offset, and of those one with code, is meant.
 */
static const struct swlbr_elf_segment *segment_of(const struct swlbr_elf *elf, uint64_t offset)
{
	const struct swlbr_elf_segment *segments, *best = NULL;
	size_t nr = swlbr_elf_segments(elf, &segments);
	int best_rank = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct swlbr_elf_segment *segment = &segments[i];
		int rank = 0;

		if (offset >= segment->offset && offset - segment->offset < segment->filesz)
			rank = 3;
		else if (in_pages(segment, offset))
			rank = 1;
		if (rank && segment->flags & PF_X)
			rank++;
		if (rank > best_rank) {
			best = segment;
			best_rank = rank;
		}
	}
	return best;
}

/* The profile's address of a place; false if the binary's file has no such place. */
static bool translate(struct finishing *finishing, uint64_t place, uint32_t *binary_ret,
		      uint64_t *address_ret)
{
	struct stacks_binary *binary = &finishing->stacks->binaries[binary_of(place)];
	uint64_t offset = place & PLACE_OFFSET_MASK;
	const struct swlbr_elf_segment *segment;

	*binary_ret = binary->index;
	*address_ret = offset + binary->base;
	if (!binary->found.elf || binary->kind != BINARY_FILE)
		return true;
	segment = segment_of(binary->found.elf, offset);
	if (segment)
		*address_ret = offset - segment->offset + segment->vaddr;
	return segment;
}

static struct swlbr_error *add_edge(struct finishing *finishing, struct swlbr_edge *edge,
				    uint64_t from, uint64_t to)
{
	struct stacks_binary *binaries = finishing->stacks->binaries;
	struct stacks_binary *begin = &binaries[binary_of(from)], *end = &binaries[binary_of(to)];

	if (!begin->wanted && !end->wanted)
		return NULL;
	if (!translate(finishing, from, &edge->from_binary, &edge->from) ||
	    !translate(finishing, to, &edge->to_binary, &edge->to)) {
		begin->not_in_segments += edge->nr;
		return NULL;
	}
	return swlbr_edge_profile_add(finishing->profile, edge);
}

static struct swlbr_error *add_branch(struct finishing *finishing, enum swlbr_source source,
				      const struct branch_slot *slot)
{
	struct swlbr_edge edge = {
		.kind = SWLBR_EDGE_BRANCH,
		.source = source,
		.nr = slot->nr,
		.mispredicted = slot->mispredicted,
		.cycles = slot->cycles,
	};

	return add_edge(finishing, &edge, slot->from, slot->to);
}

static struct swlbr_error *add_range(struct finishing *finishing, enum swlbr_source source,
				     uint64_t from, uint64_t to, uint64_t nr)
{
	struct swlbr_edge edge = { .kind = SWLBR_EDGE_RANGE, .source = source, .nr = nr };

	return add_edge(finishing, &edge, from, to);
}

static struct swlbr_error *add_tables(struct finishing *finishing, enum swlbr_source source)
{
	const struct branch_table *branches = &finishing->stacks->total[source].branches;
	const struct range_table *ranges = &finishing->stacks->total[source].ranges;
	struct swlbr_error *error = NULL;

	for (size_t i = 0; branches->slots && !error && i < (size_t)1 << branches->log2; i++) {
		if (branches->slots[i].from != PLACE_NONE)
			error = add_branch(finishing, source, &branches->slots[i]);
	}
	for (size_t i = 0; ranges->slots && !error && i < (size_t)1 << ranges->log2; i++) {
		const struct range_slot *slot = &ranges->slots[i];

		if (slot->from != PLACE_NONE)
			error = add_range(finishing, source, slot->from, slot->from + slot->length,
					  slot->nr);
	}
	return error;
}

static struct swlbr_error *add_spills(struct finishing *finishing)
{
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < finishing->stacks->nr_spills; i++) {
		const struct stacks_spill *spill = &finishing->stacks->spills[i];

		error = spill->range ? add_range(finishing, spill->source, spill->branch.from,
						 spill->branch.to, spill->branch.nr)
				     : add_branch(finishing, spill->source, &spill->branch);
	}
	return error;
}

struct swlbr_error *swlbr_stacks_finish(struct swlbr_stacks *stacks,
					const struct swlbr_elf_finder *finder,
					struct swlbr_edge_profile *profile)
{
	struct finishing finishing = { stacks, finder, profile };
	struct swlbr_error *error = stacks_add_counts(stacks);
	bool *used = NULL;

	if (!error) {
		count_entries(stacks);
		used = find_used(stacks);
		error = used ? NULL : swlbr_error_no_memory();
	}
	for (size_t i = 0; !error && i < stacks->nr_binaries; i++) {
		stacks->binaries[i].found.match = SWLBR_ELF_MISSING;
		if (used[i])
			error = find_binary(&finishing, &stacks->binaries[i]);
	}
	for (int source = 0; !error && source < SWLBR_SOURCES; source++)
		error = add_tables(&finishing, source);
	if (!error)
		error = add_spills(&finishing);
	/* Files stay open no longer than needed. */
	for (size_t i = 0; i < stacks->nr_binaries; i++) {
		swlbr_elf_close(stacks->binaries[i].found.elf);
		stacks->binaries[i].found.elf = NULL;
	}
	free(used);
	return error;
}
