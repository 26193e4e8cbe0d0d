// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The text form of a sample profile, as llvm/include/llvm/ProfileData/SampleProfReader.h has it:
 *
 *	function:total:head
 *	 offset[.discriminator]: count [target:calls ...]
 *	 offset[.discriminator]: inlined function:total
 *	  ...
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/outfile.h"
#include "sample_profile.h"

struct writer {
	const struct swlbr_sample_profile *profile;
	struct sample_order order;
	struct swlbr_outfile *file;
	struct swlbr_error *error; /* the first; then nothing more is written */
};

static void put(struct writer *writer, const char *data, size_t size)
{
	if (!writer->error)
		writer->error = swlbr_outfile_write(writer->file, data, size);
}

static void put_name(struct writer *writer, uint32_t name)
{
	put(writer, writer->profile->names[name], strlen(writer->profile->names[name]));
}

__attribute__((format(printf, 2, 3))) static void put_format(struct writer *writer,
							     const char *format, ...)
{
	char text[128];
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	put(writer, text, (size_t)size);
}

static void put_place(struct writer *writer, unsigned int indent, struct sample_place place)
{
	for (unsigned int i = 0; i < indent; i++)
		put(writer, " ", 1);
	if (place.discriminator)
		put_format(writer, "%u.%u: ", place.line, place.discriminator);
	else
		put_format(writer, "%u: ", place.line);
}

static void put_record(struct writer *writer, unsigned int indent, uint32_t index)
{
	const struct sample_record *record = &writer->profile->records[index];
	const struct sample_order *order = &writer->order;

	put_place(writer, indent, record->place);
	put_format(writer, "%" PRIu64, record->count);
	for (uint32_t i = order->target_start[index]; i < order->target_start[index + 1]; i++) {
		const struct sample_target *target = &writer->profile->targets[order->targets[i]];

		put(writer, " ", 1);
		put_name(writer, target->name);
		put_format(writer, ":%" PRIu64, target->count);
	}
	put(writer, "\n", 1);
}

/* What is in a function or inlined call, after its own line. */
static void put_body(struct writer *writer, unsigned int indent, uint32_t index)
{
	const struct sample_order *order = &writer->order;

	for (uint32_t i = order->record_start[index]; i < order->record_start[index + 1]; i++)
		put_record(writer, indent, order->records[i]);
	for (uint32_t i = order->call_start[index]; i < order->call_start[index + 1]; i++) {
		const struct sample_node *call = &writer->profile->nodes[order->calls[i]];

		put_place(writer, indent, call->place);
		put_name(writer, call->name);
		put_format(writer, ":%" PRIu64 "\n", call->total);
		put_body(writer, indent + 1, order->calls[i]);
	}
}

struct swlbr_error *swlbr_sample_profile_write_text(const struct swlbr_sample_profile *profile,
						    const char *path)
{
	struct writer writer = { .profile = profile };

	writer.error = sample_order(profile, &writer.order);
	if (writer.error)
		return writer.error;
	writer.error = swlbr_outfile_open(path, &writer.file);
	for (size_t i = 0; !writer.error && i < writer.order.nr_functions; i++) {
		uint32_t index = writer.order.functions[i];
		const struct sample_node *function = &profile->nodes[index];

		put_name(&writer, function->name);
		put_format(&writer, ":%" PRIu64 ":%" PRIu64 "\n", function->total, function->head);
		put_body(&writer, 1, index);
	}
	sample_order_free(&writer.order);
	if (writer.error) {
		swlbr_outfile_discard(writer.file);
		return writer.error;
	}
	return swlbr_outfile_commit(writer.file);
}
