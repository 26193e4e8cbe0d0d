// SPDX-License-Identifier: GPL-2.0-only
/* Edge profiles in text, whatever is in them: no crash, no hang, an error that names the file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <swlbr/edge_text.h>

static struct swlbr_error *read_text(const char *path, enum swlbr_edge_text kind,
				     struct swlbr_elf *elf, struct swlbr_edge_profile *profile)
{
	struct swlbr_elf_finder *finder = NULL;
	struct swlbr_stacks *stacks = NULL;
	struct swlbr_error *error;
	uint64_t outside;

	if (kind != SWLBR_TEXT_SCRIPT)
		return swlbr_edge_text_read(profile, elf, path, &outside);
	error = swlbr_stacks_create(NULL, &stacks);
	if (!error)
		error = swlbr_stacks_read_script(stacks, path);
	if (!error)
		error = swlbr_elf_finder_create(&finder);
	if (!error)
		error = swlbr_stacks_finish(stacks, finder, profile);
	swlbr_elf_finder_destroy(finder);
	swlbr_stacks_destroy(stacks);
	return error;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct swlbr_elf *elf;
	static char path[64];
	static int fd = -1;
	struct swlbr_edge_profile *profile = NULL;
	enum swlbr_edge_text kind = SWLBR_TEXT_NONE;
	struct swlbr_error *error;
	bool is_arcs = false;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		error = swlbr_elf_open("/proc/self/exe", &elf);
		if (error)
			abort();
	}
	if (ftruncate(fd, size) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	error = swlbr_edge_profile_create(&profile);
	if (!error)
		error = swlbr_arcs_probe(path, &is_arcs);
	if (!error && is_arcs)
		error = swlbr_arcs_read(profile, path);
	else if (!error)
		error = swlbr_edge_text_probe(path, &kind);
	if (!error && kind != SWLBR_TEXT_NONE)
		error = read_text(path, kind, elf, profile);
	if (error && strncmp(error->message, path, strlen(path)))
		abort();
	swlbr_error_destroy(error);
	swlbr_edge_profile_destroy(profile);
	return 0;
}
