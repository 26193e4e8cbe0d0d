/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A file with debug sections, its units, and the entries (DIEs) in them. */
#ifndef SWLBR_DWARF_FILE_H
#define SWLBR_DWARF_FILE_H

#include <swlbr/elf.h>
#include <swlbr/error.h>

#include "reader.h"

enum dw_section_id {
	DW_INFO,
	DW_ABBREV,
	DW_LINE,
	DW_STR,
	DW_LINE_STR,
	DW_STR_OFFSETS,
	DW_ADDR,
	DW_RANGES,
	DW_RNGLISTS,
	DW_CU_INDEX,
	DW_NR_SECTIONS,
};

struct dw_section {
	uint8_t *data;
	size_t size;
};

/* The attributes that are looked at; the value of one is in the slot of a struct dw_die. */
enum dw_slot {
	DW_NAME,
	DW_LINKAGE_NAME,
	DW_LOW_PC,
	DW_HIGH_PC,
	DW_RANGE_LIST,
	DW_DECL_LINE,
	DW_CALL_LINE,
	DW_DISCRIMINATOR,
	DW_ORIGIN,
	DW_SPECIFICATION,
	DW_STMT_LIST,
	DW_COMP_DIR,
	DW_PRODUCER,
	DW_STR_OFFSETS_BASE,
	DW_ADDR_BASE,
	DW_RNGLISTS_BASE,
	DW_RANGES_BASE,
	DW_DWO_NAME,
	DW_DWO_ID,
	DW_NR_SLOTS,
	DW_NO_SLOT = DW_NR_SLOTS,
};

/* One attribute of an abbreviation: where its value goes, and how it is written. */
struct dw_spec {
	uint16_t slot, form;
	int64_t implicit; /* the value itself, of DW_FORM_implicit_const */
};

struct dw_abbrev {
	uint64_t code;
	uint16_t tag;
	bool has_children;
	uint32_t first, nr;  /* of the specs */
	uint32_t fixed_size; /* bytes of an entry after its code, or DW_VARIABLE_SIZE */
};

#define DW_VARIABLE_SIZE UINT32_MAX

/* The abbreviations of a unit, by code. Units with the same ones share them. */
struct dw_abbrevs {
	struct dw_abbrev *entries;
	struct dw_spec *specs;
	size_t nr, nr_specs;
	bool dense; /* the code of entries[i] is i + 1 */
};

struct dw_unit;

struct dw_file {
	char *path;
	bool big_endian, is_dwo;
	struct dw_section sections[DW_NR_SECTIONS];
	struct dw_unit *units; /* by offset */
	size_t nr_units;
	struct dw_abbrevs *abbrevs;
	size_t nr_abbrevs;
	struct dw_file *alt; /* what dwz has moved out of this and other files, or NULL */
};

/*
 * Where the parts of a unit are. In a package (.dwp) each unit has its own stretch of each section;
 * elsewhere these are 0.
 */
struct dw_contributions {
	uint64_t abbrev, line, str_offsets, rnglists;
};

struct dw_unit {
	struct dw_file *file;
	uint64_t offset, first_die, end; /* in DW_INFO */
	uint64_t abbrev_offset;
	const struct dw_abbrevs *abbrevs;
	struct dw_contributions parts;
	uint16_t version;
	uint8_t type, address_size, offset_size;
	uint16_t tag; /* of the unit's own entry */
	uint64_t low_pc, stmt_list, str_offsets_base, addr_base, rnglists_base, ranges_base;
	bool has_stmt_list, has_dwo_id;
	bool by_gcc; /* compiled it */
	uint64_t dwo_id;
	const char *name, *comp_dir, *dwo_name;
	struct dw_unit *skeleton; /* of a unit in a .dwo: it has the addresses and the lines */
	struct dw_unit *split;	  /* of a skeleton: the unit with the entries, or NULL */
	struct dw_lines *lines;	  /* decoded when first needed */
};

struct dw_value {
	uint16_t form; /* 0: absent */
	uint64_t u;    /* number, or offset of a string in DW_INFO (DW_FORM_string) */
};

struct dw_die {
	struct dw_unit *unit;
	uint64_t offset;
	uint16_t tag; /* 0: the end of a list of siblings */
	bool has_children;
	struct dw_value attributes[DW_NR_SLOTS];
};

struct dw_range {
	uint64_t low, high;
};

struct dw_ranges {
	struct dw_range *entries;
	size_t nr, max;
};

/**
 * Read the debug sections of the ELF file behind @fd; @is_dwo: those whose names end in ".dwo".
 * @path names it in messages. The file and everything of it lives until dw_file_close().
 */
struct swlbr_error *dw_file_open(int fd, const char *path, bool is_dwo, struct dw_file **ret);
void dw_file_close(struct dw_file *file);

/** True if there are entries to read. */
bool dw_file_has_info(const struct dw_file *file);

/** A reader on all of a section; empty if there is none. */
struct dw_reader dw_section_reader(const struct dw_file *file, enum dw_section_id id);

/** A string in a section; NULL if @offset is not in it or no NUL follows. */
const char *dw_section_string(const struct dw_file *file, enum dw_section_id id, uint64_t offset);

/** "FILE: .debug_info: <formatted> (at offset N)". */
struct swlbr_error *dw_error(const struct dw_file *file, enum dw_section_id id, uint64_t offset,
			     const char *format, ...)
	__attribute__((format(printf, 4, 5), returns_nonnull));

/** Read the headers of all units and the entry of each, after the file's sections. */
struct swlbr_error *dw_units_read(struct dw_file *file);

/** The unit whose entries @offset is among, or NULL. */
struct dw_unit *dw_unit_at(const struct dw_file *file, uint64_t offset);

/** Read the abbreviations of all units. */
struct swlbr_error *dw_abbrevs_read(struct dw_file *file);
void dw_abbrevs_free(struct dw_file *file);

/** The abbreviation of @code, or NULL. */
const struct dw_abbrev *dw_abbrev_find(const struct dw_abbrevs *abbrevs, uint64_t code);

/** Size of a value of @form where it is always the same; else DW_VARIABLE_SIZE. */
uint32_t dw_form_size(const struct dw_unit *unit, unsigned int form);

/** Read a value; only its place moves on if @ret is NULL. False if @form is not known. */
bool dw_form_read(const struct dw_unit *unit, unsigned int form, int64_t implicit,
		  struct dw_reader *reader, struct dw_value *ret);

/** A reader on the entries of @unit, at the first. */
struct dw_reader dw_unit_reader(const struct dw_unit *unit);

/** The abbreviation of the next entry, after whose code the reader then is; NULL at a list's end. */
struct swlbr_error *dw_die_begin(struct dw_unit *unit, struct dw_reader *reader,
				 const struct dw_abbrev **ret);

/** Step over the attributes of an entry. */
struct swlbr_error *dw_die_skip(struct dw_unit *unit, struct dw_reader *reader,
				const struct dw_abbrev *abbrev);

/** Read the attributes of an entry; @offset is that of the entry. */
struct swlbr_error *dw_die_read(struct dw_unit *unit, struct dw_reader *reader, uint64_t offset,
				const struct dw_abbrev *abbrev, struct dw_die *die);

/** Read the entry at @offset in the unit's file. */
struct swlbr_error *dw_die_at(struct dw_unit *unit, uint64_t offset, struct dw_die *die);

bool dw_value_address(const struct dw_unit *unit, const struct dw_value *value, uint64_t *ret);
/** NULL if it is no string. */
const char *dw_value_string(const struct dw_unit *unit, const struct dw_value *value);
/** 0 if it is no number. */
uint64_t dw_value_unsigned(const struct dw_value *value);

/**
 * The linkage name of a function, else its name, and the line where it is declared, from its entry
 * or from those that it refers to. A name is NULL and a line 0 if there is none.
 */
struct swlbr_error *dw_die_function(const struct dw_die *die, const char **name_ret,
				    uint32_t *line_ret);

/** Append the address ranges of an entry; empty ones and those of removed code are left out. */
struct swlbr_error *dw_die_ranges(const struct dw_die *die, struct dw_ranges *ranges);

#endif
