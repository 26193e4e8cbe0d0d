// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdbool.h>
#include <stdlib.h>

#include "base/saturate.h"
#include "call_clusters.h"

/* lld's limits (lld/ELF/CallGraphSort.cpp). */
#define MAX_CLUSTER_SIZE	(1024 * 1024)
#define MAX_DENSITY_DEGRADATION 8
/* A caller that makes less than this part of a function's calls does not draw it to itself. */
#define MIN_CALLER_PART 10

#define NONE UINT32_MAX

/* A function, and the cluster that begins with it, if it is the first of one. */
struct node {
	uint32_t next; /* in the cluster */
	uint32_t last; /* of a cluster */
	uint32_t parent;
	uint32_t caller; /* that calls it most, or NONE */
	uint64_t caller_count, calls;
	double size, executed; /* of a cluster */
};

struct ranked {
	double density;
	uint32_t function;
};

static double density(const struct node *node)
{
	return node->executed / (node->size > 1 ? node->size : 1);
}

static uint32_t cluster_of(struct node *nodes, uint32_t function)
{
	while (nodes[function].parent != function) {
		nodes[function].parent = nodes[nodes[function].parent].parent;
		function = nodes[function].parent;
	}
	return function;
}

static int densest_first(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->density != b->density)
		return a->density > b->density ? -1 : 1;
	return (a->function > b->function) - (a->function < b->function);
}

static void find_callers(struct node *nodes, const struct layout_call *calls, uint32_t nr_calls)
{
	for (uint32_t i = 0; i < nr_calls; i++) {
		struct node *callee = &nodes[calls[i].to];

		if (calls[i].from == calls[i].to)
			continue;
		add_saturating(&callee->calls, calls[i].count);
		if (callee->caller != NONE &&
		    (calls[i].count < callee->caller_count ||
		     (calls[i].count == callee->caller_count && calls[i].from > callee->caller)))
			continue;
		callee->caller = calls[i].from;
		callee->caller_count = calls[i].count;
	}
}

/* The cluster of @function after that of its caller. */
static void merge(struct node *nodes, uint32_t function)
{
	uint32_t first, second = cluster_of(nodes, function);
	struct node *into, *from = &nodes[second];

	if (nodes[function].caller == NONE ||
	    nodes[function].caller_count < nodes[function].calls / MIN_CALLER_PART)
		return;
	first = cluster_of(nodes, nodes[function].caller);
	into = &nodes[first];
	if (first == second || into->size + from->size > MAX_CLUSTER_SIZE ||
	    (into->executed + from->executed) / (into->size + from->size) <
		    density(into) / MAX_DENSITY_DEGRADATION)
		return;
	from->parent = first;
	nodes[into->last].next = second;
	into->last = from->last;
	into->size += from->size;
	into->executed += from->executed;
}

static void write_order(struct node *nodes, struct ranked *ranked, uint32_t nr, uint32_t *order)
{
	uint32_t clusters = 0;

	for (uint32_t i = 0; i < nr; i++)
		if (nodes[i].parent == i)
			ranked[clusters++] = (struct ranked){ density(&nodes[i]), i };
	qsort(ranked, clusters, sizeof(*ranked), densest_first);
	for (uint32_t i = 0; i < clusters; i++)
		for (uint32_t at = ranked[i].function; at != NONE; at = nodes[at].next)
			*order++ = at;
}

struct swlbr_error *call_clusters_order(const struct layout_function *functions, uint32_t nr,
					const struct layout_call *calls, uint32_t nr_calls,
					uint32_t *order)
{
	struct node *nodes = calloc((size_t)nr + 1, sizeof(*nodes));
	struct ranked *ranked = calloc((size_t)nr + 1, sizeof(*ranked));

	if (!nodes || !ranked) {
		free(nodes);
		free(ranked);
		return swlbr_error_no_memory();
	}
	for (uint32_t i = 0; i < nr; i++) {
		nodes[i] = (struct node){ .next = NONE, .last = i, .parent = i, .caller = NONE };
		nodes[i].size = (double)functions[i].size;
		nodes[i].executed = (double)functions[i].executed;
		ranked[i] = (struct ranked){ density(&nodes[i]), i };
	}
	find_callers(nodes, calls, nr_calls);
	qsort(ranked, nr, sizeof(*ranked), densest_first);
	for (uint32_t i = 0; i < nr; i++)
		merge(nodes, ranked[i].function);
	write_order(nodes, ranked, nr, order);
	free(nodes);
	free(ranked);
	return NULL;
}
