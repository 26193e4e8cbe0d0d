// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>

#include "base/array.h"
#include "blocks.h"

struct blocks {
	struct code *code;
	struct block_piece *pieces; /* of the block at hand */
	size_t nr, max;
	uint64_t *decisions; /* addresses of its instructions that decide */
	size_t nr_decisions, max_decisions;
};

static struct swlbr_error *collect_piece(void *context, const struct swlbr_dwarf_piece *piece)
{
	struct blocks *blocks = context;
	struct block_piece *grown =
		array_grow(blocks->pieces, blocks->nr, &blocks->max, sizeof(*grown));

	if (!grown)
		return swlbr_error_no_memory();
	blocks->pieces = grown;
	blocks->pieces[blocks->nr++] = (struct block_piece){ .piece = *piece };
	return NULL;
}

static struct swlbr_error *add_decision(struct blocks *blocks, uint64_t address)
{
	uint64_t *grown = array_grow(blocks->decisions, blocks->nr_decisions,
				     &blocks->max_decisions, sizeof(*grown));

	if (!grown)
		return swlbr_error_no_memory();
	blocks->decisions = grown;
	blocks->decisions[blocks->nr_decisions++] = address;
	return NULL;
}

/* The end of the block at @at, or what cannot be decoded, or @end; and what decides in it. */
static struct swlbr_error *find_end(struct blocks *blocks, uint64_t *at, uint64_t end)
{
	struct swlbr_error *error = NULL;

	blocks->nr_decisions = 0;
	while (!error && *at < end) {
		struct arch_insn insn;

		error = code_insn(blocks->code, *at, &insn);
		if (error)
			break;
		if (!insn.size) {
			*at = end;
			break;
		}
		if (insn.selects || insn.flow == ARCH_FLOW_COND)
			error = add_decision(blocks, *at);
		*at += insn.size;
		if (insn.flow != ARCH_FLOW_NEXT && insn.flow != ARCH_FLOW_CALL &&
		    insn.flow != ARCH_FLOW_INDIRECT_CALL)
			break;
	}
	if (*at > end)
		*at = end;
	return error;
}

static bool same_line(const struct swlbr_dwarf_piece *a, const struct swlbr_dwarf_piece *b)
{
	return a->scope == b->scope && a->line == b->line;
}

/* Both lists are by address. */
static void mark_decisions(struct blocks *blocks)
{
	size_t k = 0;

	for (size_t i = 0; i < blocks->nr; i++) {
		struct block_piece *piece = &blocks->pieces[i];

		while (k < blocks->nr_decisions && blocks->decisions[k] < piece->piece.begin)
			k++;
		piece->decides = piece->piece.line && k < blocks->nr_decisions &&
				 blocks->decisions[k] < piece->piece.end;
	}
}

/* How far back in a block the same line is looked for: blocks may be long, and are seldom. */
#define NEAR 64

static void mark_lines(struct blocks *blocks)
{
	for (size_t i = 0; i < blocks->nr; i++) {
		struct block_piece *piece = &blocks->pieces[i];
		size_t last = blocks->nr - i > NEAR ? i + NEAR : blocks->nr;

		for (size_t k = i > NEAR ? i - NEAR : 0; k < last && !piece->decides; k++)
			piece->decides = blocks->pieces[k].decides &&
					 same_line(&blocks->pieces[k].piece, &piece->piece);
	}
}

struct swlbr_error *blocks_of(struct code *code, struct swlbr_dwarf *dwarf, uint64_t begin,
			      uint64_t end, block_fn *fn, void *context)
{
	struct blocks blocks = { .code = code };
	struct swlbr_error *error = NULL;

	while (!error && begin < end) {
		uint64_t at = begin;

		blocks.nr = 0;
		error = find_end(&blocks, &at, end);
		if (!error)
			error = swlbr_dwarf_pieces(dwarf, begin, at, collect_piece, &blocks);
		if (error)
			break;
		mark_decisions(&blocks);
		mark_lines(&blocks);
		error = fn(context, blocks.pieces, blocks.nr);
		begin = at;
	}
	free(blocks.pieces);
	free(blocks.decisions);
	return error;
}
