// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The text of 'perf script -F ip,brstack --show-mmap-events': lines of mappings, as
 *	PERF_RECORD_MMAP2 7/7: [0x401000(0x1000) @ 0x1000 08:01 5 0]: r-xp /bin/program
 * and lines with a branch stack, each entry 0xFROM/0xTO/M/-/-/CYCLES (tools/perf/builtin-script.c).
 */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include <swlbr/edge_text.h>

#include "base/lines.h"
#include "base/number.h"
#include "edgeprofile/reading.h"

#define MAX_REPEAT 100000

struct script {
	struct lines lines;
	struct reading reading;
	uint64_t repeat;
	struct swlbr_branch stack[MAX_STACK];
};

/* A number behind @before, which must come in the rest of the line. */
static bool number_behind(const char **text, const char *before, const char *ends, uint64_t *ret)
{
	const char *at = strstr(*text, before);

	if (!at)
		return false;
	*text = at + strlen(before);
	return number_at(text, 0, ends, ret);
}

static struct swlbr_error *add_mapping(struct script *script, const char *text)
{
	struct swlbr_record record = { .kind = SWLBR_RECORD_MMAP2, .time = script->lines.number };
	struct swlbr_error *error;
	bool kernel;

	text = strchr(text, ' ');
	kernel = text && !strncmp(text, " -1/", 4);
	if (!text || !number_behind(&text, "[", "(", &record.mmap2.start) ||
	    !number_behind(&text, "(", ")", &record.mmap2.length) ||
	    !number_behind(&text, "@ ", " ]", &record.mmap2.offset) ||
	    !(text = strstr(text, "]: ")))
		return lines_error(&script->lines, "not a mapping");
	text = strchr(text + 3, ' '); /* behind r-xp */
	if (!text)
		return lines_error(&script->lines, "a mapping of nothing");
	record.mmap2.path = text + 1;
	record.pid = kernel ? KERNEL_PID : 0;
	record.misc = kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	error = reading_add_side(&script->reading, &record);
	if (!error)
		error = address_spaces_update(&script->reading.spaces);
	script->reading.process = NULL;
	script->reading.kernel = address_spaces_process(&script->reading.spaces, KERNEL_PID);
	return error;
}

/* "0xFROM/0xTO/M/-/-/CYCLES..." at @text; NULL if it is none, else what is behind the target. */
static const char *parse_entry(const char *text, struct swlbr_branch *branch)
{
	uint64_t cycles = 0;
	const char *field;

	if (strncmp(text, "0x", 2) || !number_at(&text, 16, "/", &branch->from))
		return NULL;
	text++;
	if (strncmp(text, "0x", 2) || !number_at(&text, 16, "/", &branch->to))
		return NULL;
	text++;
	branch->flags = *text == 'M' ? SWLBR_BRANCH_MISPREDICTED : 0;
	field = text;
	for (int i = 0; field && i < 3; i++) {
		field = strpbrk(field, "/ \t");
		field = field && *field == '/' ? field + 1 : NULL;
	}
	if (field && number_at(&field, 10, "/ \t", &cycles) && cycles <= 0xffff)
		branch->flags |= cycles << 4;
	return text;
}

static struct swlbr_error *add_stack(struct script *script, const char *text)
{
	static const struct event_use event = { SWLBR_SOURCE_HW, true, false, true, false };
	struct swlbr_record record = { .sample.stack = script->stack };
	struct swlbr_error *error = NULL;

	while (*text && record.sample.nr < MAX_STACK) {
		const char *behind = parse_entry(text, &script->stack[record.sample.nr]);

		record.sample.nr += behind != NULL;
		text += strcspn(text, " \t");
		text += strspn(text, " \t");
	}
	script->reading.stacks->stats.samples += script->repeat;
	for (uint64_t i = 0; record.sample.nr && !error && i < script->repeat; i++)
		error = reading_add_stack(&script->reading, &record, &event, UINT64_MAX);
	script->repeat = 1;
	return error;
}

static struct swlbr_error *add_line(struct script *script)
{
	const char *text = script->lines.line, *record = strstr(text, "PERF_RECORD_MMAP");

	if (record)
		return add_mapping(script, record);
	if (*text && strspn(text, "0123456789") == strlen(text)) {
		if (!number_at(&text, 10, "", &script->repeat) || script->repeat > MAX_REPEAT)
			return lines_error(&script->lines, "a sample that counts too often");
		return NULL;
	}
	text = strstr(text, "0x");
	return text && strchr(text, '/') ? add_stack(script, text) : NULL;
}

struct swlbr_error *swlbr_stacks_read_script(struct swlbr_stacks *stacks, const char *path)
{
	struct script *script = calloc(1, sizeof(*script));
	struct swlbr_error *error, *merge_error;
	bool found = true;

	if (!script)
		return swlbr_error_no_memory();
	script->repeat = 1;
	script->reading = (struct reading){ .stacks = stacks, .by_time = true };
	stacks->stats.files++;
	error = lines_open(&script->lines, path);
	while (!error) {
		error = lines_next(&script->lines, &found);
		if (error || !found)
			break;
		error = add_line(script);
	}
	merge_error = stacks_add_counts(stacks);
	lines_close(&script->lines);
	address_spaces_clear(&script->reading.spaces);
	free(script);
	if (!error)
		return merge_error;
	swlbr_error_destroy(merge_error);
	return error;
}
