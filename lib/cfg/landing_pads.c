// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
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

/* Entries and call sites of all functions of a binary; what is more goes without. */
#define MAX_LOOKED_AT (1 << 23)
/* Letters of an augmentation, and actions of a call site: compilers need four. */
#define MAX_LETTERS 16
#define MAX_ACTIONS 64

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
		value = cursor_take_uleb128(&area->cursor);
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
	version = cursor_take_u8(&area.cursor);
	/* Looked at first: a string may be as long as the segment, for each of very many entries. */
	if (strnlen((const char *)area.cursor.data + area.cursor.at,
		    cursor_left(&area.cursor) < MAX_LETTERS ? cursor_left(&area.cursor)
							    : MAX_LETTERS) == MAX_LETTERS)
		return false;
	letters = cursor_take_string(&area.cursor);
	if ((version != 1 && version != 3) || !letters || *letters != 'z')
		return false;
	cursor_take_uleb128(&area.cursor); /* code and data alignment */
	cursor_take_uleb128(&area.cursor);
	if (version == 1)
		cursor_take_u8(&area.cursor); /* return address register */
	else
		cursor_take_uleb128(&area.cursor);
	cursor_take_uleb128(&area.cursor); /* size of what follows */
	for (letters++; *letters; letters++) {
		uint8_t encoding;

		if (*letters == 'S' || *letters == 'B')
			continue;
		encoding = cursor_take_u8(&area.cursor);
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
	struct landing_site *grown = array_grow(pads->sites, pads->nr, &pads->max, sizeof(*grown));

	if (!grown)
		return swlbr_error_no_memory();
	pads->sites = grown;
	pads->sites[pads->nr++] = *site;
	return NULL;
}

/* A function's data area: where what its call sites refer to is. */
struct data_area {
	struct area area;
	uint8_t type_encoding;
	size_t types; /* behind the last of the types that are caught, which count backwards */
	size_t actions;
};

/* Type @number is none: it stands for all. */
static bool catches_all(const struct data_area *data, uint64_t number)
{
	uint8_t form = data->type_encoding & ENC_FORM;
	size_t size = form == ENC_UDATA4 || form == ENC_SDATA4 ? 4 : 8;

	if (data->type_encoding == ENC_OMIT || number > data->types / size)
		return false;
	for (size_t i = 0; i < size; i++)
		if (data->area.cursor.data[data->types - number * size + i])
			return false;
	return true;
}

/* Is what is thrown always stopped there? @action: 1 + where its actions begin; 0: it cleans up. */
static bool stops_all(const struct data_area *data, uint64_t action)
{
	struct cursor cursor = data->area.cursor;

	if (!action)
		return true;
	if (action - 1 > cursor.size - data->actions)
		return false;
	cursor.at = data->actions + action - 1;
	for (unsigned int i = 0; i < MAX_ACTIONS; i++) {
		int64_t filter = cursor_take_sleb128(&cursor), next;
		size_t at = cursor.at;

		if (!filter || (filter > 0 && catches_all(data, (uint64_t)filter)))
			return !cursor.overrun;
		next = cursor_take_sleb128(&cursor);
		if (!next || cursor.overrun || next < -(int64_t)at ||
		    next > (int64_t)(cursor.size - at))
			return false;
		cursor.at = (size_t)((int64_t)at + next);
	}
	return false;
}

/* The head of a data area; its cursor is at the call sites then, whose encoding is returned. */
static bool read_head(struct data_area *data, uint64_t *pads_from, uint8_t *encoding_ret)
{
	struct area *area = &data->area;
	uint8_t encoding = cursor_take_u8(&area->cursor);
	bool known = true;
	uint64_t size;

	if (encoding != ENC_OMIT)
		*pads_from = take_pointer(area, encoding, &known);
	data->type_encoding = cursor_take_u8(&area->cursor);
	if (data->type_encoding != ENC_OMIT) {
		size = cursor_take_uleb128(&area->cursor);
		if (size > cursor_left(&area->cursor))
			return false;
		data->types = area->cursor.at + size;
	}
	*encoding_ret = cursor_take_u8(&area->cursor);
	size = cursor_take_uleb128(&area->cursor);
	if (!known || area->cursor.overrun || *encoding_ret & (ENC_BASE | ENC_INDIRECT) ||
	    size > cursor_left(&area->cursor))
		return false;
	data->actions = area->cursor.at + size;
	return true;
}

/* The call sites of the function at @function, from its data area at @vaddr. */
static struct swlbr_error *read_sites(struct landing_pads *pads, const struct memory_image *image,
				      uint64_t vaddr, uint64_t function)
{
	uint64_t pads_from = function;
	struct swlbr_error *error = NULL;
	struct data_area data = { 0 };
	struct area *area = &data.area;
	bool known = true;
	uint8_t encoding;

	if (!area_at(image, vaddr, area) || !read_head(&data, &pads_from, &encoding))
		return NULL;
	while (!error && area->cursor.at < data.actions && pads->looked_at++ < MAX_LOOKED_AT) {
		struct landing_site site;
		uint64_t pad;

		site.start = function + take_pointer(area, encoding, &known);
		site.end = site.start + take_pointer(area, encoding, &known);
		pad = take_pointer(area, encoding, &known);
		site.sure = stops_all(&data, cursor_take_uleb128(&area->cursor));
		if (!known || area->cursor.overrun)
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
	cursor_take_uleb128(&area.cursor);			 /* size of what follows */
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
	for (uint32_t i = 0; !error && i < table.nr && pads->looked_at++ < MAX_LOOKED_AT; i++)
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

const struct landing_site *landing_pads_site(const struct landing_pads *pads, uint64_t vaddr)
{
	size_t low = 0, high = pads->nr;

	while (low < high) { /* the last that begins at or before it */
		size_t middle = low + (high - low) / 2;

		if (pads->sites[middle].start <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low && vaddr < pads->sites[low - 1].end ? &pads->sites[low - 1] : NULL;
}
