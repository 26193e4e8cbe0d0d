/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PERF_SWLBR_CONVERT_H
#define PERF_SWLBR_CONVERT_H

#include <sys/types.h>

#include <swlbr/branch_stacks.h>
#include <swlbr/combine.h>
#include <swlbr/counters.h>
#include <swlbr/edge_profile.h>
#include <swlbr/elf.h>
#include <swlbr/elf_finder.h>
#include <swlbr/perfdata.h>
#include <swlbr/profraw.h>
#include <swlbr/walk.h>

#include "cmd.h"

/* A file that the recording says was mapped. */
struct convert_mapping {
	pid_t pid;
	struct swlbr_build_id build_id; /* size 0: none recorded */
	char *path;
};

/* A binary that the recording has counters of. */
struct convert_binary {
	uint8_t id[SWLBR_BUILD_ID_SIZE]; /* as rows have it */
	struct swlbr_elf *elf;
	struct swlbr_counters *counters;
	struct swlbr_profraw *profile; /* until convert_take_recorded() */
};

struct convert;

/*
 * An output format. It is made of counters (convert->set) or of an edge profile: one of the two
 * write functions is there.
 */
struct convert_format {
	const char *name;
	struct swlbr_error *(*write_counters)(struct convert *convert, const char *path);
	struct swlbr_error *(*write_edges)(struct convert *convert,
					   struct swlbr_edge_profile *edges, const char *path);
	const char *summary;
};

/* What of a recording of counters is used. */
enum convert_from { CONVERT_FROM_BEST, CONVERT_FROM_ARCS, CONVERT_FROM_STACKS };

/* Of counters and branch stacks. */
enum convert_prefer {
	CONVERT_PREFER_DEFAULT,
	CONVERT_PREFER_SUM,
	CONVERT_PREFER_SW,
	CONVERT_PREFER_HW
};

struct convert {
	enum convert_prefer prefer;
	struct cmd_weights weights;
	bool has_rows; /* some input has counts that nobody knows the period of */
	struct swlbr_combination combination;
	bool by_source; /* the two sides are different builds, combined by source place */
	enum convert_from from;
	struct swlbr_flow_share share; /* of branches that are known by counters */
	char **inputs;
	size_t nr_inputs;
	const struct convert_format *format;
	const char *output;
	const char *symbol_order; /* propeller's second file; NULL: beside the output */
	char **arguments;	  /* BINARY... */
	size_t nr_arguments;
	bool verbose, quiet, json, normalize;
	unsigned int sample_flags;	 /* enum swlbr_sample_flags */
	unsigned int gcov_version;	 /* of gcc-afdo; 0: the default */
	struct swlbr_elf_finder *finder; /* has the arguments */
	struct swlbr_stacks *stacks;	 /* of formats from an edge profile */
	struct swlbr_stacks_filter filter;
	struct swlbr_profraws set;
	struct swlbr_reporter reporter;
	struct convert_binary *binaries;
	size_t nr_binaries;
	uint64_t processes;	  /* with counters in a perf.data */
	uint64_t reports;	  /* lines of damage */
	const char *counted_from; /* since when a kernel's counters count */
	uint64_t kernel_count;	  /* their sum */
	uint64_t before_perf;	  /* of it, before perf existed */
};

/* What --pid and so on choose by. */
enum convert_filter {
	CONVERT_FILTER_PID,
	CONVERT_FILTER_TID,
	CONVERT_FILTER_COMM,
	CONVERT_FILTER_EVENT,
	CONVERT_FILTER_TIME,
	CONVERT_FILTER_DSO,
};

/* Take an option's value, a list; it adds to what was given before. */
struct swlbr_error *convert_filter_option(struct convert *convert, enum convert_filter option,
					  const char *text);
/* Some samples are chosen, and not all taken. */
bool convert_is_filtered(const struct convert *convert);
void convert_free_filter(struct convert *convert);

/* NULL if there is none of that name. */
const struct convert_format *convert_find_format(const char *name);
/* Print them; returns the exit status. */
int convert_list_formats(void);

/* Read the inputs, write the output in a format of that kind, and print the summary. */
struct swlbr_error *convert_run_counters(struct convert *convert);
struct swlbr_error *convert_run_edges(struct convert *convert);

/* For perf's dlfilter: begin with its arguments; -1: go on, else the exit status. */
int convert_begin(struct convert *convert, int argc, char **argv);
/* Give the finder the BINARY arguments. */
struct swlbr_error *convert_find_arguments(struct convert *convert);
/* Add convert->stacks to @edges, write the output, and print the summary. */
struct swlbr_error *convert_write_edges(struct convert *convert, struct swlbr_edge_profile *edges);
void convert_end(struct convert *convert);

/*
 * The ELF file of @binary, for writers of edge profiles; the caller closes it. SWLBR_ERROR_NOT_FOUND
 * or _MISMATCH with the reason and the remedy if it is not at hand.
 */
struct swlbr_error *convert_open_edge_binary(const struct convert *convert,
					     const struct swlbr_edge_binary *binary,
					     struct swlbr_elf **ret);

/* Add the rows of the perf.data at @path to the profiles of their binaries. */
struct swlbr_error *convert_perfdata(struct convert *convert, const char *path);

/* Add the branch stacks of the perf.data at @path to convert->stacks. */
struct swlbr_error *convert_perfdata_edges(struct convert *convert, const char *path);

/*
 * Add the rows of swlbr:arc of the perf.data at @path to @edges, and what is exact of them to
 * convert->share; @found_ret: there were some.
 */
struct swlbr_error *convert_arcs(struct convert *convert, struct swlbr_edge_profile *edges,
				 const char *path, bool *found_ret);

/* The sources of @edges side by side into the empty @combined, as the options want them. */
struct swlbr_error *convert_combine(struct convert *convert, struct swlbr_edge_profile *edges,
				    struct swlbr_edge_profile *combined);
/* A line of what came from where, if there were two sides. */
void convert_combine_summary(const struct convert *convert);

/* Add what the counters of convert->set say of branches to @edges; the set is empty then. */
struct swlbr_error *convert_flow(struct convert *convert, struct swlbr_edge_profile *edges);

/* Add a .profraw to the set. */
struct swlbr_error *convert_profraw(struct convert *convert, const char *path);

/* Add the counters that a kernel exported to the profile of its vmlinux. */
struct swlbr_error *convert_kernel(struct convert *convert, const char *path);
/* Since when these count, if there were some. */
void convert_kernel_summary(const struct convert *convert);

/* @record is a sample of the kernel's counters that has what they counted. */
bool convert_is_kernel_sample(const struct swlbr_perfdata *file, const struct swlbr_record *record);

/* True if the perf.data at @path has samples of the kernel's counters with what they counted. */
struct swlbr_error *convert_has_kernel_counters(const char *path, bool *ret);
/* Let @add, which adds to profiles of binaries, read @path; what it has is in the set then. */
struct swlbr_error *convert_kernel_edges(struct convert *convert, const char *path,
					 struct swlbr_error *(*add)(struct convert *convert,
								    const char *path));

/*
 * Add what @record, a sample, has of a kernel's counters, to the profile of its vmlinux; their
 * number is added to @nr_ret. Samples of other events have nothing.
 */
struct swlbr_error *convert_kernel_sample(struct convert *convert, const char *path,
					  const struct swlbr_perfdata *file,
					  const struct swlbr_record *record, uint64_t *nr_ret);

/*
 * The binary that rows of @pid call @id: of the mapped files, then of the arguments. It stays the
 * convert's. @path is the recording's, for messages.
 */
struct swlbr_error *convert_find_binary(struct convert *convert, const char *path, pid_t pid,
					const uint8_t id[SWLBR_BUILD_ID_SIZE],
					const struct convert_mapping *mappings, size_t nr_mappings,
					struct convert_binary **ret);

/* Open a binary and locate its counters. On success both are the caller's. */
struct swlbr_error *convert_open_binary(const char *path, struct swlbr_elf **elf_ret,
					struct swlbr_counters **counters_ret);

/* Move what the recordings had of each binary into the set, after the last input. */
struct swlbr_error *convert_take_recorded(struct convert *convert);

void convert_free_binaries(struct convert *convert);

#endif
