// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The swlbr:* tracepoints of a perf.data: their formats, and their rows. */
#include <string.h>
#include <unistd.h>

#include "perfdata/writer.h"

/* So that a record stays under 60 KB: its size is 16 bit, so is that of a __data_loc array. */
#define MAX_VALUES 7000
#define MAX_WHY	   1024
/*
 * A row costs as much as this many values: a shorter stretch of zeroes is written with the values
 * around it.
 */
#define ROW_COST 14

/* clang-format off */
#define FIELD(type_name, offset, size, is_signed) \
	"\tfield:" type_name ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #is_signed ";\n"

/* What the kernel puts before the fields of every tracepoint. */
#define COMMON_FIELDS                                            \
	FIELD("unsigned short common_type", 0, 2, 0)             \
	FIELD("unsigned char common_flags", 2, 1, 0)             \
	FIELD("unsigned char common_preempt_count", 3, 1, 0)     \
	FIELD("int common_pid", 4, 4, 1)

/*
 * build_id is uint8_t and not u8 so that libtraceevent does not take it for a string: a script
 * then gets a bytearray whatever the bytes are.
 */
#define BUILD_ID_FIELD FIELD("uint8_t build_id[20]", 8, 20, 0)

const struct writer_tracepoint swlbr_writer_tracepoints[WRITER_EVENTS] = {
	[EVENT_COUNTERS] = {
		"counters",
		BUILD_ID_FIELD
		FIELD("u32 engine", 28, 4, 0)
		FIELD("u64 first", 32, 8, 0)
		FIELD("u32 nr", 40, 4, 0)
		FIELD("__data_loc u64[] value", 44, 4, 0),
		"\"build_id=%s engine=%u first=%llu nr=%u value=%s\", "
		"__print_hex_str(REC->build_id, 20), REC->engine, REC->first, REC->nr, "
		"__print_array(__get_dynamic_array(value), REC->nr, 8)",
	},
	[EVENT_VALUE] = {
		"value",
		BUILD_ID_FIELD
		FIELD("u32 engine", 28, 4, 0)
		FIELD("u64 function", 32, 8, 0)
		FIELD("u32 kind", 40, 4, 0)
		FIELD("u32 site", 44, 4, 0)
		FIELD("u64 value", 48, 8, 0)
		FIELD("u64 nr", 56, 8, 0),
		"\"build_id=%s engine=%u function=%llu kind=%u site=%u value=0x%llx nr=%llu\", "
		"__print_hex_str(REC->build_id, 20), REC->engine, REC->function, REC->kind, "
		"REC->site, REC->value, REC->nr",
	},
	[EVENT_LOST] = {
		"lost",
		BUILD_ID_FIELD
		FIELD("u64 since", 32, 8, 0)
		FIELD("__data_loc char[] why", 40, 4, 0),
		"\"build_id=%s since=%llu why=%s\", __print_hex_str(REC->build_id, 20), "
		"REC->since, __get_str(why)",
	},
	[EVENT_ARC] = {
		"arc",
		BUILD_ID_FIELD
		FIELD("u32 kind", 28, 4, 0)
		FIELD("u64 from", 32, 8, 0)
		FIELD("u64 to", 40, 8, 0)
		FIELD("u64 nr", 48, 8, 0)
		FIELD("u32 exact", 56, 4, 0),
		"\"build_id=%s kind=%u from=0x%llx to=0x%llx nr=%llu exact=%u\", "
		"__print_hex_str(REC->build_id, 20), REC->kind, REC->from, REC->to, REC->nr, "
		"REC->exact",
	},
};

static const char header_page[] =
	FIELD("u64 timestamp", 0, 8, 0)
	FIELD("local_t commit", 8, 8, 1)
	FIELD("int overwrite", 8, 1, 1)
	FIELD("char data", 16, 4080, 1);
/* clang-format on */

/* As tools/perf/util/trace-event-info.c writes it. */
void swlbr_writer_tracing_data(FILE *out)
{
	static const char magic[] = "\x17\x08\x44tracing";
	/* Version 0.6 ends with the saved command lines; without them perf 6.1 crashes. */
	static const char version[] = "0.6", system[] = "swlbr";
	const uint16_t one = 1;
	const uint8_t big_endian = *(const uint8_t *)&one != 1, long_size = 8;
	uint32_t page_size = sysconf(_SC_PAGESIZE), zero = 0, systems = 1;
	uint32_t nr = WRITER_EVENTS - 1;
	uint64_t size;

	fwrite(magic, sizeof(magic) - 1, 1, out);
	fwrite(version, sizeof(version), 1, out);
	fwrite(&big_endian, sizeof(big_endian), 1, out);
	fwrite(&long_size, sizeof(long_size), 1, out);
	fwrite(&page_size, sizeof(page_size), 1, out);
	fwrite("header_page", sizeof("header_page"), 1, out);
	size = sizeof(header_page) - 1;
	fwrite(&size, sizeof(size), 1, out);
	fwrite(header_page, size, 1, out);
	fwrite("header_event", sizeof("header_event"), 1, out);
	size = 0;
	fwrite(&size, sizeof(size), 1, out);
	fwrite(&zero, sizeof(zero), 1, out); /* ftrace's own events */
	fwrite(&systems, sizeof(systems), 1, out);
	fwrite(system, sizeof(system), 1, out);
	fwrite(&nr, sizeof(nr), 1, out);
	for (int event = EVENT_COUNTERS; event < WRITER_EVENTS; event++) {
		const struct writer_tracepoint *tp = &swlbr_writer_tracepoints[event];
		char text[2048];

		size = snprintf(text, sizeof(text),
				"name: %s\nID: %u\nformat:\n" COMMON_FIELDS "\n%s\nprint fmt: %s\n",
				tp->name, writer_tracepoint_id(event), tp->fields, tp->print_fmt);
		fwrite(&size, sizeof(size), 1, out);
		fwrite(text, size, 1, out);
	}
	fwrite(&zero, sizeof(zero), 1, out); /* kallsyms */
	fwrite(&zero, sizeof(zero), 1, out); /* printk formats */
	size = 0;
	fwrite(&size, sizeof(size), 1, out); /* saved command lines */
}

/* Start a row of tracepoint @event whose fields take @size bytes, common ones included. */
static void begin_row_at(struct swlbr_perfdata_writer *writer, enum writer_event event,
			 const struct swlbr_event_time *when, uint64_t ip, uint32_t size,
			 const struct swlbr_build_id *build_id)
{
	uint16_t common[2] = { writer_tracepoint_id(event), 0 };

	swlbr_writer_begin_sample(writer, event, when, ip, 1);
	/* The size itself and the fields fill a multiple of 8 bytes together. */
	swlbr_writer_put_u32(writer, ((size + 4 + 7) & ~7U) - 4);
	swlbr_writer_put(writer, common, sizeof(common));
	swlbr_writer_put_u32(writer, when->pid);
	swlbr_writer_put(writer, build_id->bytes, sizeof(build_id->bytes));
}

/* The same, at the begin of the binary in the process. */
static void begin_row(struct swlbr_perfdata_writer *writer, enum writer_event event,
		      const struct swlbr_event_time *when, uint32_t size,
		      const struct swlbr_build_id *build_id)
{
	begin_row_at(writer, event, when, swlbr_writer_mapping_start(writer, when->pid, build_id),
		     size, build_id);
}

static struct swlbr_error *end_row(struct swlbr_perfdata_writer *writer)
{
	swlbr_writer_pad(writer);
	return swlbr_writer_end(writer);
}

/* A __data_loc field: where in the row its array is, and how many bytes it has. */
static void put_data_loc(struct swlbr_perfdata_writer *writer, uint32_t offset, uint32_t size)
{
	swlbr_writer_put_u32(writer, size << 16 | offset);
}

static struct swlbr_error *write_counter_row(struct swlbr_perfdata_writer *writer,
					     const struct swlbr_event_time *when,
					     const struct swlbr_build_id *build_id, uint32_t engine,
					     uint64_t first, uint32_t nr, const uint64_t *values)
{
	const uint32_t size = nr * sizeof(*values);

	begin_row(writer, EVENT_COUNTERS, when, 48 + size, build_id);
	swlbr_writer_put_u32(writer, engine);
	swlbr_writer_put_u64(writer, first);
	swlbr_writer_put_u32(writer, nr);
	put_data_loc(writer, 48, size);
	swlbr_writer_put(writer, values, size);
	return end_row(writer);
}

struct swlbr_error *swlbr_perfdata_write_counters(struct swlbr_perfdata_writer *writer,
						  const struct swlbr_event_time *when,
						  const struct swlbr_build_id *build_id,
						  uint32_t engine, uint64_t first, uint64_t nr,
						  const uint64_t *values)
{
	struct swlbr_error *error;

	for (uint64_t i = 0; i < nr;) {
		uint64_t end, last; /* one past the row's last value that is not zero */

		if (!values[i]) {
			i++;
			continue;
		}
		last = i + 1;
		for (end = last; end < nr && end - i < MAX_VALUES && end - last < ROW_COST; end++)
			if (values[end])
				last = end + 1;
		error = write_counter_row(writer, when, build_id, engine, first + i, last - i,
					  values + i);
		if (error)
			return error;
		i = last;
	}
	return NULL;
}

struct swlbr_error *swlbr_perfdata_write_value(struct swlbr_perfdata_writer *writer,
					       const struct swlbr_event_time *when,
					       const struct swlbr_build_id *build_id,
					       uint32_t engine, const struct swlbr_value_row *row)
{
	begin_row(writer, EVENT_VALUE, when, 64, build_id);
	swlbr_writer_put_u32(writer, engine);
	swlbr_writer_put_u64(writer, row->function);
	swlbr_writer_put_u32(writer, row->kind);
	swlbr_writer_put_u32(writer, row->site);
	swlbr_writer_put_u64(writer, row->value);
	swlbr_writer_put_u64(writer, row->nr);
	return end_row(writer);
}

struct swlbr_error *swlbr_perfdata_write_arc(struct swlbr_perfdata_writer *writer,
					     const struct swlbr_event_time *when, uint64_t ip,
					     const struct swlbr_build_id *build_id,
					     const struct swlbr_arc_row *row)
{
	begin_row_at(writer, EVENT_ARC, when, ip, 60, build_id);
	swlbr_writer_put_u32(writer, row->kind);
	swlbr_writer_put_u64(writer, row->from);
	swlbr_writer_put_u64(writer, row->to);
	swlbr_writer_put_u64(writer, row->nr);
	swlbr_writer_put_u32(writer, row->exact);
	return end_row(writer);
}

struct swlbr_error *swlbr_perfdata_write_lost(struct swlbr_perfdata_writer *writer,
					      const struct swlbr_event_time *when,
					      const struct swlbr_build_id *build_id, uint64_t since,
					      const char *why)
{
	uint32_t length = strnlen(why, MAX_WHY);

	begin_row(writer, EVENT_LOST, when, 44 + length + 1, build_id);
	swlbr_writer_put_u32(writer, 0); /* since is aligned */
	swlbr_writer_put_u64(writer, since);
	put_data_loc(writer, 44, length + 1);
	swlbr_writer_put(writer, why, length);
	swlbr_writer_put(writer, "", 1);
	return end_row(writer);
}
