// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parts of emulated recording: what kind of branch an instruction is, what the kernel would run for
 * a file, and lanes whose contents are not to be trusted.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "pmu/qemu/branch_kind.h"
#include "pmu/qemu/guest.h"
#include "pmu/qemu/lane_reader.h"

#define ADDRESS 0x401000

struct branch_case {
	const char *name;
	uint8_t code[12];
	uint8_t size;
	enum branch_kind kind;
	bool direct;
	uint64_t target;
};

static const struct branch_case x86_64[] = {
	{ "jmp rel8", { 0xeb, 0x10 }, 2, BRANCH_JUMP, true, ADDRESS + 0x12 },
	{ "jmp rel32 back", { 0xe9, 0xfb, 0xff, 0xff, 0xff }, 5, BRANCH_JUMP, true, ADDRESS },
	{ "jne", { 0x75, 0xfe }, 2, BRANCH_CONDITIONAL, true, ADDRESS },
	{ "ja rel32", { 0x0f, 0x87, 0, 1, 0, 0 }, 6, BRANCH_CONDITIONAL, true, ADDRESS + 0x106 },
	{ "loop", { 0xe2, 0x00 }, 2, BRANCH_CONDITIONAL, true, ADDRESS + 2 },
	{ "jrcxz", { 0xe3, 0x02 }, 2, BRANCH_CONDITIONAL, true, ADDRESS + 4 },
	{ "call", { 0xe8, 0, 0, 0, 0 }, 5, BRANCH_CALL, true, ADDRESS + 5 },
	{ "call *%rax", { 0xff, 0xd0 }, 2, BRANCH_INDIRECT_CALL, false, 0 },
	{ "call *8(%rax)", { 0xff, 0x50, 0x08 }, 3, BRANCH_INDIRECT_CALL, false, 0 },
	{ "notrack jmp *%rax", { 0x3e, 0xff, 0xe0 }, 3, BRANCH_INDIRECT_JUMP, false, 0 },
	{ "jmp *(%rip)", { 0xff, 0x25, 0, 0, 0, 0 }, 6, BRANCH_INDIRECT_JUMP, false, 0 },
	{ "ret", { 0xc3 }, 1, BRANCH_RETURN, false, 0 },
	{ "repz ret", { 0xf3, 0xc3 }, 2, BRANCH_RETURN, false, 0 },
	{ "bnd ret", { 0xf2, 0xc3 }, 2, BRANCH_RETURN, false, 0 },
	{ "rep movsb", { 0xf3, 0xa4 }, 2, BRANCH_REPEAT, false, 0 },
	{ "rep stosq", { 0xf3, 0x48, 0xab }, 3, BRANCH_REPEAT, false, 0 },
	{ "repne scasb", { 0xf2, 0xae }, 2, BRANCH_REPEAT, false, 0 },
	{ "movsb", { 0xa4 }, 1, BRANCH_NONE, false, 0 },
	{ "addsd (F2, no repetition)", { 0xf2, 0x0f, 0x58, 0xc1 }, 4, BRANCH_NONE, false, 0 },
	{ "syscall", { 0x0f, 0x05 }, 2, BRANCH_NONE, false, 0 },
	{ "iretq", { 0x48, 0xcf }, 2, BRANCH_EXCEPTION_RETURN, false, 0 },
	{ "sysretq", { 0x48, 0x0f, 0x07 }, 3, BRANCH_EXCEPTION_RETURN, false, 0 },
	{ "xbegin", { 0xc7, 0xf8, 0, 0, 0, 0 }, 6, BRANCH_NONE, false, 0 },
	{ "nop", { 0x90 }, 1, BRANCH_NONE, false, 0 },
};

/* The bytes are those of GNU as. */
static const struct branch_case aarch64[] = {
	{ "b .+8", { 0x02, 0, 0, 0x14 }, 4, BRANCH_JUMP, true, ADDRESS + 8 },
	{ "b .-4", { 0xff, 0xff, 0xff, 0x17 }, 4, BRANCH_JUMP, true, ADDRESS - 4 },
	{ "bl .-8", { 0xfe, 0xff, 0xff, 0x97 }, 4, BRANCH_CALL, true, ADDRESS - 8 },
	{ "b.ne .+16", { 0x81, 0, 0, 0x54 }, 4, BRANCH_CONDITIONAL, true, ADDRESS + 16 },
	{ "cbz x0, .-4", { 0xe0, 0xff, 0xff, 0xb4 }, 4, BRANCH_CONDITIONAL, true, ADDRESS - 4 },
	{ "cbnz w3, .+8", { 0x43, 0, 0, 0x35 }, 4, BRANCH_CONDITIONAL, true, ADDRESS + 8 },
	{ "tbz w1, #3, .+8", { 0x41, 0, 0x18, 0x36 }, 4, BRANCH_CONDITIONAL, true, ADDRESS + 8 },
	{ "tbnz x1, #35, .-4",
	  { 0xe1, 0xff, 0x1f, 0xb7 },
	  4,
	  BRANCH_CONDITIONAL,
	  true,
	  ADDRESS - 4 },
	{ "br x16", { 0, 0x02, 0x1f, 0xd6 }, 4, BRANCH_INDIRECT_JUMP, false, 0 },
	{ "blr x1", { 0x20, 0, 0x3f, 0xd6 }, 4, BRANCH_INDIRECT_CALL, false, 0 },
	{ "ret", { 0xc0, 0x03, 0x5f, 0xd6 }, 4, BRANCH_RETURN, false, 0 },
	{ "retaa", { 0xff, 0x0b, 0x5f, 0xd6 }, 4, BRANCH_RETURN, false, 0 },
	{ "braa x1, x2", { 0x22, 0x08, 0x1f, 0xd7 }, 4, BRANCH_INDIRECT_JUMP, false, 0 },
	{ "blraaz x1", { 0x3f, 0x08, 0x3f, 0xd6 }, 4, BRANCH_INDIRECT_CALL, false, 0 },
	{ "eret", { 0xe0, 0x03, 0x9f, 0xd6 }, 4, BRANCH_EXCEPTION_RETURN, false, 0 },
	{ "svc #0", { 0x01, 0, 0, 0xd4 }, 4, BRANCH_NONE, false, 0 },
	{ "add x0, x0, x1", { 0, 0, 0x01, 0x8b }, 4, BRANCH_NONE, false, 0 },
};

static void test_branches(const char *machine, branch_decode_t *decode,
			  const struct branch_case *cases, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct branch_case *one = &cases[i];
		struct branch got = decode(one->code, one->size, ADDRESS);
		bool same = got.kind == one->kind && !got.incomplete;
		bool part = true;
		char name[128];

		if (one->kind > BRANCH_REPEAT)
			same = same && got.direct == one->direct &&
			       (!one->direct || got.target == one->target);
		for (size_t size = 1; size < one->size; size++)
			part = part && decode(one->code, size, ADDRESS).incomplete;
		snprintf(name, sizeof(name), "%s: %s", machine, one->name);
		check(same && part, "%s", name);
	}
}

static void write_file(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

static void test_programs(void)
{
	static const char bare[] = "echo no first line\n", empty_line[] = "#!  \n";
	char directory[] = "/tmp/test_emulation.XXXXXX", arm[64], script[64], text[128];
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB },
			      .e_machine = EM_AARCH64 };
	char *argv[] = { (char *)"name", (char *)"one", NULL }, **command;
	struct guest_program program;

	if (!mkdtemp(directory))
		abort();
	snprintf(arm, sizeof(arm), "%s/arm", directory);
	snprintf(script, sizeof(script), "%s/script", directory);
	write_file(arm, &header, sizeof(header));
	check(!guest_program_find(arm, NULL, &program) &&
		      program.machine == guest_machine_of_target("aarch64") && !program.interpreter,
	      "an aarch64 program");
	command = guest_program_command(&program, "qemu", "plugin", "/root", arm, argv);
	check(command && !strcmp(command[4], "/root") && !strcmp(command[5], "-0") &&
		      !strcmp(command[6], "name") && !strcmp(command[7], arm) &&
		      !strcmp(command[8], "one") && !command[9],
	      "its command");
	free(command);

	snprintf(text, sizeof(text), "#! %s  -a b \nrest\n", arm);
	write_file(script, text, strlen(text));
	check(!guest_program_find(script, NULL, &program) && program.machine &&
		      !strcmp(program.interpreter, arm) && !strcmp(program.argument, "-a b"),
	      "a script, its interpreter and the one argument");
	command = guest_program_command(&program, "qemu", "plugin", NULL, script, argv);
	check(command && !strcmp(command[3], arm) && !strcmp(command[4], "-a b") &&
		      !strcmp(command[5], script) && !strcmp(command[6], "one") && !command[7],
	      "the script's command");
	free(command);

	write_file(script, "#!/arm", 6);
	check(!guest_program_find(script, directory, &program), "an interpreter below the sysroot");
	check(guest_program_find(script, NULL, &program) == ENOEXEC, "not without the sysroot");
	write_file(script, bare, sizeof(bare) - 1);
	check(guest_program_find(script, NULL, &program) == ENOEXEC, "a file that is no program");
	write_file(script, empty_line, sizeof(empty_line) - 1);
	check(guest_program_find(script, NULL, &program) == ENOEXEC, "an empty first line");
	write_file(script, "", 0);
	check(guest_program_find(script, NULL, &program) == ENOEXEC, "an empty file");
	header.e_machine = EM_386;
	write_file(arm, &header, sizeof(header));
	check(guest_program_find(arm, NULL, &program) == ENOEXEC, "a program of another machine");
	check(guest_program_find("/nonexistent", NULL, &program) == ENOENT, "no file");
	unlink(arm);
	unlink(script);
	rmdir(directory);
}

#define RING 4096
#define RUNS 4

/* A lane of ours, and what the recorder makes of it: @seal as the plugin does. */
static struct lane *make_lane(bool seal, uint32_t ring_size, uint32_t max_runs,
			      struct lane_reader *reader, bool *opened)
{
	size_t size = LANE_HEADER_SIZE + RING + RUNS * sizeof(struct lane_run);
	int fd = memfd_create("lane", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct swlbr_error *error;
	struct lane *lane;

	if (fd < 0 || ftruncate(fd, (off_t)size))
		abort();
	if (seal && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK))
		abort();
	lane = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (lane == MAP_FAILED)
		abort();
	lane->magic = LANE_MAGIC;
	lane->ring_size = ring_size;
	lane->max_runs = max_runs;
	error = lane_reader_open(fd, 1, reader);
	*opened = !error;
	swlbr_error_destroy(error);
	return lane;
}

static void drop_lane(struct lane *lane, struct lane_reader *reader, bool opened)
{
	munmap(lane, LANE_HEADER_SIZE + RING + RUNS * sizeof(struct lane_run));
	if (opened)
		lane_reader_close(reader);
}

static void test_headers(void)
{
	static const struct {
		const char *name;
		bool seal;
		uint32_t ring_size, max_runs;
		bool opened;
	} cases[] = {
		{ "a lane", true, RING, RUNS, true },
		{ "a lane that could shrink is refused", false, RING, RUNS, false },
		{ "a ring past the end is refused", true, 2 * RING, 0, false },
		{ "a ring of no power of two is refused", true, RING - 8, 0, false },
		{ "an empty ring is refused", true, 0, 0, false },
		{ "a huge ring is refused", true, 1U << 31, 0, false },
		{ "runs past the end are refused", true, RING, RUNS + 1, false },
		{ "any number of runs is refused", true, RING, UINT32_MAX, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lane_reader reader;
		bool opened;
		struct lane *lane = make_lane(cases[i].seal, cases[i].ring_size, cases[i].max_runs,
					      &reader, &opened);

		check(opened == cases[i].opened, "%s", cases[i].name);
		drop_lane(lane, &reader, opened);
	}
}

static struct swlbr_error *count_run(void *context, const struct lane_run *run)
{
	*(uint64_t *)context += run->nr;
	return NULL;
}

static void test_lanes(void)
{
	static uint8_t buffer[LANE_MAX_RING] __attribute__((aligned(8)));
	const struct lane_record *record = NULL;
	struct lane_record *written;
	struct lane_reader reader;
	uint64_t nr = 0;
	size_t at = 0, size;
	bool opened;
	struct lane *lane = make_lane(true, RING, RUNS, &reader, &opened);
	uint8_t *ring = (uint8_t *)lane + LANE_HEADER_SIZE;

	if (!opened)
		abort();
	/* A record that goes round the ring's end. */
	lane->tail = RING - 8;
	lane->head = RING + 16;
	written = (struct lane_record *)(ring + RING - 8);
	memcpy(written, &(struct lane_record){ LANE_RECORD_COMM, 24, 0 }, 8);
	memcpy(ring, (uint64_t[]){ 77, 88 }, 16);
	size = lane_reader_take(&reader, buffer);
	check(size == 24 && lane_next_record(buffer, size, &at, &record) && record->time == 77 &&
		      record->size == 24 && at == 24,
	      "a record round the end of the ring");
	check(!lane_next_record(buffer, size, &at, &record), "and no more");
	check(lane_reader_take(&reader, buffer) == 0 && lane->tail == RING + 16,
	      "it is taken once");

	for (uint32_t wrong = 0; wrong <= 4096; wrong += 4) {
		if (wrong == 16 || wrong == 24)
			continue;
		memcpy(buffer, &(struct lane_record){ LANE_RECORD_COMM, wrong, 0 }, 16);
		at = 0;
		if (lane_next_record(buffer, 24, &at, &record))
			break;
		nr++;
	}
	check(nr == 1023, "records of wrong sizes are none");
	at = 20;
	check(!lane_next_record(buffer, 24, &at, &record), "nor is half a header");

	/* What the header says later is not believed. */
	lane->max_runs = lane->ring_size = UINT32_MAX;
	lane->nr_runs = lane->nr_saved = UINT32_MAX;
	for (struct lane_run *run = (struct lane_run *)(ring + RING);
	     run < (struct lane_run *)(ring + RING) + RUNS; run++)
		run->nr = 1;
	nr = 0;
	check(!lane_reader_runs(&reader, false, count_run, &nr) && nr == RUNS,
	      "no more runs than there is room for");
	nr = 0;
	check(!lane_reader_runs(&reader, true, count_run, &nr) && nr == RUNS + LANE_SAVED_RUNS,
	      "and no more saved ones");
	lane->head = 0;
	check(lane_reader_take(&reader, buffer) == 0 && reader.broken,
	      "a ring that was read further than written is broken");
	drop_lane(lane, &reader, opened);
}

int main(void)
{
	test_branches("x86-64", branch_decode_x86_64, x86_64, sizeof(x86_64) / sizeof(*x86_64));
	test_branches("aarch64", branch_decode_aarch64, aarch64,
		      sizeof(aarch64) / sizeof(*aarch64));
	test_programs();
	test_headers();
	test_lanes();
	return failures != 0;
}
