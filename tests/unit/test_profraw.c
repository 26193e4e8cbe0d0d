// SPDX-License-Identifier: GPL-2.0-only
/*
 * Raw profiles, of every version and byte order, sound and damaged. The files are made here, byte
 * by byte, apart from the writer that is tested.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <swlbr/instr_profile.h>
#include <swlbr/profraw.h>

#include "profile/names.h"
#include "profile/profraw.h"
#include "profile/value_site.h"

#include "check.h"

/* What was reported. */
struct reports {
	unsigned int nr;
	char last[512];
};

static void report(void *context, const char *line)
{
	struct reports *reports = context;

	reports->nr++;
	snprintf(reports->last, sizeof(reports->last), "%s", line);
}

/* A file being made. */
struct made {
	uint8_t bytes[4096];
	size_t size;
	unsigned int version;
	bool big_endian;
};

static void put(struct made *made, unsigned int size, uint64_t value)
{
	for (unsigned int i = 0; i < size; i++)
		made->bytes[made->size + i] =
			(uint8_t)(value >> 8 * (made->big_endian ? size - 1 - i : i));
	made->size += size;
}

static void pad(struct made *made)
{
	while (made->size % 8)
		put(made, 1, 0);
}

#define NR_FUNCTIONS 3
#define COUNTERS_AT  0x5000
#define DATA_AT	     0x4000

static const char *const function_names[NR_FUNCTIONS] = { "main", "a.c;twice", "thrice" };
static const uint32_t counters_of[NR_FUNCTIONS] = { 2, 1, 3 };

/* Changes to the file, each a damage. */
struct damage {
	int wrapped;	  /* function with a counter of -1, or -1 */
	int outside;	  /* function whose counters are elsewhere */
	int no_counters;  /* function with none */
	int unnamed;	  /* function whose name is missing */
	uint64_t load_at; /* added to all addresses */
	uint64_t count;	  /* of the first counter; 0: 100 */
	bool compressed;
	bool front_end;
};
#define SOUND                                                                  \
	{                                                                      \
		.wrapped = -1, .outside = -1, .no_counters = -1, .unnamed = -1 \
	}

static size_t put_names(struct made *made, const struct damage *damage)
{
	char text[256] = "";
	uint8_t packed[256];
	uLongf packed_size = sizeof(packed);
	size_t at = made->size;

	for (int i = 0; i < NR_FUNCTIONS; i++) {
		if (i)
			strcat(text, "\1");
		strcat(text, i == damage->unnamed ? "other" : function_names[i]);
	}
	put(made, 1, strlen(text)); /* uleb128 below 128 */
	if (damage->compressed) {
		compress(packed, &packed_size, (uint8_t *)text, strlen(text));
		put(made, 1, packed_size);
	} else {
		put(made, 1, 0);
		packed_size = strlen(text);
		memcpy(packed, text, packed_size);
	}
	memcpy(made->bytes + made->size, packed, packed_size);
	made->size += packed_size;
	return made->size - at;
}

static void put_record(struct made *made, int i, uint64_t first, const struct damage *damage)
{
	uint64_t size = made->version == 8 ? 48 : 64, record_at = DATA_AT + i * size;
	uint64_t nr = i == damage->no_counters ? 0 : counters_of[i];

	put(made, 8, profile_name_hash(function_names[i], strlen(function_names[i])));
	put(made, 8, 1000 + i);
	put(made, 8, COUNTERS_AT + 8 * first - record_at + (i == damage->outside ? 1 << 20 : 0));
	if (made->version >= 9)
		put(made, 8, 0);
	put(made, 8, damage->load_at + 0x1000 + 16 * i);
	put(made, 8, 0);
	put(made, 4, nr);
	put(made, 2, i == 0 ? 2 : 0); /* indirect calls in main */
	put(made, 2, i == 2 ? 1 : 0); /* memop sizes in thrice */
	if (made->version >= 10)
		put(made, 2, 0);
	if (made->version == 10)
		put(made, 2, 0); /* alignment of the bitmap's size */
	if (made->version >= 9)
		put(made, 4, 0);
	if (made->version == 9)
		put(made, 4, 0);
}

static void put_values(struct made *made, const struct damage *damage)
{
	put(made, 4, 8 + 8 + 8 + 3 * 16); /* main */
	put(made, 4, 1);
	put(made, 4, 0);
	put(made, 4, 2);
	put(made, 1, 2);
	put(made, 1, 1);
	pad(made);
	put(made, 8, damage->load_at + 0x1010); /* twice */
	put(made, 8, 30);
	put(made, 8, 0xdeadbeef); /* elsewhere */
	put(made, 8, 40);
	put(made, 8, damage->load_at + 0x1020);
	put(made, 8, 7);
	put(made, 4, 8 + 8 + 8 + 16); /* thrice */
	put(made, 4, 1);
	put(made, 4, 1);
	put(made, 4, 1);
	put(made, 1, 1);
	pad(made);
	put(made, 8, 64);
	put(made, 8, 9);
}

static void make_file(struct made *made, const struct damage *damage)
{
	size_t names_size, patch;
	uint64_t flags = damage->front_end ? 0 : 1ULL << 56, first = 0;

	put(made, 8, 0xff6c70726f667281);
	put(made, 8, made->version | flags);
	put(made, 8, 8 + 8); /* binary ids */
	put(made, 8, NR_FUNCTIONS);
	put(made, 8, 0);
	put(made, 8, 6);
	put(made, 8, 0);
	if (made->version >= 9) {
		put(made, 8, 0);
		put(made, 8, 0);
	}
	patch = made->size;
	put(made, 8, 0);
	put(made, 8, COUNTERS_AT - DATA_AT);
	if (made->version >= 9)
		put(made, 8, 0x300);
	put(made, 8, damage->load_at + 0x6000);
	if (made->version >= 10) {
		put(made, 8, 0);
		put(made, 8, 0);
	}
	put(made, 8, made->version >= 10 ? 2 : 1);
	put(made, 8, 5);
	memcpy(made->bytes + made->size, "\1\2\3\4\5\0\0\0", 8);
	made->size += 8;
	for (int i = 0; i < NR_FUNCTIONS; i++) {
		put_record(made, i, first, damage);
		first += counters_of[i];
	}
	first = 0;
	for (int i = 0; i < NR_FUNCTIONS; i++) {
		for (uint32_t k = 0; k < counters_of[i]; k++, first++)
			put(made, 8,
			    i == damage->wrapped && !k ? UINT64_MAX
			    : !first && damage->count  ? damage->count
						       : 100 + first);
	}
	names_size = put_names(made, damage);
	pad(made);
	put_values(made, damage);
	first = made->size;
	made->size = patch;
	put(made, 8, names_size);
	made->size = first;
}

static struct swlbr_profraws read_made(const struct made *made, struct reports *reports,
				       struct swlbr_error **error_ret)
{
	const struct swlbr_reporter reporter = { .report = report, .context = reports };
	struct swlbr_profraws set = { 0 };

	*reports = (struct reports){ 0 };
	*error_ret = swlbr_profraw_read_memory("made", made->bytes, made->size, &reporter, &set);
	return set;
}

static char *scratch_path(const char *name)
{
	static char path[512];
	const char *dir = getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/%s.%d", dir ? dir : "/tmp", name, (int)getpid());
	return path;
}

/* The bytes that @set is written as. */
static size_t written(const struct swlbr_profraws *set, uint8_t *bytes, size_t max)
{
	const char *path = scratch_path("profraw");
	struct swlbr_error *error = swlbr_profraws_write(set, path);
	size_t size;
	FILE *file;

	if (error) {
		printf("# %s\n", error->message);
		swlbr_error_destroy(error);
		return 0;
	}
	file = fopen(path, "r");
	size = file ? fread(bytes, 1, max, file) : 0;
	if (file)
		fclose(file);
	unlink(path);
	return size;
}

static void test_sound(unsigned int version, bool big_endian, bool compressed)
{
	struct made made = { .version = version, .big_endian = big_endian };
	struct damage damage = SOUND;
	struct swlbr_profraw_totals totals;
	struct swlbr_build_id id;
	struct swlbr_profraws set;
	struct swlbr_error *error;
	struct reports reports;
	uint8_t bytes[4096];
	char what[64];
	size_t size;

	snprintf(what, sizeof(what), "version %u, %s-endian, names %s", version,
		 big_endian ? "big" : "little", compressed ? "compressed" : "plain");
	damage.compressed = compressed;
	make_file(&made, &damage);
	set = read_made(&made, &reports, &error);
	if (error)
		printf("# %s\n", error->message);
	check(!error && set.nr == 1 && !reports.nr, "%s: read without complaint", what);
	if (error || set.nr != 1) {
		swlbr_error_destroy(error);
		return;
	}
	swlbr_profraw_totals(set.profiles[0], &totals);
	check(totals.functions == 3 && totals.executed == 3 && totals.counters == 6 &&
		      totals.count == 615,
	      "%s: all counters are there", what);
	swlbr_profraw_build_id(set.profiles[0], &id);
	check(id.size == 5 && id.bytes[4] == 5, "%s: the build-id is there", what);
	size = written(&set, bytes, sizeof(bytes));
	check(size == made.size && !memcmp(bytes, made.bytes, size), "%s: written as it was read",
	      what);
	swlbr_profraws_clear(&set);
}

static void test_concatenated(void)
{
	struct made made = { .version = 10 };
	struct damage damage = SOUND;
	struct swlbr_profraws set;
	struct swlbr_error *error;
	struct reports reports;
	uint8_t bytes[4096];
	size_t size;

	make_file(&made, &damage);
	make_file(&made, &damage);
	set = read_made(&made, &reports, &error);
	check(!error && set.nr == 2 && !reports.nr, "two profiles in one file");
	size = written(&set, bytes, sizeof(bytes));
	check(size == made.size && !memcmp(bytes, made.bytes, size),
	      "two profiles are written as they were read");
	swlbr_profraws_clear(&set);
	memset(made.bytes + made.size, 'x', 16);
	made.size += 16;
	set = read_made(&made, &reports, &error);
	check(!error && set.nr == 2 && reports.nr == 1 && strstr(reports.last, "not a raw profile"),
	      "garbage after the profiles is reported, and costs nothing");
	swlbr_profraws_clear(&set);
	made.bytes[8] = 99; /* the first one's version */
	set = read_made(&made, &reports, &error);
	check(error && error->code == SWLBR_ERROR_UNSUPPORTED && strstr(error->message, "made: "),
	      "an unknown version is said to be that");
	swlbr_error_destroy(error);
	swlbr_profraws_clear(&set);
}

/* Reads a file with one damaged function; the two others must be whole. */
static void test_damage(const struct damage *damage, const char *name, const char *why,
			uint64_t count)
{
	struct swlbr_profraw_totals totals = { 0 };
	struct made made = { .version = 10 };
	struct swlbr_profraws set, again;
	struct swlbr_error *error;
	struct reports reports;

	make_file(&made, damage);
	set = read_made(&made, &reports, &error);
	if (!error)
		swlbr_profraw_totals(set.profiles[0], &totals);
	else
		printf("# %s\n", error->message);
	check(!error && totals.functions == 2 && totals.damaged == 1 && totals.count == count,
	      "%s: the other functions are whole", why);
	check(reports.nr == 1 && strstr(reports.last, name) && strstr(reports.last, why),
	      "%s: reported with its name", why);
	if (reports.nr != 1)
		printf("# %u: %s\n", reports.nr, reports.last);
	swlbr_error_destroy(error);
	made.size = written(&set, made.bytes, sizeof(made.bytes));
	again = read_made(&made, &reports, &error);
	if (again.nr == 1)
		swlbr_profraw_totals(again.profiles[0], &totals);
	check(!error && again.nr == 1 && !reports.nr && totals.functions == 2 && !totals.damaged &&
		      totals.count == count,
	      "%s: what is written is sound", why);
	swlbr_error_destroy(error);
	swlbr_profraws_clear(&set);
	swlbr_profraws_clear(&again);
}

static void test_damages(void)
{
	struct damage damage = SOUND;

	damage.wrapped = 1;
	test_damage(&damage, "a.c;twice", "a counter is over 2^56", 513);
	damage = (struct damage)SOUND;
	damage.outside = 0;
	test_damage(&damage, "main", "its counters are outside", 414);
	damage = (struct damage)SOUND;
	damage.no_counters = 2;
	test_damage(&damage, "thrice", "has no counters", 303);
	damage = (struct damage)SOUND;
	damage.unnamed = 2;
	test_damage(&damage, "0x", "its name is not there", 303);
}

/* Whatever the length: no crash, and each function is whole or reported or the whole file refused. */
static void test_truncation(unsigned int version, bool big_endian)
{
	struct made made = { .version = version, .big_endian = big_endian };
	unsigned int refused = 0, repaired = 0, wrong = 0;
	struct damage damage = SOUND;

	make_file(&made, &damage);
	for (size_t size = 0; size < made.size; size++) {
		struct swlbr_profraw_totals totals = { 0 };
		struct swlbr_profraws set;
		struct swlbr_error *error;
		struct reports reports;
		uint8_t *tight = malloc(size ? size : 1); /* so that a sanitizer sees the end */
		const struct swlbr_reporter reporter = { .report = report, .context = &reports };

		memcpy(tight, made.bytes, size);
		reports = (struct reports){ 0 };
		set = (struct swlbr_profraws){ 0 };
		error = swlbr_profraw_read_memory("made", tight, size, &reporter, &set);
		free(tight);
		if (error) {
			refused++;
			wrong += set.nr || strncmp(error->message, "made: ", 6);
		} else {
			swlbr_profraw_totals(set.profiles[0], &totals);
			repaired += reports.nr != 0;
			wrong += !reports.nr || totals.functions + totals.damaged != 3;
		}
		swlbr_error_destroy(error);
		swlbr_profraws_clear(&set);
	}
	check(!wrong && refused && repaired,
	      "version %u, %s-endian, cut at each of %zu bytes: %u refused, %u repaired, %u wrong",
	      version, big_endian ? "big" : "little", made.size, refused, repaired, wrong);
}

static void test_flips(unsigned int version)
{
	struct made made = { .version = version };
	struct damage damage = SOUND;
	unsigned int refused = 0, wrong = 0;

	damage.compressed = true;
	make_file(&made, &damage);
	for (size_t i = 0; i < made.size; i++) {
		static const uint8_t flips[] = { 0xff, 0x01, 0x80 };

		for (size_t k = 0; k < sizeof(flips); k++) {
			struct swlbr_profraws set;
			struct swlbr_error *error;
			struct reports reports;

			made.bytes[i] ^= flips[k];
			set = read_made(&made, &reports, &error);
			refused += error != NULL;
			wrong += error && strncmp(error->message, "made: ", 6);
			made.bytes[i] ^= flips[k];
			swlbr_error_destroy(error);
			swlbr_profraws_clear(&set);
		}
	}
	check(!wrong && refused,
	      "version %u, each byte changed: %u refused, %u without a file name", version, refused,
	      wrong);
}

static void test_hostile_sizes(void)
{
	unsigned int wrong = 0;

	for (unsigned int word = 2; word < 16; word++) {
		static const uint64_t values[] = { UINT64_MAX, 1ULL << 61, 1ULL << 40, 1 << 20 };

		for (size_t k = 0; k < 4; k++) {
			struct made made = { .version = 10 };
			struct damage damage = SOUND;
			struct swlbr_profraws set;
			struct swlbr_error *error;
			struct reports reports;
			size_t size;

			make_file(&made, &damage);
			size = made.size;
			made.size = 8 * word;
			put(&made, 8, values[k]);
			made.size = size;
			set = read_made(&made, &reports, &error);
			wrong += error && error->code == SWLBR_ERROR_NO_MEMORY;
			swlbr_error_destroy(error);
			swlbr_profraws_clear(&set);
		}
	}
	check(!wrong, "sizes that no file has do not ask for memory");
}

/* Two runs of a program that is loaded at other addresses each time. */
static void test_sum(void)
{
	struct made a = { .version = 10 }, b = { .version = 10 };
	struct damage damage = SOUND;
	struct swlbr_profraws set_a, set_b, sum = { 0 };
	struct swlbr_profraw_totals totals;
	struct swlbr_error *error;
	struct reports reports;
	const struct value_site *site;

	damage.wrapped = 1;
	make_file(&a, &damage);
	damage.wrapped = -1;
	damage.load_at = 0x700000;
	make_file(&b, &damage);
	set_a = read_made(&a, &reports, &error);
	set_b = read_made(&b, &reports, &error);
	error = swlbr_profraws_add(&sum, set_a.profiles[0], NULL);
	if (!error)
		error = swlbr_profraws_add(&sum, set_b.profiles[0], NULL);
	set_a.nr = set_b.nr = 0;
	check(!error && sum.nr == 1, "profiles of one binary are summed");
	swlbr_profraw_totals(sum.profiles[0], &totals);
	check(totals.functions == 3 && totals.count == 2 * 615 - 102 && !totals.damaged,
	      "a function damaged in one run is taken from the other");
	site = profraw_site(sum.profiles[0], &sum.profiles[0]->functions[0], 0, 0);
	check(site->nr == 2 && site->values[0].nr == 80 &&
		      profraw_resolve(sum.profiles[0], 0, site->values[0].value) == 0 &&
		      site->values[1].value == 0x1010 && site->values[1].nr == 60,
	      "call targets are summed by function, not by address");
	swlbr_profraws_clear(&set_a);
	swlbr_profraws_clear(&set_b);
	swlbr_profraws_clear(&sum);
}

static void test_saturation(void)
{
	static const uint64_t huge[] = { UINT64_MAX - 5 };
	struct made made = { .version = 10 };
	struct damage damage = SOUND;
	struct swlbr_profraw_totals totals;
	struct swlbr_profraws set;
	struct swlbr_error *error;
	struct reports reports;

	make_file(&made, &damage);
	set = read_made(&made, &reports, &error);
	error = swlbr_profraw_add_counters(set.profiles[0], 0, 1, huge);
	swlbr_profraw_totals(set.profiles[0], &totals);
	check(!error && set.profiles[0]->counters[0] == UINT64_MAX - 2 &&
		      totals.count == UINT64_MAX,
	      "counters stop at the largest count");
	error = swlbr_profraw_add_counters(set.profiles[0], 6, 1, huge);
	check(error && error->code == SWLBR_ERROR_MISMATCH, "counters outside are refused");
	swlbr_error_destroy(error);
	error = swlbr_profraw_add_values(set.profiles[0], 0, 0, 2, 0, NULL);
	check(error && error->code == SWLBR_ERROR_MISMATCH, "value sites outside are refused");
	swlbr_error_destroy(error);
	swlbr_profraws_clear(&set);
}

static bool site_is(const struct value_site *site, size_t nr, const struct swlbr_value *wanted)
{
	return site->nr == nr && !memcmp(site->values, wanted, nr * sizeof(*wanted));
}

static void test_value_lists(void)
{
	static const struct swlbr_value first[] = { { 5, 1 }, { 0, 7 }, { 9, 7 }, { 0, 3 } };
	static const struct swlbr_value second[] = { { 0, 10 }, { 9, 1 }, { 0, 20 }, { 4, 8 } };
	static const struct swlbr_value sum[] = {
		{ 0, 23 }, { 0, 17 }, { 4, 8 }, { 9, 8 }, { 5, 1 }
	};
	struct value_site site = { 0 };
	struct swlbr_value many[300];
	bool sorted = true;

	swlbr_error_destroy(value_site_merge(&site, first, 4, NULL, NULL));
	swlbr_error_destroy(value_site_merge(&site, second, 4, NULL, NULL));
	check(site_is(&site, 5, sum), "value lists are merged as llvm-profdata does");
	for (size_t i = 0; i < 300; i++)
		many[i] = (struct swlbr_value){ .value = 1000 + i, .nr = 100 + i };
	swlbr_error_destroy(value_site_merge(&site, many, 300, NULL, NULL));
	for (uint32_t i = 1; i < site.nr; i++)
		sorted &= site.values[i - 1].nr >= site.values[i].nr;
	check(site.nr == 255 && sorted && site.values[0].nr == 399,
	      "of more than 255 values the most frequent stay");
	free(site.values);
}

/* The version in the indexed profile made of @made; 0 if it fails with @code. */
static unsigned int indexed_version(struct swlbr_profraws *set, enum swlbr_error_code *code)
{
	const char *path = scratch_path("profdata");
	struct swlbr_error *error = swlbr_instr_profile_write(set, path, NULL);
	uint8_t bytes[16] = { 0 };
	FILE *file;

	if (error) {
		*code = error->code;
		swlbr_error_destroy(error);
		return 0;
	}
	file = fopen(path, "r");
	if (file) {
		if (fread(bytes, 1, 16, file) != 16 || memcmp(bytes, "\377lprofi\201", 8))
			bytes[8] = 0;
		fclose(file);
	}
	unlink(path);
	return bytes[8];
}

static void test_indexed(void)
{
	static const unsigned int wanted[] = { [8] = 7, [9] = 9, [10] = 9 };
	enum swlbr_error_code code = SWLBR_ERROR_SYSTEM;
	struct made made = { .version = 10 }, other = { .version = 10 };
	struct damage damage = SOUND;
	struct swlbr_profraws set;
	struct swlbr_error *error;
	struct reports reports;

	for (unsigned int version = 8; version <= 10; version++) {
		struct made one = { .version = version };

		make_file(&one, &damage);
		set = read_made(&one, &reports, &error);
		check(!error && indexed_version(&set, &code) == wanted[version],
		      "raw version %u becomes indexed version %u", version, wanted[version]);
		swlbr_profraws_clear(&set);
	}
	make_file(&made, &damage);
	damage.front_end = true;
	make_file(&other, &damage);
	memcpy(made.bytes + made.size, other.bytes, other.size);
	made.size += other.size;
	set = read_made(&made, &reports, &error);
	check(!error && set.nr == 2 && !indexed_version(&set, &code) &&
		      code == SWLBR_ERROR_MISMATCH,
	      "front-end and IR profiles do not mix");
	swlbr_profraws_clear(&set);
}

int main(void)
{
	for (unsigned int version = 8; version <= 10; version++) {
		for (int i = 0; i < 4; i++)
			test_sound(version, i & 1, i & 2);
		test_truncation(version, false);
		test_truncation(version, true);
		test_flips(version);
	}
	test_concatenated();
	test_damages();
	test_hostile_sizes();
	test_sum();
	test_saturation();
	test_value_lists();
	test_indexed();
	return failures != 0;
}
