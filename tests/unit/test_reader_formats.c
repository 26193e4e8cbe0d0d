// SPDX-License-Identifier: GPL-2.0-only
/* Every form of perf.data: byte orders, attr sizes, pipe mode, compressed; what stands in a sample. */
#include <stdio.h>
#include <zstd.h>

#include <swlbr/perfdata.h>

#include "check.h"
#include "perfdata_image.h"

#define PERF_SAMPLE_BRANCH_COUNTERS_BIT (1ULL << 19)

static const struct swlbr_branch stack[] = {
	{ 0x1020, 0x1030, 1 | 7 << 4 },
	{ 0x1048, 0x1010, 123 << 4 },
	{ 0x1080, 0x1040, SWLBR_BRANCH_WRONG_PATH << 24 },
};

static bool same_stack(const struct swlbr_record *record)
{
	bool same = record->sample.has_stack && record->sample.nr == 3;

	for (size_t i = 0; same && i < 3; i++)
		same = record->sample.stack[i].from == stack[i].from &&
		       record->sample.stack[i].to == stack[i].to &&
		       (record->sample.stack[i].flags & SWLBR_BRANCH_MISPREDICTED) ==
			       (stack[i].flags & 1) &&
		       SWLBR_BRANCH_CYCLES(record->sample.stack[i].flags) ==
			       SWLBR_BRANCH_CYCLES(stack[i].flags) &&
		       SWLBR_BRANCH_SPEC(record->sample.stack[i].flags) ==
			       SWLBR_BRANCH_SPEC(stack[i].flags);
	return same;
}

/* The one sample of an image is as it should be, and the file is read to its end. */
static bool holds_stack(struct file_image *image)
{
	struct swlbr_perfdata *file;
	struct swlbr_record record;
	unsigned int samples = 0;
	bool end = false, ok = true;

	if (!fine(open_image(image, &file)))
		return false;
	while (ok && !end) {
		ok = fine(swlbr_perfdata_next(file, &record, &end));
		if (ok && !end && record.kind == SWLBR_RECORD_SAMPLE) {
			samples++;
			ok = same_stack(&record) && record.pid == 7;
		}
	}
	swlbr_perfdata_close(file);
	return ok && samples == 1;
}

static void begin(struct file_image *image, uint64_t type, uint64_t branch_type, bool swap)
{
	*image = (struct file_image){
		.sample_type = type,
		.branch_sample_type = branch_type,
		.has_time = true,
		.swap = swap,
	};
}

static void test_orders_and_sizes(void)
{
	static const uint32_t sizes[] = { 80, 96, 104, 112, 120, 128, 136, 144, 512 };
	uint64_t type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_BRANCH_STACK;
	struct file_image image;

	for (int swap = 0; swap < 2; swap++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			begin(&image, type, PERF_SAMPLE_BRANCH_ANY, swap);
			begin_file(&image, sizes[i], 0);
			put_stack(&image, 5, 7, 3, stack);
			end_file(&image);
			check(holds_stack(&image), "an attr of %u bytes, %s byte order", sizes[i],
			      swap ? "the other" : "this");
		}
	}
}

/* All that can stand before and after the branch stack. */
static void test_everything(bool swap)
{
	uint64_t type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
			PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
			PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
			PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_AUX;
	struct file_image image, entries = { .swap = swap };

	begin(&image, type,
	      PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_HW_INDEX |
		      PERF_SAMPLE_BRANCH_COUNTERS_BIT,
	      swap);
	begin_file(&image, 136,
		   PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST |
			   PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
	begin_record(&image, PERF_RECORD_SAMPLE, 0);
	put64(&image, 0); /* identifier */
	put64(&image, 0x1234);
	put32(&image, 7);
	put32(&image, 8);
	for (int i = 0; i < 6; i++)
		put64(&image, 1); /* time, addr, id, stream id, cpu, period */
	put64(&image, 2);	  /* of the group: two counters of value, id, lost */
	for (int i = 0; i < 2 + 2 * 3; i++)
		put64(&image, 9);
	put64(&image, 2); /* callers */
	put64(&image, 0xaaaa);
	put64(&image, 0xbbbb);
	put32(&image, 12); /* raw */
	put(&image, "twelve bytes", 12);
	put_branches(&entries, 3, stack);
	put64(&image, 3);
	put64(&image, 31); /* hw_idx, between the number and the entries */
	put(&image, entries.data + 8, entries.size - 8);
	for (int i = 0; i < 3; i++)
		put64(&image, 77); /* counters of the branches */
	put64(&image, 0);	   /* user registers: none */
	put64(&image, 8);	   /* the user's stack */
	put64(&image, 0x5555);
	put64(&image, 8);
	put64(&image, 1); /* weights */
	put64(&image, 2); /* data source */
	put64(&image, 8); /* AUX */
	put64(&image, 0x6666);
	end_record(&image);
	end_file(&image);
	check(holds_stack(&image), "all that can stand in a sample, %s byte order",
	      swap ? "the other" : "this");
}

/* A sample whose branch stack is not where 64-bit words are aligned. */
static void test_unaligned(void)
{
	struct file_image image;

	begin(&image, PERF_SAMPLE_TID | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK,
	      PERF_SAMPLE_BRANCH_ANY, false);
	begin_file(&image, 112, 0);
	begin_record(&image, PERF_RECORD_SAMPLE, 0);
	put32(&image, 7);
	put32(&image, 7);
	put32(&image, 3);
	put(&image, "odd", 3);
	put_branches(&image, 3, stack);
	end_record(&image);
	end_file(&image);
	check(holds_stack(&image), "a branch stack that is not aligned");
}

/* Records that are not known are passed over by their size. */
static void test_unknown(void)
{
	struct file_image image;

	begin(&image, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_BRANCH_STACK,
	      PERF_SAMPLE_BRANCH_ANY, false);
	begin_file(&image, 112, 0);
	for (uint32_t type = 1; type < 100; type++) {
		if (type == PERF_RECORD_SAMPLE || type == 71 || type == 81 || type == 83)
			continue;
		begin_record(&image, type, 0);
		for (int i = 0; i < 12; i++)
			put64(&image, 0);
		end_record(&image);
	}
	begin_record(&image, 0xdeadbeef, 0xffff);
	end_record(&image);
	begin_record(&image, 71, 0); /* AUXTRACE: a trace that its size leaves out follows */
	put64(&image, 24);
	end_record(&image);
	put(&image, "24 bytes that are a trace", 24);
	put_stack(&image, 5, 7, 3, stack);
	end_file(&image);
	check(holds_stack(&image), "records of every type, known or not, are passed over");
}

/* The records of @from as compressed records of at most @chunk bytes. */
static void compress(const struct file_image *from, struct file_image *to, uint32_t type,
		     size_t chunk)
{
	size_t left = from->size - from->data_begin;
	const uint8_t *data = from->data + from->data_begin;
	ZSTD_CCtx *context = ZSTD_createCCtx();

	put(to, from->data, from->data_begin);
	to->data_begin = to->size;
	while (left) {
		static uint8_t packed[1 << 15];
		size_t size = left < chunk ? left : chunk;
		ZSTD_inBuffer in = { data, size, 0 };
		ZSTD_outBuffer out = { packed, sizeof(packed), 0 };

		while (in.pos < in.size)
			ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue);
		while (ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush))
			;
		begin_record(to, type, 0);
		if (type == 83)
			put64(to, out.pos);
		put(to, packed, out.pos);
		while (type == 83 && to->size % 8)
			put(to, "", 1);
		end_record(to);
		data += size;
		left -= size;
	}
	ZSTD_freeCCtx(context);
	end_file(to);
}

static void test_compressed(void)
{
	uint64_t type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_BRANCH_STACK;
	static const size_t chunks[] = { 1, 5, 50, 10000 };
	static struct file_image image, packed;

	begin(&image, type, PERF_SAMPLE_BRANCH_ANY, false);
	begin_file(&image, 112, 0);
	put_comm(&image, 1, 7, true, "name");
	put_mmap(&image, 2, 7, 0x1000, 0x1000, 0, "/a");
	put_stack(&image, 5, 7, 3, stack);
	put_comm(&image, 9, 7, true, "other");
	end_file(&image);
	for (uint32_t kind = 81; kind <= 83; kind += 2) {
		for (size_t i = 0; i < sizeof(chunks) / sizeof(*chunks); i++) {
			packed = (struct file_image){ .size = 0 };
			compress(&image, &packed, kind, chunks[i]);
			check(holds_stack(&packed), "compressed records of type %u, %zu bytes each",
			      kind, chunks[i]);
		}
	}
}

/* A file cut off within what is compressed is told so. */
static void test_compressed_cut(void)
{
	static struct file_image image, packed;
	struct swlbr_error *error = NULL;
	struct swlbr_perfdata *file;
	struct swlbr_record record;
	bool end = false;

	begin(&image, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_BRANCH_STACK, 0, false);
	begin_file(&image, 112, 0);
	put_stack(&image, 5, 7, 3, stack);
	image.size -= 8;
	compress(&image, &packed, 81, 10000);
	if (!fine(open_image(&packed, &file)))
		exit(1);
	while (!error && !end)
		error = swlbr_perfdata_next(file, &record, &end);
	check(error && strstr(error->message, "the compressed records end within a record"),
	      "compressed records that end within a record");
	swlbr_error_destroy(error);
	swlbr_perfdata_close(file);
}

static void test_pipe(bool swap)
{
	struct file_image image;
	struct swlbr_perfdata *file;
	struct swlbr_perfdata_event event;
	struct swlbr_perfdata_binary binary;
	struct swlbr_record record;
	bool end = false;

	begin(&image, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_BRANCH_STACK,
	      PERF_SAMPLE_BRANCH_ANY, swap);
	put64(&image, 0x32454c4946524550ULL);
	put64(&image, 16);
	begin_record(&image, 64, 0); /* HEADER_ATTR, and the id of the event */
	put_attr(&image, 120, 0);
	put64(&image, 4711);
	end_record(&image);
	begin_record(&image, 67, 1); /* BUILD_ID, of the kernel */
	put32(&image, -1);
	put(&image, "\1\2\3\4\5\6\7\10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24);
	put_text(&image, "[kernel.kallsyms]");
	end_record(&image);
	begin_record(&image, 78, 0); /* EVENT_UPDATE: its name */
	put64(&image, 2);
	put64(&image, 4711);
	put_text(&image, "branches:u");
	end_record(&image);
	begin_record(&image, PERF_RECORD_SAMPLE, 0);
	put64(&image, 4711);
	put32(&image, 7);
	put32(&image, 7);
	put_branches(&image, 3, stack);
	end_record(&image);
	check(holds_stack(&image), "a file of pipe mode, %s byte order",
	      swap ? "the other" : "this");
	if (!fine(open_image(&image, &file)))
		exit(1);
	for (int twice = 0; twice < 2; twice++) {
		while (!end && fine(swlbr_perfdata_next(file, &record, &end)))
			;
		swlbr_perfdata_rewind(file, false);
		end = false;
	}
	check(swlbr_perfdata_event(file, 0, &event) && event.name &&
		      !strcmp(event.name, "branches:u") && !swlbr_perfdata_event(file, 1, &event),
	      "it tells its events between the records; read twice, it tells them once");
	check(swlbr_perfdata_binary(file, 0, &binary) && binary.kernel &&
		      binary.build_id.size == 8 && binary.build_id.bytes[7] == 8 &&
		      !swlbr_perfdata_binary(file, 1, &binary),
	      "and build-ids, whose zeroes at the end are no part of them");
	swlbr_perfdata_close(file);
}

/* Of a file without an end, what is there is read. */
static void test_unfinished(void)
{
	struct file_image image;
	struct swlbr_perfdata *file;

	begin(&image, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_BRANCH_STACK, 0, false);
	begin_file(&image, 112, 0);
	put_stack(&image, 5, 7, 3, stack);
	check(holds_stack(&image) && fine(open_image(&image, &file)) &&
		      swlbr_perfdata_unfinished(file),
	      "a recording that was not finished is read, and known as such");
	swlbr_perfdata_close(file);
}

/* An event description that is cut off is told, and does not hinder. */
static void test_bad_feature(void)
{
	struct file_image image;
	struct swlbr_perfdata *file;
	uint64_t features = 1 << 12, section[2] = { 1 << 20, 5000 };

	begin(&image, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_BRANCH_STACK, 0, false);
	begin_file(&image, 112, 0);
	put_stack(&image, 5, 7, 3, stack);
	end_file(&image);
	memcpy(image.data + 72, &features, sizeof(features));
	put(&image, section, sizeof(section));
	check(holds_stack(&image) && fine(open_image(&image, &file)) &&
		      strstr(swlbr_perfdata_note(file, 0), "event descriptions at offset 1048576"),
	      "a section that is not in the file is told, and does not hinder");
	swlbr_perfdata_close(file);
}

int main(void)
{
	test_orders_and_sizes();
	test_everything(false);
	test_everything(true);
	test_unaligned();
	test_unknown();
	test_compressed();
	test_compressed_cut();
	test_pipe(false);
	test_pipe(true);
	test_unfinished();
	test_bad_feature();
	return failures != 0;
}
