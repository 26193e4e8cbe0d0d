// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "eh_frame.h"
#include "landing_pads.h"

/* DW_EH_PE_*: how a pointer is stored (LSB 5.0, Core, 10.5.1). */
#define ENC_OMIT     0xff
#define ENC_FORM     0x0f
#define ENC_ABSPTR   0x00
#define ENC_ULEB128  0x01
#define ENC_UDATA2   0x02
#define ENC_UDATA4   0x03
#define ENC_UDATA8   0x04
#define ENC_SDATA4   0x0b
#define ENC_SDATA8   0x0c
#define ENC_BASE     0x70
#define ENC_PCREL    0x10
#define ENC_INDIRECT 0x80

/* Of all functions of a binary; what is more goes without. */
#define MAX_SITES (1 << 22)

/* Bytes of the image and the address of the first. */
struct area {
	struct cursor cursor;
	uint64_t vaddr;
};

static bool area_at(const struct memory_image *image, uint64_t vaddr, struct area *area)
{
	*area = (struct area){ .vaddr = vaddr };
	area->cursor.data = memory_image_from(image, vaddr, &area->cursor.size);
	return area->cursor.data && area->cursor.size;
}

static uint64_t take_uleb(struct cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned int shift = 0;; shift += 7) {
		const uint8_t *byte = cursor_take(cursor, 1);

		if (!byte)
			return 0;
		if (shift < 64)
			value |= (uint64_t)(*byte & 0x7f) << shift;
		if (!(*byte & 0x80))
			return value;
	}
}

static uint8_t take_u8(struct cursor *cursor)
{
	const uint8_t *byte = cursor_take(cursor, 1);

	return byte ? *byte : 0;
}

/* An encoded pointer; @known_ret is made false for an encoding that cannot be read. */
static uint64_t take_pointer(struct area *area, uint8_t encoding, bool *known_ret)
{
	uint64_t at = area->vaddr + area->cursor.at, value;

	switch (encoding & ENC_FORM) {
	case ENC_ABSPTR:
	case ENC_UDATA8:
	case ENC_SDATA8:
		value = cursor_take_u64(&area->cursor);
		break;
	case ENC_ULEB128:
		value = take_uleb(&area->cursor);
		break;
	case ENC_UDATA2:
		value = cursor_take_u16(&area->cursor);
		break;
	case ENC_UDATA4:
		value = cursor_take_u32(&area->cursor);
		break;
	case ENC_SDATA4:
		value = (uint64_t)(int64_t)(int32_t)cursor_take_u32(&area->cursor);
		break;
	default:
		*known_ret = false;
		return 0;
	}
	if (encoding & ENC_INDIRECT || (encoding & ENC_BASE && (encoding & ENC_BASE) != ENC_PCREL))
		*known_ret = false;
	return value && (encoding & ENC_BASE) == ENC_PCREL ? at + value : value;
}

/* What a common information entry says of the entries that name it. */
struct common {
	uint8_t pointers, lsda; /* encodings; ENC_OMIT: none */
};

static bool read_common(const struct memory_image *image, uint64_t vaddr, struct common *ret)
{
	bool known = true;
	struct area area;
	const char *letters;
	uint8_t version;

	*ret = (struct common){ .pointers = ENC_ABSPTR, .lsda = ENC_OMIT };
	if (!area_at(image, vaddr, &area))
		return false;
	cursor_take_u32(&area.cursor); /* length */
	if (cursor_take_u32(&area.cursor))
		return false; /* not a common entry */
	version = take_u8(&area.cursor);
	letters = cursor_take_string(&area.cursor);
	if ((version != 1 && version != 3) || !letters || *letters != 'z')
		return false;
	take_uleb(&area.cursor); /* code and data alignment */
	take_uleb(&area.cursor);
	if (version == 1)
		take_u8(&area.cursor); /* return address register */
	else
		take_uleb(&area.cursor);
	take_uleb(&area.cursor); /* size of what follows */
	for (letters++; *letters; letters++) {
		uint8_t encoding;

		if (*letters == 'S' || *letters == 'B')
			continue;
		encoding = take_u8(&area.cursor);
		if (*letters == 'R')
			ret->pointers = encoding;
		else if (*letters == 'L')
			ret->lsda = encoding;
		else if (*letters == 'P')
			take_pointer(&area, encoding & (uint8_t)~ENC_INDIRECT, &known);
		else
			return false;
	}
	return known && !area.cursor.overrun;
}

static struct swlbr_error *add_site(struct landing_pads *pads, const struct landing_site *site)
{
	struct landing_site *grown;

	if (pads->nr == pads->max) {
		pads->max = pads->max ? 2 * pads->max : 256;
		grown = reallocarray(pads->sites, pads->max, sizeof(*grown));
		if (!grown)
			return swlbr_error_no_memory();
		pads->sites = grown;
	}
	pads->sites[pads->nr++] = *site;
	return NULL;
}

/* The call sites of the function at @function, from its data area at @vaddr. */
static struct swlbr_error *read_sites(struct landing_pads *pads, const struct memory_image *image,
				      uint64_t vaddr, uint64_t function)
{
	uint64_t pads_from = function, size, end;
	struct swlbr_error *error = NULL;
	bool known = true;
	struct area area;
	uint8_t encoding;

	if (!area_at(image, vaddr, &area))
		return NULL;
	encoding = take_u8(&area.cursor);
	if (encoding != ENC_OMIT)
		pads_from = take_pointer(&area, encoding, &known);
	if (take_u8(&area.cursor) != ENC_OMIT)
		take_uleb(&area.cursor); /* where the types are */
	encoding = take_u8(&area.cursor);
	size = take_uleb(&area.cursor);
	if (!known || area.cursor.overrun || encoding & ENC_BASE || encoding & ENC_INDIRECT ||
	    size > cursor_left(&area.cursor))
		return NULL;
	end = area.cursor.at + size;
	while (!error && area.cursor.at < end && pads->nr < MAX_SITES) {
		struct landing_site site;
		uint64_t pad;

		site.start = function + take_pointer(&area, encoding, &known);
		site.end = site.start + take_pointer(&area, encoding, &known);
		pad = take_pointer(&area, encoding, &known);
		take_uleb(&area.cursor); /* what is done there */
		if (!known || area.cursor.overrun)
			break;
		site.pad = pads_from + pad;
		if (pad && site.end > site.start)
			error = add_site(pads, &site);
	}
	return error;
}

static struct swlbr_error *read_entry(struct landing_pads *pads, const struct memory_image *image,
				      uint64_t vaddr)
{
	uint64_t function, lsda, offset;
	struct common common;
	struct area area;
	bool known = true;

	if (!area_at(image, vaddr, &area))
		return NULL;
	cursor_take_u32(&area.cursor); /* length */
	offset = cursor_take_u32(&area.cursor);
	if (!read_common(image, vaddr + 4 - offset, &common) || common.lsda == ENC_OMIT)
		return NULL;
	function = take_pointer(&area, common.pointers, &known);
	take_pointer(&area, common.pointers & ENC_FORM, &known); /* its size */
	take_uleb(&area.cursor);				 /* size of what follows */
	lsda = take_pointer(&area, common.lsda, &known);
	if (!known || area.cursor.overrun || !lsda)
		return NULL;
	return read_sites(pads, image, lsda, function);
}

static int by_start(const void *left, const void *right)
{
	const struct landing_site *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return (a->pad > b->pad) - (a->pad < b->pad);
}

struct swlbr_error *landing_pads_find(const struct swlbr_elf *elf, const struct memory_image *image,
				      struct landing_pads *pads)
{
	struct eh_frame_table table;
	struct swlbr_error *error = NULL;

	*pads = (struct landing_pads){ 0 };
	if (!eh_frame_table(elf, image, &table))
		return NULL;
	for (uint32_t i = 0; !error && i < table.nr; i++)
		error = read_entry(pads, image, eh_frame_entry(&table, image, i));
	if (pads->nr)
		qsort(pads->sites, pads->nr, sizeof(*pads->sites), by_start);
	return error;
}

void landing_pads_deinit(struct landing_pads *pads)
{
	free(pads->sites);
	*pads = (struct landing_pads){ 0 };
}

uint64_t landing_pads_of(const struct landing_pads *pads, uint64_t vaddr)
{
	size_t low = 0, high = pads->nr;

	while (low < high) { /* the last that begins at or before it */
		size_t middle = low + (high - low) / 2;

		if (pads->sites[middle].start <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low && vaddr < pads->sites[low - 1].end ? pads->sites[low - 1].pad : 0;
}
