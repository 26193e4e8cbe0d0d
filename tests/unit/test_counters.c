// SPDX-License-Identifier: GPL-2.0-only
/* ELF images and counter areas, of files made here: raw versions 8, 9 and 10, damaged ones too. */
#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <swlbr/counters.h>

#define BASE	   0x400000ULL
#define RODATA	   0x200ULL /* file offsets */
#define COUNTERS   0x300ULL
#define DATA	   0x400ULL
#define NAMES	   0x600ULL
#define STRINGS	   0x700ULL
#define HEADERS	   0x800ULL
#define NR_SECTION 6

static int failures;

static void is(const char *name, int good)
{
	printf("%s %s\n", good ? "ok" : "FAIL", name);
	failures += !good;
}

struct file {
	unsigned char bytes[HEADERS + NR_SECTION * sizeof(Elf64_Shdr)];
	size_t size;
};

static void put(struct file *file, size_t at, const void *data, size_t size)
{
	memcpy(file->bytes + at, data, size);
}

static void put_record(struct file *file, unsigned int version, size_t i, uint64_t counter,
		       uint32_t nr)
{
	size_t size = version == 8 ? 48 : 64, at = DATA + i * size;
	uint64_t name = 0x1000 + i, hash = 0x2000 + i, pointer = BASE + COUNTERS + 8 * counter;
	uint64_t function = 0x401000 + i;
	uint16_t sites[2] = { (uint16_t)(i + 1), 7 };

	pointer -= BASE + at;
	put(file, at, &name, 8);
	put(file, at + 8, &hash, 8);
	put(file, at + 16, &pointer, 8);
	put(file, at + (version == 8 ? 24 : 32), &function, 8);
	put(file, at + (version == 8 ? 40 : 48), &nr, 4);
	put(file, at + (version == 8 ? 44 : 52), sites, sizeof(sites));
}

static void make_section(struct file *file, int i, uint32_t name, uint64_t at, uint64_t size,
			 uint32_t type)
{
	Elf64_Shdr section = { .sh_name = name,
			       .sh_type = type,
			       .sh_flags = type == SHT_PROGBITS ? SHF_ALLOC : 0,
			       .sh_addr = type == SHT_PROGBITS ? BASE + at : 0,
			       .sh_offset = at,
			       .sh_size = size };

	put(file, HEADERS + (size_t)i * sizeof(section), &section, sizeof(section));
}

/* Two functions, of 3 and of 5 counters. */
static void make_file(struct file *file, unsigned int version, uint64_t word)
{
	static const char strings[] = "\0__llvm_prf_cnts\0__llvm_prf_data\0__llvm_prf_names\0"
				      ".rodata\0.shstrtab";
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
			      .e_type = ET_EXEC,
			      .e_machine = EM_X86_64,
			      .e_version = 1,
			      .e_phoff = sizeof(header),
			      .e_shoff = HEADERS,
			      .e_ehsize = sizeof(header),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = 1,
			      .e_shentsize = sizeof(Elf64_Shdr),
			      .e_shnum = NR_SECTION,
			      .e_shstrndx = 5 };
	Elf64_Phdr segment = { .p_type = PT_LOAD,
			       .p_flags = PF_R | PF_W,
			       .p_vaddr = BASE,
			       .p_filesz = sizeof(file->bytes),
			       .p_memsz = sizeof(file->bytes) };

	memset(file, 0, sizeof(*file));
	file->size = sizeof(file->bytes);
	put(file, 0, &header, sizeof(header));
	put(file, sizeof(header), &segment, sizeof(segment));
	put(file, RODATA + 16, &word, 8);
	put(file, STRINGS, strings, sizeof(strings));
	put_record(file, version, 0, 0, 3);
	put_record(file, version, 1, 3, 5);
	make_section(file, 1, 1, COUNTERS, 8 * 8, SHT_PROGBITS);
	make_section(file, 2, 17, DATA, version == 8 ? 96 : 128, SHT_PROGBITS);
	make_section(file, 3, 33, NAMES, 16, SHT_PROGBITS);
	make_section(file, 4, 50, RODATA, 64, SHT_PROGBITS);
	make_section(file, 5, 58, STRINGS, sizeof(strings), SHT_STRTAB);
}

static struct swlbr_error *locate(const struct file *file, struct swlbr_counters **ret)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);
	struct swlbr_error *error;
	struct swlbr_elf *elf;

	if (fd < 0 || write(fd, file->bytes, file->size) != (ssize_t)file->size)
		abort();
	error = swlbr_elf_open_fd(fd, "test.elf", &elf);
	close(fd);
	if (error)
		return error;
	error = swlbr_counters_locate(elf, ret);
	swlbr_elf_close(elf);
	return error;
}

/* Fails with @code and a message that has @text in it. */
static void refuses(const char *name, const struct file *file, enum swlbr_error_code code,
		    const char *text)
{
	struct swlbr_counters *counters;
	struct swlbr_error *error = locate(file, &counters);

	if (!error)
		swlbr_counters_destroy(counters);
	is(name, error && error->code == code && strstr(error->message, text) &&
			 !strncmp(error->message, "test.elf: ", 10));
	swlbr_error_destroy(error);
}

static void test_version(unsigned int version, uint64_t word)
{
	struct swlbr_counters *counters = NULL;
	struct swlbr_error *error;
	struct file file;
	char name[64];

	make_file(&file, version, word);
	error = locate(&file, &counters);
	snprintf(name, sizeof(name), "version %u, word 0x%llx: located", version,
		 (unsigned long long)word);
	is(name, !error && counters->nr_functions == 2 && counters->nr_counters == 8);
	if (error) {
		printf("# %s\n", error->message);
		swlbr_error_destroy(error);
		return;
	}
	snprintf(name, sizeof(name), "version %u: its functions", version);
	is(name, counters->functions[1].first_counter == 3 &&
			 counters->functions[1].nr_counters == 5 &&
			 counters->functions[1].name_ref == 0x1001 &&
			 counters->functions[1].func_hash == 0x2001 &&
			 counters->functions[1].function_pointer == 0x401001 &&
			 counters->functions[1].nr_sites[0] == 2 &&
			 counters->functions[1].nr_sites[1] == 7 &&
			 counters->functions[0].first_counter == 0);
	if (word)
		is("the version word",
		   counters->version == version && counters->version_word == word);
	swlbr_counters_destroy(counters);
}

/* A file whose records and names are not loaded: then pointers are addresses. */
static void make_unloaded(struct file *file)
{
	static const char strings[] = "\0__llvm_prf_cnts\0__llvm_covdata\0__llvm_covnames\0"
				      ".rodata\0.shstrtab";

	make_file(file, 10, 0x0100000000000000ULL | 10);
	put(file, STRINGS, strings, sizeof(strings));
	for (size_t i = 0; i < 2; i++) {
		uint64_t pointer = BASE + COUNTERS + 8 * (i ? 3 : 0);

		put(file, DATA + 64 * i + 16, &pointer, 8);
	}
	for (int i = 2; i <= 3; i++) {
		Elf64_Shdr section = { .sh_name = i == 2 ? 17 : 32,
				       .sh_type = SHT_PROGBITS,
				       .sh_offset = i == 2 ? DATA : NAMES,
				       .sh_size = i == 2 ? 128 : 16 };

		put(file, HEADERS + (size_t)i * sizeof(section), &section, sizeof(section));
	}
	make_section(file, 4, 48, RODATA, 64, SHT_PROGBITS);
	make_section(file, 5, 56, STRINGS, sizeof(strings), SHT_STRTAB);
}

static void test_unloaded(void)
{
	struct swlbr_counters *counters = NULL;
	struct swlbr_error *error;
	struct file file;
	uint64_t far = BASE + COUNTERS + 64;

	make_unloaded(&file);
	error = locate(&file, &counters);
	is("records that are not loaded: located",
	   !error && counters->nr_functions == 2 && counters->data.unloaded &&
		   counters->names.unloaded && counters->names.vaddr == NAMES &&
		   counters->functions[1].first_counter == 3 && !counters->per_cpu);
	if (error)
		printf("# %s\n", error->message);
	else
		swlbr_counters_destroy(counters);
	swlbr_error_destroy(error);
	put(&file, DATA + 64 + 16, &far, 8);
	refuses("their counters outside the section", &file, SWLBR_ERROR_FORMAT, "do not fit");
	make_unloaded(&file);
	far = 1ULL << 40;
	put(&file, HEADERS + 2 * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_offset), &far, 8);
	refuses("records past the end of the file", &file, SWLBR_ERROR_FORMAT, "truncated");
}

static void test_damage(void)
{
	struct file file, damaged;
	uint64_t far = 0x7fffffff;
	uint32_t many = 6;
	unsigned int seed = 1;

	make_file(&file, 10, 0x0100000000000000ULL | 10);
	damaged = file;
	put(&damaged, DATA + 64 + 16, &far, 8);
	refuses("counters outside their section", &damaged, SWLBR_ERROR_FORMAT, "do not fit");
	damaged = file;
	put(&damaged, DATA + 64 + 48, &many, 4);
	refuses("more counters than there are", &damaged, SWLBR_ERROR_FORMAT, "do not fit");
	damaged = file;
	make_section(&damaged, 1, 50, COUNTERS, 64, SHT_PROGBITS);
	make_section(&damaged, 2, 50, DATA, 128, SHT_PROGBITS);
	refuses("not instrumented", &damaged, SWLBR_ERROR_NOT_INSTRUMENTED, "perf swlbr cflags");
	damaged = file;
	damaged.bytes[0] = 'x';
	refuses("not ELF", &damaged, SWLBR_ERROR_FORMAT, "not an ELF file");
	for (size_t size = 0; size < file.size; size++) {
		struct swlbr_counters *counters = NULL;
		struct swlbr_error *error;

		damaged = file;
		damaged.size = size;
		error = locate(&damaged, &counters);
		if (!error) {
			is("cut short: refused", 0);
			swlbr_counters_destroy(counters);
		}
		swlbr_error_destroy(error);
	}
	is("cut short at every byte", 1);
	for (int i = 0; i < 3000; i++) {
		struct swlbr_counters *counters = NULL;
		struct swlbr_error *error;

		damaged = file;
		for (int k = 0; k < 4; k++) {
			seed = seed * 1103515245 + 12345;
			damaged.bytes[(seed >> 8) % file.size] ^= (unsigned char)(seed >> 3);
		}
		error = locate(&damaged, &counters);
		if (!error)
			swlbr_counters_destroy(counters);
		swlbr_error_destroy(error);
	}
	is("3,000 damaged copies", 1);
}

static void test_unsupported(void)
{
	struct file file;

	make_file(&file, 10, 0x1100000000000000ULL | 10);
	refuses("one-byte coverage", &file, SWLBR_ERROR_UNSUPPORTED, "one-byte");
	make_file(&file, 10, 0x0900000000000000ULL | 10);
	refuses("debug-info correlation", &file, SWLBR_ERROR_UNSUPPORTED, "debug");
}

int main(void)
{
	test_version(8, 0x0100000000000000ULL | 8);
	test_version(9, 0x0100000000000000ULL | 9);
	test_version(10, 0x0500000000000000ULL | 10);
	test_version(8, 0); /* not the IR variant, and stripped: by the records alone */
	test_version(10, 0);
	test_unsupported();
	test_unloaded();
	test_damage();
	return failures != 0;
}
