// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Words, bytes and value data into an output file. */
#include "profile/llvm_profile_format.h"
#include "profile/output.h"

static void encode(const struct profile_output *out, uint8_t *at, unsigned int size, uint64_t value)
{
	for (unsigned int i = 0; i < size; i++)
		at[out->big_endian ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

struct swlbr_error *output_open(struct profile_output *out, const char *path)
{
	*out = (struct profile_output){ 0 };
	return swlbr_outfile_open(path, &out->file);
}

void output_bytes(struct profile_output *out, const void *data, size_t size)
{
	if (!out->error && size)
		out->error = swlbr_outfile_write(out->file, data, size);
}

void output_u32(struct profile_output *out, uint32_t value)
{
	uint8_t bytes[4];

	encode(out, bytes, sizeof(bytes), value);
	output_bytes(out, bytes, sizeof(bytes));
}

void output_u64(struct profile_output *out, uint64_t value)
{
	uint8_t bytes[8];

	encode(out, bytes, sizeof(bytes), value);
	output_bytes(out, bytes, sizeof(bytes));
}

void output_padding(struct profile_output *out, uint64_t size)
{
	static const uint8_t zeroes[8];

	output_bytes(out, zeroes, -size & 7);
}

void output_patch_u64(struct profile_output *out, uint64_t offset, uint64_t value)
{
	uint8_t bytes[8];

	encode(out, bytes, sizeof(bytes), value);
	if (!out->error)
		out->error = swlbr_outfile_pwrite(out->file, offset, bytes, sizeof(bytes));
}

uint64_t value_data_size(const uint16_t *nr_sites, const struct value_site *sites)
{
	uint64_t size = VALUE_DATA_HEADER_SIZE;

	for (unsigned int kind = 0; kind < SWLBR_VALUE_KINDS; kind++) {
		if (nr_sites[kind])
			size += VALUE_RECORD_HEADER_SIZE + ((nr_sites[kind] + 7ULL) & ~7ULL);
		for (unsigned int i = 0; i < nr_sites[kind]; i++)
			size += (uint64_t)(sites++)->nr * VALUE_ENTRY_SIZE;
	}
	return size;
}

static void output_value_record(struct profile_output *out, unsigned int kind, uint16_t nr_sites,
				const struct value_site *sites)
{
	output_u32(out, kind);
	output_u32(out, nr_sites);
	for (unsigned int i = 0; i < nr_sites; i++) {
		uint8_t nr =
			(uint8_t)sites[i].nr; /* at most VALUES_PER_SITE_MAX: lists are sorted */

		output_bytes(out, &nr, 1);
	}
	output_padding(out, nr_sites);
	for (unsigned int i = 0; i < nr_sites; i++) {
		for (uint32_t k = 0; k < sites[i].nr; k++) {
			output_u64(out, sites[i].values[k].value);
			output_u64(out, sites[i].values[k].nr);
		}
	}
}

void output_value_data(struct profile_output *out, const uint16_t *nr_sites,
		       const struct value_site *sites, bool always)
{
	uint32_t nr_kinds = 0;

	for (unsigned int kind = 0; kind < SWLBR_VALUE_KINDS; kind++)
		nr_kinds += nr_sites[kind] != 0;
	if (!nr_kinds && !always)
		return;
	output_u32(out, (uint32_t)value_data_size(nr_sites, sites));
	output_u32(out, nr_kinds);
	for (unsigned int kind = 0; kind < SWLBR_VALUE_KINDS; kind++) {
		if (nr_sites[kind])
			output_value_record(out, kind, nr_sites[kind], sites);
		sites += nr_sites[kind];
	}
}

struct swlbr_error *output_commit(struct profile_output *out)
{
	struct swlbr_outfile *file = out->file;

	out->file = NULL;
	if (!out->error)
		return swlbr_outfile_commit(file);
	swlbr_outfile_discard(file);
	return out->error;
}
