// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Line tables (DWARF 5, 6.2; DWARF 2 to 4 differ in how their header lists files). */
#include <dwarf.h>
#include <stdlib.h>

#include "base/array.h"
#include "lines.h"

/* The header of a line number program, as far as its rows depend on it. */
struct header {
	uint64_t offset;
	uint16_t version;
	uint8_t address_size, offset_size;
	uint8_t min_length, max_ops, line_range, opcode_base;
	int8_t line_base;
	const uint8_t *operands; /* how many each standard opcode has, from opcode 1 */
	uint64_t nr_files;
};

/* The registers of the line number machine. */
struct machine {
	uint64_t address, file;
	uint32_t op_index, line, discriminator;
};

/* A stretch of rows of increasing addresses. */
struct sequence {
	size_t first, nr; /* of the rows, without its end */
	uint64_t low, high;
};

struct program {
	const struct dw_unit *unit;
	struct header header;
	struct machine machine;
	struct dw_row *rows;
	size_t nr_rows, max_rows;
	struct sequence *sequences;
	size_t nr_sequences, max_sequences;
	size_t first_row; /* of the sequence that is growing */
	uint64_t lowest;
};

static struct swlbr_error *line_error(const struct dw_unit *unit, const struct dw_reader *reader,
				      const char *what)
{
	return dw_error(unit->file, DW_LINE, dw_position(reader), "%s", what);
}

/* The formats of DWARF 5 that describe an entry; returns how many there are. */
static unsigned int skip_formats(struct dw_reader *reader)
{
	unsigned int nr = (unsigned int)dw_uint(reader, 1);

	for (unsigned int i = 0; i < nr; i++) {
		dw_uleb(reader);
		dw_uleb(reader);
	}
	return nr;
}

/* Step over a list of directories or files of DWARF 5, and count it. */
static bool skip_entries(const struct dw_unit *unit, struct dw_reader *reader, uint64_t *nr_ret)
{
	struct dw_reader formats = *reader;
	unsigned int nr_formats = skip_formats(reader);
	uint64_t nr = dw_uleb(reader);

	*nr_ret = nr;
	/* An entry has at least one byte: no count may ask for more work than there are. */
	if (nr && (!nr_formats || nr > (uint64_t)(reader->end - reader->at)))
		return false;
	for (uint64_t i = 0; i < nr && !reader->failed; i++) {
		struct dw_reader format = formats;

		dw_uint(&format, 1);
		for (unsigned int j = 0; j < nr_formats; j++) {
			uint64_t form;

			dw_uleb(&format);
			form = dw_uleb(&format);
			if (form > UINT16_MAX || form == DW_FORM_implicit_const ||
			    !dw_form_read(unit, (unsigned int)form, 0, reader, NULL))
				return false;
		}
	}
	return true;
}

/* The lists of DWARF 2 to 4, each ended by an empty name. */
static uint64_t skip_old_lists(struct dw_reader *reader)
{
	uint64_t nr = 0;
	const char *name;

	while ((name = dw_string(reader)) && *name)
		;
	while ((name = dw_string(reader)) && *name) {
		dw_uleb(reader);
		dw_uleb(reader);
		dw_uleb(reader);
		nr++;
	}
	return nr;
}

/* Read the header; @reader is then on the program alone. */
static struct swlbr_error *read_header(const struct dw_unit *unit, struct dw_reader *reader,
				       struct header *header)
{
	struct dw_unit sizes = *unit;
	uint64_t length, program, nr_directories;

	header->offset = dw_position(reader);
	length = dw_initial_length(reader, &header->offset_size);
	if (!dw_has(reader, length))
		return line_error(unit, reader, "truncated line table");
	reader->end = reader->at + length;
	header->version = (uint16_t)dw_uint(reader, 2);
	if (header->version < 2 || header->version > 5)
		return line_error(unit, reader, "line table of an unknown version");
	header->address_size = unit->address_size;
	if (header->version >= 5) {
		header->address_size = (uint8_t)dw_uint(reader, 1);
		dw_skip(reader, 1);
	}
	program = dw_uint(reader, header->offset_size);
	if (dw_has(reader, program))
		program += dw_position(reader);
	header->min_length = (uint8_t)dw_uint(reader, 1);
	header->max_ops = header->version >= 4 ? (uint8_t)dw_uint(reader, 1) : 1;
	dw_skip(reader, 1);
	header->line_base = (int8_t)dw_uint(reader, 1);
	header->line_range = (uint8_t)dw_uint(reader, 1);
	header->opcode_base = (uint8_t)dw_uint(reader, 1);
	header->operands = reader->at;
	dw_skip(reader, header->opcode_base ? header->opcode_base - 1U : 0);
	if (header->version >= 5) {
		sizes.address_size = header->address_size;
		sizes.offset_size = header->offset_size;
		if (!skip_entries(&sizes, reader, &nr_directories) ||
		    !skip_entries(&sizes, reader, &header->nr_files))
			return line_error(unit, reader, "list of files in an unknown form");
	} else {
		header->nr_files = skip_old_lists(reader);
	}
	if (reader->failed || !header->line_range)
		return line_error(unit, reader, "damaged header of a line table");
	reader->at = reader->start + program;
	return NULL;
}

static bool has_file(const struct program *program)
{
	const struct header *header = &program->header;
	uint64_t file = program->machine.file;

	return header->version >= 5 ? file < header->nr_files : file && file <= header->nr_files;
}

static struct swlbr_error *add_row(struct program *program)
{
	struct machine *machine = &program->machine;
	bool known = has_file(program);
	struct dw_row *grown =
		array_grow(program->rows, program->nr_rows, &program->max_rows, sizeof(*grown));

	if (!grown)
		return swlbr_error_no_memory();
	program->rows = grown;
	program->rows[program->nr_rows++] = (struct dw_row){
		.address = machine->address,
		.line = known ? machine->line : 0,
		.discriminator = known ? machine->discriminator : 0,
	};
	machine->discriminator = 0;
	return NULL;
}

static struct swlbr_error *end_sequence(struct program *program)
{
	size_t first = program->first_row, nr = program->nr_rows - first;
	struct sequence *grown;

	program->machine.discriminator = 0;
	if (!nr || program->rows[first].address < program->lowest ||
	    program->rows[first].address >= program->machine.address) {
		program->nr_rows = first;
		return NULL;
	}
	if (program->nr_sequences == program->max_sequences) {
		size_t max = program->max_sequences ? 2 * program->max_sequences : 16;

		grown = reallocarray(program->sequences, max, sizeof(*grown));
		if (!grown)
			return swlbr_error_no_memory();
		program->sequences = grown;
		program->max_sequences = max;
	}
	program->sequences[program->nr_sequences++] = (struct sequence){
		.first = first,
		.nr = nr,
		.low = program->rows[first].address,
		.high = program->machine.address,
	};
	program->first_row = program->nr_rows;
	return NULL;
}

static void reset(struct program *program)
{
	program->machine = (struct machine){ .file = 1, .line = 1 };
}

static void advance(struct program *program, uint64_t operations)
{
	const struct header *header = &program->header;
	struct machine *machine = &program->machine;

	if (header->max_ops <= 1) {
		machine->address += operations * header->min_length;
		return;
	}
	operations += machine->op_index;
	machine->address += operations / header->max_ops * header->min_length;
	machine->op_index = (uint32_t)(operations % header->max_ops);
}

static struct swlbr_error *run_extended(struct program *program, struct dw_reader *reader)
{
	struct machine *machine = &program->machine;
	uint64_t length = dw_uleb(reader);
	struct swlbr_error *error = NULL;
	const uint8_t *next;

	if (!length || !dw_has(reader, length))
		return NULL;
	next = reader->at + length;
	switch (dw_uint(reader, 1)) {
	case DW_LNE_end_sequence:
		error = end_sequence(program);
		reset(program);
		break;
	case DW_LNE_set_address:
		machine->address = length <= 9 ? dw_uint(reader, (unsigned int)length - 1) : 0;
		machine->op_index = 0;
		break;
	case DW_LNE_set_discriminator:
		machine->discriminator = (uint32_t)dw_uleb(reader);
		break;
	case DW_LNE_define_file:
		program->header.nr_files++;
		break;
	}
	if (!reader->failed)
		reader->at = next;
	return error;
}

static struct swlbr_error *run_standard(struct program *program, struct dw_reader *reader,
					unsigned int opcode)
{
	const struct header *header = &program->header;
	struct machine *machine = &program->machine;

	switch (opcode) {
	case 0:
		return run_extended(program, reader);
	case DW_LNS_copy:
		return add_row(program);
	case DW_LNS_advance_pc:
		advance(program, dw_uleb(reader));
		break;
	case DW_LNS_advance_line:
		machine->line += (uint32_t)dw_sleb(reader);
		break;
	case DW_LNS_set_file:
		machine->file = dw_uleb(reader);
		break;
	case DW_LNS_const_add_pc:
		advance(program, (255U - header->opcode_base) / header->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		machine->address += dw_uint(reader, 2);
		machine->op_index = 0;
		break;
	default: /* one that does not bear on rows, or of a later version */
		for (unsigned int i = header->operands[opcode - 1]; i; i--)
			dw_uleb(reader);
	}
	return NULL;
}

static struct swlbr_error *run(struct program *program, struct dw_reader *reader)
{
	const struct header *header = &program->header;
	struct swlbr_error *error = NULL;

	reset(program);
	while (!error && reader->at < reader->end && !reader->failed) {
		unsigned int opcode = (unsigned int)dw_uint(reader, 1);

		if (opcode < header->opcode_base) {
			error = run_standard(program, reader, opcode);
		} else {
			opcode -= header->opcode_base;
			advance(program, opcode / header->line_range);
			program->machine.line +=
				(uint32_t)(header->line_base + (int)(opcode % header->line_range));
			error = add_row(program);
		}
	}
	if (!error && reader->failed)
		error = line_error(program->unit, reader, "truncated line table");
	return error;
}

static int by_low(const void *left, const void *right)
{
	const struct sequence *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

/* Append a row, unless it says what the one before says; one at the same address takes its place. */
static void put_row(struct dw_lines *lines, size_t first, struct dw_row row)
{
	if (lines->nr > first && lines->rows[lines->nr - 1].address == row.address)
		lines->nr--;
	if (lines->nr && lines->rows[lines->nr - 1].line == row.line &&
	    lines->rows[lines->nr - 1].discriminator == row.discriminator)
		return;
	lines->rows[lines->nr++] = row;
}

/* The rows of all sequences in one table by address, with a row of line 0 after each sequence. */
static struct swlbr_error *join(struct program *program, struct dw_lines *lines)
{
	uint64_t end = 0;

	lines->rows = reallocarray(NULL, program->nr_rows + program->nr_sequences + 1,
				   sizeof(*lines->rows));
	if (!lines->rows)
		return swlbr_error_no_memory();
	if (program->nr_sequences)
		qsort(program->sequences, program->nr_sequences, sizeof(*program->sequences),
		      by_low);
	for (size_t i = 0; i < program->nr_sequences; i++) {
		const struct sequence *sequence = &program->sequences[i];
		uint64_t at = sequence->low;
		size_t first = lines->nr;

		if (sequence->high <= end)
			continue;
		/* Where two sequences overlap, which no sound table has, the first one stands. */
		for (size_t j = 0; j < sequence->nr; j++) {
			struct dw_row row = program->rows[sequence->first + j];

			if (row.address < at || row.address >= sequence->high)
				continue;
			at = row.address;
			if (row.address < end)
				row.address = end;
			put_row(lines, first, row);
		}
		put_row(lines, lines->nr, (struct dw_row){ .address = sequence->high });
		end = sequence->high;
	}
	return NULL;
}

static struct swlbr_error *read_table(const struct dw_unit *unit, uint64_t lowest,
				      struct dw_lines *lines)
{
	struct dw_reader reader = dw_section_reader(unit->file, DW_LINE);
	struct program program = { .unit = unit, .lowest = lowest };
	struct swlbr_error *error;

	dw_skip(&reader, unit->stmt_list);
	error = read_header(unit, &reader, &program.header);
	if (!error)
		error = run(&program, &reader);
	if (!error)
		error = join(&program, lines);
	free(program.rows);
	free(program.sequences);
	return error;
}

struct swlbr_error *dw_lines_read(const struct dw_unit *unit, uint64_t lowest,
				  struct dw_lines **ret)
{
	struct swlbr_error *error = NULL;
	struct dw_lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return swlbr_error_no_memory();
	if (unit->skeleton)
		unit = unit->skeleton;
	if (unit->has_stmt_list && unit->file->sections[DW_LINE].size)
		error = read_table(unit, lowest, lines);
	if (error) {
		dw_lines_free(lines);
		return error;
	}
	*ret = lines;
	return NULL;
}

void dw_lines_free(struct dw_lines *lines)
{
	if (lines)
		free(lines->rows);
	free(lines);
}

size_t dw_lines_find(const struct dw_lines *lines, uint64_t address)
{
	size_t low = 0, high = lines->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (lines->rows[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : lines->nr;
}
