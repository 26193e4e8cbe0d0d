// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Abbreviations: what attributes an entry has, and how they are written (DWARF 5, 7.5.3). */
#include <dwarf.h>
#include <stdlib.h>

#include "file.h"

/* GNU's extension number (binutils include/dwarf2.def); not in elfutils' header. */
#define DW_AT_GNU_discriminator 0x2136

static uint16_t slot_of(uint64_t attribute)
{
	static const struct {
		uint16_t attribute, slot;
	} slots[] = {
		{ DW_AT_name, DW_NAME },
		{ DW_AT_linkage_name, DW_LINKAGE_NAME },
		{ DW_AT_MIPS_linkage_name, DW_LINKAGE_NAME },
		{ DW_AT_low_pc, DW_LOW_PC },
		{ DW_AT_high_pc, DW_HIGH_PC },
		{ DW_AT_ranges, DW_RANGE_LIST },
		{ DW_AT_decl_line, DW_DECL_LINE },
		{ DW_AT_call_line, DW_CALL_LINE },
		{ DW_AT_GNU_discriminator, DW_DISCRIMINATOR },
		{ DW_AT_abstract_origin, DW_ORIGIN },
		{ DW_AT_specification, DW_SPECIFICATION },
		{ DW_AT_stmt_list, DW_STMT_LIST },
		{ DW_AT_comp_dir, DW_COMP_DIR },
		{ DW_AT_producer, DW_PRODUCER },
		{ DW_AT_str_offsets_base, DW_STR_OFFSETS_BASE },
		{ DW_AT_addr_base, DW_ADDR_BASE },
		{ DW_AT_GNU_addr_base, DW_ADDR_BASE },
		{ DW_AT_rnglists_base, DW_RNGLISTS_BASE },
		{ DW_AT_GNU_ranges_base, DW_RANGES_BASE },
		{ DW_AT_dwo_name, DW_DWO_NAME },
		{ DW_AT_GNU_dwo_name, DW_DWO_NAME },
		{ DW_AT_GNU_dwo_id, DW_DWO_ID },
	};

	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
		if (slots[i].attribute == attribute)
			return slots[i].slot;
	return DW_NO_SLOT;
}

/* Room for one more of @array, which has room for a power of two. */
#define GROW(array, nr)                                                                  \
	({                                                                               \
		bool grow_ok = true;                                                     \
		if (!((nr) & ((nr)-1))) {                                                \
			size_t grow_max = (nr) ? 2 * (nr) : 1;                           \
			void *grown = reallocarray((array), grow_max, sizeof(*(array))); \
			if (grown)                                                       \
				(array) = grown;                                         \
			else                                                             \
				grow_ok = false;                                         \
		}                                                                        \
		grow_ok;                                                                 \
	})

/* The attributes of one abbreviation. */
static struct swlbr_error *read_specs(const struct dw_unit *unit, struct dw_reader *reader,
				      struct dw_abbrevs *abbrevs, struct dw_abbrev *abbrev)
{
	uint64_t size = 0;

	abbrev->first = (uint32_t)abbrevs->nr_specs;
	for (;;) {
		uint64_t attribute = dw_uleb(reader), form = dw_uleb(reader);
		struct dw_spec spec = { .slot = slot_of(attribute), .form = (uint16_t)form };
		uint32_t form_size;

		if (form == DW_FORM_implicit_const)
			spec.implicit = dw_sleb(reader);
		if (reader->failed)
			return dw_error(unit->file, DW_ABBREV, dw_position(reader), "truncated");
		if (!attribute && !form)
			break;
		if (form > UINT16_MAX)
			return dw_error(unit->file, DW_ABBREV, dw_position(reader),
					"unknown form 0x%llx", (unsigned long long)form);
		if (!GROW(abbrevs->specs, abbrevs->nr_specs))
			return swlbr_error_no_memory();
		abbrevs->specs[abbrevs->nr_specs++] = spec;
		abbrev->nr++;
		form_size = dw_form_size(unit, spec.form);
		if (form_size == DW_VARIABLE_SIZE || size >= DW_VARIABLE_SIZE - form_size)
			size = DW_VARIABLE_SIZE;
		else
			size += form_size;
	}
	abbrev->fixed_size = (uint32_t)size;
	return NULL;
}

static int by_code(const void *left, const void *right)
{
	const struct dw_abbrev *a = left, *b = right;

	return (a->code > b->code) - (a->code < b->code);
}

/* All abbreviations of @unit. */
static struct swlbr_error *read_table(const struct dw_unit *unit, struct dw_abbrevs *abbrevs)
{
	struct dw_reader reader = dw_section_reader(unit->file, DW_ABBREV);
	struct swlbr_error *error = NULL;

	abbrevs->dense = true;
	abbrevs->specs = malloc(sizeof(*abbrevs->specs)); /* there even if no entry has one */
	if (!abbrevs->specs)
		return swlbr_error_no_memory();
	dw_skip(&reader, unit->abbrev_offset);
	while (!error) {
		struct dw_abbrev abbrev = { .code = dw_uleb(&reader) };

		if (!reader.failed && !abbrev.code)
			break;
		abbrev.tag = (uint16_t)dw_uleb(&reader);
		abbrev.has_children = dw_uint(&reader, 1);
		if (reader.failed)
			return dw_error(unit->file, DW_ABBREV, dw_position(&reader),
					"truncated table of the unit at %llu",
					(unsigned long long)unit->offset);
		error = read_specs(unit, &reader, abbrevs, &abbrev);
		if (!error && !GROW(abbrevs->entries, abbrevs->nr))
			error = swlbr_error_no_memory();
		if (error)
			break;
		abbrevs->dense &= abbrev.code == abbrevs->nr + 1;
		abbrevs->entries[abbrevs->nr++] = abbrev;
	}
	if (!error && !abbrevs->dense)
		qsort(abbrevs->entries, abbrevs->nr, sizeof(*abbrevs->entries), by_code);
	return error;
}

static int by_table(const void *left, const void *right)
{
	const struct dw_unit *a = *(struct dw_unit *const *)left;
	const struct dw_unit *b = *(struct dw_unit *const *)right;

	if (a->abbrev_offset != b->abbrev_offset)
		return a->abbrev_offset < b->abbrev_offset ? -1 : 1;
	if (a->address_size != b->address_size)
		return a->address_size - b->address_size;
	if (a->offset_size != b->offset_size)
		return a->offset_size - b->offset_size;
	return (a->version > b->version) - (a->version < b->version);
}

struct swlbr_error *dw_abbrevs_read(struct dw_file *file)
{
	struct dw_unit **units = reallocarray(NULL, file->nr_units + 1, sizeof(*units));
	struct swlbr_error *error = NULL;

	file->abbrevs = calloc(file->nr_units + 1, sizeof(*file->abbrevs));
	if (!units || !file->abbrevs) {
		free(units);
		return swlbr_error_no_memory();
	}
	for (size_t i = 0; i < file->nr_units; i++)
		units[i] = &file->units[i];
	qsort(units, file->nr_units, sizeof(*units), by_table);
	for (size_t i = 0; !error && i < file->nr_units; i++) {
		if (!i || by_table(&units[i - 1], &units[i]))
			error = read_table(units[i], &file->abbrevs[file->nr_abbrevs++]);
		units[i]->abbrevs = &file->abbrevs[file->nr_abbrevs - 1];
	}
	free(units);
	return error;
}

void dw_abbrevs_free(struct dw_file *file)
{
	for (size_t i = 0; i < file->nr_abbrevs; i++) {
		free(file->abbrevs[i].entries);
		free(file->abbrevs[i].specs);
	}
	free(file->abbrevs);
	file->abbrevs = NULL;
	file->nr_abbrevs = 0;
}

const struct dw_abbrev *dw_abbrev_find(const struct dw_abbrevs *abbrevs, uint64_t code)
{
	struct dw_abbrev key = { .code = code };

	if (abbrevs->dense)
		return code && code <= abbrevs->nr ? &abbrevs->entries[code - 1] : NULL;
	return bsearch(&key, abbrevs->entries, abbrevs->nr, sizeof(key), by_code);
}
