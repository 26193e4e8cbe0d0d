// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Where an LLVM-instrumented binary keeps its counters, read from its sections. */
#include <stdlib.h>
#include <string.h>

#include <swlbr/counters.h>

#include "llvm_format.h"

/* A data section larger than this is damage, not a program. */
#define MAX_DATA_SIZE (1ULL << 32)

static uint64_t get(const struct swlbr_elf *elf, const uint8_t *bytes, unsigned int size)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < size; i++)
		value |= (uint64_t)bytes[swlbr_elf_is_big_endian(elf) ? size - 1 - i : i] << 8 * i;
	return value;
}

static struct swlbr_range section_range(const struct swlbr_elf *elf, const char *name)
{
	const struct swlbr_elf_section *section = swlbr_elf_section(elf, name);

	if (!section || !section->vaddr)
		return (struct swlbr_range){ 0 };
	return (struct swlbr_range){ .vaddr = section->vaddr, .size = section->size };
}

/* A section that may also be there under another name, not loaded. */
static struct swlbr_range range_or_unloaded(const struct swlbr_elf *elf, const char *name,
					    const char *unloaded_name)
{
	struct swlbr_range range = section_range(elf, name);
	const struct swlbr_elf_section *section = swlbr_elf_section(elf, unloaded_name);

	if (range.size || !section || section->vaddr || section->type != 1 /* SHT_PROGBITS */)
		return range;
	return (struct swlbr_range){ .vaddr = section->offset,
				     .size = section->size,
				     .unloaded = true };
}

/* The counters of a kernel have no section of their own. */
static struct swlbr_range kernel_counters(struct swlbr_elf *elf)
{
	struct swlbr_elf_symbol start, end;

	if (!swlbr_elf_symbol(elf, KERNEL_SYMBOL_COUNTERS, &start) ||
	    !swlbr_elf_symbol(elf, KERNEL_SYMBOL_COUNTERS_END, &end) || start.vaddr > end.vaddr)
		return (struct swlbr_range){ 0 };
	return (struct swlbr_range){ .vaddr = start.vaddr, .size = end.vaddr - start.vaddr };
}

static void decode_record(const struct swlbr_elf *elf, const struct llvm_record_layout *layout,
			  const uint8_t *record, struct swlbr_counter_function *function)
{
	*function = (struct swlbr_counter_function){
		.name_ref = get(elf, record + LLVM_RECORD_NAME_REF, 8),
		.func_hash = get(elf, record + LLVM_RECORD_FUNC_HASH, 8),
		.function_pointer = get(elf, record + layout->function_pointer, 8),
		.values = get(elf, record + layout->values, 8),
		.nr_counters = (uint32_t)get(elf, record + layout->nr_counters, 4),
	};
	for (unsigned int kind = 0; kind < layout->nr_kinds; kind++)
		function->nr_sites[kind] =
			(uint16_t)get(elf, record + layout->nr_sites + 2 * kind, 2);
	if (layout->nr_bitmap_bytes)
		function->nr_bitmap_bytes = (uint32_t)get(elf, record + layout->nr_bitmap_bytes, 4);
}

/*
 * @record_vaddr: what CounterPtr is relative to. False if the record's counters are not inside the counters section: then
 * the layout is wrong.
 */
static bool place_counters(const struct swlbr_elf *elf, const struct swlbr_counters *counters,
			   const struct llvm_record_layout *layout, const uint8_t *record,
			   uint64_t record_vaddr, struct swlbr_counter_function *function)
{
	uint64_t at = record_vaddr + get(elf, record + LLVM_RECORD_COUNTER_POINTER, 8) -
		      counters->counters.vaddr;

	if (at % 8 || at / 8 >= counters->nr_counters || !function->nr_counters ||
	    function->nr_counters > counters->nr_counters - at / 8)
		return false;
	function->first_counter = at / 8;
	if (function->nr_bitmap_bytes) {
		at = record_vaddr + get(elf, record + layout->bitmap_pointer, 8) -
		     counters->bitmap.vaddr;
		if (at >= counters->bitmap.size ||
		    function->nr_bitmap_bytes > counters->bitmap.size - at)
			return false;
		function->first_bitmap = at;
	}
	return true;
}

/* Decode all records as @version's; false if one does not fit it. */
static bool decode_records(const struct swlbr_elf *elf, struct swlbr_counters *counters,
			   const uint8_t *data, unsigned int version)
{
	const struct llvm_record_layout *layout = &llvm_record_layouts[version];

	if (counters->data.size % layout->size)
		return false;
	counters->nr_functions = counters->data.size / layout->size;
	for (size_t i = 0; i < counters->nr_functions; i++) {
		const uint8_t *record = data + i * layout->size;

		decode_record(elf, layout, record, &counters->functions[i]);
		if (!place_counters(
			    elf, counters, layout, record,
			    counters->data.unloaded ? 0 : counters->data.vaddr + i * layout->size,
			    &counters->functions[i]))
			return false;
	}
	return true;
}

/*
 * The version word without its symbol: the IR variant's top byte makes it rare enough that the
 * only such word among the constants is it. 0 if there is none, or if there are several.
 */
static struct swlbr_error *scan_version_word(struct swlbr_elf *elf, uint64_t *word_ret)
{
	const struct swlbr_elf_section *sections;
	size_t nr = swlbr_elf_sections(elf, &sections);
	uint64_t found = 0;

	*word_ret = 0;
	for (size_t i = 0; i < nr; i++) {
		uint64_t vaddr = sections[i].vaddr, end = vaddr + sections[i].size;
		uint8_t block[4096];

		if (!vaddr || sections[i].type != 1 /* SHT_PROGBITS */ ||
		    strncmp(sections[i].name, ".rodata", 7) ||
		    sections[i].size > swlbr_elf_file_size(elf)) /* damage */
			continue;
		for (vaddr = (vaddr + 7) & ~7ULL; vaddr + 8 <= end; vaddr += sizeof(block)) {
			uint64_t size = (end - vaddr) & ~7ULL;
			struct swlbr_error *error;

			if (size > sizeof(block))
				size = sizeof(block);
			error = swlbr_elf_read(elf, vaddr, block, size);
			if (error)
				return error;
			for (size_t at = 0; at < size; at += 8) {
				uint64_t word = get(elf, block + at, 8);

				if (!(word & LLVM_VARIANT_IR) ||
				    (word & LLVM_VERSION_MASK) < LLVM_RAW_VERSION_MIN ||
				    (word & LLVM_VERSION_MASK) > LLVM_RAW_VERSION_MAX ||
				    word == found)
					continue;
				if (found)
					return NULL;
				found = word;
			}
		}
	}
	*word_ret = found;
	return NULL;
}

static struct swlbr_error *find_version_word(struct swlbr_elf *elf, uint64_t *word_ret)
{
	struct swlbr_elf_symbol symbol;
	struct swlbr_error *error;
	uint8_t bytes[8];

	if (!swlbr_elf_symbol(elf, LLVM_SYMBOL_VERSION, &symbol))
		return scan_version_word(elf, word_ret);
	error = swlbr_elf_read(elf, symbol.vaddr, bytes, sizeof(bytes));
	if (!error)
		*word_ret = get(elf, bytes, sizeof(bytes));
	return error;
}

static struct swlbr_error *check_version(const struct swlbr_elf *elf, uint64_t word)
{
	uint64_t version = word & LLVM_VERSION_MASK;

	if (version < LLVM_RAW_VERSION_MIN || version > LLVM_RAW_VERSION_MAX)
		return swlbr_error_create(
			SWLBR_ERROR_UNSUPPORTED,
			"%s: raw profile version %llu is not known (8 to 10 are: clang 14 to 22)",
			swlbr_elf_path(elf), (unsigned long long)version);
	if (word & LLVM_VARIANT_BYTE_COVERAGE)
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "%s: has one-byte coverage flags instead of counters",
					  swlbr_elf_path(elf));
	if (word & LLVM_VARIANT_DBG_CORRELATE)
		return swlbr_error_create(
			SWLBR_ERROR_UNSUPPORTED,
			"%s: keeps its data records in debug info (-debug-info-correlate)",
			swlbr_elf_path(elf));
	return NULL;
}

static struct swlbr_error *decode_functions(struct swlbr_elf *elf, struct swlbr_counters *counters)
{
	static const unsigned int by_likelihood[] = { 10, 8, 9 };
	struct swlbr_error *error;
	bool fits = false;
	uint8_t *data;

	data = malloc(counters->data.size);
	counters->functions = calloc(counters->data.size / 48 + 1, sizeof(*counters->functions));
	if (!data || !counters->functions) {
		free(data);
		return swlbr_error_no_memory();
	}
	error = swlbr_counters_read(elf, &counters->data, data);
	if (!error && counters->version) {
		fits = decode_records(elf, counters, data, counters->version);
	} else if (!error) { /* stripped, and not the IR variant: only the records can tell */
		for (size_t i = 0; i < 3 && !fits; i++) {
			fits = decode_records(elf, counters, data, by_likelihood[i]);
			counters->version = by_likelihood[i];
			counters->version_word = by_likelihood[i];
		}
	}
	free(data);
	if (!error && !fits)
		error = swlbr_error_create(SWLBR_ERROR_FORMAT,
					   "%s: %s: data records do not fit the counters section",
					   swlbr_elf_path(elf), LLVM_SECTION_DATA);
	return error;
}

/* What is read whole is in the file, and not larger than it. */
static struct swlbr_error *check_sizes(const struct swlbr_elf *elf,
				       const struct swlbr_counters *counters)
{
	const struct swlbr_range *ranges[] = { &counters->data, &counters->names,
					       &counters->vtables, &counters->vtable_names };

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (ranges[i]->size > swlbr_elf_file_size(elf))
			return swlbr_error_create(
				SWLBR_ERROR_FORMAT,
				"%s: a section of its counters is larger than the file",
				swlbr_elf_path(elf));
	return NULL;
}

static struct swlbr_error *locate(struct swlbr_elf *elf, struct swlbr_counters *counters)
{
	struct swlbr_error *error;
	struct swlbr_elf_symbol bias;

	counters->engine = SWLBR_ENGINE_LLVM;
	counters->counters = section_range(elf, LLVM_SECTION_COUNTERS);
	if (!counters->counters.size) {
		counters->counters = kernel_counters(elf);
		counters->per_cpu = counters->counters.size;
	}
	counters->data = range_or_unloaded(elf, LLVM_SECTION_DATA, LLVM_SECTION_UNLOADED_DATA);
	counters->names = range_or_unloaded(elf, LLVM_SECTION_NAMES, LLVM_SECTION_UNLOADED_NAMES);
	counters->bitmap = section_range(elf, LLVM_SECTION_BITMAP);
	counters->vtables = section_range(elf, LLVM_SECTION_VTABLES);
	counters->vtable_names = section_range(elf, LLVM_SECTION_VTABLE_NAMES);
	if (!counters->counters.size && !counters->data.size)
		return swlbr_error_create(
			SWLBR_ERROR_NOT_INSTRUMENTED,
			"%s: built without -fprofile-generate; see perf swlbr cflags",
			swlbr_elf_path(elf));
	if (!swlbr_elf_is_64(elf))
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED,
					  "%s: counters of 32-bit programs are not read",
					  swlbr_elf_path(elf));
	error = find_version_word(elf, &counters->version_word);
	if (!error && counters->version_word)
		error = check_version(elf, counters->version_word);
	if (!error)
		error = check_sizes(elf, counters);
	if (error)
		return error;
	counters->version = (unsigned int)(counters->version_word & LLVM_VERSION_MASK);
	counters->nr_counters = counters->counters.size / 8;
	if (!counters->data.size || counters->data.size > MAX_DATA_SIZE)
		return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s: %s: %llu bytes of data records",
					  swlbr_elf_path(elf), LLVM_SECTION_DATA,
					  (unsigned long long)counters->data.size);
	if (swlbr_elf_symbol(elf, LLVM_SYMBOL_BIAS, &bias))
		counters->bias_vaddr = bias.vaddr;
	return decode_functions(elf, counters);
}

struct swlbr_error *swlbr_counters_read(struct swlbr_elf *elf, const struct swlbr_range *range,
					void *buffer)
{
	if (range->unloaded)
		return swlbr_elf_read_file(elf, range->vaddr, buffer, range->size);
	return swlbr_elf_read(elf, range->vaddr, buffer, range->size);
}

struct swlbr_error *swlbr_counters_locate(struct swlbr_elf *elf, struct swlbr_counters **ret)
{
	struct swlbr_counters *counters = calloc(1, sizeof(*counters));
	struct swlbr_error *error;

	if (!counters)
		return swlbr_error_no_memory();
	error = locate(elf, counters);
	if (error) {
		swlbr_counters_destroy(counters);
		return error;
	}
	*ret = counters;
	return NULL;
}

void swlbr_counters_destroy(struct swlbr_counters *counters)
{
	if (!counters)
		return;
	free(counters->functions);
	free(counters);
}
