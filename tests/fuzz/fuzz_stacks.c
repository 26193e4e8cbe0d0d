// SPDX-License-Identifier: GPL-2.0-only
/* A perf.data on its whole way to an edge profile: no crash, no hang, and no edge without a binary. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <swlbr/branch_stacks.h>

static void check_profile(struct swlbr_edge_profile *profile)
{
	const struct swlbr_edge *edges;
	size_t nr = swlbr_edge_profile_edges(profile, &edges);
	size_t nr_binaries = swlbr_edge_profile_nr_binaries(profile);

	for (size_t i = 0; i < nr; i++) {
		if (edges[i].from_binary >= nr_binaries || edges[i].to_binary >= nr_binaries ||
		    !edges[i].nr)
			abort();
		if (edges[i].kind == SWLBR_EDGE_RANGE &&
		    (edges[i].from_binary != edges[i].to_binary || edges[i].to < edges[i].from ||
		     edges[i].to - edges[i].from > 1 << 20))
			abort();
	}
}

static struct swlbr_error *convert(struct swlbr_perfdata *file, struct swlbr_stacks *stacks,
				   struct swlbr_edge_profile *profile)
{
	struct swlbr_elf_finder *finder;
	struct swlbr_error *error = swlbr_stacks_read(stacks, file);

	if (error && strncmp(error->message, "FUZZ: ", 6) && error->code != SWLBR_ERROR_UNSUPPORTED)
		abort();
	swlbr_error_destroy(error);
	error = swlbr_elf_finder_create(&finder);
	if (!error)
		error = swlbr_stacks_finish(stacks, finder, profile);
	swlbr_elf_finder_destroy(finder);
	return error;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct swlbr_edge_profile *profile = NULL;
	struct swlbr_stacks *stacks = NULL;
	struct swlbr_perfdata *file = NULL;
	struct swlbr_error *error;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (ftruncate(fd, size) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	error = swlbr_perfdata_open_fd(fd, "FUZZ", &file);
	if (!error)
		error = swlbr_stacks_create(NULL, &stacks);
	if (!error)
		error = swlbr_edge_profile_create(&profile);
	if (!error)
		error = convert(file, stacks, profile);
	if (!error)
		check_profile(profile);
	swlbr_error_destroy(error);
	swlbr_edge_profile_destroy(profile);
	swlbr_stacks_destroy(stacks);
	swlbr_perfdata_close(file);
	return 0;
}
