// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the counters of a vmlinux per CPU.
 *
 *	swlbr_percpu vmlinux		rewrite it, in place
 *	swlbr_percpu --check vmlinux	tell whether that was done, and print what there is
 *
 * clang updates a counter by one of these, with f0 for lock; the replacement 65 is that for %gs, to
 * which per-CPU addresses are relative. The kernel is linked such that the rip-relative address of
 * a counter is its offset in the per-CPU area.
 *
 *	f0 48 ff 05 disp32		lock incq counter(%rip)
 *	f0 48 83 05 disp32 imm8		lock addq $imm8, counter(%rip)
 *	f0 48 81 05 disp32 imm32	lock addq $imm32, counter(%rip)
 *	f0 4x 01 modrm disp32		lock addq %reg, counter(%rip)
 *
 * In .noinstr.text and .entry.text, where nothing may count, the instruction becomes a nop of the
 * same size. (An attribute on such functions would do too, but it also keeps the compiler from
 * inlining others into them.) The displacement stays in its place: the kernel's relocation at boot
 * may yet change it.
 *
 * The relocations that the linker kept say where counters are referred to. Any reference that is
 * not one of the above would count somewhere else on each CPU, so that it is an error.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK		0xf0
#define GS		0x65

#define START_SYMBOL	"__swlbr_counters_start"
#define END_SYMBOL	"__swlbr_counters_end"

/* Bytes from an instruction's beginning to its displacement, in all the encodings. */
#define DISP_AT		4

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

static const char *path;
static uint8_t *image;
static size_t image_size;
static const Elf64_Ehdr *ehdr;
static const Elf64_Shdr *sections;
static const Elf64_Shdr *symtab;

struct range {
	uint64_t start, end;
};

static struct range counters;
static struct range noinstr, entry;

struct totals {
	uint64_t rewritten, silenced;
};

#define fail(format, ...) do {							\
	fprintf(stderr, "swlbr_percpu: %s: " format "\n", path, ##__VA_ARGS__);	\
	exit(1);								\
} while (0)

static bool in_range(struct range range, uint64_t address)
{
	return address >= range.start && address < range.end;
}

static const void *at(uint64_t offset, uint64_t size)
{
	if (offset > image_size || size > image_size - offset)
		fail("truncated");
	return image + offset;
}

static void map_file(bool writable)
{
	int fd = open(path, writable ? O_RDWR : O_RDONLY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		fail("%s", strerror(errno));
	image_size = st.st_size;
	if (image_size < sizeof(*ehdr))
		fail("truncated");
	image = mmap(NULL, image_size, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, fd, 0);
	if (image == MAP_FAILED)
		fail("%s", strerror(errno));
	close(fd);
}

static void read_headers(void)
{
	ehdr = at(0, sizeof(*ehdr));
	if (memcmp(ehdr->e_ident, ELFMAG, SELFMAG) || ehdr->e_ident[EI_CLASS] != ELFCLASS64 ||
	    ehdr->e_ident[EI_DATA] != ELFDATA2LSB || ehdr->e_machine != EM_X86_64)
		fail("not an ELF file of x86-64");
	sections = at(ehdr->e_shoff, (uint64_t)ehdr->e_shnum * sizeof(*sections));
	for (unsigned int i = 0; i < ehdr->e_shnum; i++)
		if (sections[i].sh_type == SHT_SYMTAB)
			symtab = &sections[i];
	if (!symtab)
		fail("no symbols");
}

static const Elf64_Sym *get_symbol(uint64_t index)
{
	if (index >= symtab->sh_size / sizeof(Elf64_Sym))
		fail("damaged: symbol %llu", (unsigned long long)index);
	return at(symtab->sh_offset + index * sizeof(Elf64_Sym), sizeof(Elf64_Sym));
}

static const char *symbol_name(const Elf64_Sym *sym)
{
	const Elf64_Shdr *strings;

	if (symtab->sh_link >= ehdr->e_shnum)
		fail("damaged: symbol names");
	strings = &sections[symtab->sh_link];
	at(strings->sh_offset, strings->sh_size);
	if (sym->st_name >= strings->sh_size ||
	    !memchr(image + strings->sh_offset + sym->st_name, 0,
		    strings->sh_size - sym->st_name))
		fail("damaged: symbol names");
	return (const char *)image + strings->sh_offset + sym->st_name;
}

static void find_symbols(void)
{
	const struct {
		const char *name;
		uint64_t *address;
	} wanted[] = {
		{ START_SYMBOL, &counters.start },
		{ END_SYMBOL, &counters.end },
		{ "__noinstr_text_start", &noinstr.start },
		{ "__noinstr_text_end", &noinstr.end },
		{ "__entry_text_start", &entry.start },
		{ "__entry_text_end", &entry.end },
	};
	bool found[ARRAY_SIZE(wanted)] = { false };

	for (uint64_t i = 1; i < symtab->sh_size / sizeof(Elf64_Sym); i++) {
		const Elf64_Sym *sym = get_symbol(i);
		const char *name = symbol_name(sym);

		for (size_t k = 0; k < ARRAY_SIZE(wanted); k++) {
			if (sym->st_shndx == SHN_UNDEF || strcmp(name, wanted[k].name))
				continue;
			*wanted[k].address = sym->st_value;
			found[k] = true;
		}
	}
	for (size_t k = 0; k < ARRAY_SIZE(wanted); k++)
		if (!found[k])
			fail("no symbol %s", wanted[k].name);
	if (counters.start >= counters.end || (counters.end - counters.start) % 8)
		fail("no counters");
}

/*
 * Size of the instruction at @code if it updates a counter and begins with @prefix, with its
 * target; else 0. @size bytes are there, @address is that of the first.
 */
static unsigned int decode_update(const uint8_t *code, uint64_t size, uint64_t address,
				  uint8_t prefix, uint64_t *target)
{
	unsigned int length = DISP_AT + 4;
	int32_t disp;

	if (size < length || code[0] != prefix)
		return 0;
	if (code[1] == 0x48 && code[2] == 0xff && code[3] == 0x05)
		length += 0;
	else if (code[1] == 0x48 && code[2] == 0x83 && code[3] == 0x05)
		length += 1;
	else if (code[1] == 0x48 && code[2] == 0x81 && code[3] == 0x05)
		length += 4;
	else if ((code[1] == 0x48 || code[1] == 0x4c) && code[2] == 0x01 &&
		 (code[3] & 0xc7) == 0x05)
		length += 0;
	else
		return 0;
	if (size < length)
		return 0;
	memcpy(&disp, code + DISP_AT, sizeof(disp));
	*target = address + length + (int64_t)disp;
	return in_range(counters, *target) ? length : 0;
}

/* nopl disp32(...) with the displacement where the update has it, and nops of what is left. */
static void silence(uint8_t *code, unsigned int length)
{
	static const uint8_t nop_8[] = { 0x0f, 0x1f, 0x84, 0x00 };
	static const uint8_t nop_4[] = { 0x0f, 0x1f, 0x40, 0x00 };

	memcpy(code, nop_8, sizeof(nop_8));
	if (length == DISP_AT + 4 + 1)
		code[8] = 0x90;
	else if (length == DISP_AT + 4 + 4)
		memcpy(code + 8, nop_4, sizeof(nop_4));
}

/* Rewrite the update whose displacement is at @address of @section, or fail. */
static void rewrite(const Elf64_Shdr *section, uint64_t address, struct totals *totals)
{
	uint64_t offset = address - section->sh_addr, start, target = 0;
	unsigned int length = 0;
	uint8_t *code;

	if (offset >= DISP_AT && offset < section->sh_size) {
		start = offset - DISP_AT;
		code = image + section->sh_offset + start;
		length = decode_update(code, section->sh_size - start, section->sh_addr + start,
				       LOCK, &target);
	}
	if (!length)
		fail("0x%llx refers to a counter in a way that is not known",
		     (unsigned long long)address);
	if ((target - counters.start) % 8)
		fail("0x%llx updates half a counter", (unsigned long long)address);
	if (in_range(noinstr, address) || in_range(entry, address)) {
		silence(code, length);
		totals->silenced++;
	} else {
		code[0] = GS;
		totals->rewritten++;
	}
}

/* Might the reference be to a counter? Its instruction may go on behind the displacement. */
static bool refers_to_counter(const Elf64_Rela *rela, const Elf64_Sym *sym)
{
	uint64_t value = sym->st_value + rela->r_addend;

	/* The engine's own two symbols are how it finds the counters. */
	if (ELF64_ST_TYPE(sym->st_info) != STT_SECTION) {
		const char *name = symbol_name(sym);

		if (!strcmp(name, START_SYMBOL) || !strcmp(name, END_SYMBOL))
			return false;
	}
	switch (ELF64_R_TYPE(rela->r_info)) {
	case R_X86_64_PC32:
	case R_X86_64_PLT32:
		return in_range(counters, value + 4) || in_range(counters, value + 8);
	default:
		return in_range(counters, value);
	}
}

static bool is_pc_relative(const Elf64_Rela *rela)
{
	return ELF64_R_TYPE(rela->r_info) == R_X86_64_PC32 ||
	       ELF64_R_TYPE(rela->r_info) == R_X86_64_PLT32;
}

static void rewrite_section(const Elf64_Shdr *relocations, struct totals *totals)
{
	const Elf64_Shdr *section = &sections[relocations->sh_info];
	const Elf64_Rela *rela = at(relocations->sh_offset, relocations->sh_size);
	uint64_t nr = relocations->sh_size / sizeof(*rela);

	if (section->sh_type != SHT_NOBITS)
		at(section->sh_offset, section->sh_size);
	for (uint64_t i = 0; i < nr; i++) {
		const Elf64_Sym *sym = get_symbol(ELF64_R_SYM(rela[i].r_info));
		uint64_t value = sym->st_value + rela[i].r_addend;

		if (!refers_to_counter(&rela[i], sym))
			continue;
		if (!is_pc_relative(&rela[i]) || !(section->sh_flags & SHF_EXECINSTR))
			fail("0x%llx holds the address of a counter",
			     (unsigned long long)rela[i].r_offset);
		/*
		 * The last bytes of what lies before the counters look as if they were the first
		 * counter's, to an instruction with an immediate operand.
		 */
		if (!in_range(counters, value + 4)) {
			uint64_t offset = rela[i].r_offset - section->sh_addr, target;

			if (offset < DISP_AT || offset >= section->sh_size ||
			    !decode_update(image + section->sh_offset + offset - DISP_AT,
					   section->sh_size - offset + DISP_AT,
					   rela[i].r_offset - DISP_AT, LOCK, &target))
				continue;
		}
		rewrite(section, rela[i].r_offset, totals);
	}
}

static void rewrite_all(struct totals *totals)
{
	bool any = false;

	for (unsigned int i = 0; i < ehdr->e_shnum; i++) {
		if (sections[i].sh_type != SHT_RELA || sections[i].sh_info >= ehdr->e_shnum ||
		    !(sections[sections[i].sh_info].sh_flags & SHF_ALLOC))
			continue;
		any = true;
		rewrite_section(&sections[i], totals);
	}
	if (!any)
		fail("the linker kept no relocations (--emit-relocs)");
	if (!totals->rewritten)
		fail("no update of a counter");
}

/* What the bytes say, whatever relocations said. */
static void scan(struct totals *updates, uint64_t *locked)
{
	for (unsigned int i = 0; i < ehdr->e_shnum; i++) {
		const Elf64_Shdr *section = &sections[i];
		const uint8_t *code;
		uint64_t target;

		if (section->sh_type != SHT_PROGBITS || !(section->sh_flags & SHF_ALLOC) ||
		    !(section->sh_flags & SHF_EXECINSTR))
			continue;
		code = at(section->sh_offset, section->sh_size);
		for (uint64_t k = 0; k < section->sh_size; k++) {
			uint64_t address = section->sh_addr + k;

			if (decode_update(code + k, section->sh_size - k, address, LOCK, &target))
				++*locked;
			if (!decode_update(code + k, section->sh_size - k, address, GS, &target))
				continue;
			if (in_range(noinstr, address) || in_range(entry, address))
				fail("0x%llx counts where nothing may",
				     (unsigned long long)address);
			updates->rewritten++;
		}
	}
}

int main(int argc, char **argv)
{
	bool check = argc == 3 && !strcmp(argv[1], "--check");
	struct totals totals = { 0 }, seen = { 0 };
	uint64_t locked = 0;

	if (argc != 2 && !check) {
		fprintf(stderr, "usage: swlbr_percpu [--check] vmlinux\n");
		return 2;
	}
	path = argv[argc - 1];
	map_file(!check);
	read_headers();
	find_symbols();
	if (!check)
		rewrite_all(&totals);
	scan(&seen, &locked);
	if (locked)
		fail("%llu updates with LOCK are left", (unsigned long long)locked);
	if (!check && seen.rewritten != totals.rewritten)
		fail("%llu updates rewritten, but %llu are there",
		     (unsigned long long)totals.rewritten, (unsigned long long)seen.rewritten);
	if (check && !seen.rewritten)
		fail("no update of a counter");
	if (check)
		printf("%llu counters, %llu updates\n",
		       (unsigned long long)(counters.end - counters.start) / 8,
		       (unsigned long long)seen.rewritten);
	return 0;
}
