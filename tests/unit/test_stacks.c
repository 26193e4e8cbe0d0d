// SPDX-License-Identifier: GPL-2.0-only
/* From branch stacks to edges: whose memory it was, what counts, and where it is in the file. */
#include <elf.h>
#include <stdio.h>

#include <swlbr/branch_stacks.h>

#include "check.h"
#include "edgeprofile/stacks.h"
#include "perfdata_image.h"

static void begin(struct file_image *image)
{
	*image = (struct file_image){
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_ANY,
		.has_time = true,
	};
	begin_file(image, 112, 0);
}

/* What comes out of an image. */
struct result {
	struct swlbr_stacks *stacks;
	struct swlbr_edge_profile *profile;
	const struct swlbr_stacks_stats *stats;
};

static struct swlbr_elf_finder *finder;

static struct result convert(struct file_image *image, const struct swlbr_stacks_filter *filter)
{
	struct swlbr_perfdata *file = NULL;
	struct result result;

	end_file(image);
	if (!fine(open_image(image, &file)) || !fine(swlbr_stacks_create(filter, &result.stacks)) ||
	    !fine(swlbr_stacks_read(result.stacks, file)) ||
	    !fine(swlbr_edge_profile_create(&result.profile)) ||
	    !fine(swlbr_stacks_finish(result.stacks, finder, result.profile)))
		exit(1);
	swlbr_perfdata_close(file);
	result.stats = swlbr_stacks_get_stats(result.stacks);
	return result;
}

static void done(struct result *result)
{
	swlbr_edge_profile_destroy(result->profile);
	swlbr_stacks_destroy(result->stacks);
}

/* The executions of an edge whose ends are in binaries of that path; 0 if it is not there. */
static uint64_t count(const struct result *result, enum swlbr_edge_kind kind, const char *path,
		      uint64_t from, uint64_t to)
{
	const struct swlbr_edge *edges;
	size_t nr = swlbr_edge_profile_edges(result->profile, &edges);

	for (size_t i = 0; i < nr; i++) {
		const struct swlbr_edge_binary *binary =
			swlbr_edge_profile_get_binary(result->profile, edges[i].from_binary);

		if (edges[i].kind == kind && edges[i].from == from && edges[i].to == to &&
		    binary->path && !strcmp(binary->path, path))
			return edges[i].nr;
	}
	return 0;
}

static uint64_t branches(const struct result *result, const char *path, uint64_t from, uint64_t to)
{
	return count(result, SWLBR_EDGE_BRANCH, path, from, to);
}

static uint64_t ranges(const struct result *result, const char *path, uint64_t from, uint64_t to)
{
	return count(result, SWLBR_EDGE_RANGE, path, from, to);
}

static void stack1(struct file_image *image, uint64_t time, pid_t pid, uint64_t from, uint64_t to)
{
	struct swlbr_branch stack = { from, to, 0 };

	put_stack(image, time, pid, 1, &stack);
}

static void test_counting(void)
{
	/* Newest first: 0x20 -> 0x30, before it 0x48 -> 0x10, before it 0x80 -> 0x40. */
	static const struct swlbr_branch stack[] = {
		{ 0x1020, 0x1030, 1 | 7 << 4 },
		{ 0x1048, 0x1010, 2 | 5 << 4 },
		{ 0x1080, 0x1040, 0 },
	};
	struct file_image image;
	struct result r;

	begin(&image);
	put_mmap(&image, 0, 7, 0x1000, 0x1000, 0x3000, "/a");
	put_stack(&image, 10, 7, 3, stack);
	put_stack(&image, 11, 7, 3, stack);
	r = convert(&image, NULL);
	check(branches(&r, "/a", 0x3020, 0x3030) == 2 && branches(&r, "/a", 0x3048, 0x3010) == 2 &&
		      branches(&r, "/a", 0x3080, 0x3040) == 2,
	      "each entry is a branch, at offsets in the file");
	check(ranges(&r, "/a", 0x3010, 0x3020) == 2 && ranges(&r, "/a", 0x3040, 0x3048) == 2,
	      "from a target to the next newer branch is a range");
	check(r.stats->entries == 6 && r.stats->branches_kept == 6 && r.stats->ranges_kept == 4,
	      "nothing else is counted");
	done(&r);
}

static void test_drops(void)
{
	static const struct swlbr_branch wrong_path[] = {
		{ 0x1020, 0x1030, 0 },
		{ 0x1060, 0x1070, SWLBR_BRANCH_WRONG_PATH << 24 },
		{ 0x1080, 0x1010, 2 << 24 },
	};
	static const struct swlbr_branch repeated[] = { { 0x6000, 0x1000, 0 },
							{ 0x6000, 0x1000, 0 },
							{ 0x7000, 0x5f00, 0 } };
	static const struct swlbr_branch tight[] = { { 0x1040, 0x1020, 0 }, { 0x1040, 0x1020, 0 } };
	static const struct swlbr_branch negative[] = { { 0x1020, 0x1030, 0 },
							{ 0x1080, 0x1024, 0 } };
	static const struct swlbr_branch too_long[] = { { 0x101101, 0x1030, 0 },
							{ 0x1080, 0x1100, 0 } };
	static const struct swlbr_branch just_fits[] = { { 0x101100, 0x1030, 0 },
							 { 0x1080, 0x1100, 0 } };
	static const struct swlbr_branch elsewhere[] = { { 0x901000, 0x1030, 0 },
							 { 0x1080, 0x1100, 0 } };
	static const struct swlbr_branch unmapped[] = { { 0x1020, 0x5000000, 0 },
							{ 0, 0x1011, 0 } };
	struct file_image image;
	struct result r;

	begin(&image);
	put_mmap(&image, 0, 7, 0x1000, 0x200000, 0, "/a");
	put_mmap(&image, 0, 7, 0x900000, 0x2000, 0, "/b");
	put_stack(&image, 10, 7, 3, wrong_path);
	put_stack(&image, 10, 7, 3, repeated);
	put_stack(&image, 10, 7, 2, tight);
	put_stack(&image, 10, 7, 2, negative);
	put_stack(&image, 10, 7, 2, too_long);
	put_stack(&image, 10, 7, 2, just_fits);
	put_stack(&image, 10, 7, 2, elsewhere);
	put_stack(&image, 10, 7, 2, unmapped);
	r = convert(&image, NULL);
	check(r.stats->drops[SWLBR_DROP_WRONG_PATH] == 1 && !branches(&r, "/a", 0x60, 0x70) &&
		      ranges(&r, "/a", 0x10, 0x20) == 1,
	      "an entry of a wrong path is as if it were not there");
	check(r.stats->drops[SWLBR_DROP_REPEATED] == 1 && branches(&r, "/a", 0x5000, 0) == 1 &&
		      ranges(&r, "/a", 0x4f00, 0x5000) == 1,
	      "a newest entry written twice counts once, if it is no tight loop");
	check(branches(&r, "/a", 0x40, 0x20) == 2 && ranges(&r, "/a", 0x20, 0x40) == 1,
	      "a tight loop repeats its branch");
	check(r.stats->drops[SWLBR_DROP_RANGE_NEGATIVE] == 1, "a range that ends before it begins");
	check(r.stats->drops[SWLBR_DROP_RANGE_TOO_LONG] == 1 &&
		      ranges(&r, "/a", 0x100, 0x100100) == 1,
	      "a range is too long from 1 MiB on");
	check(r.stats->drops[SWLBR_DROP_RANGE_ELSEWHERE] == 1, "a range into another binary");
	check(r.stats->drops[SWLBR_DROP_UNMAPPED] == 1 &&
		      r.stats->drops[SWLBR_DROP_NO_ADDRESS] == 1,
	      "entries with an end nowhere, and at address 0");
	done(&r);
}

/* The address that stands for code without counters does so where the recording says it, no else. */
static void test_no_counters(bool said)
{
	static const struct swlbr_branch stack[] = { { SWLBR_NO_COUNTERS_ADDRESS, 0x400050, 0 },
						     { 0x400060, SWLBR_NO_COUNTERS_ADDRESS, 0 },
						     { 0x400080, 0x400040, 0 } };
	struct file_image image;
	struct result r;

	begin(&image);
	put_mmap(&image, 0, 7, 0x400000, 0x1000, 0, "/a");
	if (said)
		put_mmap(&image, 0, 7, SWLBR_NO_COUNTERS_ADDRESS, SWLBR_NO_COUNTERS_SIZE, 0,
			 SWLBR_NO_COUNTERS_PATH);
	put_stack(&image, 10, 7, 3, stack);
	r = convert(&image, NULL);
	check(r.stats->branches_kept == 1 && branches(&r, "/a", 0x80, 0x40) == 1 &&
		      ranges(&r, "/a", 0x40, 0x60) == 1,
	      "code without counters is in no binary");
	check(r.stats->drops[SWLBR_DROP_NO_COUNTERS] == 2 * said &&
		      r.stats->drops[SWLBR_DROP_UNMAPPED] == 2 * !said,
	      said ? "and is told apart" : "but not where no mapping says so");
	done(&r);
}

/* The same records, in an order of time or not. */
static void test_order(bool in_order)
{
	struct file_image image;
	struct result r;

	begin(&image);
	put_mmap(&image, 1, 7, 0x1000, 0x1000, 0, "/old");
	if (!in_order) {
		stack1(&image, 60, 7, 0x1010, 0x1020);
		stack1(&image, 61, 7, 0x1810, 0x1820);
	}
	put_fork(&image, 10, 8, 7);
	stack1(&image, 11, 8, 0x1010, 0x1020);
	put_mmap(&image, 20, 7, 0x1800, 0x1000, 0x100, "/new");
	stack1(&image, 21, 7, 0x1810, 0x1820);
	stack1(&image, 21, 7, 0x1710, 0x1720);
	stack1(&image, 19, 7, 0x1810, 0x1820);
	stack1(&image, 21, 8, 0x1810, 0x1820);
	put_comm(&image, 30, 8, true, "child");
	stack1(&image, 31, 8, 0x1010, 0x1020);
	put_mmap(&image, 40, 8, 0x1000, 0x1000, 0, "/exec");
	stack1(&image, 41, 8, 0x1010, 0x1020);
	stack1(&image, 29, 8, 0x1010, 0x1020);
	put_fork(&image, 50, 9, 7);
	put_mmap(&image, 51, 9, 0x9000, 0x1000, 0, "/dlopen");
	stack1(&image, 52, 9, 0x1810, 0x1820);
	stack1(&image, 52, 9, 0x9010, 0x9020);
	if (in_order) {
		stack1(&image, 60, 7, 0x1010, 0x1020);
		stack1(&image, 61, 7, 0x1810, 0x1820);
	}
	r = convert(&image, NULL);
	check(branches(&r, "/old", 0x10, 0x20) == 3,
	      "a fork has its parent's memory, until it executes another program (%s)",
	      in_order ? "in order" : "late records");
	check(branches(&r, "/old", 0x810, 0x820) == 2 && branches(&r, "/new", 0x110, 0x120) == 3 &&
		      branches(&r, "/old", 0x710, 0x720) == 1,
	      "a mapping over an older one takes its place, from its time on, in its process (%s)",
	      in_order ? "in order" : "late records");
	check(r.stats->drops[SWLBR_DROP_UNMAPPED] == 1 && branches(&r, "/exec", 0x10, 0x20) == 1,
	      "an exec leaves nothing of the old memory (%s)",
	      in_order ? "in order" : "late records");
	check(branches(&r, "/dlopen", 0x10, 0x20) == 1, "a child's own mapping (%s)",
	      in_order ? "in order" : "late records");
	check(r.stats->samples == 12 && r.stats->entries == 12, "no sample is counted twice (%s)",
	      in_order ? "in order" : "late records");
	done(&r);
}

/* Which of two mappings is newer does not hang on which begins first. */
static void test_overlap(void)
{
	struct file_image image;
	struct result r;

	begin(&image);
	put_mmap(&image, 1, 7, 0x2000, 0x1000, 0, "/right");
	put_mmap(&image, 2, 7, 0x1000, 0x1800, 0, "/left");
	stack1(&image, 10, 7, 0x2710, 0x2720);
	stack1(&image, 11, 7, 0x2910, 0x2920);
	stack1(&image, 12, 7, 0x1010, 0x1020);
	r = convert(&image, NULL);
	check(branches(&r, "/left", 0x1710, 0x1720) == 1 &&
		      branches(&r, "/right", 0x910, 0x920) == 1 &&
		      branches(&r, "/left", 0x10, 0x20) == 1,
	      "a newer mapping hides the part of an older one that it covers");
	done(&r);
}

static void test_without_time(void)
{
	struct file_image image = {
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_BRANCH_STACK,
	};
	struct result r;

	begin_file(&image, 80, 0);
	put_mmap(&image, 0, 7, 0x1000, 0x1000, 0, "/first");
	stack1(&image, 0, 7, 0x1010, 0x1020);
	put_mmap(&image, 0, 7, 0x1000, 0x1000, 0, "/second");
	stack1(&image, 0, 7, 0x1010, 0x1020);
	r = convert(&image, NULL);
	check(branches(&r, "/first", 0x10, 0x20) == 1 && branches(&r, "/second", 0x10, 0x20) == 1,
	      "without times the order of the file is taken");
	done(&r);
}

static void test_sources(void)
{
	struct file_image image;
	struct result r;
	const struct swlbr_edge *edges;
	pid_t pid = 8;
	struct swlbr_stacks_filter filter = { .pids = &pid, .nr_pids = 1 };
	const char *dso = "b";

	begin(&image);
	put_mmap(&image, 0, 7, 0x1000, 0x1000, 0, "/x/a");
	put_mmap(&image, 0, 8, 0x1000, 0x1000, 0, "/x/b");
	put_mmap(&image, 0, 8, 0x2000, 0x1000, 0, "//anon");
	stack1(&image, 10, 7, 0x1010, 0x1020);
	stack1(&image, 20, 8, 0x1010, 0x1020);
	stack1(&image, 30, 8, 0x2010, 0x2020);
	r = convert(&image, &filter);
	check(swlbr_edge_profile_edges(r.profile, &edges) == 1 &&
		      edges->source == SWLBR_SOURCE_HW && branches(&r, "/x/b", 0x10, 0x20) == 1 &&
		      r.stats->filtered == 1,
	      "a filter by process; hardware is the source");
	check(r.stats->drops[SWLBR_DROP_UNMAPPED] == 1, "anonymous memory is no binary");
	done(&r);
	filter = (struct swlbr_stacks_filter){ .dsos = &dso, .nr_dsos = 1 };
	r = convert(&image, &filter);
	check(swlbr_edge_profile_edges(r.profile, &edges) == 1 && branches(&r, "/x/b", 0x10, 0x20),
	      "a filter by binary");
	done(&r);
	filter = (struct swlbr_stacks_filter){ .time_begin = 9, .time_end = 10 };
	r = convert(&image, &filter);
	check(r.stats->samples == 1 && branches(&r, "/x/a", 0x10, 0x20) == 1, "a filter by time");
	done(&r);
}

/* An ELF file with two segments that share the page at 0, and a kernel's symbol. */
static void write_elf(const char *path)
{
	static const char strings[] = "\0_text\0.symtab\0.strtab\0.text";
	struct {
		Elf64_Ehdr ehdr;
		Elf64_Phdr phdr[2];
		Elf64_Shdr shdr[4];
		Elf64_Sym sym[2];
		char strings[sizeof(strings)];
		uint8_t rest[0x2000];
	} file = {
		.ehdr = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			  .e_type = ET_DYN,
			  .e_machine = EM_X86_64,
			  .e_version = EV_CURRENT,
			  .e_ehsize = sizeof(Elf64_Ehdr),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 2,
			  .e_shentsize = sizeof(Elf64_Shdr),
			  .e_shnum = 4,
			  .e_shstrndx = 2 },
	};
	FILE *out = fopen(path, "w");

	file.ehdr.e_phoff = (uint8_t *)file.phdr - (uint8_t *)&file;
	file.ehdr.e_shoff = (uint8_t *)file.shdr - (uint8_t *)&file;
	memcpy(file.strings, strings, sizeof(strings));
	file.phdr[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
				     .p_flags = PF_R,
				     .p_filesz = 0x740,
				     .p_memsz = 0x740,
				     .p_align = 0x1000 };
	file.phdr[1] = (Elf64_Phdr){ .p_type = PT_LOAD,
				     .p_flags = PF_R | PF_X,
				     .p_offset = 0x740,
				     .p_vaddr = 0x1740,
				     .p_filesz = 0x800,
				     .p_memsz = 0x800,
				     .p_align = 0x1000 };
	file.shdr[1] = (Elf64_Shdr){ .sh_name = 7,
				     .sh_type = SHT_SYMTAB,
				     .sh_offset = (uint8_t *)file.sym - (uint8_t *)&file,
				     .sh_size = sizeof(file.sym),
				     .sh_link = 2,
				     .sh_info = 1,
				     .sh_entsize = sizeof(Elf64_Sym) };
	file.shdr[2] = (Elf64_Shdr){ .sh_name = 15,
				     .sh_type = SHT_STRTAB,
				     .sh_offset = (uint8_t *)file.strings - (uint8_t *)&file,
				     .sh_size = sizeof(strings) };
	file.shdr[3] = (Elf64_Shdr){ .sh_name = 23,
				     .sh_type = SHT_PROGBITS,
				     .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				     .sh_addr = 0x1740,
				     .sh_offset = 0x740,
				     .sh_size = 0x800 };
	file.sym[1] = (Elf64_Sym){ .st_name = 1,
				   .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE),
				   .st_shndx = 3,
				   .st_value = 0xffffffff81000000 };
	if (!out || fwrite(&file, sizeof(file), 1, out) != 1 || fclose(out))
		exit(1);
}

static void test_addresses(const char *elf)
{
	struct file_image image;
	struct result r;

	begin(&image);
	put_mmap(&image, 0, 7, 0x555000000000, 0x1000, 0, elf);
	put_mmap(&image, 0, 8, 0x777000000000, 0x1000, 0, elf);
	stack1(&image, 10, 7, 0x5550000008e3, 0x5550000008f9);
	stack1(&image, 10, 8, 0x7770000008e3, 0x7770000008f9);
	r = convert(&image, NULL);
	check(branches(&r, elf, 0x18e3, 0x18f9) == 2,
	      "ELF addresses, of a segment that shares its page with another, wherever it is loaded");
	done(&r);
}

static void test_kernel(const char *vmlinux)
{
	struct swlbr_elf_finder *with_vmlinux, *without = finder;
	struct swlbr_stacks_binary binary;
	struct file_image image;
	struct result r;

	begin(&image);
	/* The kernel is 0x20000000 from where it was linked to; a module lies elsewhere. */
	put_mmap(&image, 0, -1, 0xffffffffa1000000, 0x1000000, 0xffffffffa1000000,
		 "[kernel.kallsyms]_text");
	put_mmap(&image, 0, -1, 0xffffffffc0100000, 0x4000, 0, "/lib/modules/x/mii.ko");
	put_mmap(&image, 0, 7, 0x1000, 0x1000, 0, "/a");
	stack1(&image, 10, 7, 0xffffffffa1000123, 0xffffffffa1000456);
	stack1(&image, 10, 7, 0xffffffffc0100010, 0xffffffffc0100020);
	stack1(&image, 10, 7, 0x1010, 0xffffffffa1000000);
	r = convert(&image, NULL);
	check(branches(&r, "[kernel.kallsyms]_text", 0x123, 0x456) == 1,
	      "of a kernel that is not at hand: offsets from its reference symbol");
	check(branches(&r, "/lib/modules/x/mii.ko", 0x10, 0x20) == 1, "a module");
	check(r.stats->branches_kept == 3, "and from a program into the kernel");
	done(&r);
	if (!fine(swlbr_elf_finder_create(&with_vmlinux)) ||
	    !fine(swlbr_elf_finder_add(with_vmlinux, vmlinux)))
		exit(1);
	finder = with_vmlinux;
	r = convert(&image, NULL);
	check(branches(&r, vmlinux, 0xffffffff81000123, 0xffffffff81000456) == 1,
	      "with its vmlinux, addresses of a kernel that is loaded anywhere (KASLR)");
	check(swlbr_stacks_get_binary(r.stacks, 0, &binary) && binary.kernel &&
		      binary.match == SWLBR_ELF_BY_NAME,
	      "that it is only known by its name is told");
	done(&r);
	finder = without;
	swlbr_elf_finder_destroy(with_vmlinux);
	/* Nonsense of a damaged file. */
	begin(&image);
	put_mmap(&image, 0, -1, 0xffffffffa1000000, 0x1000000, 0x8000000000000000,
		 "[kernel.kallsyms]_text");
	stack1(&image, 10, 7, 0xffffffffa1000123, 0xffffffffa1000456);
	r = convert(&image, NULL);
	check(r.stats->branches_kept == 0 && r.stats->kernel_unmapped == 1,
	      "a kernel that would be far from its symbol is not believed");
	done(&r);
}

/* Counts of 32 bits are not what bounds a sum. */
static void test_overflow(void)
{
	static const struct swlbr_stack_entry entries[] = {
		{ { 0, 0x20 }, { 0, 0x30 }, 1 },
		{ { 0, 0x48 }, { 0, 0x10 }, 0 },
	};
	struct swlbr_build_id id = { .size = 0 };
	struct result r;
	uint32_t index;
	bool ok;

	ok = fine(swlbr_stacks_create(NULL, &r.stacks)) &&
	     fine(swlbr_stacks_add_binary(r.stacks, "/a", &id, &index)) &&
	     fine(swlbr_edge_profile_create(&r.profile)) &&
	     fine(swlbr_stacks_add(r.stacks, SWLBR_SOURCE_EMU, 2, entries));
	if (!ok)
		exit(1);
	for (size_t i = 0; i < (size_t)1 << 12; i++) {
		struct branch_slot *branch = &r.stacks->counts[SWLBR_SOURCE_EMU].branches.slots[i];
		struct range_slot *range = &r.stacks->counts[SWLBR_SOURCE_EMU].ranges.slots[i];

		if (branch->from != PLACE_NONE)
			branch->nr = UINT32_MAX - 1;
		if (range->from != PLACE_NONE)
			range->nr = UINT32_MAX - 2;
	}
	for (int i = 0; i < 5; i++)
		ok = ok && fine(swlbr_stacks_add(r.stacks, SWLBR_SOURCE_EMU, 2, entries));
	ok = ok && fine(swlbr_stacks_finish(r.stacks, finder, r.profile));
	check(ok && branches(&r, "/a", 0x20, 0x30) == UINT32_MAX + 4ULL &&
		      branches(&r, "/a", 0x48, 0x10) == UINT32_MAX + 4ULL &&
		      ranges(&r, "/a", 0x10, 0x20) == UINT32_MAX + 3ULL,
	      "a count goes past 4 billion");
	done(&r);
}

/* More branches than the first table holds, and than the processor's cache. */
static void test_many(void)
{
	static struct swlbr_stack_entry entries[MAX_STACK];
	struct swlbr_build_id id = { .size = 0 };
	const struct swlbr_edge *edges;
	struct result r;
	uint32_t index;
	bool ok;
	size_t nr;

	ok = fine(swlbr_stacks_create(NULL, &r.stacks)) &&
	     fine(swlbr_stacks_add_binary(r.stacks, "/a", &id, &index)) &&
	     fine(swlbr_edge_profile_create(&r.profile));
	for (int twice = 0; twice < 2; twice++) {
		for (uint64_t i = 0; ok && i < 100000;) {
			for (nr = 0; nr < MAX_STACK && i < 100000; nr++, i++)
				entries[nr] = (struct swlbr_stack_entry){
					{ 0, i * 16 }, { 0, i * 7 % 100000 * 16 + 1 }, 0
				};
			ok = fine(swlbr_stacks_add(r.stacks, SWLBR_SOURCE_SW, nr, entries));
		}
	}
	ok = ok && fine(swlbr_stacks_finish(r.stacks, finder, r.profile));
	nr = swlbr_edge_profile_edges(r.profile, &edges);
	for (size_t i = 0; i < 100000; i++)
		ok = ok && edges[i].kind == SWLBR_EDGE_BRANCH && edges[i].nr == 2 &&
		     edges[i].from == i * 16 && edges[i].to == i * 7 % 100000 * 16 + 1;
	check(ok && nr >= 100000, "100,000 distinct branches, each counted twice");
	done(&r);
}

int main(void)
{
	char dir[] = "/tmp/swlbr-stacks-XXXXXX", elf[64], vmlinux[64];

	if (!mkdtemp(dir) || !fine(swlbr_elf_finder_create(&finder)))
		return 1;
	snprintf(elf, sizeof(elf), "%s/program", dir);
	snprintf(vmlinux, sizeof(vmlinux), "%s/vmlinux", dir);
	write_elf(elf);
	write_elf(vmlinux);
	test_counting();
	test_drops();
	test_no_counters(true);
	test_no_counters(false);
	test_order(true);
	test_order(false);
	test_overlap();
	test_without_time();
	test_sources();
	test_addresses(elf);
	test_kernel(vmlinux);
	test_overflow();
	test_many();
	unlink(elf);
	unlink(vmlinux);
	rmdir(dir);
	swlbr_elf_finder_destroy(finder);
	return failures != 0;
}
