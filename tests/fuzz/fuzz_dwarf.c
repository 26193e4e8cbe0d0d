// SPDX-License-Identifier: GPL-2.0-only
/*
 * Debug information of a damaged binary: all functions, inlined calls and lines; then a sample
 * profile, which is written, read and written again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <swlbr/sample_profile.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* More would only be slow. */
#define MAX_FUNCTIONS 200

static struct swlbr_error *count_piece(void *context, const struct swlbr_dwarf_piece *piece)
{
	uint64_t *bytes = context;

	if (piece->begin >= piece->end || !piece->scope)
		abort();
	*bytes += piece->end - piece->begin;
	return NULL;
}

/* Edges in all functions, so that the profile has something of each. */
static struct swlbr_error *add_edges(struct swlbr_edge_profile *edges,
				     const struct swlbr_dwarf *dwarf)
{
	const struct swlbr_edge_binary binary = { .path = "input" };
	const struct swlbr_dwarf_function *functions;
	size_t nr = swlbr_dwarf_functions(dwarf, &functions);
	struct swlbr_error *error;
	uint32_t index;

	error = swlbr_edge_profile_binary(edges, &binary, &index);
	for (size_t i = 0; !error && i < nr && i < MAX_FUNCTIONS; i++) {
		struct swlbr_edge edge = { .from = functions[i].ranges[0].low,
					   .to = functions[i].ranges[0].low + i % 32,
					   .from_binary = index,
					   .to_binary = index,
					   .kind = SWLBR_EDGE_RANGE,
					   .nr = i + 1 };

		error = swlbr_edge_profile_add(edges, &edge);
		edge.kind = SWLBR_EDGE_BRANCH;
		edge.to = functions[nr - 1 - i].ranges[0].low;
		if (!error)
			error = swlbr_edge_profile_add(edges, &edge);
	}
	return error;
}

static struct swlbr_error *make_profile(struct swlbr_elf *elf, struct swlbr_dwarf *dwarf)
{
	struct swlbr_sample_profile *profile = NULL;
	struct swlbr_edge_profile *edges = NULL;
	struct swlbr_error *error;

	error = swlbr_edge_profile_create(&edges);
	if (!error)
		error = swlbr_sample_profile_create(&profile);
	if (!error)
		error = add_edges(edges, dwarf);
	if (!error)
		error = swlbr_sample_profile_add_edges(profile, edges, 0, elf, dwarf, NULL);
	if (!error)
		error = swlbr_sample_profile_write_text(profile, "/dev/null");
	if (!error)
		error = swlbr_sample_profile_write_extbinary(profile, SWLBR_SAMPLE_COMPRESS,
							     "/dev/null");
	if (!error)
		error = swlbr_sample_profile_write_gcc(profile, 3, 0, "/dev/null");
	swlbr_sample_profile_destroy(profile);
	swlbr_edge_profile_destroy(edges);
	return error;
}

static struct swlbr_error *visit(struct swlbr_elf *elf)
{
	const struct swlbr_dwarf_function *functions;
	struct swlbr_dwarf *dwarf;
	struct swlbr_error *error = swlbr_dwarf_open(elf, "", &dwarf);
	uint64_t bytes = 0;
	size_t nr;

	if (error)
		return error;
	nr = swlbr_dwarf_functions(dwarf, &functions);
	for (size_t i = 0; !error && i < nr && i < MAX_FUNCTIONS; i++)
		error = swlbr_dwarf_pieces(dwarf, functions[i].ranges[0].low,
					   functions[i].ranges[0].high, count_piece, &bytes);
	if (!error)
		error = make_profile(elf, dwarf);
	swlbr_dwarf_close(dwarf);
	return error;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct swlbr_elf *elf = NULL;
	struct swlbr_error *error = NULL;
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	error = swlbr_elf_open_fd(fd, "input", &elf);
	if (!error)
		error = visit(elf);
	swlbr_error_destroy(error);
	swlbr_elf_close(elf);
	close(fd);
	return 0;
}
