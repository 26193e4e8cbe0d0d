/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_COUNTERS_H
#define SWLBR_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include <swlbr/elf.h>

/** Who keeps the counters; the `engine` field of the swlbr tracepoints. */
enum swlbr_engine {
	SWLBR_ENGINE_LLVM = 1, /* compiler-rt's profile runtime, raw versions 8, 9 and 10 */
};

/* Kinds of value profile, numbered as LLVM's IPVK_*. */
#define SWLBR_VALUE_INDIRECT_CALL 0
#define SWLBR_VALUE_MEMOP_SIZE	  1
#define SWLBR_VALUE_VTABLE	  2
#define SWLBR_VALUE_KINDS	  3

/**
 * An address range of the image, ELF virtual addresses; size 0 where there is none. A section that
 * is not loaded has no address: @unloaded, and @vaddr is its offset in the file.
 */
struct swlbr_range {
	uint64_t vaddr, size;
	bool unloaded;
};

/** One data record: a function's counters and value sites. */
struct swlbr_counter_function {
	uint64_t name_ref;	   /* MD5 of its name, low 64 bits */
	uint64_t func_hash;	   /* hash of its CFG */
	uint64_t function_pointer; /* ELF virtual address, 0 where the linker left none */
	uint64_t values;	   /* ELF virtual address of its array of value lists, or 0 */
	uint64_t first_counter;	   /* index in the counter area */
	uint64_t first_bitmap;	   /* offset in the bitmap, bytes */
	uint32_t nr_counters;
	uint32_t nr_bitmap_bytes;
	uint16_t nr_sites[SWLBR_VALUE_KINDS];
};

/**
 * struct swlbr_counters - where a binary keeps its counters
 *
 * A counter's index is its place in the counters section, in units of 8 bytes. In a kernel
 * (CONFIG_SWLBR) that section is part of the per-CPU one, and their addresses are offsets in it.
 */
struct swlbr_counters {
	enum swlbr_engine engine;
	uint64_t version_word; /* __llvm_profile_raw_version: version and variant flags */
	unsigned int version;  /* its low 32 bits */
	struct swlbr_range counters, data, names, bitmap, vtables, vtable_names;
	bool per_cpu;	     /* each CPU of a kernel has its own */
	uint64_t bias_vaddr; /* of __llvm_profile_counter_bias; 0 if not known */
	uint64_t nr_counters;
	struct swlbr_counter_function *functions;
	size_t nr_functions;
};

/**
 * Find the counters of @elf. Stripped binaries are fine. SWLBR_ERROR_NOT_INSTRUMENTED if there are
 * none, SWLBR_ERROR_UNSUPPORTED for other raw versions and kinds. Freed by
 * swlbr_counters_destroy().
 */
struct swlbr_error *swlbr_counters_locate(struct swlbr_elf *elf, struct swlbr_counters **ret);

void swlbr_counters_destroy(struct swlbr_counters *counters);

/** Copy what @elf has of @range, a part of swlbr_counters, to @buffer of @range->size bytes. */
struct swlbr_error *swlbr_counters_read(struct swlbr_elf *elf, const struct swlbr_range *range,
					void *buffer);

#endif
