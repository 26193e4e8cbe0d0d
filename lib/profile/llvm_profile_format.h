/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * LLVM's instrumentation profiles on disk.
 *
 * Raw profile (.profraw), versions 8 (LLVM 14 to 17), 9 (18) and 10 (19 to 22): what compiler-rt's
 * profile runtime writes. Source: llvm/ProfileData/InstrProfData.inc (packages
 * libclang-common-NN-dev), RawInstrProfReader of llvm/lib/ProfileData/InstrProfReader.cpp.
 * The layout of a data record is in counters/llvm_format.h: it is the same in the binary.
 *
 *   header; binary ids: {u64 length, bytes, zeroes to a multiple of 8}; data records; padding;
 *   counters; padding; [9+] bitmap; padding; names; zeroes to a multiple of 8; [10] vtable records;
 *   vtable names; zeroes to a multiple of 8; value data of each record that has value sites.
 *   Several of these may follow one another with zeroes between them.
 *
 * Indexed profile (.profdata), versions 7 to 12. Source: InstrProfWriter.cpp, InstrProf.h
 * (namespace IndexedInstrProf), llvm/Support/OnDiskHashTable.h. Always little-endian.
 */
#ifndef SWLBR_LLVM_PROFILE_FORMAT_H
#define SWLBR_LLVM_PROFILE_FORMAT_H

#include "counters/llvm_format.h"

/* As a number in the byte order of the file: 0xff "lprofr" 0x81, and 'R' for 32-bit programs. */
#define PROFRAW_MAGIC_64 0xff6c70726f667281ULL
#define PROFRAW_MAGIC_32 0xff6c70726f665281ULL

#define PROFILE_VERSION_MASK LLVM_VERSION_MASK

#define PROFILE_VARIANT_LOOP_ENTRIES	    (1ULL << 55) /* LLVM 20 and later */
#define PROFILE_VARIANT_IR		    LLVM_VARIANT_IR
#define PROFILE_VARIANT_CS_IR		    LLVM_VARIANT_CS_IR
#define PROFILE_VARIANT_INSTR_ENTRY	    LLVM_VARIANT_INSTR_ENTRY
#define PROFILE_VARIANT_DBG_CORRELATE	    LLVM_VARIANT_DBG_CORRELATE
#define PROFILE_VARIANT_BYTE_COVERAGE	    LLVM_VARIANT_BYTE_COVERAGE
#define PROFILE_VARIANT_FUNCTION_ENTRY_ONLY (1ULL << 61)
#define PROFILE_VARIANT_MEMPROF		    (1ULL << 62)
#define PROFILE_VARIANT_TEMPORAL	    (1ULL << 63)

/** The words of a raw header, in the order of the file. */
enum profraw_header_word {
	PROFRAW_MAGIC,
	PROFRAW_VERSION,
	PROFRAW_BINARY_IDS_SIZE, /* bytes */
	PROFRAW_NR_DATA,
	PROFRAW_PADDING_BEFORE_COUNTERS, /* bytes */
	PROFRAW_NR_COUNTERS,
	PROFRAW_PADDING_AFTER_COUNTERS,
	PROFRAW_NR_BITMAP_BYTES,      /* 9+ */
	PROFRAW_PADDING_AFTER_BITMAP, /* 9+ */
	PROFRAW_NAMES_SIZE,
	PROFRAW_COUNTERS_DELTA, /* address of the counters less that of the data records */
	PROFRAW_BITMAP_DELTA,	/* 9+, likewise */
	PROFRAW_NAMES_DELTA,	/* address of the names */
	PROFRAW_NR_VTABLES,	/* 10 */
	PROFRAW_VNAMES_SIZE,	/* 10 */
	PROFRAW_VALUE_KIND_LAST,
	PROFRAW_HEADER_WORDS,
};

/* The version that brought a header word. */
static const uint8_t profraw_header_since[PROFRAW_HEADER_WORDS] = {
	[PROFRAW_NR_BITMAP_BYTES] = 9, [PROFRAW_PADDING_AFTER_BITMAP] = 9,
	[PROFRAW_BITMAP_DELTA] = 9,    [PROFRAW_NR_VTABLES] = 10,
	[PROFRAW_VNAMES_SIZE] = 10,
};

/* A vtable record: u64 hash of its name, u64 address, u32 size in bytes, 4 bytes of padding. */
#define PROFRAW_VTABLE_SIZE 24

/*
 * Value data of one function, the same in both kinds of file: u32 total size in bytes (a multiple
 * of 8), u32 number of kinds; then per kind u32 kind, u32 number of sites, u8 number of values for
 * each site, padding to a multiple of 8, and {u64 value, u64 count} for each value.
 */
#define VALUE_DATA_HEADER_SIZE	 8
#define VALUE_RECORD_HEADER_SIZE 8
#define VALUE_ENTRY_SIZE	 16
#define VALUES_PER_SITE_MAX	 255

/* The names: blobs of {uleb128 size, uleb128 zlib size or 0, bytes}, zeroes between them. */
#define NAME_SEPARATOR '\1'

/* RawInstrProfReader::MaxCounterValue: above it LLVM calls a counter implausible. */
#define COUNTER_PLAUSIBLE_MAX (1ULL << 56)
/* getInstrMaxCountValue(): sums stop here; the two values above mark hot and warm functions. */
#define COUNTER_MAX (UINT64_MAX - 2)

/* Set in the hash of a function's context-sensitive counters. */
#define FUNC_HASH_CS_FLAG (1ULL << 60)

#define INDEXED_MAGIC	 0x8169666f72706cffULL /* 0xff "lprofi" 0x81 as bytes */
#define INDEXED_HASH_MD5 0

/*
 * Header: u64 magic, version word, 0, hash type, offset of the hash table; [8+] offset of memprof
 * data; [9+] of binary ids; [10+] of temporal traces; [12+] of vtable names. Then the summary (a
 * second one with PROFILE_VARIANT_CS_IR), the functions, the hash table, binary ids, vtable names.
 */
#define INDEXED_VERSION_BASE	   7 /* LLVM 14 */
#define INDEXED_VERSION_BINARY_IDS 9
#define INDEXED_VERSION_BITMAP	   11
#define INDEXED_VERSION_VTABLES	   12

/* Summary: u64 number of fields, u64 number of cutoffs, the fields, {cutoff, count, blocks}. */
enum indexed_summary_field {
	SUMMARY_NR_FUNCTIONS,
	SUMMARY_NR_COUNTS,
	SUMMARY_MAX_FUNCTION_COUNT,
	SUMMARY_MAX_COUNT,
	SUMMARY_MAX_INTERNAL_COUNT,
	SUMMARY_TOTAL_COUNT,
	SUMMARY_FIELDS,
};

/* ProfileSummaryBuilder::DefaultCutoffs, in millionths of the total count. */
#define SUMMARY_SCALE 1000000
static const uint32_t summary_cutoffs[] = { 10000,  100000, 200000, 300000, 400000, 500000,
					    600000, 700000, 800000, 900000, 950000, 990000,
					    999000, 999900, 999990, 999999 };
#define SUMMARY_CUTOFFS (sizeof(summary_cutoffs) / sizeof(summary_cutoffs[0]))

#endif
