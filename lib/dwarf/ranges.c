// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Address ranges of entries (DWARF 5, 2.17 and 7.25; DWARF 4, 7.23). */
#include <dwarf.h>
#include <stdlib.h>

#include "base/array.h"
#include "file.h"

/* Code that the linker has removed is at the highest address, or just below in .debug_ranges. */
static bool is_removed(const struct dw_unit *unit, uint64_t low)
{
	uint64_t highest = unit->address_size >= 8 ? UINT64_MAX
						   : (1ULL << (8 * unit->address_size)) - 1;

	return low >= highest - 1;
}

static struct swlbr_error *add_range(const struct dw_unit *unit, struct dw_ranges *ranges,
				     uint64_t low, uint64_t high)
{
	struct dw_range *grown;

	if (low >= high || is_removed(unit, low))
		return NULL;
	grown = array_grow(ranges->entries, ranges->nr, &ranges->max, sizeof(*grown));
	if (!grown)
		return swlbr_error_no_memory();
	ranges->entries = grown;
	ranges->entries[ranges->nr++] = (struct dw_range){ low, high };
	return NULL;
}

static struct swlbr_error *truncated(const struct dw_file *file, enum dw_section_id id,
				     uint64_t offset)
{
	return dw_error(file, id, offset, "range list past the end");
}

/* The address that is base of the offsets in a list, to begin with. */
static uint64_t first_base(const struct dw_unit *unit)
{
	return unit->skeleton ? unit->skeleton->low_pc : unit->low_pc;
}

/* A list of DWARF 4, always in the linked file. */
static struct swlbr_error *read_ranges(const struct dw_unit *unit, uint64_t offset,
				       struct dw_ranges *ranges)
{
	const struct dw_unit *holder = unit->skeleton ? unit->skeleton : unit;
	struct dw_reader reader = dw_section_reader(holder->file, DW_RANGES);
	uint64_t base = first_base(unit), select = UINT64_MAX >> (64 - 8 * unit->address_size);
	struct swlbr_error *error = NULL;

	/* An attribute of a skeleton's own is not relative to its base. */
	if (unit->skeleton)
		offset += holder->ranges_base;
	dw_skip(&reader, offset);
	while (!error) {
		uint64_t low = dw_uint(&reader, unit->address_size);
		uint64_t high = dw_uint(&reader, unit->address_size);

		if (reader.failed)
			return truncated(holder->file, DW_RANGES, offset);
		if (!low && !high)
			break;
		if (low == select)
			base = high;
		else if (!is_removed(unit, low) && !is_removed(unit, base))
			error = add_range(unit, ranges, base + low, base + high);
	}
	return error;
}

static uint64_t indexed(const struct dw_unit *unit, uint64_t index)
{
	const struct dw_value value = { .form = DW_FORM_addrx, .u = index };
	uint64_t address;

	return dw_value_address(unit, &value, &address) ? address : UINT64_MAX;
}

/* One entry of a list of DWARF 5. False at its end. */
static bool read_rnglist_entry(const struct dw_unit *unit, struct dw_reader *reader, uint64_t *base,
			       struct dw_range *range)
{
	unsigned int kind = (unsigned int)dw_uint(reader, 1);

	*range = (struct dw_range){ 0, 0 };
	switch (kind) {
	case DW_RLE_base_addressx:
		*base = indexed(unit, dw_uleb(reader));
		return true;
	case DW_RLE_base_address:
		*base = dw_uint(reader, unit->address_size);
		return true;
	case DW_RLE_startx_endx:
		range->low = indexed(unit, dw_uleb(reader));
		range->high = indexed(unit, dw_uleb(reader));
		return true;
	case DW_RLE_startx_length:
		range->low = indexed(unit, dw_uleb(reader));
		range->high = range->low + dw_uleb(reader);
		return true;
	case DW_RLE_offset_pair:
		range->low = dw_uleb(reader) + *base;
		range->high = dw_uleb(reader) + *base;
		if (is_removed(unit, *base))
			range->high = range->low;
		return true;
	case DW_RLE_start_end:
		range->low = dw_uint(reader, unit->address_size);
		range->high = dw_uint(reader, unit->address_size);
		return true;
	case DW_RLE_start_length:
		range->low = dw_uint(reader, unit->address_size);
		range->high = range->low + dw_uleb(reader);
		return true;
	case DW_RLE_end_of_list:
		return false;
	default:
		reader->failed = true;
		return false;
	}
}

static struct swlbr_error *read_rnglist(const struct dw_unit *unit, uint64_t offset,
					struct dw_ranges *ranges)
{
	struct dw_reader reader = dw_section_reader(unit->file, DW_RNGLISTS);
	uint64_t base = first_base(unit);
	struct swlbr_error *error = NULL;
	struct dw_range range;

	dw_skip(&reader, offset);
	while (!error && read_rnglist_entry(unit, &reader, &base, &range)) {
		if (reader.failed)
			break;
		error = add_range(unit, ranges, range.low, range.high);
	}
	if (!error && reader.failed)
		error = truncated(unit->file, DW_RNGLISTS, offset);
	return error;
}

/* The list numbered @index of the unit's table. */
static struct swlbr_error *read_indexed_rnglist(const struct dw_unit *unit, uint64_t index,
						struct dw_ranges *ranges)
{
	struct dw_reader reader = dw_section_reader(unit->file, DW_RNGLISTS);
	uint64_t at, offset;

	if (__builtin_mul_overflow(index, (uint64_t)unit->offset_size, &at))
		return truncated(unit->file, DW_RNGLISTS, index);
	dw_skip(&reader, unit->rnglists_base);
	dw_skip(&reader, at);
	offset = dw_uint(&reader, unit->offset_size);
	if (reader.failed)
		return truncated(unit->file, DW_RNGLISTS, unit->rnglists_base + at);
	return read_rnglist(unit, unit->rnglists_base + offset, ranges);
}

struct swlbr_error *dw_die_ranges(const struct dw_die *die, struct dw_ranges *ranges)
{
	const struct dw_unit *unit = die->unit;
	const struct dw_value *high_pc = &die->attributes[DW_HIGH_PC];
	const struct dw_value *list = &die->attributes[DW_RANGE_LIST];
	uint64_t low, high;

	if (high_pc->form && dw_value_address(unit, &die->attributes[DW_LOW_PC], &low)) {
		if (!dw_value_address(unit, high_pc, &high))
			high = low + dw_value_unsigned(high_pc);
		return add_range(unit, ranges, low, high);
	}
	if (!list->form)
		return NULL;
	if (list->form == DW_FORM_rnglistx)
		return read_indexed_rnglist(unit, list->u, ranges);
	if (unit->version >= 5)
		return read_rnglist(unit, list->u, ranges);
	return read_ranges(unit, list->u, ranges);
}
