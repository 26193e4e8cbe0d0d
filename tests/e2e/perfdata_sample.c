// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a perf.data with every record the writer knows, for unpatched perf and others to read:
 * perfdata_sample OUT BINARY BUILD_ID START LENGTH OFFSET [FROM TO…]
 * BINARY is mapped at START; FROM TO are branch entries, newest first, put in a hundred stacks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <swlbr/perfdata_writer.h>

#define MAX_ENTRIES 64

static void check(struct swlbr_error *error)
{
	if (!error)
		return;
	fprintf(stderr, "perfdata_sample: %s\n", error->message);
	exit(1);
}

static struct swlbr_build_id parse_build_id(const char *hex)
{
	struct swlbr_build_id id = { 0 };
	unsigned int byte;

	for (; id.size < SWLBR_BUILD_ID_SIZE && sscanf(hex, "%2x", &byte) == 1; hex += 2)
		id.bytes[id.size++] = byte;
	return id;
}

int main(int argc, char **argv)
{
	const char *const command[] = { "perf", "swlbr", "record", "--", "./program" };
	struct swlbr_perfdata_info info = { 5, command, "swlbr 0.1", 1009 };
	struct swlbr_event_time when = { 1000, 1000, 5000000000, 0 };
	struct swlbr_value_row row = { 7, 0, 2, 0x1234, 99 };
	struct swlbr_build_id id, digest = { { 0xd1, 0x9e, 3 }, 20, true };
	struct swlbr_branch_entry entries[MAX_ENTRIES];
	struct swlbr_perfdata_writer *writer;
	struct swlbr_mapping mapping = { .prot = PROT_READ | PROT_EXEC, .flags = MAP_PRIVATE };
	struct swlbr_mapping other = {
		.start = 0x7f0000000000,
		.length = 0x1000,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
		.path = "/no/such/digest.so",
	};
	static uint64_t counters[20000];
	size_t nr = 0;

	if (argc < 7)
		return 2;
	id = parse_build_id(argv[3]);
	mapping.start = strtoull(argv[4], NULL, 0);
	mapping.length = strtoull(argv[5], NULL, 0);
	mapping.offset = strtoull(argv[6], NULL, 0);
	mapping.path = argv[2];
	mapping.build_id = &id;
	other.build_id = &digest;
	for (int i = 7; i + 1 < argc && nr < MAX_ENTRIES; i += 2, nr++) {
		entries[nr].from = strtoull(argv[i], NULL, 0);
		entries[nr].to = strtoull(argv[i + 1], NULL, 0);
	}
	for (int i = 0; i < 10; i++)
		counters[i] = 10 + i;
	for (int i = 5000; i < 20000; i++)
		counters[i] = i;
	check(swlbr_perfdata_writer_open(argv[1], &info, &writer));
	check(swlbr_perfdata_write_comm(writer, &when, "program", true));
	check(swlbr_perfdata_write_mmap2(writer, &when, &mapping));
	check(swlbr_perfdata_write_mmap2(writer, &when, &other));
	check(swlbr_perfdata_write_round(writer));
	for (int i = 0; nr && i < 100; i++) {
		when.time++;
		check(swlbr_perfdata_write_stack(writer, &when, entries[0].to, 1009, nr, entries));
	}
	check(swlbr_perfdata_write_round(writer));
	when.tid = 1001;
	when.time += 1000;
	check(swlbr_perfdata_write_fork(writer, &when, 1000, 1000));
	when.time += 1000;
	check(swlbr_perfdata_write_exit(writer, &when, 1000, 1000));
	when.tid = 1000;
	check(swlbr_perfdata_write_round(writer));
	check(swlbr_perfdata_write_counters(writer, &when, &id, 1, 0, 20000, counters));
	check(swlbr_perfdata_write_value(writer, &when, &id, 1, &row));
	check(swlbr_perfdata_write_round(writer));
	/* Older than what the rounds promised: must not make perf complain. */
	when.time = 4000000000;
	check(swlbr_perfdata_write_lost(writer, &when, &digest, 4999999999,
					"killed: counters could not be read"));
	check(swlbr_perfdata_write_exit(writer, &when, 1, 1));
	check(swlbr_perfdata_writer_commit(writer));
	return 0;
}
