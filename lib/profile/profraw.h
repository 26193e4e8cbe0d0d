/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The raw profile model. */
#ifndef SWLBR_PROFRAW_INTERNAL_H
#define SWLBR_PROFRAW_INTERNAL_H

#include <swlbr/profraw.h>

#include "base/saturate.h"
#include "profile/names.h"
#include "profile/value_site.h"

/** A data record. */
struct profraw_function {
	uint64_t name_ref, func_hash;
	uint64_t function_pointer; /* in the addresses of the profile; 0: not known */
	uint64_t values;	   /* of no use in a file; kept */
	uint64_t first_counter;	   /* index */
	uint64_t first_bitmap;	   /* bytes */
	uint64_t first_site;	   /* index in the profile's sites, kind after kind */
	uint32_t nr_counters, nr_bitmap_bytes;
	uint16_t nr_sites[SWLBR_VALUE_KINDS];
	bool damaged;	/* left out of all output */
	bool uncounted; /* damaged only in that nothing counts there */
	bool boot;	/* of a kernel: freed after boot */
};

struct profraw_vtable {
	uint64_t name_hash, address;
	uint32_t size;
};

struct profraw_bytes {
	uint8_t *data;
	size_t size;
};

/** Where a function is: for call targets. */
struct profraw_target {
	uint64_t address;
	size_t function; /* index */
};

struct swlbr_profraw {
	char *name; /* of the file it is from */
	uint64_t version_word;
	unsigned int version;
	bool big_endian;
	uint64_t counters_delta, bitmap_delta, names_delta; /* as in the header */
	struct profraw_function *functions;
	size_t nr_functions;
	uint64_t *counters;
	size_t nr_counters;
	struct profraw_bytes bitmap, names, vtable_names;
	struct profraw_vtable *vtables;
	size_t nr_vtables;
	struct profraw_bytes *binary_ids;
	size_t nr_binary_ids;
	struct value_site *sites;
	size_t nr_sites;
	bool several_processes; /* the values so far are not of one process alone */
	struct profile_names *name_table;
	struct profraw_target *targets; /* sorted by address */
	size_t nr_targets;
	struct profraw_vtable **vtable_order; /* sorted by address */
};

static inline uint64_t add_count(uint64_t a, uint64_t b)
{
	add_saturating(&a, b);
	return a > UINT64_MAX - 2 ? UINT64_MAX - 2 : a; /* COUNTER_MAX */
}

static inline uint32_t profraw_function_sites(const struct profraw_function *function)
{
	return (uint32_t)function->nr_sites[0] + function->nr_sites[1] + function->nr_sites[2];
}

/** The site @site of @kind; both must be in range. */
static inline struct value_site *profraw_site(const struct swlbr_profraw *profile,
					      const struct profraw_function *function,
					      uint32_t kind, uint32_t site)
{
	uint64_t index = function->first_site + site;

	for (uint32_t k = 0; k < kind; k++)
		index += function->nr_sites[k];
	return &profile->sites[index];
}

/** An empty profile; @name is copied. */
struct swlbr_error *profraw_new(const char *name, struct swlbr_profraw **ret);

/** Set first_site of all functions, allocate the sites, sort the targets: the records are known. */
struct swlbr_error *profraw_records_done(struct swlbr_profraw *profile);

/** Decode the names; functions without a name become damaged and are reported. */
struct swlbr_error *profraw_decode_names(struct swlbr_profraw *profile,
					 const struct swlbr_reporter *reporter);

/** Mark functions of the kernel @elf that do not count or are boot code; names are decoded. */
struct swlbr_error *profraw_mark_kernel_functions(struct swlbr_profraw *profile,
						  struct swlbr_elf *elf);

/** Functions that are not damaged. */
static inline size_t profraw_sound_functions(const struct swlbr_profraw *profile)
{
	size_t nr = 0;

	for (size_t i = 0; i < profile->nr_functions; i++)
		nr += !profile->functions[i].damaged;
	return nr;
}

/** Report a damaged function: name, if known, and why. */
void profraw_report(const struct swlbr_profraw *profile, const struct profraw_function *function,
		    const struct swlbr_reporter *reporter, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/**
 * What a profiled value of @kind means: the name hash of the function or vtable at the address, 0
 * if none is there, and the value itself for other kinds.
 */
uint64_t profraw_resolve(const struct swlbr_profraw *profile, uint32_t kind, uint64_t value);

/** The function at @address, or NULL. */
const struct profraw_function *profraw_target(const struct swlbr_profraw *profile,
					      uint64_t address);

/** Copy @size bytes; an empty copy has @data NULL. */
struct swlbr_error *profraw_bytes_copy(struct profraw_bytes *bytes, const void *data, size_t size);

/** Append without summing. @profile is taken unless that fails. */
struct swlbr_error *profraws_append(struct swlbr_profraws *set, struct swlbr_profraw *profile);

/** Add a binary id, a copy. */
struct swlbr_error *profraw_add_binary_id(struct swlbr_profraw *profile, const void *data,
					  size_t size);

/** SWLBR_ERROR_MISMATCH if LLVM would not merge profiles with these variant flags. */
struct swlbr_error *profraw_check_variants(const struct swlbr_profraws *set);

#endif
