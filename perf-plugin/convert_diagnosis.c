// SPDX-License-Identifier: GPL-2.0-only
/* What looks wrong with a recording's branch stacks, the likely cause, and what to do. */
#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "convert.h"
#include "convert_diagnosis.h"

/* Below these shares something is wrong and not just at the edges. */
#define LOW_MAPPED_PERCENT 95
#define HIGH_DROP_PERCENT  5
/* Binaries told of, with the largest share first, and shares below which none is. */
#define BINARIES_TOLD	8
#define SMALL_PER_MILLE 5

struct diagnosis {
	const struct swlbr_stacks *stacks;
	const struct swlbr_stacks_stats *stats;
	const struct convert_format *format;
	convert_finding_fn tell;
	void *context;
};

__attribute__((format(printf, 3, 4))) static void tell(const struct diagnosis *diagnosis,
						       const char *key, const char *format, ...)
{
	char text[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	diagnosis->tell(diagnosis->context, key, text);
}

static unsigned long long number(uint64_t value)
{
	return value;
}

static const char *trace_name(unsigned int traces)
{
	static const struct {
		unsigned int type;
		const char *name;
	} names[] = {
		{ SWLBR_TRACE_INTEL_PT, "an Intel PT" },
		{ SWLBR_TRACE_INTEL_BTS, "an Intel BTS" },
		{ SWLBR_TRACE_CS_ETM, "a CoreSight ETM" },
		{ SWLBR_TRACE_ARM_SPE, "an Arm SPE" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (traces >> names[i].type & 1)
			return names[i].name;
	}
	return "a hardware";
}

/* There are no stacks: what is there instead, and how to get stacks. */
static void tell_no_stacks(const struct diagnosis *diagnosis)
{
	const struct swlbr_stacks_stats *stats = diagnosis->stats;

	if (stats->traces)
		tell(diagnosis, "trace",
		     "no branch stacks, but %s trace, which perf must decode: use 'perf inject --itrace=i100usl -i FILE -o WITH_STACKS', or 'perf script --itrace=… --dlfilter dlfilter-swlbr.so'",
		     trace_name(stats->traces));
	else if (stats->call_stacks)
		tell(diagnosis, "call_stacks",
		     "the branch stacks hold calls only (recorded with --call-graph lbr), which say nothing of the branches within functions: record with 'perf record -b'");
	else if (stats->filtered && !stats->samples)
		tell(diagnosis, "filtered", "no sample passes the filters (%llu do not)",
		     number(stats->filtered));
	else if (stats->empty_stacks)
		tell(diagnosis, "empty_stacks",
		     "all %llu branch stacks are empty: a virtual machine or a processor without LBR; use 'perf swlbr record', which needs none",
		     number(stats->empty_stacks));
	else if (stats->samples)
		tell(diagnosis, "no_stacks",
		     "%llu samples%s, none with a branch stack: record with 'perf record -b'; where the processor has no LBR (virtual machines, older AMD) use 'perf swlbr record', which needs none",
		     number(stats->samples), stats->callchains ? " with call chains" : "");
	else if (stats->files)
		tell(diagnosis, "no_samples",
		     "no samples at all: did the program run long enough, and was the event allowed (kernel.perf_event_paranoid)?");
}

static unsigned int machine_of(const char *arch)
{
	static const struct {
		const char *arch;
		unsigned int machine;
	} machines[] = {
		{ "x86_64", EM_X86_64 }, { "i686", EM_386 },
		{ "i386", EM_386 },	 { "aarch64", EM_AARCH64 },
		{ "arm", EM_ARM },	 { "riscv64", EM_RISCV },
		{ "s390x", EM_S390 },	 { "loongarch64", EM_LOONGARCH },
		{ "ppc64", EM_PPC64 },
	};

	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		if (!strncmp(arch, machines[i].arch, strlen(machines[i].arch)))
			return machines[i].machine;
	}
	return EM_NONE;
}

/* Machines run the code of their 32-bit ancestors. */
static bool fits_machine(unsigned int recorded, unsigned int machine)
{
	return recorded == EM_NONE || recorded == machine ||
	       (recorded == EM_X86_64 && machine == EM_386) ||
	       (recorded == EM_AARCH64 && machine == EM_ARM);
}

static void tell_binary(const struct diagnosis *diagnosis, const struct swlbr_stacks_binary *binary)
{
	char then[41], now[41];

	if (binary->path[0] == '[' && !binary->kernel)
		return; /* the vdso has no file */
	if (binary->match == SWLBR_ELF_CHANGED)
		tell(diagnosis, "changed",
		     "%s has changed since the recording (build-id %s then, %s now), so that its addresses stay file offsets: record again, or give the binary of then as an argument",
		     binary->file, swlbr_build_id_format(&binary->build_id, then),
		     swlbr_build_id_format(&binary->other_id, now));
	else if (binary->match == SWLBR_ELF_UNREADABLE)
		tell(diagnosis, "unreadable",
		     "%s: %s; its addresses stay file offsets: give the binary as an argument",
		     binary->path, binary->why);
	else if (binary->match == SWLBR_ELF_MISSING && binary->kernel)
		tell(diagnosis, "missing",
		     "the vmlinux or module of %s is not given, so that its addresses stay offsets: give it as an argument",
		     binary->path);
	else if (binary->match == SWLBR_ELF_MISSING)
		tell(diagnosis, "missing",
		     "%s is not on this machine, so that its addresses stay file offsets: give the binary as an argument",
		     binary->path);
	else if (!fits_machine(machine_of(diagnosis->stats->arch), binary->machine))
		tell(diagnosis, "architecture",
		     "%s is code of another machine (ELF machine %u) than the recording (%s): give the binary that ran",
		     binary->file, binary->machine, diagnosis->stats->arch);
	else if (binary->stripped && strcmp(diagnosis->format->name, "arcs"))
		tell(diagnosis, "stripped",
		     "%s is stripped: give the binary with its symbols as an argument",
		     binary->file);
	if (binary->match == SWLBR_ELF_BY_NAME)
		tell(diagnosis, "by_name",
		     "%s is taken by its name alone, since the recording has no build-id of it: were it rebuilt since, the profile would be wrong",
		     binary->file);
	if (binary->not_in_segments)
		tell(diagnosis, "not_in_segments",
		     "%llu branches are at no place that %s has: it has been rebuilt since the recording",
		     number(binary->not_in_segments), binary->file);
}

static void tell_binaries(const struct diagnosis *diagnosis)
{
	struct swlbr_stacks_binary binary;
	uint64_t small = diagnosis->stats->branches_kept * SMALL_PER_MILLE / 1000;
	size_t told = 0;

	for (size_t i = 0; swlbr_stacks_get_binary(diagnosis->stacks, i, &binary); i++) {
		if (binary.entries && binary.entries >= small && told++ < BINARIES_TOLD)
			tell_binary(diagnosis, &binary);
	}
}

static void tell_unmapped(const struct diagnosis *diagnosis)
{
	const struct swlbr_stacks_stats *stats = diagnosis->stats;
	uint64_t lost = stats->entries - stats->branches_kept -
			stats->drops[SWLBR_DROP_WRONG_PATH] - stats->drops[SWLBR_DROP_REPEATED] -
			stats->drops[SWLBR_DROP_NO_COUNTERS];

	if (!stats->entries || lost * 100 <= stats->entries * (100 - LOW_MAPPED_PERCENT))
		return;
	if (!stats->branches_kept)
		tell(diagnosis, "unmapped",
		     "none of %llu entries is in a known binary: the mappings are missing from the recording (made by a pipe that lost its beginning, or with --no-mmap), or it is of code made at run time",
		     number(stats->entries));
	else if (stats->drops[SWLBR_DROP_NO_ADDRESS] * 2 > lost)
		tell(diagnosis, "no_address",
		     "%llu of %llu entries have an end at address 0 and do not count: stacks that were not full, or addresses hidden from the user",
		     number(stats->drops[SWLBR_DROP_NO_ADDRESS]), number(stats->entries));
	else if (stats->kernel_unmapped * 2 > lost)
		tell(diagnosis, "kernel_unmapped",
		     "%llu of %llu entries have an end in the kernel, whose place the recording does not tell (kernel.kptr_restrict): they do not count; record with ':u', or as root",
		     number(stats->kernel_unmapped), number(stats->entries));
	else
		tell(diagnosis, "unmapped",
		     "%llu of %llu entries have an end in no known binary and do not count: code made at run time (JIT), or mappings that were lost",
		     number(lost), number(stats->entries));
}

static void tell_ranges(const struct diagnosis *diagnosis)
{
	const struct swlbr_stacks_stats *stats = diagnosis->stats;
	uint64_t bogus =
		stats->drops[SWLBR_DROP_RANGE_NEGATIVE] + stats->drops[SWLBR_DROP_RANGE_TOO_LONG];

	if (stats->drops[SWLBR_DROP_RANGE_FILTERED])
		tell(diagnosis, "filtered_branches",
		     "the recording has only some kinds of branches (perf record -j), so that the code between them is not known: record with 'perf record -b'");
	if (stats->ranges && bogus * 100 > stats->ranges * HIGH_DROP_PERCENT)
		tell(diagnosis, "bogus_ranges",
		     "%llu of %llu ranges end before they begin or are too long: the processor leaves out branches or mixes the kernel's in; record with 'perf record -b -e …:u'",
		     number(bogus), number(stats->ranges));
}

void convert_diagnose(const struct convert *convert, convert_finding_fn tell_fn, void *context)
{
	const struct swlbr_stacks_stats *stats = swlbr_stacks_get_stats(convert->stacks);
	const struct diagnosis diagnosis = {
		.stacks = convert->stacks,
		.stats = stats,
		.format = convert->format,
		.tell = tell_fn,
		.context = context,
	};

	if (!stats->stacks)
		tell_no_stacks(&diagnosis);
	tell_unmapped(&diagnosis);
	tell_ranges(&diagnosis);
	tell_binaries(&diagnosis);
	if (stats->unknown_events)
		tell(&diagnosis, "unknown_events",
		     "%llu samples are of no event that the file names and do not count: its header is damaged",
		     number(stats->unknown_events));
	if (stats->lost)
		tell(&diagnosis, "lost",
		     "the kernel lost %llu records or samples: what they held is missing; record with larger buffers (-m) or a longer period",
		     number(stats->lost));
	if (stats->throttled)
		tell(&diagnosis, "throttled",
		     "the kernel throttled the event %llu times (kernel.perf_event_max_sample_rate): hot phases are undercounted",
		     number(stats->throttled));
}
