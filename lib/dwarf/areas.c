// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Areas of code that may overlap, made into areas that do not. */
#include <stdlib.h>

#include "functions.h"

static int by_low(const void *left, const void *right)
{
	const struct dw_area *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return (a->scope > b->scope) - (a->scope < b->scope);
}

/* The areas that have begun, as a heap: the highest scope is first. */
struct heap {
	const struct dw_area **areas;
	size_t nr;
};

static bool above(const struct heap *heap, size_t a, size_t b)
{
	return heap->areas[a]->scope > heap->areas[b]->scope;
}

static void swap(struct heap *heap, size_t a, size_t b)
{
	const struct dw_area *area = heap->areas[a];

	heap->areas[a] = heap->areas[b];
	heap->areas[b] = area;
}

static void push(struct heap *heap, const struct dw_area *area)
{
	size_t at = heap->nr++;

	heap->areas[at] = area;
	for (; at && above(heap, at, (at - 1) / 2); at = (at - 1) / 2)
		swap(heap, at, (at - 1) / 2);
}

static void pop(struct heap *heap)
{
	size_t at = 0;

	heap->areas[0] = heap->areas[--heap->nr];
	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= heap->nr)
			return;
		if (child + 1 < heap->nr && above(heap, child + 1, child))
			child++;
		if (!above(heap, child, at))
			return;
		swap(heap, at, child);
		at = child;
	}
}

struct flat {
	struct dw_area *areas;
	size_t nr;
};

static void add(struct flat *flat, uint64_t low, uint64_t high, uint32_t scope)
{
	struct dw_area *last = flat->nr ? &flat->areas[flat->nr - 1] : NULL;

	if (low >= high)
		return;
	if (last && last->scope == scope && last->high == low)
		last->high = high;
	else
		flat->areas[flat->nr++] = (struct dw_area){ low, high, scope };
}

/* What stands from @from up to @to, where nothing new begins. */
static void lay(struct flat *flat, struct heap *heap, uint64_t from, uint64_t to)
{
	while (heap->nr && from < to) {
		const struct dw_area *top = heap->areas[0];
		uint64_t end = top->high < to ? top->high : to;

		if (end > from) {
			add(flat, from, end, top->scope);
			from = end;
		}
		if (top->high <= from)
			pop(heap);
	}
}

struct swlbr_error *dw_areas_flatten(struct dw_area *areas, size_t nr, struct dw_area **ret,
				     size_t *nr_ret)
{
	struct heap heap = { .areas = reallocarray(NULL, nr + 1, sizeof(*heap.areas)) };
	struct flat flat = { .areas = reallocarray(NULL, 2 * nr + 1, sizeof(*flat.areas)) };
	uint64_t at = 0;

	if (!heap.areas || !flat.areas) {
		free(heap.areas);
		free(flat.areas);
		return swlbr_error_no_memory();
	}
	if (nr)
		qsort(areas, nr, sizeof(*areas), by_low);
	for (size_t i = 0; i < nr; i++) {
		lay(&flat, &heap, at, areas[i].low);
		at = areas[i].low;
		push(&heap, &areas[i]);
	}
	lay(&flat, &heap, at, UINT64_MAX);
	free(heap.areas);
	*ret = flat.areas;
	*nr_ret = flat.nr;
	return NULL;
}

size_t dw_areas_find(const struct dw_area *areas, size_t nr, uint64_t address)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (areas[middle].high <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
