// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin of libtraceevent: how perf script prints the swlbr:* tracepoints for people. Found in
 * ~/.local/lib/traceevent/plugins, or in the folder that TRACEEVENT_PLUGIN_DIR names.
 *
 * perf exports only a few of libtraceevent's functions to plugins; a plugin that needs another one
 * (tep_get_any_field_val is such) does not load. And it does not check that a row is long enough.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

/* Digits of a build-id, as git shortens hashes; and values of a row that are printed. */
#define SHORT_BUILD_ID 6
#define SHOWN_VALUES   8

/* A field's bytes; NULL if there is no such field or it is not inside the row. */
static const void *field_bytes(struct trace_seq *s, struct tep_event *event, const char *name,
			       struct tep_record *record, int min, int *size_ret)
{
	const struct tep_format_field *field = tep_find_field(event, name);
	const char *bytes;

	if (!field || field->offset < 0 || field->size <= 0 ||
	    field->offset + field->size > record->size)
		return NULL;
	bytes = tep_get_field_raw(s, event, name, record, size_ret, 0);
	if (!bytes || *size_ret < min || bytes < (char *)record->data ||
	    bytes - (char *)record->data > record->size - *size_ret)
		return NULL;
	return bytes;
}

static bool field_number(struct trace_seq *s, struct tep_event *event, const char *name,
			 struct tep_record *record, unsigned long long *ret)
{
	int size;

	return field_bytes(s, event, name, record, 1, &size) &&
	       tep_get_field_val(s, event, name, record, ret, 0) == 0;
}

/* Every row begins with the binary it is about. */
static bool print_build_id(struct trace_seq *s, struct tep_event *event, struct tep_record *record)
{
	int size;
	const uint8_t *id = field_bytes(s, event, "build_id", record, SHORT_BUILD_ID, &size);

	if (!id)
		return false;
	for (int i = 0; i < SHORT_BUILD_ID; i++)
		trace_seq_printf(s, "%02x", id[i]);
	return true;
}

/* What libtraceevent does with a handler that fails: print as the format says. */
#define PRINT_BY_FORMAT 1

static int print_counters(struct trace_seq *s, struct tep_record *record, struct tep_event *event,
			  void *context)
{
	uint64_t sum = 0, max = 0;
	unsigned long long first;
	int size, nr;
	const uint8_t *values = field_bytes(s, event, "value", record, sizeof(uint64_t), &size);

	(void)context;
	if (!values || !field_number(s, event, "first", record, &first) ||
	    !print_build_id(s, event, record))
		return PRINT_BY_FORMAT;
	nr = size / sizeof(uint64_t);
	trace_seq_printf(s, " counters %llu-%llu:", first, first + nr - 1);
	for (int i = 0; i < nr; i++) {
		/* Not aligned, and in the byte order of the file. */
		uint64_t value =
			tep_read_number(event->tep, values + i * sizeof(value), sizeof(value));

		if (i < SHOWN_VALUES)
			trace_seq_printf(s, " %" PRIu64, value);
		sum += value;
		if (value > max)
			max = value;
	}
	if (nr > SHOWN_VALUES)
		trace_seq_printf(s, " ... (sum %" PRIu64 ", max %" PRIu64 ")", sum, max);
	return 0;
}

static int print_value(struct trace_seq *s, struct tep_record *record, struct tep_event *event,
		       void *context)
{
	unsigned long long function, kind, site, value, nr;

	(void)context;
	if (!field_number(s, event, "function", record, &function) ||
	    !field_number(s, event, "kind", record, &kind) ||
	    !field_number(s, event, "site", record, &site) ||
	    !field_number(s, event, "value", record, &value) ||
	    !field_number(s, event, "nr", record, &nr) || !print_build_id(s, event, record))
		return PRINT_BY_FORMAT;
	trace_seq_printf(s, " function %llu, kind %llu, site %llu: value %#llx seen %llu times",
			 function, kind, site, value, nr);
	return 0;
}

static int print_lost(struct trace_seq *s, struct tep_record *record, struct tep_event *event,
		      void *context)
{
	unsigned long long since;
	int size;
	const char *why = field_bytes(s, event, "why", record, 1, &size);

	(void)context;
	if (!why || !field_number(s, event, "since", record, &since) ||
	    !print_build_id(s, event, record))
		return PRINT_BY_FORMAT;
	trace_seq_printf(s, " may lack executions after %llu.%06llu: %.*s", since / 1000000000,
			 since / 1000 % 1000000, (int)strnlen(why, size), why);
	return 0;
}

static int print_arc(struct trace_seq *s, struct tep_record *record, struct tep_event *event,
		     void *context)
{
	unsigned long long kind, from, to, nr, exact;

	(void)context;
	if (!field_number(s, event, "kind", record, &kind) ||
	    !field_number(s, event, "from", record, &from) ||
	    !field_number(s, event, "to", record, &to) ||
	    !field_number(s, event, "nr", record, &nr) ||
	    !field_number(s, event, "exact", record, &exact) || !print_build_id(s, event, record))
		return PRINT_BY_FORMAT;
	trace_seq_printf(s, kind ? " range %#llx-%#llx" : " branch %#llx->%#llx", from, to);
	trace_seq_printf(s, " executed %llu times%s", nr, exact ? "" : " (estimate)");
	return 0;
}

static const struct {
	const char *name;
	tep_event_handler_func handler;
} handlers[] = {
	{ "counters", print_counters },
	{ "value", print_value },
	{ "lost", print_lost },
	{ "arc", print_arc },
};

#define NR_HANDLERS (sizeof(handlers) / sizeof(*handlers))

int TEP_PLUGIN_LOADER(struct tep_handle *tep)
{
	for (size_t i = 0; i < NR_HANDLERS; i++)
		tep_register_event_handler(tep, -1, "swlbr", (char *)handlers[i].name,
					   handlers[i].handler, NULL);
	return 0;
}

void TEP_PLUGIN_UNLOADER(struct tep_handle *tep)
{
	for (size_t i = 0; i < NR_HANDLERS; i++)
		tep_unregister_event_handler(tep, -1, "swlbr", (char *)handlers[i].name,
					     handlers[i].handler, NULL);
}
