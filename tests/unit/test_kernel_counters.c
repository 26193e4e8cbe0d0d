// SPDX-License-Identifier: GPL-2.0-only
/* What a kernel exports of its counters, of bytes made here: other sizes, byte orders, damage. */
#include <byteswap.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <swlbr/kernel_counters.h>

#include "check.h"
#include "perfdata_image.h"
#include "pmu/include/uapi/linux/swlbr.h"

#define NR 5

struct export
{
	struct swlbr_header header;
	uint64_t records[64];
};

static size_t make(struct export *export)
{
	*export = (struct export){
		.header = { .version = SWLBR_FORMAT_VERSION,
			    .header_size = sizeof(struct swlbr_header),
			    .record_size = 8,
			    .nr_cntrs = 1,
			    .nr_records = NR,
			    .kind = SWLBR_KIND_COUNTERS,
			    .engine = SWLBR_ENGINE_CLANG,
			    .flags = SWLBR_SINCE_BOOT | SWLBR_HAS_LOAD_OFFSET,
			    .build_id_size = SWLBR_ID_SIZE,
			    .load_offset = 0x1c000000,
			    .before_perf = 4000 },
	};
	memcpy(export->header.magic, SWLBR_MAGIC, SWLBR_MAGIC_SIZE);
	memset(export->header.build_id, 0xab, SWLBR_ID_SIZE);
	for (uint64_t i = 0; i < NR; i++)
		export->records[i] = 1000 + i;
	return sizeof(export->header) + NR * 8;
}

static struct swlbr_error *read_export(const struct export *export, size_t size,
				       struct swlbr_kernel_counters **ret)
{
	/* Of just that size, so that a sanitizer sees what reads past it. */
	void *copy = malloc(size ? size : 1);
	struct swlbr_error *error;

	if (!copy)
		abort();
	memcpy(copy, export, size);
	error = swlbr_kernel_counters_read_memory("export", copy, size, ret);
	free(copy);
	return error;
}

static bool reads(const struct export *export, size_t size, uint64_t before_perf)
{
	struct swlbr_kernel_counters *counters;
	struct swlbr_error *error = read_export(export, size, &counters);
	bool good;

	if (error) {
		printf("# %s\n", error->message);
		swlbr_error_destroy(error);
		return false;
	}
	good = counters->nr == NR && counters->since_boot && counters->has_load_offset &&
	       counters->load_offset == 0x1c000000 && counters->before_perf == before_perf &&
	       counters->engine == SWLBR_ENGINE_CLANG && counters->build_id.size == 20 &&
	       counters->build_id.bytes[19] == 0xab;
	for (uint64_t i = 0; good && i < NR; i++)
		good = counters->values[i] == 1000 + i;
	swlbr_kernel_counters_destroy(counters);
	return good;
}

static bool refuses(const struct export *export, size_t size, enum swlbr_error_code code,
		    const char *text)
{
	struct swlbr_kernel_counters *counters;
	struct swlbr_error *error = read_export(export, size, &counters);
	bool good = error && error->code == code && strstr(error->message, text);

	if (!error)
		swlbr_kernel_counters_destroy(counters);
	else if (!good)
		printf("# %s\n", error->message);
	swlbr_error_destroy(error);
	return good;
}

static void swap(struct export *export)
{
	struct swlbr_header *header = &export->header;

	header->version = bswap_32(header->version);
	header->header_size = bswap_32(header->header_size);
	header->record_size = bswap_32(header->record_size);
	header->nr_cntrs = bswap_32(header->nr_cntrs);
	header->nr_records = bswap_64(header->nr_records);
	header->kind = bswap_32(header->kind);
	header->engine = bswap_32(header->engine);
	header->flags = bswap_32(header->flags);
	header->build_id_size = bswap_32(header->build_id_size);
	header->load_offset = bswap_64(header->load_offset);
	header->before_perf = bswap_64(header->before_perf);
	for (uint64_t i = 0; i < NR; i++)
		export->records[i] = bswap_64(export->records[i]);
}

/* A later kernel may have more in its header and in each record, an older one less. */
static void test_sizes(void)
{
	struct export export;

	make(&export);
	export.header.header_size += 16;
	export.header.record_size = 24;
	export.header.nr_cntrs = 3;
	memset(export.records, 0xff, sizeof(export.records));
	for (uint64_t i = 0; i < NR; i++)
		export.records[2 + 3 * i] = 1000 + i;
	check(reads(&export, sizeof(export.header) + 16 + NR * 24, 4000),
	      "sizes are those in the header");
	make(&export);
	export.header.header_size = offsetof(struct swlbr_header, before_perf);
	memmove(&export.header.before_perf, export.records, NR * 8);
	check(reads(&export, export.header.header_size + NR * 8, 0),
	      "an older kernel does not tell what was before perf");
}

static void test_refused(void)
{
	struct export export;
	size_t size = make(&export);

	export.header.version = 2;
	check(refuses(&export, size, SWLBR_ERROR_UNSUPPORTED, "version 2"), "another version");
	make(&export);
	export.header.kind = SWLBR_KIND_ARCS;
	check(refuses(&export, size, SWLBR_ERROR_UNSUPPORTED, "kind 1"), "another kind");
	make(&export);
	export.header.magic[7] = 'X';
	check(refuses(&export, size, SWLBR_ERROR_FORMAT, "not the counters"), "another magic");
	make(&export);
	export.header.build_id_size = 21;
	check(refuses(&export, size, SWLBR_ERROR_FORMAT, "build-id"), "a longer build-id");
	make(&export);
	export.header.record_size = 12;
	check(refuses(&export, size, SWLBR_ERROR_FORMAT, "12 bytes"), "records of odd sizes");
	make(&export);
	export.header.record_size = 0;
	check(refuses(&export, size, SWLBR_ERROR_FORMAT, "0 bytes"), "records of no size");
	make(&export);
	export.header.header_size = 8;
	check(refuses(&export, size, SWLBR_ERROR_FORMAT, "header of 8"), "a header too small");
	make(&export);
	export.header.header_size = (uint32_t)size + 8;
	check(refuses(&export, size, SWLBR_ERROR_FORMAT, "header of"), "a header past the end");
	make(&export);
	export.header.nr_records = UINT64_MAX / 8 + 2;
	check(refuses(&export, size, SWLBR_ERROR_FORMAT, "truncated"), "more records than fit");
}

static void test_damage(void)
{
	struct swlbr_kernel_counters *counters;
	struct export export, damaged;
	size_t size = make(&export);
	unsigned int seed = 1;
	bool all = true;

	for (size_t cut = 0; cut < size; cut++)
		all &= refuses(&export, cut, SWLBR_ERROR_FORMAT, cut < 8 ? "not the" : "truncated");
	check(all, "cut short at every byte: refused");
	for (int i = 0; i < 20000; i++) {
		struct swlbr_error *error;

		damaged = export;
		for (int k = 0; k < 3; k++) {
			seed = seed * 1103515245 + 12345;
			((uint8_t *)&damaged)[8 + (seed >> 8) % (size - 8)] ^= (uint8_t)(seed >> 3);
		}
		error = read_export(&damaged, size, &counters);
		if (!error)
			swlbr_kernel_counters_destroy(counters);
		swlbr_error_destroy(error);
	}
	check(true, "20,000 damaged copies");
}

/* A sample with @nr deltas in @size bytes of raw data, of which the first say @said. */
static bool delta(bool swap, uint32_t said, uint32_t size, uint32_t index, uint32_t *counter,
		  uint32_t *nr)
{
	struct file_image image = { .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_RAW,
				    .swap = swap };
	struct swlbr_perfdata *file;
	struct swlbr_record record = { 0 };
	struct swlbr_error *error;
	bool end, good;

	begin_file(&image, 128, 0);
	begin_record(&image, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	put32(&image, 7);
	put32(&image, 7);
	put32(&image, size);
	for (uint32_t i = 0; i < size / 4; i++)
		put32(&image, i ? 100 + i : said);
	end_record(&image);
	end_file(&image);
	error = open_image(&image, &file);
	if (error) {
		swlbr_error_destroy(error);
		return false;
	}
	error = swlbr_perfdata_next(file, &record, &end);
	good = !error && swlbr_perfdata_delta(file, &record, index, counter, nr);
	swlbr_error_destroy(error);
	swlbr_perfdata_close(file);
	return good;
}

static void test_deltas(void)
{
	uint32_t counter = 0, nr = 0;

	for (int swap = 0; swap < 2; swap++)
		check(delta(swap, 3, 28, 2, &counter, &nr) && counter == 105 && nr == 106,
		      "the third delta of a sample%s", swap ? ", byte order swapped" : "");
	check(!delta(false, 3, 28, 3, &counter, &nr), "there is no fourth");
	check(!delta(false, 4, 28, 0, &counter, &nr), "more said than there are: none");
	check(!delta(false, UINT32_MAX, 28, 0, &counter, &nr), "far more: none");
	check(!delta(false, 0, 4, 0, &counter, &nr), "what perf writes where there are none");
}

int main(void)
{
	struct export export;
	size_t size = make(&export);

	check(reads(&export, size, 4000), "an export is read");
	swap(&export);
	check(reads(&export, size, 4000), "and one of the other byte order");
	test_sizes();
	test_refused();
	test_damage();
	test_deltas();
	return failures != 0;
}
