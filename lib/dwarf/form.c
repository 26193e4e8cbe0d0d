// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* How values are written (DWARF 5, 7.5.5 and 7.5.6; the GNU extensions of split and of dwz files). */
#include <dwarf.h>

#include "file.h"

uint32_t dw_form_size(const struct dw_unit *unit, unsigned int form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_flag:
	case DW_FORM_ref1:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_ref_sup4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return unit->address_size;
	case DW_FORM_ref_addr: /* the size of an address in DWARF 2 */
		return unit->version == 2 ? unit->address_size : unit->offset_size;
	case DW_FORM_sec_offset:
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return unit->offset_size;
	default:
		return DW_VARIABLE_SIZE;
	}
}

/* A value whose form does not tell its size. */
static bool read_variable(unsigned int form, struct dw_reader *reader, uint64_t *ret)
{
	*ret = 0;
	switch (form) {
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		*ret = dw_uleb(reader);
		return true;
	case DW_FORM_sdata:
		*ret = (uint64_t)dw_sleb(reader);
		return true;
	case DW_FORM_string:
		*ret = dw_position(reader);
		dw_string(reader);
		return true;
	case DW_FORM_block1:
		dw_skip(reader, dw_uint(reader, 1));
		return true;
	case DW_FORM_block2:
		dw_skip(reader, dw_uint(reader, 2));
		return true;
	case DW_FORM_block4:
		dw_skip(reader, dw_uint(reader, 4));
		return true;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		dw_skip(reader, dw_uleb(reader));
		return true;
	default:
		return false;
	}
}

bool dw_form_read(const struct dw_unit *unit, unsigned int form, int64_t implicit,
		  struct dw_reader *reader, struct dw_value *ret)
{
	uint64_t number = 0;
	uint32_t size;

	while (form == DW_FORM_indirect && !reader->failed) {
		uint64_t real = dw_uleb(reader);

		if (real > UINT16_MAX || real == DW_FORM_implicit_const)
			return false;
		form = (unsigned int)real;
	}
	size = dw_form_size(unit, form);
	if (size == DW_VARIABLE_SIZE) {
		if (!read_variable(form, reader, &number))
			return false;
	} else if (size > 8) {
		dw_skip(reader, size);
	} else if (form == DW_FORM_implicit_const) {
		number = (uint64_t)implicit;
	} else if (form == DW_FORM_flag_present) {
		number = 1;
	} else {
		number = dw_uint(reader, size);
	}
	if (ret)
		*ret = (struct dw_value){ .form = (uint16_t)form, .u = number };
	return true;
}

/* The address numbered @index in the table of addresses, which only linked files have. */
static bool indexed_address(const struct dw_unit *unit, uint64_t index, uint64_t *ret)
{
	const struct dw_unit *holder = unit->skeleton ? unit->skeleton : unit;
	struct dw_reader reader = dw_section_reader(holder->file, DW_ADDR);
	uint64_t offset;

	if (__builtin_mul_overflow(index, (uint64_t)holder->address_size, &offset))
		return false;
	dw_skip(&reader, holder->addr_base);
	dw_skip(&reader, offset);
	*ret = dw_uint(&reader, holder->address_size);
	return !reader.failed;
}

bool dw_value_address(const struct dw_unit *unit, const struct dw_value *value, uint64_t *ret)
{
	switch (value->form) {
	case DW_FORM_addr:
		*ret = value->u;
		return true;
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index:
		return indexed_address(unit, value->u, ret);
	default:
		return false;
	}
}

static const char *indexed_string(const struct dw_unit *unit, uint64_t index)
{
	struct dw_reader reader = dw_section_reader(unit->file, DW_STR_OFFSETS);
	uint64_t offset;

	if (__builtin_mul_overflow(index, (uint64_t)unit->offset_size, &offset))
		return NULL;
	dw_skip(&reader, unit->str_offsets_base);
	dw_skip(&reader, offset);
	offset = dw_uint(&reader, unit->offset_size);
	return reader.failed ? NULL : dw_section_string(unit->file, DW_STR, offset);
}

const char *dw_value_string(const struct dw_unit *unit, const struct dw_value *value)
{
	const struct dw_file *file = unit->file;

	switch (value->form) {
	case DW_FORM_string:
		return dw_section_string(file, DW_INFO, value->u);
	case DW_FORM_strp:
		return dw_section_string(file, DW_STR, value->u);
	case DW_FORM_line_strp:
		return dw_section_string(file, DW_LINE_STR, value->u);
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		return file->alt ? dw_section_string(file->alt, DW_STR, value->u) : NULL;
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
	case DW_FORM_GNU_str_index:
		return indexed_string(unit, value->u);
	default:
		return NULL;
	}
}

uint64_t dw_value_unsigned(const struct dw_value *value)
{
	switch (value->form) {
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_implicit_const:
	case DW_FORM_sec_offset:
		return value->u;
	default:
		return 0;
	}
}
