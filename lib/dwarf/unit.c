// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The headers of units (DWARF 5, 7.5.1), and what the entry of a unit says about all of it. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "split.h"

static bool has_entries(const struct dw_unit *unit)
{
	return unit->type != DW_UT_type && unit->type != DW_UT_split_type;
}

static struct swlbr_error *read_header(struct dw_file *file, struct dw_reader *reader,
				       struct dw_unit *unit)
{
	uint64_t length;

	*unit = (struct dw_unit){ .file = file, .offset = dw_position(reader) };
	length = dw_initial_length(reader, &unit->offset_size);
	if (reader->failed || length > (uint64_t)(reader->end - reader->at))
		return dw_error(file, DW_INFO, unit->offset, "truncated: a unit of %llu bytes",
				(unsigned long long)length);
	unit->end = dw_position(reader) + length;
	unit->version = (uint16_t)dw_uint(reader, 2);
	if (unit->version < 2 || unit->version > 5)
		return swlbr_error_create(
			SWLBR_ERROR_UNSUPPORTED,
			"%s: DWARF version %u is not supported, 2 to 5 are (unit at %llu)",
			file->path, unit->version, (unsigned long long)unit->offset);
	unit->type = DW_UT_compile;
	if (unit->version >= 5) {
		unit->type = (uint8_t)dw_uint(reader, 1);
		unit->address_size = (uint8_t)dw_uint(reader, 1);
		unit->abbrev_offset = dw_uint(reader, unit->offset_size);
		if (unit->type == DW_UT_skeleton || unit->type == DW_UT_split_compile) {
			unit->dwo_id = dw_uint(reader, 8);
			unit->has_dwo_id = true;
		} else if (!has_entries(unit)) {
			dw_skip(reader, 8 + (uint64_t)unit->offset_size);
		}
	} else {
		unit->abbrev_offset = dw_uint(reader, unit->offset_size);
		unit->address_size = (uint8_t)dw_uint(reader, 1);
	}
	unit->first_die = dw_position(reader);
	if (reader->failed || unit->first_die > unit->end)
		return dw_error(file, DW_INFO, unit->offset, "truncated header of a unit");
	if (!unit->address_size || unit->address_size > 8)
		return dw_error(file, DW_INFO, unit->offset, "addresses of %u bytes",
				unit->address_size);
	reader->at = reader->start + unit->end;
	return NULL;
}

static struct swlbr_error *read_headers(struct dw_file *file)
{
	struct dw_reader reader = dw_section_reader(file, DW_INFO);
	size_t max = 0;

	while (reader.at < reader.end) {
		struct dw_unit unit;
		struct swlbr_error *error = read_header(file, &reader, &unit);

		if (error)
			return error;
		if (!has_entries(&unit))
			continue;
		if (file->nr_units == max) {
			struct dw_unit *grown;

			max = max ? 2 * max : 16;
			grown = reallocarray(file->units, max, sizeof(*grown));
			if (!grown)
				return swlbr_error_no_memory();
			file->units = grown;
		}
		file->units[file->nr_units++] = unit;
	}
	return NULL;
}

/* An offset that a unit states, or the one after the header of its table. */
static uint64_t base_of(const struct dw_die *die, enum dw_slot slot, uint64_t part,
			uint64_t header_size)
{
	if (die->attributes[slot].form)
		return dw_value_unsigned(&die->attributes[slot]);
	return part + header_size;
}

/* What the entry of a unit says. */
static struct swlbr_error *read_unit_die(struct dw_unit *unit)
{
	const char *producer;
	bool wide = unit->offset_size == 8, v5 = unit->version >= 5;
	struct dw_value *dwo_id;
	struct swlbr_error *error;
	struct dw_die die;

	error = dw_die_at(unit, unit->first_die, &die);
	if (error)
		return error;
	unit->tag = die.tag;
	unit->str_offsets_base = base_of(&die, DW_STR_OFFSETS_BASE, unit->parts.str_offsets,
					 v5 ? (wide ? 16 : 8) : 0);
	unit->rnglists_base = base_of(&die, DW_RNGLISTS_BASE, unit->parts.rnglists, wide ? 20 : 12);
	unit->addr_base = base_of(&die, DW_ADDR_BASE, 0, v5 ? (wide ? 16 : 8) : 0);
	unit->ranges_base = base_of(&die, DW_RANGES_BASE, 0, 0);
	unit->has_stmt_list = die.attributes[DW_STMT_LIST].form != 0;
	unit->stmt_list = dw_value_unsigned(&die.attributes[DW_STMT_LIST]) + unit->parts.line;
	unit->name = dw_value_string(unit, &die.attributes[DW_NAME]);
	unit->comp_dir = dw_value_string(unit, &die.attributes[DW_COMP_DIR]);
	producer = dw_value_string(unit, &die.attributes[DW_PRODUCER]);
	unit->by_gcc = producer && !strncmp(producer, "GNU ", 4);
	unit->dwo_name = dw_value_string(unit, &die.attributes[DW_DWO_NAME]);
	dwo_id = &die.attributes[DW_DWO_ID];
	if (dwo_id->form && !unit->has_dwo_id) {
		unit->dwo_id = dwo_id->u;
		unit->has_dwo_id = true;
	}
	if (!dw_value_address(unit, &die.attributes[DW_LOW_PC], &unit->low_pc))
		unit->low_pc = 0;
	return NULL;
}

struct swlbr_error *dw_units_read(struct dw_file *file)
{
	struct swlbr_error *error;

	error = read_headers(file);
	if (!error && file->sections[DW_CU_INDEX].size)
		error = dw_package_contributions(file);
	if (!error)
		error = dw_abbrevs_read(file);
	for (size_t i = 0; !error && i < file->nr_units; i++)
		error = read_unit_die(&file->units[i]);
	return error;
}

struct dw_unit *dw_unit_at(const struct dw_file *file, uint64_t offset)
{
	size_t low = 0, high = file->nr_units;

	while (low < high) {
		size_t middle = (low + high) / 2;
		struct dw_unit *unit = &file->units[middle];

		if (offset < unit->first_die)
			high = middle;
		else if (offset >= unit->end)
			low = middle + 1;
		else
			return unit;
	}
	return NULL;
}

struct dw_reader dw_unit_reader(const struct dw_unit *unit)
{
	struct dw_reader reader = dw_section_reader(unit->file, DW_INFO);

	reader.end = reader.start + unit->end;
	reader.at = reader.start + unit->first_die;
	return reader;
}
