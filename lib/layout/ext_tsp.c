// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ext_tsp.h"

/* The paper's (section 3.2 and 4). */
#define NEAR_WEIGHT	  0.1
#define FORWARD_DISTANCE  1024
#define BACKWARD_DISTANCE 640
/* A chain longer than this is not broken up to put another into it. */
#define MAX_SPLIT_BLOCKS 128

/* Jumps looked at for each block and jump of a function, before the rest is laid out simply. */
#define STEPS_EACH 2000

/* Gains below are rounding. */
#define MIN_GAIN 1e-6

#define NONE UINT32_MAX

/* How two chains are put together; the first may be split, in X1 and X2. */
enum merge { MERGE_X_Y, MERGE_X1_Y_X2, MERGE_Y_X2_X1, MERGE_X2_X1_Y };

struct list {
	uint32_t head, tail;
};

struct chain {
	uint32_t *blocks;
	uint32_t nr, max;
	struct list jumps; /* within the chain */
	struct list pairs; /* two places for each pair: 2 * pair + 0 or 1 */
	double score;
};

/* Two chains with jumps between them, and the best way to merge them. */
struct pair {
	uint32_t chain[2];
	struct list jumps;
	double gain;
	enum merge merge;
	uint32_t split; /* blocks in X1 */
	bool swapped;	/* X is the second */
	bool dead;
};

struct layout {
	const struct layout_block *blocks;
	const struct layout_jump *jumps;
	uint32_t nr_blocks, nr_jumps;
	uint32_t *next_jump; /* of lists of jumps */
	uint32_t *chain_of;
	uint32_t *place;   /* of a block in its chain */
	uint64_t *address; /* of a block, while a merge is looked at */
	struct chain *chains;
	struct pair *pairs;
	uint32_t nr_pairs;
	uint32_t *next_pair; /* of lists of pairs */
	uint32_t *mate;	     /* of chains: the pair with the one at hand */
	uint64_t steps;	     /* left */
};

/* Nothing is without size: two blocks are never at one place. */
static uint64_t size_of(const struct layout_block *block)
{
	return block->size ? block->size : 1;
}

static double jump_score(uint64_t from_end, uint64_t to, uint64_t count)
{
	uint64_t distance;

	if (from_end == to)
		return (double)count;
	if (to > from_end) {
		distance = to - from_end;
		if (distance >= FORWARD_DISTANCE)
			return 0;
		return NEAR_WEIGHT * (double)count * (1 - (double)distance / FORWARD_DISTANCE);
	}
	distance = from_end - to;
	if (distance >= BACKWARD_DISTANCE)
		return 0;
	return NEAR_WEIGHT * (double)count * (1 - (double)distance / BACKWARD_DISTANCE);
}

double ext_tsp_score(const struct layout_block *blocks, uint32_t nr_blocks,
		     const struct layout_jump *jumps, uint32_t nr_jumps, const uint32_t *order)
{
	uint64_t *address = calloc((size_t)nr_blocks + 1, sizeof(*address)), at = 0;
	double score = 0;

	if (!address)
		return 0;
	for (uint32_t i = 0; i < nr_blocks; i++) {
		address[order[i]] = at;
		at += size_of(&blocks[order[i]]);
	}
	for (uint32_t i = 0; i < nr_jumps; i++)
		score += jump_score(address[jumps[i].from] + size_of(&blocks[jumps[i].from]),
				    address[jumps[i].to], jumps[i].count);
	free(address);
	return score;
}

static void append(struct list *list, uint32_t *next, uint32_t item)
{
	next[item] = NONE;
	if (list->head == NONE)
		list->head = item;
	else
		next[list->tail] = item;
	list->tail = item;
}

static void concatenate(struct list *list, uint32_t *next, struct list *other)
{
	if (other->head == NONE)
		return;
	if (list->head == NONE)
		list->head = other->head;
	else
		next[list->tail] = other->head;
	list->tail = other->tail;
	*other = (struct list){ NONE, NONE };
}

static void spend(struct layout *layout, uint64_t steps)
{
	layout->steps -= steps < layout->steps ? steps : layout->steps;
}

/* Where a list's jumps are placed now. */
static double list_score(struct layout *layout, const struct list *list)
{
	double score = 0;
	uint64_t steps = 1;

	for (uint32_t i = list->head; i != NONE; i = layout->next_jump[i], steps++) {
		const struct layout_jump *jump = &layout->jumps[i];

		score += jump_score(layout->address[jump->from] +
					    size_of(&layout->blocks[jump->from]),
				    layout->address[jump->to], jump->count);
	}
	spend(layout, steps);
	return score;
}

/* Give addresses from @at on to a part of a chain; returns where it ends. */
static uint64_t lay(struct layout *layout, const struct chain *chain, uint32_t first, uint32_t end,
		    uint64_t at)
{
	for (uint32_t i = first; i < end; i++) {
		layout->address[chain->blocks[i]] = at;
		at += size_of(&layout->blocks[chain->blocks[i]]);
	}
	spend(layout, end - first);
	return at;
}

static bool has_entry(const struct layout *layout, const struct chain *chain)
{
	return &layout->chains[layout->chain_of[0]] == chain;
}

/* The entry stays first. */
static bool is_allowed(const struct layout *layout, const struct chain *x, const struct chain *y,
		       enum merge merge)
{
	if (has_entry(layout, x))
		return merge == MERGE_X_Y || merge == MERGE_X1_Y_X2;
	return !has_entry(layout, y) || merge == MERGE_Y_X2_X1;
}

static void lay_merged(struct layout *layout, const struct chain *x, const struct chain *y,
		       enum merge merge, uint32_t split)
{
	uint64_t at = 0;

	switch (merge) {
	case MERGE_X_Y:
		at = lay(layout, x, 0, x->nr, at);
		lay(layout, y, 0, y->nr, at);
		break;
	case MERGE_X1_Y_X2:
		at = lay(layout, x, 0, split, at);
		at = lay(layout, y, 0, y->nr, at);
		lay(layout, x, split, x->nr, at);
		break;
	case MERGE_Y_X2_X1:
		at = lay(layout, y, 0, y->nr, at);
		at = lay(layout, x, split, x->nr, at);
		lay(layout, x, 0, split, at);
		break;
	case MERGE_X2_X1_Y:
		at = lay(layout, x, split, x->nr, at);
		at = lay(layout, x, 0, split, at);
		lay(layout, y, 0, y->nr, at);
		break;
	}
}

static void try_merge(struct layout *layout, struct pair *pair, bool swapped, enum merge merge,
		      uint32_t split)
{
	const struct chain *x = &layout->chains[pair->chain[swapped]];
	const struct chain *y = &layout->chains[pair->chain[!swapped]];
	double gain;

	if (!is_allowed(layout, x, y, merge))
		return;
	lay_merged(layout, x, y, merge, split);
	gain = list_score(layout, &pair->jumps);
	if (merge != MERGE_X_Y)
		gain += list_score(layout, &x->jumps) - x->score;
	if (gain <= pair->gain + MIN_GAIN)
		return;
	pair->gain = gain;
	pair->merge = merge;
	pair->split = split;
	pair->swapped = swapped;
}

static void try_split(struct layout *layout, struct pair *pair, bool swapped, uint32_t split)
{
	if (!split || split >= layout->chains[pair->chain[swapped]].nr || !layout->steps)
		return;
	try_merge(layout, pair, swapped, MERGE_X1_Y_X2, split);
	try_merge(layout, pair, swapped, MERGE_Y_X2_X1, split);
	try_merge(layout, pair, swapped, MERGE_X2_X1_Y, split);
}

/* X is split where a jump between the two leaves or enters it: elsewhere nothing new falls through. */
static void try_order(struct layout *layout, struct pair *pair, bool swapped)
{
	uint32_t x = pair->chain[swapped];

	try_merge(layout, pair, swapped, MERGE_X_Y, 0);
	if (layout->chains[x].nr > MAX_SPLIT_BLOCKS)
		return;
	for (uint32_t i = pair->jumps.head; i != NONE; i = layout->next_jump[i]) {
		const struct layout_jump *jump = &layout->jumps[i];

		if (layout->chain_of[jump->from] == x)
			try_split(layout, pair, swapped, layout->place[jump->from] + 1);
		else
			try_split(layout, pair, swapped, layout->place[jump->to]);
	}
}

static void find_gain(struct layout *layout, struct pair *pair)
{
	pair->gain = 0;
	try_order(layout, pair, false);
	try_order(layout, pair, true);
}

static struct swlbr_error *reserve(struct chain *chain, uint32_t nr)
{
	uint32_t max = chain->max;
	uint32_t *grown;

	if (nr <= max)
		return NULL;
	max = nr < UINT32_MAX / 2 && nr < 2 * max ? 2 * max : nr;
	grown = reallocarray(chain->blocks, max, sizeof(*grown));
	if (!grown)
		return swlbr_error_no_memory();
	chain->blocks = grown;
	chain->max = max;
	return NULL;
}

/* Y's blocks into X, in the order of @merge. */
static struct swlbr_error *join_blocks(struct layout *layout, struct chain *x, struct chain *y,
				       enum merge merge, uint32_t split)
{
	uint32_t nr = x->nr + y->nr, changed = 0;
	struct swlbr_error *error = reserve(x, nr);
	uint32_t *old;

	if (error)
		return error;
	if (merge == MERGE_X_Y) {
		changed = x->nr;
		memcpy(x->blocks + x->nr, y->blocks, y->nr * sizeof(*x->blocks));
	} else {
		uint32_t *to = x->blocks, x2 = x->nr - split;

		old = malloc(x->nr * sizeof(*old));
		if (!old)
			return swlbr_error_no_memory();
		memcpy(old, x->blocks, x->nr * sizeof(*old));
		if (merge == MERGE_X1_Y_X2) {
			memcpy(to + split, y->blocks, y->nr * sizeof(*to));
			memcpy(to + split + y->nr, old + split, x2 * sizeof(*to));
		} else {
			if (merge == MERGE_Y_X2_X1) {
				memcpy(to, y->blocks, y->nr * sizeof(*to));
				to += y->nr;
			}
			memcpy(to, old + split, x2 * sizeof(*to));
			memcpy(to + x2, old, split * sizeof(*to));
			if (merge == MERGE_X2_X1_Y)
				memcpy(to + x->nr, y->blocks, y->nr * sizeof(*to));
		}
		free(old);
	}
	x->nr = nr;
	for (uint32_t i = changed; i < nr; i++) {
		layout->place[x->blocks[i]] = i;
		layout->chain_of[x->blocks[i]] = (uint32_t)(x - layout->chains);
	}
	spend(layout, nr - changed);
	free(y->blocks);
	y->blocks = NULL;
	y->nr = y->max = 0;
	return NULL;
}

/* The pairs of @y are @x's now; where both have one with a third chain, they become one. */
static void join_pairs(struct layout *layout, uint32_t x, uint32_t y)
{
	struct list all = layout->chains[x].pairs, kept = { NONE, NONE };
	uint64_t steps = 0;

	concatenate(&all, layout->next_pair, &layout->chains[y].pairs);
	for (uint32_t at = all.head, next; at != NONE; at = next, steps++) {
		struct pair *pair = &layout->pairs[at / 2];
		uint32_t other = pair->chain[!(at & 1)];

		next = layout->next_pair[at];
		if (pair->dead)
			continue;
		pair->chain[at & 1] = x;
		if (layout->mate[other] != NONE) {
			concatenate(&layout->pairs[layout->mate[other]].jumps, layout->next_jump,
				    &pair->jumps);
			pair->dead = true;
			continue;
		}
		layout->mate[other] = at / 2;
		append(&kept, layout->next_pair, at);
	}
	for (uint32_t at = kept.head; at != NONE; at = layout->next_pair[at])
		layout->mate[layout->pairs[at / 2].chain[!(at & 1)]] = NONE;
	layout->chains[x].pairs = kept;
	spend(layout, steps);
}

static struct swlbr_error *merge_pair(struct layout *layout, struct pair *pair)
{
	uint32_t x = pair->chain[pair->swapped], y = pair->chain[!pair->swapped];
	struct chain *into = &layout->chains[x], *from = &layout->chains[y];
	struct swlbr_error *error;

	into->score += from->score + pair->gain;
	error = join_blocks(layout, into, from, pair->merge, pair->split);
	if (error)
		return error;
	concatenate(&into->jumps, layout->next_jump, &from->jumps);
	concatenate(&into->jumps, layout->next_jump, &pair->jumps);
	pair->dead = true;
	join_pairs(layout, x, y);
	return NULL;
}

static void find_gains_of(struct layout *layout, uint32_t chain)
{
	for (uint32_t at = layout->chains[chain].pairs.head; at != NONE && layout->steps;
	     at = layout->next_pair[at])
		find_gain(layout, &layout->pairs[at / 2]);
}

/* The pair that gains most; dead ones are dropped on the way. */
static struct pair *best_pair(struct layout *layout, uint32_t *live, uint32_t *nr)
{
	struct pair *best = NULL;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < *nr; i++) {
		struct pair *pair = &layout->pairs[live[i]];

		if (pair->dead)
			continue;
		live[kept++] = live[i];
		if (pair->gain > MIN_GAIN && (!best || pair->gain > best->gain))
			best = pair;
	}
	spend(layout, *nr);
	*nr = kept;
	return best;
}

static struct swlbr_error *merge_by_gain(struct layout *layout)
{
	uint32_t *live = calloc((size_t)layout->nr_pairs + 1, sizeof(*live));
	uint32_t nr = layout->nr_pairs;
	struct swlbr_error *error = NULL;
	struct pair *best;

	if (!live)
		return swlbr_error_no_memory();
	for (uint32_t i = 0; i < nr; i++) {
		live[i] = i;
		if (layout->steps)
			find_gain(layout, &layout->pairs[i]);
	}
	while (!error && layout->steps && (best = best_pair(layout, live, &nr))) {
		uint32_t x = best->chain[best->swapped];

		error = merge_pair(layout, best);
		if (!error)
			find_gains_of(layout, x);
	}
	free(live);
	return error;
}

/* Which block comes after which, while chains are joined end to end. */
struct links {
	uint32_t *follow;
	bool *has_before;
	uint32_t *parent; /* of chains: a forest, each tree one chain by now */
};

static uint32_t root_of(struct links *links, uint32_t chain)
{
	while (links->parent[chain] != chain) {
		links->parent[chain] = links->parent[links->parent[chain]];
		chain = links->parent[chain];
	}
	return chain;
}

static void link_chains(const struct layout *layout, struct links *links)
{
	for (uint32_t i = 0; i < layout->nr_blocks; i++) {
		const struct chain *chain = &layout->chains[i];

		links->parent[i] = i;
		for (uint32_t j = 0; j < chain->nr; j++) {
			links->follow[chain->blocks[j]] = j + 1 < chain->nr ? chain->blocks[j + 1]
									    : NONE;
			links->has_before[chain->blocks[j]] = j > 0;
		}
	}
}

/* Nothing goes before the entry. */
static void link_jump(const struct layout *layout, struct links *links,
		      const struct layout_jump *jump)
{
	uint32_t from = root_of(links, layout->chain_of[jump->from]);
	uint32_t to = root_of(links, layout->chain_of[jump->to]);

	if (from == to || !jump->to || links->has_before[jump->to] ||
	    links->follow[jump->from] != NONE)
		return;
	links->follow[jump->from] = jump->to;
	links->has_before[jump->to] = true;
	links->parent[to] = from;
}

/* The chain that begins with @first, in the place of the one that it was in. */
static struct swlbr_error *unlink_chain(struct layout *layout, const struct links *links,
					uint32_t first)
{
	struct chain *chain = &layout->chains[layout->chain_of[first]];
	uint32_t nr = 0, *blocks;

	for (uint32_t at = first; at != NONE; at = links->follow[at])
		nr++;
	blocks = calloc(nr, sizeof(*blocks));
	if (!blocks)
		return swlbr_error_no_memory();
	nr = 0;
	for (uint32_t at = first; at != NONE; at = links->follow[at]) {
		layout->place[at] = nr;
		layout->chain_of[at] = (uint32_t)(chain - layout->chains);
		blocks[nr++] = at;
	}
	free(chain->blocks);
	chain->blocks = blocks;
	chain->nr = chain->max = nr;
	return NULL;
}

/* Put chains after one another where a jump leads from the end of one to the start of another. */
static struct swlbr_error *join_ends(struct layout *layout, const struct layout_jump **jumps,
				     uint32_t nr)
{
	size_t size = (size_t)layout->nr_blocks + 1;
	struct links links = { calloc(size, sizeof(uint32_t)), calloc(size, sizeof(bool)),
			       calloc(size, sizeof(uint32_t)) };
	struct swlbr_error *error = NULL;

	if (!links.follow || !links.has_before || !links.parent)
		error = swlbr_error_no_memory();
	else
		link_chains(layout, &links);
	for (uint32_t i = 0; !error && i < nr; i++)
		link_jump(layout, &links, jumps[i]);
	for (uint32_t i = 0; !error && i < layout->nr_blocks; i++)
		if (links.has_before[i] && !layout->place[i])
			layout->chains[layout->chain_of[i]].nr = 0;
	for (uint32_t i = 0; !error && i < layout->nr_blocks; i++)
		if (!links.has_before[i])
			error = unlink_chain(layout, &links, i);
	free(links.follow);
	free(links.has_before);
	free(links.parent);
	return error;
}

/* Two blocks that always follow one another stay together. */
static struct swlbr_error *join_forced(struct layout *layout)
{
	const struct layout_jump **forced = calloc((size_t)layout->nr_jumps + 1, sizeof(*forced));
	uint32_t *out = calloc((size_t)layout->nr_blocks + 1, sizeof(*out)), nr = 0;
	uint32_t *in = calloc((size_t)layout->nr_blocks + 1, sizeof(*in));
	struct swlbr_error *error = forced && out && in ? NULL : swlbr_error_no_memory();

	for (uint32_t i = 0; !error && i < layout->nr_jumps; i++) {
		out[layout->jumps[i].from]++;
		in[layout->jumps[i].to]++;
	}
	for (uint32_t i = 0; !error && i < layout->nr_jumps; i++)
		if (out[layout->jumps[i].from] == 1 && in[layout->jumps[i].to] == 1)
			forced[nr++] = &layout->jumps[i];
	if (!error)
		error = join_ends(layout, forced, nr);
	free(forced);
	free(out);
	free(in);
	return error;
}

static int heaviest_first(const void *left, const void *right)
{
	const struct layout_jump *a = *(struct layout_jump *const *)left;
	const struct layout_jump *b = *(struct layout_jump *const *)right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return (a > b) - (a < b);
}

/* Pettis and Hansen, "Profile Guided Code Positioning" (PLDI 1990), for what was too much work. */
static struct swlbr_error *join_by_weight(struct layout *layout)
{
	const struct layout_jump **sorted = calloc((size_t)layout->nr_jumps + 1, sizeof(*sorted));
	struct swlbr_error *error;

	if (!sorted)
		return swlbr_error_no_memory();
	for (uint32_t i = 0; i < layout->nr_jumps; i++)
		sorted[i] = &layout->jumps[i];
	qsort(sorted, layout->nr_jumps, sizeof(*sorted), heaviest_first);
	error = join_ends(layout, sorted, layout->nr_jumps);
	free(sorted);
	return error;
}

/* A jump between two chains, by chains. */
struct crossing {
	uint32_t low, high, jump;
};

static int by_chains(const void *left, const void *right)
{
	const struct crossing *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->high != b->high)
		return a->high < b->high ? -1 : 1;
	return (a->jump > b->jump) - (a->jump < b->jump);
}

static uint32_t add_pair(struct layout *layout, uint32_t low, uint32_t high)
{
	uint32_t index = layout->nr_pairs++;

	layout->pairs[index] = (struct pair){ .chain = { low, high }, .jumps = { NONE, NONE } };
	append(&layout->chains[low].pairs, layout->next_pair, 2 * index);
	append(&layout->chains[high].pairs, layout->next_pair, 2 * index + 1);
	return index;
}

/* Sort the jumps into those within chains and those between two. */
static struct swlbr_error *make_pairs(struct layout *layout)
{
	struct crossing *crossings = calloc((size_t)layout->nr_jumps + 1, sizeof(*crossings));
	uint32_t nr = 0, pair = NONE;

	layout->pairs = calloc((size_t)layout->nr_jumps + 1, sizeof(*layout->pairs));
	layout->next_pair = calloc(2 * ((size_t)layout->nr_jumps + 1), sizeof(uint32_t));
	if (!crossings || !layout->pairs || !layout->next_pair) {
		free(crossings);
		return swlbr_error_no_memory();
	}
	for (uint32_t i = 0; i < layout->nr_jumps; i++) {
		uint32_t from = layout->chain_of[layout->jumps[i].from];
		uint32_t to = layout->chain_of[layout->jumps[i].to];

		if (from == to)
			append(&layout->chains[from].jumps, layout->next_jump, i);
		else
			crossings[nr++] = (struct crossing){ from < to ? from : to,
							     from < to ? to : from, i };
	}
	qsort(crossings, nr, sizeof(*crossings), by_chains);
	for (uint32_t i = 0; i < nr; i++) {
		if (!i || crossings[i].low != crossings[i - 1].low ||
		    crossings[i].high != crossings[i - 1].high)
			pair = add_pair(layout, crossings[i].low, crossings[i].high);
		append(&layout->pairs[pair].jumps, layout->next_jump, crossings[i].jump);
	}
	free(crossings);
	for (uint32_t i = 0; i < layout->nr_blocks; i++) {
		struct chain *chain = &layout->chains[i];

		lay(layout, chain, 0, chain->nr, 0);
		chain->score = list_score(layout, &chain->jumps);
	}
	return NULL;
}

struct placed {
	double density;
	uint32_t chain;
	bool is_entry;
};

static int by_density(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;

	if (a->is_entry != b->is_entry)
		return a->is_entry ? -1 : 1;
	if (a->density != b->density)
		return a->density > b->density ? -1 : 1;
	return (a->chain > b->chain) - (a->chain < b->chain);
}

/* The chains that nothing joins: the entry's first, then by executions per byte. */
static struct swlbr_error *write_order(const struct layout *layout, uint32_t *order)
{
	struct placed *placed = calloc((size_t)layout->nr_blocks + 1, sizeof(*placed));
	uint32_t nr = 0;

	if (!placed)
		return swlbr_error_no_memory();
	for (uint32_t i = 0; i < layout->nr_blocks; i++) {
		const struct chain *chain = &layout->chains[i];
		double count = 0, size = 0;

		if (!chain->nr)
			continue;
		for (uint32_t j = 0; j < chain->nr; j++) {
			const struct layout_block *block = &layout->blocks[chain->blocks[j]];

			size += (double)size_of(block);
			count += (double)block->count * (double)size_of(block);
		}
		placed[nr++] = (struct placed){ count / size, i, has_entry(layout, chain) };
	}
	qsort(placed, nr, sizeof(*placed), by_density);
	for (uint32_t i = 0; i < nr; i++) {
		const struct chain *chain = &layout->chains[placed[i].chain];

		memcpy(order, chain->blocks, chain->nr * sizeof(*order));
		order += chain->nr;
	}
	free(placed);
	return NULL;
}

static struct swlbr_error *begin(struct layout *layout)
{
	size_t nr = (size_t)layout->nr_blocks + 1;

	layout->next_jump = calloc((size_t)layout->nr_jumps + 1, sizeof(uint32_t));
	layout->chain_of = calloc(nr, sizeof(uint32_t));
	layout->place = calloc(nr, sizeof(uint32_t));
	layout->mate = calloc(nr, sizeof(uint32_t));
	layout->address = calloc(nr, sizeof(uint64_t));
	layout->chains = calloc(nr, sizeof(*layout->chains));
	if (!layout->next_jump || !layout->chain_of || !layout->place || !layout->mate ||
	    !layout->address || !layout->chains)
		return swlbr_error_no_memory();
	for (uint32_t i = 0; i < layout->nr_blocks; i++) {
		struct chain *chain = &layout->chains[i];

		chain->jumps = chain->pairs = (struct list){ NONE, NONE };
		chain->blocks = malloc(sizeof(*chain->blocks));
		if (!chain->blocks)
			return swlbr_error_no_memory();
		chain->blocks[0] = i;
		chain->nr = chain->max = 1;
		layout->chain_of[i] = i;
		layout->mate[i] = NONE;
	}
	layout->steps = STEPS_EACH * ((uint64_t)layout->nr_blocks + layout->nr_jumps);
	return NULL;
}

static void end(struct layout *layout)
{
	for (uint32_t i = 0; layout->chains && i < layout->nr_blocks; i++)
		free(layout->chains[i].blocks);
	free(layout->chains);
	free(layout->pairs);
	free(layout->next_pair);
	free(layout->next_jump);
	free(layout->chain_of);
	free(layout->place);
	free(layout->mate);
	free(layout->address);
}

struct swlbr_error *ext_tsp_order(const struct layout_block *blocks, uint32_t nr_blocks,
				  const struct layout_jump *jumps, uint32_t nr_jumps,
				  uint32_t *order)
{
	struct layout layout = {
		.blocks = blocks, .nr_blocks = nr_blocks, .jumps = jumps, .nr_jumps = nr_jumps
	};
	struct swlbr_error *error;

	if (!nr_blocks)
		return NULL;
	error = begin(&layout);
	if (!error)
		error = join_forced(&layout);
	if (!error)
		error = make_pairs(&layout);
	if (!error)
		error = merge_by_gain(&layout);
	if (!error && !layout.steps)
		error = join_by_weight(&layout);
	if (!error)
		error = write_order(&layout, order);
	end(&layout);
	return error;
}
