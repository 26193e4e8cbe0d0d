// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What code of a binary is in ranges. */
#include <stdlib.h>

#include "combine_seen.h"

/*
 * A range's end is where its last instruction begins; the next instruction may be as far away as
 * the longest of any machine (x86-64) is long.
 */
#define MAX_INSTRUCTION 15

static int by_address(const void *left, const void *right)
{
	const struct stretch *a = left, *b = right;

	if (a->binary != b->binary)
		return a->binary < b->binary ? -1 : 1;
	return (a->low > b->low) - (a->low < b->low);
}

/* Make one of those that overlap, and number the chains. */
static void join(struct seen *seen)
{
	size_t kept = 0;

	for (size_t i = 0; i < seen->nr; i++) {
		struct stretch next = seen->stretches[i];
		struct stretch *last = kept ? &seen->stretches[kept - 1] : NULL;
		bool same = last && last->binary == next.binary;

		if (same && next.low <= last->high) {
			if (last->high < next.high)
				last->high = next.high;
			continue;
		}
		next.chain = last ? last->chain : 0;
		if (!same || next.low - last->high > MAX_INSTRUCTION)
			next.chain++;
		seen->stretches[kept++] = next;
	}
	seen->nr = kept;
}

struct swlbr_error *seen_create(const struct swlbr_edge *edges, size_t nr, bool sw,
				struct seen *ret)
{
	*ret = (struct seen){ .stretches = reallocarray(NULL, nr + 1, sizeof(struct stretch)) };
	if (!ret->stretches)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < nr; i++) {
		if (edges[i].kind != SWLBR_EDGE_RANGE ||
		    (edges[i].source == SWLBR_SOURCE_SW) != sw ||
		    edges[i].from_binary != edges[i].to_binary || edges[i].to < edges[i].from)
			continue;
		ret->stretches[ret->nr++] = (struct stretch){
			.binary = edges[i].from_binary,
			.low = edges[i].from,
			.high = edges[i].to,
		};
	}
	/* Edges are in the order of names, not of numbers of binaries. */
	qsort(ret->stretches, ret->nr, sizeof(*ret->stretches), by_address);
	join(ret);
	return NULL;
}

void seen_free(struct seen *seen)
{
	free(seen->stretches);
	*seen = (struct seen){ 0 };
}

/* The stretch that holds @address, or NULL. */
static const struct stretch *find(const struct seen *seen, uint32_t binary, uint64_t address)
{
	const struct stretch key = { .binary = binary, .low = address }, *found;
	size_t low = 0, high = seen->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_address(&seen->stretches[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	found = &seen->stretches[low - 1];
	return found->binary == binary && address <= found->high ? found : NULL;
}

bool seen_whole(const struct seen *seen, const struct swlbr_edge *range)
{
	const struct stretch *begin = find(seen, range->from_binary, range->from);
	const struct stretch *end = find(seen, range->to_binary, range->to);

	return begin && end && begin->chain == end->chain;
}
