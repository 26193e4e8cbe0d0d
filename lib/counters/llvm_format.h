/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where compiler-rt's profile runtime keeps its data in a 64-bit image, raw versions 8 to 10.
 * Source: llvm/ProfileData/InstrProfData.inc (package libclang-common-19-dev), checked against
 * binaries of clang 14, 15, 16, 19 and 22.
 */
#ifndef SWLBR_LLVM_FORMAT_H
#define SWLBR_LLVM_FORMAT_H

#include <stdint.h>

#define LLVM_SECTION_COUNTERS	  "__llvm_prf_cnts"
#define LLVM_SECTION_DATA	  "__llvm_prf_data"
#define LLVM_SECTION_NAMES	  "__llvm_prf_names"
#define LLVM_SECTION_VALUE_NODES  "__llvm_prf_vnds"
#define LLVM_SECTION_BITMAP	  "__llvm_prf_bits"
#define LLVM_SECTION_VTABLES	  "__llvm_prf_vtab"
#define LLVM_SECTION_VTABLE_NAMES "__llvm_prf_vns"

/*
 * The same, not loaded, with -mllvm -profile-correlate=binary (clang 18 and later). A record's
 * CounterPtr is the counters' address then.
 */
#define LLVM_SECTION_UNLOADED_DATA  "__llvm_covdata"
#define LLVM_SECTION_UNLOADED_NAMES "__llvm_covnames"

/* Around the counters in a kernel's per-CPU section (pmu/kernel). */
#define KERNEL_SYMBOL_COUNTERS	   "__swlbr_counters_start"
#define KERNEL_SYMBOL_COUNTERS_END "__swlbr_counters_end"

#define LLVM_SYMBOL_VERSION "__llvm_profile_raw_version"
#define LLVM_SYMBOL_BIAS    "__llvm_profile_counter_bias"

/* The version word: version in the low half, variant flags above. */
#define LLVM_VERSION_MASK	   0x00000000ffffffffULL
#define LLVM_VARIANT_IR		   (1ULL << 56)
#define LLVM_VARIANT_CS_IR	   (1ULL << 57)
#define LLVM_VARIANT_INSTR_ENTRY   (1ULL << 58)
#define LLVM_VARIANT_DBG_CORRELATE (1ULL << 59)
#define LLVM_VARIANT_BYTE_COVERAGE (1ULL << 60)

#define LLVM_RAW_VERSION_MIN 8
#define LLVM_RAW_VERSION_MAX 10

/**
 * struct llvm_record_layout - offsets in a data record, bytes; 0 where a version lacks the field
 *
 * NameRef is at 0, FuncHash at 8, and at 16 CounterPtr: the counters' address less the record's.
 */
struct llvm_record_layout {
	uint8_t size, bitmap_pointer, function_pointer, values, nr_counters, nr_sites, nr_kinds,
		nr_bitmap_bytes;
};

static const struct llvm_record_layout llvm_record_layouts[] = {
	[8] = { .size = 48,
		.function_pointer = 24,
		.values = 32,
		.nr_counters = 40,
		.nr_sites = 44,
		.nr_kinds = 2 },
	[9] = { .size = 64,
		.bitmap_pointer = 24,
		.function_pointer = 32,
		.values = 40,
		.nr_counters = 48,
		.nr_sites = 52,
		.nr_kinds = 2,
		.nr_bitmap_bytes = 56 },
	[10] = { .size = 64,
		 .bitmap_pointer = 24,
		 .function_pointer = 32,
		 .values = 40,
		 .nr_counters = 48,
		 .nr_sites = 52,
		 .nr_kinds = 3,
		 .nr_bitmap_bytes = 60 },
};

#define LLVM_RECORD_NAME_REF	    0
#define LLVM_RECORD_FUNC_HASH	    8
#define LLVM_RECORD_COUNTER_POINTER 16

/* A node of a value list: u64 value, u64 count, pointer to the next. */
#define LLVM_VALUE_NODE_SIZE 24

#endif
