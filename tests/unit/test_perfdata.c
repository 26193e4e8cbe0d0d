// SPDX-License-Identifier: GPL-2.0-only
/* What is written to a perf.data is read back; what is damaged is refused, never believed. */
#include <byteswap.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <swlbr/perfdata.h>
#include <swlbr/perfdata_writer.h>

#include "check.h"

static bool says(struct swlbr_error *error, const char *text)
{
	bool found = error && strstr(error->message, text);

	if (!found)
		printf("# got: %s\n", error ? error->message : "(success)");
	swlbr_error_destroy(error);
	return found;
}

#define NR_COUNTERS 30000

static const struct swlbr_build_id binary_id = { { 1, 2, 3, 4, 5, 6, 7, 8 }, 8, false };
static const struct swlbr_build_id digest_id = { { 0xd1, 0x9e, 7 }, 20, true };
static const struct swlbr_perfdata_info info = { .version = "test", .period = 1009 };
static uint64_t counters[NR_COUNTERS];

/* Stretches of zeroes and of values of all lengths, from a fixed seed. */
static void fill_counters(void)
{
	uint64_t state = 1;

	for (size_t i = 0; i < NR_COUNTERS;) {
		size_t length;

		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		length = 1 + (state >> 60) * (state >> 60);
		if (i == 8000)
			length = 15000; /* more than one row holds */
		for (; length && i < NR_COUNTERS; length--, i++)
			counters[i] = i >= 8000 && i < 23000 ? i : state >> 59 & 1 ? state + i : 0;
		if (i < 8000 && i + 300 > 8000)
			i = 8000;
	}
	counters[NR_COUNTERS - 1] = UINT64_MAX;
}

/* One of everything, in the order of a program's life. */
static bool write_all(const char *path, size_t nr)
{
	struct swlbr_event_time when = { 100, 100, 1000, 3 }, child = { 101, 101, 2000, 0 };
	struct swlbr_value_row row = { 5, 1, 2, 0x4010, 77 };
	struct swlbr_branch_entry stack[] = { { 0x401010, 0x401000 }, { 0x401020, 0x401008 } };
	struct swlbr_mapping code = { 0x401000,	   0x2000,     0x1000,	PROT_READ | PROT_EXEC,
				      MAP_PRIVATE, &binary_id, "/bin/x" };
	struct swlbr_mapping data = { 0x7000,	  0x1000,	0, PROT_READ, MAP_SHARED,
				      &digest_id, "/lib/digest" };
	struct swlbr_perfdata_writer *writer;

	return fine(swlbr_perfdata_writer_open(path, &info, &writer)) &&
	       fine(swlbr_perfdata_write_comm(writer, &when, "a name that is too long", true)) &&
	       fine(swlbr_perfdata_write_mmap2(writer, &when, &code)) &&
	       fine(swlbr_perfdata_write_mmap2(writer, &when, &data)) &&
	       fine(swlbr_perfdata_write_stack(writer, &when, 0x401000, 1009, 2, stack)) &&
	       fine(swlbr_perfdata_write_fork(writer, &child, 100, 100)) &&
	       fine(swlbr_perfdata_write_round(writer)) &&
	       fine(swlbr_perfdata_write_round(writer)) &&
	       fine(swlbr_perfdata_write_counters(writer, &child, &binary_id, 3, 10, nr,
						  counters)) &&
	       fine(swlbr_perfdata_write_value(writer, &child, &binary_id, 3, &row)) &&
	       fine(swlbr_perfdata_write_lost(writer, &when, &digest_id, 900, "killed")) &&
	       fine(swlbr_perfdata_write_exit(writer, &child, 100, 100)) &&
	       fine(swlbr_perfdata_writer_commit(writer));
}

/* Reads the next record that is not OTHER. */
static bool next(struct swlbr_perfdata *file, struct swlbr_record *record, bool *end)
{
	do {
		if (!fine(swlbr_perfdata_next(file, record, end)))
			return false;
	} while (!*end && record->kind == SWLBR_RECORD_OTHER);
	return true;
}

static bool same_id(const struct swlbr_build_id *a, const struct swlbr_build_id *b)
{
	return !memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

static void check_tasks(struct swlbr_perfdata *file)
{
	struct swlbr_record r;
	bool end;

	check(next(file, &r, &end) && r.kind == SWLBR_RECORD_COMM && r.pid == 100 && r.tid == 100 &&
		      r.time == 1000 && r.comm.exec && !strcmp(r.comm.comm, "a name that is "),
	      "the program's name, as the kernel would cut it");
	check(next(file, &r, &end) && r.kind == SWLBR_RECORD_MMAP2 && r.pid == 100 &&
		      r.time == 1000 && r.mmap2.start == 0x401000 && r.mmap2.length == 0x2000 &&
		      r.mmap2.offset == 0x1000 && r.mmap2.prot == (PROT_READ | PROT_EXEC) &&
		      !strcmp(r.mmap2.path, "/bin/x"),
	      "a mapping");
	check(r.mmap2.build_id.size == 8 && same_id(&r.mmap2.build_id, &binary_id),
	      "a build-id shorter than 20 bytes keeps its size");
	check(next(file, &r, &end) && r.kind == SWLBR_RECORD_MMAP2 && !r.mmap2.build_id.size &&
		      !strcmp(r.mmap2.path, "/lib/digest"),
	      "a digest is not passed for a build-id");
	check(next(file, &r, &end) && r.kind == SWLBR_RECORD_SAMPLE && r.pid == 100 &&
		      r.sample.event == 0 && r.sample.ip == 0x401000 && r.sample.period == 1009 &&
		      r.sample.cpu == 3 && r.sample.nr == 2 && r.sample.stack[0].from == 0x401010 &&
		      r.sample.stack[0].to == 0x401000 && r.sample.stack[1].from == 0x401020,
	      "a branch stack");
	check(next(file, &r, &end) && r.kind == SWLBR_RECORD_FORK && r.pid == 101 && r.tid == 101 &&
		      r.task.ppid == 100 && r.task.ptid == 100 && r.time == 2000,
	      "a fork");
}

static void check_rows(struct swlbr_perfdata *file, size_t nr)
{
	static uint64_t sum[NR_COUNTERS];
	struct swlbr_record r;
	bool end, sound = true, sparse = true;

	memset(sum, 0, sizeof(sum));
	while (next(file, &r, &end) && !end && r.kind == SWLBR_RECORD_COUNTERS) {
		uint64_t first = r.counters.first - 10;

		sound = sound && same_id(&r.counters.build_id, &binary_id) && r.pid == 101 &&
			r.counters.engine == 3 && r.time == 2000 && first + r.counters.nr <= nr;
		for (uint32_t i = 0; sound && i < r.counters.nr; i++)
			sum[first + i] += r.counters.value[i];
		sparse = sparse && r.counters.value[0] && r.counters.value[r.counters.nr - 1];
	}
	check(sound && !memcmp(sum, counters, nr * sizeof(*sum)), "%zu counters come back", nr);
	check(sparse, "a row begins and ends with a counter that is not zero");
	check(r.kind == SWLBR_RECORD_VALUE && same_id(&r.value.build_id, &binary_id) &&
		      r.value.engine == 3 && r.value.function == 5 && r.value.value_kind == 1 &&
		      r.value.site == 2 && r.value.value == 0x4010 && r.value.nr == 77,
	      "a value row comes back");
	check(next(file, &r, &end) && r.kind == SWLBR_RECORD_LOST_COUNTS && r.lost.since == 900 &&
		      r.lost.build_id.digest && same_id(&r.lost.build_id, &digest_id) &&
		      !strcmp(r.lost.why, "killed"),
	      "what was lost is told, with why");
	check(r.time == 2000, "a row older than what readers have flushed gets that time");
	check(next(file, &r, &end) && r.kind == SWLBR_RECORD_EXIT && r.pid == 101, "an exit");
	check(next(file, &r, &end) && end, "then the end");
}

static void test_round_trip(size_t nr)
{
	struct swlbr_perfdata *file;
	struct stat st;
	bool is = false;

	unlink("perf.data");
	check(write_all("perf.data", nr), "write a file with one of everything");
	check(stat("perf.data", &st) == 0 && (st.st_mode & 0777) == 0600, "it is private");
	check(fine(swlbr_perfdata_probe("perf.data", &is)) && is, "it is taken for a perf.data");
	if (!fine(swlbr_perfdata_open("perf.data", &file))) {
		check(false, "open it");
		return;
	}
	check(!strcmp(swlbr_perfdata_event_name(file, 0), "swlbr/branches/") &&
		      !strcmp(swlbr_perfdata_event_name(file, 1), "swlbr:counters") &&
		      !strcmp(swlbr_perfdata_event_name(file, 2), "swlbr:value") &&
		      !strcmp(swlbr_perfdata_event_name(file, 3), "swlbr:lost") &&
		      !strcmp(swlbr_perfdata_event_name(file, 4), "swlbr:arc") &&
		      !swlbr_perfdata_event_name(file, 5),
	      "events have perf's names");
	check_tasks(file);
	check_rows(file, nr);
	swlbr_perfdata_close(file);
}

static void test_limits(void)
{
	struct swlbr_event_time when = { 1, 1, 1, 0 };
	static struct swlbr_branch_entry many[3000];
	struct swlbr_mapping mapping = { .path = NULL };
	struct swlbr_perfdata_writer *writer;
	struct swlbr_perfdata *file;
	struct swlbr_record r;
	char *path = malloc(10001), *why = malloc(100001);
	bool end, ok;

	memset(path, 'p', 10000);
	memset(why, 'w', 100000);
	path[10000] = why[100000] = '\0';
	mapping.path = path;
	unlink("perf.data");
	check(fine(swlbr_perfdata_writer_open("perf.data", &info, &writer)), "open");
	check(says(swlbr_perfdata_write_stack(writer, &when, 0, 1, 3000, many), "too large"),
	      "a stack that does not fit a record is refused");
	check(fine(swlbr_perfdata_write_mmap2(writer, &when, &mapping)) &&
		      fine(swlbr_perfdata_write_lost(writer, &when, &digest_id, 0, why)),
	      "a path and a reason that are too long are not");
	check(access("perf.data", F_OK) < 0, "nothing is seen before commit");
	check(fine(swlbr_perfdata_writer_commit(writer)), "commit");
	ok = fine(swlbr_perfdata_open("perf.data", &file)) && next(file, &r, &end) &&
	     !strcmp(r.mmap2.path, "//toolong") && next(file, &r, &end) &&
	     r.kind == SWLBR_RECORD_LOST_COUNTS && strlen(r.lost.why) == 1024;
	check(ok, "they are cut");
	swlbr_perfdata_close(file);
	check(write_all("perf.data", 0) && access("perf.data.old", F_OK) == 0,
	      "an older file is kept as perf.data.old");
	unlink("perf.data.old");
	unlink("perf.data");
	check(fine(swlbr_perfdata_writer_open("perf.data", &info, &writer)), "open");
	swlbr_perfdata_writer_discard(writer);
	check(access("perf.data", F_OK) < 0, "nothing is left of a file that is discarded");
	free(path);
	free(why);
}

/* A file made by hand, in either byte order. */
struct image {
	uint8_t data[4096];
	size_t size;
	bool swap;
};

static void put(struct image *image, const void *data, size_t size)
{
	memcpy(image->data + image->size, data, size);
	image->size += size;
}

static void put16(struct image *image, uint16_t value)
{
	value = image->swap ? bswap_16(value) : value;
	put(image, &value, sizeof(value));
}

static void put32(struct image *image, uint32_t value)
{
	value = image->swap ? bswap_32(value) : value;
	put(image, &value, sizeof(value));
}

static void put64(struct image *image, uint64_t value)
{
	value = image->swap ? bswap_64(value) : value;
	put(image, &value, sizeof(value));
}

static void set64(struct image *image, size_t offset, uint64_t value)
{
	value = image->swap ? bswap_64(value) : value;
	memcpy(image->data + offset, &value, sizeof(value));
}

/* Another order and other sizes of the fields than the writer's: only the names are the same. */
static const char other_format[] =
	"name: counters\nID: 7\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:__data_loc u64[] value;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:u32 first;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:u8 new_field;\toffset:16;\tsize:1;\tsigned:0;\n"
	"\tfield:u8 build_id[8];\toffset:20;\tsize:8;\tsigned:0;\n"
	"\tfield:u16 engine;\toffset:28;\tsize:2;\tsigned:0;\n\n"
	"print fmt: \"%d\", REC->first\n";

static void put_tracing_data(struct image *image, const char *format)
{
	put(image, "\x17\x08\x44tracing0.6\0\0\x08", 16);
	put32(image, 4096);
	put(image, "header_page", 12);
	put64(image, 1);
	put(image, "x", 1);
	put(image, "header_event", 13);
	put64(image, 0);
	put32(image, 0);
	put32(image, 1);
	put(image, "swlbr", 6);
	put32(image, 1);
	put64(image, strlen(format));
	put(image, format, strlen(format));
	put32(image, 0);
	put32(image, 0);
	put64(image, 0);
}

/* Offsets of what a test changes: the header's size and data size, the first record's type. */
enum { AT_SIZE = 8, AT_DATA_SIZE = 48, AT_FEATURES = 72, AT_DATA = 104 + 80 };

/* An event of the oldest attr size without sample_id_all; MMAP, a sample of a tracepoint. */
static void build(struct image *image, bool swap, const char *format)
{
	size_t section;

	*image = (struct image){ .swap = swap };
	put64(image, 0x32454c4946524550ULL);
	put64(image, 104);
	put64(image, 64 + 16); /* attr_size */
	put64(image, 104);     /* attrs */
	put64(image, 64 + 16);
	put64(image, AT_DATA);
	put64(image, 48 + 96);
	put64(image, 0); /* event types */
	put64(image, 0);
	put64(image, 1 << 1); /* features: tracing data */
	put64(image, 0);
	put64(image, 0);
	put64(image, 0);
	put32(image, PERF_TYPE_TRACEPOINT);
	put32(image, 64);
	put64(image, 7);
	put64(image, 1);
	put64(image, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW);
	image->size = AT_DATA;

	put32(image, PERF_RECORD_MMAP);
	put16(image, 0);
	put16(image, 48);
	put32(image, 11);
	put32(image, 12);
	put64(image, 0x1000);
	put64(image, 0x2000);
	put64(image, 0x3000);
	put(image, "/old\0\0\0", 8);

	put32(image, PERF_RECORD_SAMPLE);
	put16(image, 0);
	put16(image, 96);
	put32(image, 21);
	put32(image, 22);
	put64(image, 12345);
	put64(image, 1); /* callchain */
	put64(image, 0xdead);
	put32(image, 52);
	put16(image, 7);
	put16(image, 0);
	put32(image, 21);
	put32(image, 16 << 16 | 36);
	put32(image, 500);
	put32(image, 0);
	put(image, "\1\2\3\4\5\6\7\10", 8);
	put16(image, 9);
	image->size += 6;
	put64(image, 0x0102030405060708);
	put64(image, 42);

	section = image->size + 16;
	put64(image, section);
	put64(image, 0); /* its size */
	put_tracing_data(image, format);
	set64(image, section - 8, image->size - section);
}

static struct swlbr_error *open_image(const void *data, size_t size, struct swlbr_perfdata **ret)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct swlbr_error *error;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	error = swlbr_perfdata_open_fd(fd, "IMAGE", ret);
	close(fd);
	return error;
}

static void test_other_files(bool swap)
{
	const char *order = swap ? "other byte order" : "this byte order";
	struct swlbr_perfdata *file;
	struct swlbr_record r;
	struct image image;
	bool end;

	build(&image, swap, other_format);
	if (!fine(open_image(image.data, image.size, &file))) {
		check(false, "open (%s)", order);
		return;
	}
	check(!strcmp(swlbr_perfdata_event_name(file, 0), "swlbr:counters"),
	      "a tracepoint's name comes from its format (%s)", order);
	check(next(file, &r, &end) && r.kind == SWLBR_RECORD_MMAP2 && r.type == PERF_RECORD_MMAP &&
		      r.pid == 11 && r.tid == 12 && r.mmap2.start == 0x1000 &&
		      r.mmap2.length == 0x2000 && r.mmap2.offset == 0x3000 &&
		      !strcmp(r.mmap2.path, "/old") && r.mmap2.prot & PROT_EXEC,
	      "an MMAP of an old perf (%s)", order);
	check(next(file, &r, &end) && r.kind == SWLBR_RECORD_COUNTERS && r.pid == 21 &&
		      r.tid == 22 && r.time == 12345 && r.counters.first == 500 &&
		      r.counters.engine == 9 && r.counters.nr == 2 &&
		      r.counters.value[0] == 0x0102030405060708 && r.counters.value[1] == 42 &&
		      same_id(&r.counters.build_id, &binary_id),
	      "fields are found by name, whatever their place and size (%s)", order);
	check(next(file, &r, &end) && end, "the end (%s)", order);
	swlbr_perfdata_close(file);
}

/* Two events with different sample types; two names of tasks, one of each event. */
static void test_two_events(void)
{
	static const uint64_t types[] = {
		PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER,
		PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER,
	};
	struct image image = { .size = 0 };
	struct swlbr_perfdata *file;
	struct swlbr_record r;
	bool end, right = true;

	put64(&image, 0x32454c4946524550ULL);
	put64(&image, 104);
	put64(&image, 64 + 16);
	put64(&image, 104 + 16); /* attrs, after the ids */
	put64(&image, 2 * (64 + 16));
	put64(&image, 104 + 16 + 2 * (64 + 16));
	put64(&image, 48 + 56);
	image.size = 104;
	put64(&image, 71); /* ids */
	put64(&image, 72);
	for (int i = 0; i < 2; i++) {
		size_t attr = image.size;

		set64(&image, attr + 24, types[i]);
		set64(&image, attr + 40, 1 << 18); /* sample_id_all */
		set64(&image, attr + 64, 104 + 8 * i);
		set64(&image, attr + 72, 8);
		image.size = attr + 64 + 16;
	}
	for (int i = 0; i < 2; i++) {
		put32(&image, PERF_RECORD_COMM);
		put16(&image, 0);
		put16(&image, 48 + 8 * i);
		put32(&image, 5);
		put32(&image, 6);
		put(&image, "name\0\0\0", 8);
		put32(&image, 5);
		put32(&image, 6);
		put64(&image, 1000 + i);
		if (i == 1)
			put64(&image, 3); /* cpu */
		put64(&image, 71 + i);
	}
	if (!fine(open_image(image.data, image.size, &file))) {
		check(false, "open a file with two events");
		return;
	}
	for (int i = 0; i < 2; i++)
		right = right && next(file, &r, &end) && r.kind == SWLBR_RECORD_COMM &&
			r.pid == 5 && r.tid == 6 && r.time == (uint64_t)1000 + i;
	check(right, "a record's time is found by the event it belongs to");
	swlbr_perfdata_close(file);
}

/* The error of opening @image and reading it to its end. */
static struct swlbr_error *read_image(const struct image *image)
{
	struct swlbr_perfdata *file;
	struct swlbr_error *error = open_image(image->data, image->size, &file);
	struct swlbr_record r;
	bool end = false;

	if (error)
		return error;
	while (!error && !end)
		error = swlbr_perfdata_next(file, &r, &end);
	swlbr_perfdata_close(file);
	return error;
}

static void test_messages(void)
{
	struct swlbr_perfdata *file;
	struct image image;
	char format[1024];
	bool is = true;
	int fd = open("other", O_CREAT | O_WRONLY, 0600);

	if (write(fd, "hello, world", 12) != 12)
		abort();
	close(fd);
	check(fine(swlbr_perfdata_probe("other", &is)) && !is, "it is not taken for a perf.data");
	unlink("other");
	check(says(swlbr_perfdata_open("none", &file), "none: cannot open: No such file"),
	      "a missing file");
	check(says(swlbr_perfdata_open(".", &file), ".: Is a directory"), "a directory");
	check(says(swlbr_perfdata_open("/dev/null", &file), "/dev/null: not a file that can be"),
	      "a device");
	check(says(open_image("hello, world", 12, &file), "IMAGE: not a perf.data"),
	      "another file");
	check(says(open_image("", 0, &file), "IMAGE: not a perf.data"), "an empty file");
	build(&image, false, other_format);
	image.data[AT_DATA] = 81;
	check(says(read_image(&image), "IMAGE: compressed record at offset 184: "),
	      "a compressed record that is none is named, with its place");
	build(&image, false, other_format);
	image.data[AT_DATA + 6] = 36;
	check(says(read_image(&image), "IMAGE: at offset 184: a record of type 1 is cut off"),
	      "a record that is too short for what it should hold");
	build(&image, false, other_format);
	image.size = AT_DATA + 100;
	check(says(read_image(&image), "truncated: the records end at offset 328, the file at 284"),
	      "a file that was cut off in its records");
	build(&image, false, other_format);
	image.data[AT_DATA + 6] = 7;
	check(says(read_image(&image), "IMAGE: a record of 7 bytes at offset 184"),
	      "a record smaller than its header");
	build(&image, false, other_format);
	image.data[AT_DATA + 48 + 54] = 200; /* size of value[] */
	check(says(read_image(&image), "IMAGE: at offset 232: a row of swlbr:counters is damaged"),
	      "an array that leaves its row");
	strcpy(format, other_format);
	memcpy(strstr(format, "first;"), "fxrst;", 6);
	build(&image, false, format);
	check(says(read_image(&image), "event swlbr:counters has no field 'first'"),
	      "a format without a field that is needed");
	strcpy(format, other_format);
	memcpy(strstr(format, "field:"), "fxeld:", 6);
	build(&image, false, format);
	check(says(read_image(&image), "format of a swlbr event cannot be understood"),
	      "a format that is none");
}

/* Reads as much as there is of @data; returns the number of records, -1 if there was an error. */
static long count_records(int fd)
{
	struct swlbr_perfdata *file;
	struct swlbr_error *error = swlbr_perfdata_open_fd(fd, "DAMAGED", &file);
	struct swlbr_record r;
	uint64_t seen = 0;
	bool end = false;
	long n = 0;

	if (!error) {
		while (!(error = swlbr_perfdata_next(file, &r, &end)) && !end) {
			n++;
			if (r.kind == SWLBR_RECORD_COUNTERS)
				for (uint32_t i = 0; i < r.counters.nr; i++)
					seen += r.counters.value[i];
			else if (r.kind == SWLBR_RECORD_LOST_COUNTS)
				seen += strlen(r.lost.why);
			else if (r.kind == SWLBR_RECORD_MMAP2)
				seen += strlen(r.mmap2.path);
			else if (r.kind == SWLBR_RECORD_COMM)
				seen += strlen(r.comm.comm);
		}
		swlbr_perfdata_close(file);
	}
	__asm__ volatile("" : : "r"(seen));
	if (error && strncmp(error->message, "DAMAGED: ", 9)) {
		printf("# got: %s\n", error->message);
		failures++;
	}
	swlbr_error_destroy(error);
	return error ? -1 : n;
}

static void test_damage(void)
{
	int fd = memfd_create("damaged", MFD_CLOEXEC), in;
	uint64_t state = 20260101;
	static uint8_t data[1 << 16];
	bool told = true;
	ssize_t size;
	long whole, n;

	unlink("perf.data");
	check(write_all("perf.data", 100), "write a small file");
	in = open("perf.data", O_RDONLY);
	size = read(in, data, sizeof(data));
	close(in);
	if (write(fd, data, size) != size)
		abort();
	whole = count_records(fd);
	check(whole > 10, "it is sound");
	for (ssize_t cut = size - 1; cut >= 0; cut--) {
		if (ftruncate(fd, cut))
			abort();
		n = count_records(fd);
		told = told && (n < 0 || n == whole);
	}
	check(told, "a file cut off at any byte is refused, or has lost no record");
	for (int i = 0; i < 5000; i++) {
		if (pwrite(fd, data, size, 0) != size)
			abort();
		for (int flips = 1 + i % 4; flips; flips--) {
			state = state * 6364136223846793005ULL + 1442695040888963407ULL;
			uint8_t byte = state >> 56;

			if (pwrite(fd, &byte, 1, (state >> 24) % size) != 1)
				abort();
		}
		count_records(fd);
	}
	check(true, "5000 files with random bytes changed do no harm");
	close(fd);
}

int main(void)
{
	const char *tmp = getenv("TMPDIR");
	char dir[4096];

	snprintf(dir, sizeof(dir), "%s/swlbr-perfdata-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir) || chdir(dir))
		return 1;
	fill_counters();
	test_round_trip(NR_COUNTERS);
	test_round_trip(1);
	test_limits();
	test_other_files(false);
	test_other_files(true);
	test_two_events();
	test_messages();
	test_damage();
	unlink("perf.data");
	unlink("perf.data.old");
	check(rmdir(dir) == 0, "nothing is left over");
	return failures != 0;
}
