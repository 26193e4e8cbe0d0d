// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The feature sections of a perf.data: the machine, the command, the names of the events. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "perfdata/writer.h"

#define PMUS	       "/sys/bus/event_source/devices"
#define FIRST_PMU_TYPE 1000

static void put_u32(FILE *out, uint32_t value)
{
	fwrite(&value, sizeof(value), 1, out);
}

static void put_u64(FILE *out, uint64_t value)
{
	fwrite(&value, sizeof(value), 1, out);
}

static void put_zeroes(FILE *out, size_t size)
{
	while (size--)
		putc(0, out);
}

static void put_string(FILE *out, const char *text)
{
	size_t size = strlen(text) + 1;
	size_t padded = (size + PERFDATA_STRING_ALIGN - 1) & ~(size_t)(PERFDATA_STRING_ALIGN - 1);

	put_u32(out, padded);
	fwrite(text, size, 1, out);
	put_zeroes(out, padded - size);
}

/* The next PMU of this machine and its type; false after the last. */
static bool next_pmu(DIR *dir, const char **name_ret, uint32_t *type_ret)
{
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[sizeof(PMUS) + sizeof(entry->d_name) + sizeof("//type")];
		FILE *file;
		int n;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), PMUS "/%s/type", entry->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		n = fscanf(file, "%u", type_ret);
		fclose(file);
		if (n != 1)
			continue;
		*name_ret = entry->d_name;
		return true;
	}
	return false;
}

uint32_t swlbr_writer_free_pmu_type(void)
{
	uint32_t type, free_type = FIRST_PMU_TYPE;
	const char *name;
	DIR *dir = opendir(PMUS);

	while (next_pmu(dir, &name, &type))
		if (type >= free_type && type < UINT32_MAX)
			free_type = type + 1;
	if (dir)
		closedir(dir);
	return free_type;
}

/*
 * Each of these puts the contents of one section; one that puts nothing leaves its feature out,
 * as perf does with what it cannot find out.
 */

static void put_tracing_data(const struct swlbr_perfdata_writer *writer, FILE *out)
{
	if (writer->nr_events > EVENT_BRANCHES + 1)
		swlbr_writer_tracing_data(out);
}

static void put_build_ids(const struct swlbr_perfdata_writer *writer, FILE *out)
{
	for (size_t i = 0; i < writer->nr_binaries; i++) {
		const struct writer_binary *binary = &writer->binaries[i];
		size_t length = strlen(binary->path) + 1, padded = (length + 63) & ~(size_t)63;
		struct perf_event_header header = {
			.misc = (writer->of_kernel ? PERF_RECORD_MISC_KERNEL
						   : PERF_RECORD_MISC_USER) |
				PERFDATA_MISC_BUILD_ID_SIZE,
			.size = sizeof(header) + 4 + 24 + padded,
		};
		uint8_t id[24] = { 0 };

		memcpy(id, binary->build_id.bytes, sizeof(binary->build_id.bytes));
		id[20] = binary->build_id.size;
		fwrite(&header, sizeof(header), 1, out);
		put_u32(out, -1); /* the host, not a guest of that pid */
		fwrite(id, sizeof(id), 1, out);
		fwrite(binary->path, length, 1, out);
		put_zeroes(out, padded - length);
	}
}

static void put_hostname(const struct swlbr_perfdata_writer *writer, FILE *out)
{
	struct utsname name;

	(void)writer;
	if (uname(&name) == 0)
		put_string(out, name.nodename);
}

static void put_osrelease(const struct swlbr_perfdata_writer *writer, FILE *out)
{
	struct utsname name;

	(void)writer;
	if (uname(&name) == 0)
		put_string(out, name.release);
}

static void put_arch(const struct swlbr_perfdata_writer *writer, FILE *out)
{
	struct utsname name;

	if (writer->emulated)
		put_string(out, writer->emulated);
	else if (uname(&name) == 0)
		put_string(out, name.machine);
}

static void put_version(const struct swlbr_perfdata_writer *writer, FILE *out)
{
	put_string(out, writer->version);
}

static void put_nrcpus(const struct swlbr_perfdata_writer *writer, FILE *out)
{
	(void)writer;
	put_u32(out, get_nprocs_conf());
	put_u32(out, get_nprocs());
}

/* The value of the first line "@key\t: VALUE" of /proc/cpuinfo; false if there is none. */
static bool cpuinfo(const char *key, char value[256])
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[512];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		size_t length = strlen(key);
		char *colon = strchr(line, ':');

		if (strncmp(line, key, length) || !colon || strchr(" \t:", line[length]) == NULL)
			continue;
		if (line + length + strspn(line + length, " \t") != colon)
			continue;
		colon += 1 + strspn(colon + 1, " \t");
		colon[strcspn(colon, "\n")] = '\0';
		snprintf(value, 256, "%.255s", colon);
		found = *colon != '\0';
	}
	if (file)
		fclose(file);
	return found;
}

static void put_cpudesc(const struct swlbr_perfdata_writer *writer, FILE *out)
{
	char value[256];

	if (writer->emulated)
		snprintf(value, sizeof(value), "%s emulated by QEMU", writer->emulated);
	if (writer->emulated || cpuinfo("model name", value))
		put_string(out, value);
}

/* perf's form of it on x86: vendor,family,model,stepping; on arm64: MIDR_EL1. */
static void put_cpuid(const struct swlbr_perfdata_writer *writer, FILE *out)
{
	char vendor[256], family[256], model[256], stepping[256], text[1100];
	FILE *file;

	if (writer->emulated)
		return;
	if (cpuinfo("vendor_id", vendor) && cpuinfo("cpu family", family) &&
	    cpuinfo("model", model) && cpuinfo("stepping", stepping)) {
		snprintf(text, sizeof(text), "%s,%s,%s,%s", vendor, family, model, stepping);
		put_string(out, text);
		return;
	}
	file = fopen("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "re");
	if (!file)
		return;
	if (fscanf(file, "%255s", text) == 1)
		put_string(out, text);
	fclose(file);
}

static void put_total_mem(const struct swlbr_perfdata_writer *writer, FILE *out)
{
	struct sysinfo info;

	(void)writer;
	if (sysinfo(&info) == 0)
		put_u64(out, (uint64_t)info.totalram * info.mem_unit / 1024);
}

static void put_cmdline(const struct swlbr_perfdata_writer *writer, FILE *out)
{
	if (!writer->argc)
		return;
	put_u32(out, writer->argc);
	for (int i = 0; i < writer->argc; i++)
		put_string(out, writer->argv[i]);
}

static void put_event(FILE *out, const struct perf_event_attr *attr, const char *name, uint64_t id)
{
	fwrite(attr, ATTR_SIZE, 1, out);
	put_u32(out, 1); /* one id */
	put_string(out, name);
	put_u64(out, id);
}

static void put_event_desc(const struct swlbr_perfdata_writer *writer, FILE *out)
{
	put_u32(out, writer->nr_events + writer->nr_kernel_events);
	put_u32(out, ATTR_SIZE);
	for (int event = 0; event < writer->nr_events; event++) {
		char name[32];

		swlbr_writer_event_name(writer, event, name);
		put_event(out, &writer->attrs[event], name, writer_event_id(event));
	}
	for (size_t i = 0; i < writer->nr_kernel_events; i++)
		put_event(out, &writer->kernel_events[i].attr, writer->kernel_events[i].name,
			  writer_kernel_event_id(i));
}

/* BRANCH_STACK has no contents; perf writes none either. */
static void put_pmu_mappings(const struct swlbr_perfdata_writer *writer, FILE *out)
{
	uint32_t type, nr = 1;
	const char *name;
	DIR *dir = opendir(PMUS);
	char *text = NULL;
	size_t size;
	FILE *list = open_memstream(&text, &size);

	if (list) {
		for (; next_pmu(dir, &name, &type); nr++) {
			put_u32(list, type);
			put_string(list, name);
		}
		put_u32(list, writer->attrs[EVENT_BRANCHES].type);
		put_string(list, "swlbr");
		if (fclose(list) == 0) {
			put_u32(out, nr);
			fwrite(text, size, 1, out);
		}
	}
	free(text);
	if (dir)
		closedir(dir);
}

static void put_sample_time(const struct swlbr_perfdata_writer *writer, FILE *out)
{
	put_u64(out, writer->first_sample);
	put_u64(out, writer->last_sample);
}

static void put_clock_data(const struct swlbr_perfdata_writer *writer, FILE *out)
{
	put_u32(out, 1); /* version */
	put_u32(out, CLOCK_MONOTONIC);
	put_u64(out, writer->start_realtime);
	put_u64(out, writer->start_monotonic);
}

static void put_nothing(const struct swlbr_perfdata_writer *writer, FILE *out)
{
	(void)writer;
	(void)out;
}

/* In the order of the bits, which is the order of the sections. */
static const struct {
	enum perfdata_feature bit;
	void (*put)(const struct swlbr_perfdata_writer *writer, FILE *out);
} features[] = {
	{ PERFDATA_TRACING_DATA, put_tracing_data },
	{ PERFDATA_BUILD_ID, put_build_ids },
	{ PERFDATA_HOSTNAME, put_hostname },
	{ PERFDATA_OSRELEASE, put_osrelease },
	{ PERFDATA_VERSION, put_version },
	{ PERFDATA_ARCH, put_arch },
	{ PERFDATA_NRCPUS, put_nrcpus },
	{ PERFDATA_CPUDESC, put_cpudesc },
	{ PERFDATA_CPUID, put_cpuid },
	{ PERFDATA_TOTAL_MEM, put_total_mem },
	{ PERFDATA_CMDLINE, put_cmdline },
	{ PERFDATA_EVENT_DESC, put_event_desc },
	{ PERFDATA_BRANCH_STACK, put_nothing },
	{ PERFDATA_PMU_MAPPINGS, put_pmu_mappings },
	{ PERFDATA_SAMPLE_TIME, put_sample_time },
	{ PERFDATA_CLOCK_DATA, put_clock_data },
};

#define NR_FEATURES (sizeof(features) / sizeof(*features))

struct swlbr_error *swlbr_writer_features(struct swlbr_perfdata_writer *writer)
{
	struct perfdata_section sections[NR_FEATURES];
	struct swlbr_error *error;
	char *contents = NULL;
	size_t size, done = 0, nr = 0;
	uint64_t start;
	FILE *out = open_memstream(&contents, &size);
	bool failed;

	if (!out)
		return swlbr_error_no_memory();
	for (size_t i = 0; i < NR_FEATURES; i++) {
		features[i].put(writer, out);
		fflush(out);
		if (size == done && features[i].put != put_nothing)
			continue;
		writer->header.features[features[i].bit / 64] |= 1ULL << features[i].bit % 64;
		sections[nr++] = (struct perfdata_section){ .offset = done, .size = size - done };
		done = size;
	}
	failed = ferror(out);
	if (fclose(out) || failed) {
		free(contents);
		return swlbr_error_no_memory();
	}
	start = swlbr_outfile_offset(writer->file) + nr * sizeof(*sections);
	for (size_t i = 0; i < nr; i++)
		sections[i].offset += start;
	error = swlbr_outfile_write(writer->file, sections, nr * sizeof(*sections));
	if (!error)
		error = swlbr_outfile_write(writer->file, contents, size);
	free(contents);
	return error;
}
