// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>

#include "returns.h"

/* Tail calls between a return and the call that it goes back to, at most. */
#define MAX_TAILS 8
/* Callers looked at for one function, through all tail calls: where many call each other. */
#define MAX_LOOKS (1 << 18)

static struct swlbr_error *index_calls(struct returns *returns)
{
	const struct swlbr_flow_result *flow = returns->flow;
	size_t nr_functions = returns->map->nr_functions;

	returns->first_call = calloc(nr_functions + 3, sizeof(*returns->first_call));
	returns->calls = calloc(flow->nr_calls + 1, sizeof(*returns->calls));
	returns->indirect = calloc(nr_functions + 1, sizeof(*returns->indirect));
	if (!returns->first_call || !returns->calls || !returns->indirect)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < flow->nr_calls; i++) {
		returns->first_call[flow->calls[i].function + 2]++;
		returns->indirect[flow->calls[i].function] += flow->calls[i].nr;
	}
	for (size_t i = 2; i < nr_functions + 2; i++)
		returns->first_call[i] += returns->first_call[i - 1];
	for (size_t i = 0; i < flow->nr_calls; i++)
		returns->calls[returns->first_call[flow->calls[i].function + 1]++] = (uint32_t)i;
	return NULL;
}

struct swlbr_error *returns_init(struct returns *returns, const struct swlbr_branch_map *map,
				 const struct swlbr_flow_result *flow)
{
	struct swlbr_error *error;

	*returns = (struct returns){ .map = map, .flow = flow };
	error = callers_init(&returns->callers, map);
	if (!error)
		error = index_calls(returns);
	if (error)
		return error;
	returns->site_share = calloc(map->nr_blocks + 1, sizeof(*returns->site_share));
	returns->sites = calloc(map->nr_blocks + 1, sizeof(*returns->sites));
	returns->share = calloc(map->nr_functions + 1, sizeof(*returns->share));
	returns->next_share = calloc(map->nr_functions + 1, sizeof(*returns->next_share));
	returns->functions = calloc(map->nr_functions + 1, sizeof(*returns->functions));
	returns->next = calloc(map->nr_functions + 1, sizeof(*returns->next));
	return returns->site_share && returns->sites && returns->share && returns->next_share &&
			       returns->functions && returns->next
		       ? NULL
		       : swlbr_error_no_memory();
}

void returns_deinit(struct returns *returns)
{
	callers_deinit(&returns->callers);
	free(returns->calls);
	free(returns->first_call);
	free(returns->indirect);
	free(returns->site_share);
	free(returns->sites);
	free(returns->share);
	free(returns->next_share);
	free(returns->functions);
	free(returns->next);
}

static void add_site(struct returns *returns, uint32_t calling_block, double share)
{
	uint32_t block = block_after_call(returns->map, calling_block);

	if (block == SWLBR_NONE || !(share > 0))
		return;
	if (!(returns->site_share[block] > 0))
		returns->sites[returns->nr_sites++].block = block;
	returns->site_share[block] += share;
}

/* The share of @all that is @count's; just the whole where there is no other. */
static double share_of(double share, double count, double all)
{
	return count == all ? share : share * count / all;
}

/* @share goes back to @block: if that is a tail call, to what its function returns to. */
static size_t add_way(struct returns *returns, uint32_t block, bool tail, double share,
		      size_t nr_next)
{
	uint32_t function = returns->map->blocks[block].function;

	if (!tail) {
		add_site(returns, block, share);
		return nr_next;
	}
	if (!(returns->next_share[function] > 0))
		returns->next[nr_next++] = function;
	returns->next_share[function] += share;
	return nr_next;
}

/*
 * One step back: what @function returns to itself, and into @next_share what the functions that
 * tail-called it return to. Returns how many of these are in @next.
 */
static size_t step_back(struct returns *returns, uint32_t function, double share, double least,
			size_t nr_next)
{
	const struct callers *callers = &returns->callers;
	uint32_t start = callers->start[function], end = callers->start[function + 1];
	double all = returns->flow->outside[function] + returns->indirect[function];

	for (uint32_t i = start; i < end; i++)
		all += caller_count(&callers->caller[i], returns->flow);
	for (uint32_t i = returns->first_call[function]; i < returns->first_call[function + 1];
	     i++) {
		const struct swlbr_flow_call *call = &returns->flow->calls[returns->calls[i]];

		nr_next = add_way(returns, call->block,
				  block_calls_by_jump(returns->map, call->block),
				  share_of(share, call->nr, all), nr_next);
	}
	for (uint32_t i = start; i < end; i++) {
		const struct caller *caller = &callers->caller[i];
		double some = share_of(share, caller_count(caller, returns->flow), all);

		if (some >= least)
			nr_next = add_way(returns, caller->block, caller->edge != SWLBR_NONE, some,
					  nr_next);
	}
	return nr_next;
}

void returns_of(struct returns *returns, uint32_t function, double nr)
{
	double least = 0.5 / nr;
	size_t nr_functions = 1, looks = 0;

	returns->nr_sites = 0;
	if (!(nr >= 0.5))
		return;
	returns->functions[0] = function;
	returns->share[function] = 1;
	for (unsigned int tails = 0; tails <= MAX_TAILS && nr_functions; tails++) {
		uint32_t *functions = returns->functions;
		double *share = returns->share;
		size_t nr_next = 0;

		for (size_t i = 0; i < nr_functions; i++) {
			uint32_t f = functions[i];

			looks += returns->callers.start[f + 1] - returns->callers.start[f];
			if (looks <= MAX_LOOKS)
				nr_next = step_back(returns, f, share[f], least, nr_next);
			share[f] = 0;
		}
		returns->functions = returns->next;
		returns->next = functions;
		returns->share = returns->next_share;
		returns->next_share = share;
		nr_functions = nr_next;
	}
	for (size_t i = 0; i < nr_functions; i++)
		returns->share[returns->functions[i]] = 0;
	for (size_t i = 0; i < returns->nr_sites; i++) {
		struct return_site *site = &returns->sites[i];

		site->share = returns->site_share[site->block];
		returns->site_share[site->block] = 0;
	}
}
