// SPDX-License-Identifier: GPL-2.0-only
/* Events of the kernel: perf's spelling of them, and their records in a file of ours. */
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <swlbr/perfdata.h>
#include <swlbr/perfdata_writer.h>

#include "check.h"
#include "pmu/user/event_parse.h"

static const struct swlbr_perfdata_info info = { .version = "test", .period = 1009 };

static bool fails(struct swlbr_error *error)
{
	bool failed = error;

	swlbr_error_destroy(error);
	return failed;
}

static struct perf_event_attr stack_attr(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
}

/* Records as the kernel has them in its buffer, with its id 1, which is one of ours as well. */
static const uint64_t
	words_of_sample[] = {
		1,	  0x401234, 7ULL << 32 | 6, 5000,
		3,	  100003, /* id, ip, pid and tid, time, cpu, period */
		2,	  0x401010, 0x401000,	    0x10,
		0x401020, 0x401008, 0x21, /* nr, from, to, flags … */
	};
static const uint64_t words_of_lost[] = {
	1, 12, 7ULL << 32 | 6, 6000, 3, 1, /* id, lost; pid and tid, time, cpu, id */
};

static struct swlbr_error *write_words(struct swlbr_perfdata_writer *writer, uint32_t type,
				       const uint64_t *words, size_t nr, uint64_t id)
{
	uint64_t record[64];
	struct perf_event_header header = { .type = type, .misc = PERF_RECORD_MISC_USER };

	header.size = (uint16_t)(8 + 8 * nr);
	memcpy(record, &header, sizeof(header));
	memcpy(record + 1, words, 8 * nr);
	return swlbr_perfdata_write_kernel_record(writer, (struct perf_event_header *)record, id);
}

static void check_read_back(void)
{
	struct swlbr_perfdata_event event;
	struct swlbr_perfdata *file;
	struct swlbr_record r;
	bool end;

	if (!fine(swlbr_perfdata_open("perf.data", &file))) {
		check(false, "open the file");
		return;
	}
	check(swlbr_perfdata_event(file, 5, &event) && !strcmp(event.name, "cycles:u") &&
		      event.branch_sample_type & PERF_SAMPLE_BRANCH_ANY &&
		      !swlbr_perfdata_event(file, 6, &event),
	      "the kernel's event stands after ours, under its name");
	check(fine(swlbr_perfdata_next(file, &r, &end)) && r.kind == SWLBR_RECORD_SAMPLE &&
		      r.sample.event == 5 && r.pid == 6 && r.tid == 7 && r.time == 5000 &&
		      r.sample.ip == 0x401234 && r.sample.period == 100003,
	      "a sample of the kernel's is its event's, though the kernel's id is one of ours");
	check(r.sample.nr == 2 && r.sample.stack[0].from == 0x401010 &&
		      r.sample.stack[1].to == 0x401008 &&
		      SWLBR_BRANCH_CYCLES(r.sample.stack[1].flags) == 2 &&
		      r.sample.stack[1].flags & SWLBR_BRANCH_MISPREDICTED,
	      "with its branch stack, cycles and mispredictions");
	check(fine(swlbr_perfdata_next(file, &r, &end)) && r.kind == SWLBR_RECORD_LOST &&
		      r.nr_lost == 12 && r.time == 6000,
	      "what the kernel lost");
	check(fine(swlbr_perfdata_next(file, &r, &end)) && r.kind == SWLBR_RECORD_SAMPLE &&
		      r.sample.event == 0 && r.sample.ip == 0x401000,
	      "a stack of ours beside it");
	swlbr_perfdata_close(file);
}

static void test_records(void)
{
	struct swlbr_branch_entry stack[] = { { 0x401010, 0x401000 } };
	struct swlbr_event_time when = { .pid = 6, .tid = 6, .time = 7000 };
	struct perf_event_attr attr = stack_attr(), other = stack_attr();
	struct swlbr_perfdata_writer *writer;
	uint64_t id;

	other.sample_type |= PERF_SAMPLE_ADDR;
	if (!fine(swlbr_perfdata_writer_open("perf.data", &info, &writer))) {
		check(false, "open a writer");
		return;
	}
	check(fails(swlbr_perfdata_writer_add_event(writer, &other, "cycles", &id)),
	      "an event whose records could not be told apart is refused");
	check(fine(swlbr_perfdata_writer_add_event(writer, &attr, "cycles:u", &id)),
	      "an event of the kernel");
	check(fine(write_words(writer, PERF_RECORD_SAMPLE, words_of_sample, 13, id)) &&
		      fine(write_words(writer, PERF_RECORD_LOST, words_of_lost, 6, id)) &&
		      fine(swlbr_perfdata_write_stack(writer, &when, 0x401000, 1, 1, stack)),
	      "its records, and one of ours");
	check(fails(write_words(writer, PERF_RECORD_SAMPLE, words_of_sample, 5, id)) &&
		      fails(write_words(writer, PERF_RECORD_LOST, words_of_lost, 4, id)),
	      "records too short for their fields are refused");
	check(fails(swlbr_perfdata_writer_add_event(writer, &attr, "late", &id)),
	      "an event after the first record is refused");
	check(fine(swlbr_perfdata_writer_commit(writer)), "commit");
	check_read_back();
}

/* True if @text is one event of that type and config, with modifiers as the flags say. */
static bool is_event(const char *text, uint32_t type, uint64_t config, bool no_user, bool no_kernel)
{
	struct event_list list = { 0 };
	bool right = fine(event_list_parse(&list, text)) && list.nr == 1 &&
		     list.requests[0].attr.type == type && list.requests[0].attr.config == config &&
		     list.requests[0].attr.exclude_user == no_user &&
		     list.requests[0].attr.exclude_kernel == no_kernel && !list.requests[0].missing;

	event_list_deinit(&list);
	return right;
}

static bool is_refused(const char *text)
{
	struct event_list list = { 0 };
	bool refused = fails(event_list_parse(&list, text));

	event_list_deinit(&list);
	return refused;
}

static void test_spelling(void)
{
	struct event_list list = { 0 };

	check(is_event("cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, false) &&
		      is_event("branches:u", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
			       false, true) &&
		      is_event("faults:k", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, true,
			       false) &&
		      is_event("r20c4:uk", PERF_TYPE_RAW, 0x20c4, false, false) &&
		      is_event("cpu-clock/period=7/u", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK,
			       false, true),
	      "names, raw events and modifiers");
	check(fine(event_list_parse(&list,
				    "cycles/freq=99/,no_such_pmu/config=1,period=5/pp,cs")) &&
		      list.nr == 3 && list.requests[0].attr.freq &&
		      list.requests[0].attr.sample_freq == 99 && list.requests[1].missing &&
		      !list.requests[2].missing,
	      "a list; commas between slashes are the event's; a PMU that is not here is noted");
	event_list_deinit(&list);
	check(is_refused("cycle") && is_refused("") && is_refused("cycles,") &&
		      is_refused("cycles:x") && is_refused("cycles:pppp") &&
		      is_refused("cycles/period=x/") && is_refused("cycles/period=0/") &&
		      is_refused("cycles/period=-1/") && is_refused("cycles/config=1/") &&
		      is_refused("cpu/event=1") && is_refused("rxyz") && is_refused("r"),
	      "what is no event is refused");
}

int main(void)
{
	const char *tmp = getenv("TMPDIR");
	char dir[4096];

	snprintf(dir, sizeof(dir), "%s/swlbr-kernel-records-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir) || chdir(dir))
		return 1;
	test_records();
	test_spelling();
	unlink("perf.data");
	rmdir(dir);
	return failures != 0;
}
