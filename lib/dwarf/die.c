// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Entries (DIEs): their attributes, and what a function's entry and those it refers to say. */
#include <dwarf.h>

#include "file.h"

/* An entry refers to its declaration or its abstract instance, and that to another at most. */
#define MAX_REFERENCES 16

struct swlbr_error *dw_die_begin(struct dw_unit *unit, struct dw_reader *reader,
				 const struct dw_abbrev **ret)
{
	uint64_t offset = dw_position(reader), code = dw_uleb(reader);

	if (reader->failed)
		return dw_error(unit->file, DW_INFO, offset, "truncated unit");
	*ret = NULL;
	if (!code)
		return NULL;
	*ret = dw_abbrev_find(unit->abbrevs, code);
	if (!*ret)
		return dw_error(unit->file, DW_INFO, offset, "no abbreviation %llu",
				(unsigned long long)code);
	return NULL;
}

static struct swlbr_error *unknown_form(const struct dw_unit *unit, const struct dw_reader *reader,
					const struct dw_spec *spec)
{
	return dw_error(unit->file, DW_INFO, dw_position(reader), "unknown form 0x%x", spec->form);
}

struct swlbr_error *dw_die_skip(struct dw_unit *unit, struct dw_reader *reader,
				const struct dw_abbrev *abbrev)
{
	const struct dw_spec *specs = &unit->abbrevs->specs[abbrev->first];

	if (abbrev->fixed_size != DW_VARIABLE_SIZE) {
		dw_skip(reader, abbrev->fixed_size);
	} else {
		for (uint32_t i = 0; i < abbrev->nr && !reader->failed; i++)
			if (!dw_form_read(unit, specs[i].form, specs[i].implicit, reader, NULL))
				return unknown_form(unit, reader, &specs[i]);
	}
	if (reader->failed)
		return dw_error(unit->file, DW_INFO, dw_position(reader), "truncated entry");
	return NULL;
}

struct swlbr_error *dw_die_read(struct dw_unit *unit, struct dw_reader *reader, uint64_t offset,
				const struct dw_abbrev *abbrev, struct dw_die *die)
{
	const struct dw_spec *specs = &unit->abbrevs->specs[abbrev->first];

	*die = (struct dw_die){ .unit = unit,
				.offset = offset,
				.tag = abbrev->tag,
				.has_children = abbrev->has_children };
	for (uint32_t i = 0; i < abbrev->nr && !reader->failed; i++) {
		struct dw_value *value =
			specs[i].slot == DW_NO_SLOT ? NULL : &die->attributes[specs[i].slot];

		if (!dw_form_read(unit, specs[i].form, specs[i].implicit, reader, value))
			return unknown_form(unit, reader, &specs[i]);
	}
	if (reader->failed)
		return dw_error(unit->file, DW_INFO, offset, "truncated entry");
	return NULL;
}

struct swlbr_error *dw_die_at(struct dw_unit *unit, uint64_t offset, struct dw_die *die)
{
	struct dw_reader reader = dw_unit_reader(unit);
	const struct dw_abbrev *abbrev;
	struct swlbr_error *error;

	reader.at = reader.start + offset;
	error = dw_die_begin(unit, &reader, &abbrev);
	if (error)
		return error;
	if (!abbrev) {
		*die = (struct dw_die){ .unit = unit, .offset = offset };
		return NULL;
	}
	return dw_die_read(unit, &reader, offset, abbrev, die);
}

/* The unit and the offset in its file that @value refers to; false if that is nowhere. */
static bool resolve(struct dw_unit *unit, const struct dw_value *value, struct dw_unit **unit_ret,
		    uint64_t *offset_ret)
{
	switch (value->form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		*unit_ret = unit;
		if (__builtin_add_overflow(unit->offset, value->u, offset_ret))
			return false;
		return *offset_ret >= unit->first_die && *offset_ret < unit->end;
	case DW_FORM_ref_addr:
		*unit_ret = dw_unit_at(unit->file, value->u);
		*offset_ret = value->u;
		return *unit_ret != NULL;
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
	case DW_FORM_GNU_ref_alt:
		*unit_ret = unit->file->alt ? dw_unit_at(unit->file->alt, value->u) : NULL;
		*offset_ret = value->u;
		return *unit_ret != NULL;
	default:
		return false;
	}
}

struct swlbr_error *dw_die_function(const struct dw_die *die, const char **name_ret,
				    uint32_t *line_ret)
{
	struct dw_die at = *die;
	const char *name = NULL;

	*name_ret = NULL;
	*line_ret = 0;
	for (unsigned int i = 0; i < MAX_REFERENCES; i++) {
		const struct dw_value *values = at.attributes, *next;
		struct swlbr_error *error;
		struct dw_unit *unit;
		uint64_t offset;

		if (!*name_ret)
			*name_ret = dw_value_string(at.unit, &values[DW_LINKAGE_NAME]);
		if (!name)
			name = dw_value_string(at.unit, &values[DW_NAME]);
		if (!*line_ret)
			*line_ret = (uint32_t)dw_value_unsigned(&values[DW_DECL_LINE]);
		next = values[DW_SPECIFICATION].form ? &values[DW_SPECIFICATION]
						     : &values[DW_ORIGIN];
		if ((*name_ret && *line_ret) || !next->form ||
		    !resolve(at.unit, next, &unit, &offset))
			break;
		error = dw_die_at(unit, offset, &at);
		if (error)
			return error;
	}
	if (!*name_ret)
		*name_ret = name;
	return NULL;
}
