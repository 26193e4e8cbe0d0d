// SPDX-License-Identifier: GPL-2.0-only
/* Counters into an edge profile: what they say of the binary's branches. */
#include <stdlib.h>

#include <swlbr/branch_map.h>
#include <swlbr/flow.h>
#include <swlbr/walk.h>

#include "cmd.h"
#include "convert.h"

static struct swlbr_error *solve(const struct swlbr_branch_map *map,
				 const struct swlbr_profraw *profile, uint64_t names_vaddr,
				 const uint64_t *counters, struct swlbr_flow_result *result)
{
	struct swlbr_flow_target *targets = NULL;
	struct swlbr_flow *flow;
	struct swlbr_error *error = swlbr_flow_create(map, &flow);
	size_t nr = 0;

	if (error)
		return error;
	error = swlbr_flow_solve(flow, counters, NULL, result);
	swlbr_flow_destroy(flow);
	if (error)
		return error;
	error = swlbr_profraw_call_targets(profile, names_vaddr, &targets, &nr);
	if (!error)
		error = swlbr_flow_set_targets(map, targets, nr, result);
	free(targets);
	if (error)
		swlbr_flow_result_deinit(result);
	return error;
}

static struct swlbr_error *add_map(struct swlbr_edge_profile *edges, struct swlbr_flow_share *share,
				   const struct swlbr_branch_map *map,
				   const struct swlbr_profraw *profile, uint64_t names_vaddr,
				   const char *path)
{
	struct swlbr_flow_result result;
	const uint64_t *counters;
	struct swlbr_error *error;

	if (swlbr_profraw_counters(profile, &counters) != map->nr_counters)
		return swlbr_error_create(SWLBR_ERROR_MISMATCH,
					  "%s: another number of counters than the profile has",
					  path);
	error = solve(map, profile, names_vaddr, counters, &result);
	if (error)
		return error;
	error = swlbr_flow_edges(map, &result, path, edges, share);
	if (!error && swlbr_flow_disagrees(&result))
		cmd_warn(
			"%s: the counters disagree by %.1f %% of what ran: lost updates of threads, or calls that did not return",
			path, 100 * result.moved / result.total);
	swlbr_flow_result_deinit(&result);
	return error;
}

static struct swlbr_error *add_profile(struct convert *convert, struct swlbr_edge_profile *edges,
				       const struct swlbr_profraw *profile)
{
	struct swlbr_edge_binary binary = { 0 };
	struct swlbr_branch_map *map = NULL;
	struct swlbr_counters *counters = NULL;
	struct swlbr_error *error;
	struct swlbr_elf *elf;

	swlbr_profraw_build_id(profile, &binary.build_id);
	error = convert_open_edge_binary(convert, &binary, &elf);
	if (error)
		return error;
	error = swlbr_counters_locate(elf, &counters);
	if (!error)
		error = swlbr_branch_map_load(elf, counters, &map);
	if (!error)
		error = add_map(edges, &convert->share, map, profile, counters->names.vaddr,
				swlbr_elf_path(elf));
	swlbr_branch_map_destroy(map);
	swlbr_counters_destroy(counters);
	swlbr_elf_close(elf);
	return error;
}

struct swlbr_error *convert_flow(struct convert *convert, struct swlbr_edge_profile *edges)
{
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < convert->set.nr; i++)
		error = add_profile(convert, edges, convert->set.profiles[i]);
	swlbr_profraws_clear(&convert->set);
	return error;
}
