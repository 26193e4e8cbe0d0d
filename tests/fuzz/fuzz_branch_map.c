// SPDX-License-Identifier: GPL-2.0-only
/* An ELF file of any kind: its branch map, and what is made of counters that all ran some times. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <swlbr/branch_map.h>
#include <swlbr/flow.h>
#include <swlbr/walk.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_SIZE (256 << 10)

static struct swlbr_error *count_arc(void *context, const struct swlbr_flow_arc *arc)
{
	*(uint64_t *)context += arc->nr;
	return NULL;
}

static struct swlbr_error *count_stack(void *context, size_t nr,
				       const struct swlbr_walk_branch *branches)
{
	*(uint64_t *)context += nr + branches[0].to;
	return NULL;
}

static struct swlbr_error *walk(const struct swlbr_branch_map *map,
				const struct swlbr_flow_result *result)
{
	struct swlbr_walker *walker;
	struct swlbr_error *error = swlbr_walker_create(map, &walker);
	uint64_t sum = 0;

	if (error)
		return error;
	error = swlbr_walk(walker, result, 20, 32, count_stack, &sum);
	swlbr_walker_destroy(walker);
	return error;
}

static struct swlbr_error *solve(const struct swlbr_branch_map *map)
{
	uint64_t *counters = calloc(map->nr_counters + 1, sizeof(*counters)), sum = 0;
	struct swlbr_flow_result result;
	struct swlbr_flow *flow = NULL;
	struct swlbr_error *error;

	error = counters ? swlbr_flow_create(map, &flow) : swlbr_error_no_memory();
	for (uint64_t i = 0; !error && i < map->nr_counters; i++)
		counters[i] = i * i % 1009;
	if (!error)
		error = swlbr_flow_solve(flow, counters, NULL, &result);
	if (!error) {
		error = swlbr_flow_arcs(map, &result, count_arc, &sum);
		if (!error)
			error = walk(map, &result);
		swlbr_flow_result_deinit(&result);
	}
	swlbr_flow_destroy(flow);
	free(counters);
	return error;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = size <= MAX_SIZE ? memfd_create("input", MFD_CLOEXEC) : -1;
	struct swlbr_counters *counters = NULL;
	struct swlbr_branch_map *map = NULL;
	struct swlbr_elf *elf = NULL;
	struct swlbr_error *error;

	if (fd < 0)
		return 0;
	if (write(fd, data, size) != (ssize_t)size)
		abort();
	error = swlbr_elf_open_fd(fd, "input", &elf);
	if (!error) {
		swlbr_error_destroy(swlbr_counters_locate(elf, &counters));
		error = swlbr_branch_map_create(elf, counters, &map);
	}
	if (!error && map->nr_counters < 1 << 20)
		error = solve(map);
	swlbr_error_destroy(error);
	swlbr_branch_map_destroy(map);
	swlbr_counters_destroy(counters);
	swlbr_elf_close(elf);
	close(fd);
	return 0;
}
