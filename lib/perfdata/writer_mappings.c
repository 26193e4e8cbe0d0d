// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Where binaries are mapped, so that a row about a binary gets an ip inside it. create_gcov and
 * create_llvm_prof refuse a file when the ip of more than 5 % of its samples is in no mapping, and
 * perf script and its users refuse a tracepoint that has none.
 */
#include <stdlib.h>
#include <string.h>

#include "perfdata/writer.h"

static struct swlbr_error *add(struct swlbr_perfdata_writer *writer,
			       const struct writer_mapping *mapping)
{
	struct writer_mapping *mappings = writer->mappings;

	if (writer->nr_mappings == writer->max_mappings) {
		size_t max = writer->max_mappings ? writer->max_mappings * 2 : 64;

		mappings = reallocarray(mappings, max, sizeof(*mappings));
		if (!mappings)
			return swlbr_error_no_memory();
		writer->mappings = mappings;
		writer->max_mappings = max;
	}
	mappings[writer->nr_mappings++] = *mapping;
	return NULL;
}

static const struct writer_mapping *find(const struct swlbr_perfdata_writer *writer, pid_t pid,
					 const uint8_t id[SWLBR_BUILD_ID_SIZE])
{
	for (size_t i = 0; i < writer->nr_mappings; i++) {
		const struct writer_mapping *mapping = &writer->mappings[i];

		if (mapping->pid == pid && !memcmp(mapping->id, id, SWLBR_BUILD_ID_SIZE))
			return mapping;
	}
	return NULL;
}

struct swlbr_error *swlbr_writer_mapping_add(struct swlbr_perfdata_writer *writer, pid_t pid,
					     const struct swlbr_build_id *id, uint64_t start)
{
	struct writer_mapping mapping = { .pid = pid, .start = start };

	if (find(writer, pid, id->bytes))
		return NULL;
	memcpy(mapping.id, id->bytes, sizeof(mapping.id));
	return add(writer, &mapping);
}

struct swlbr_error *swlbr_writer_mapping_fork(struct swlbr_perfdata_writer *writer, pid_t pid,
					      pid_t ppid)
{
	struct swlbr_error *error = NULL;
	size_t nr = writer->nr_mappings;

	if (pid == ppid) /* a thread */
		return NULL;
	for (size_t i = 0; !error && i < nr; i++) {
		struct writer_mapping mapping = writer->mappings[i];

		if (mapping.pid != ppid)
			continue;
		mapping.pid = pid;
		error = add(writer, &mapping);
	}
	return error;
}

void swlbr_writer_mapping_forget(struct swlbr_perfdata_writer *writer, pid_t pid)
{
	size_t kept = 0;

	for (size_t i = 0; i < writer->nr_mappings; i++)
		if (writer->mappings[i].pid != pid)
			writer->mappings[kept++] = writer->mappings[i];
	writer->nr_mappings = kept;
}

uint64_t swlbr_writer_mapping_start(const struct swlbr_perfdata_writer *writer, pid_t pid,
				    const struct swlbr_build_id *id)
{
	const struct writer_mapping *mapping = find(writer, pid, id->bytes);

	return mapping ? mapping->start : 0;
}
