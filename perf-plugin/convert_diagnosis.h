/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PERF_SWLBR_CONVERT_DIAGNOSIS_H
#define PERF_SWLBR_CONVERT_DIAGNOSIS_H

#include <stdint.h>

#include <swlbr/error.h>

struct convert;
struct swlbr_edge_profile;

/* Is given each finding: a key for machines, and cause and remedy in a line. */
typedef void (*convert_finding_fn)(void *context, const char *key, const char *text);

/* Tell what looks wrong with the branch stacks that were read. */
void convert_diagnose(const struct convert *convert, convert_finding_fn tell, void *context);

/*
 * After the output is written, or is not because of @error (which stays the caller's): the summary
 * for people on stderr, or with convert->json for machines on stdout.
 */
void convert_edges_summary(const struct convert *convert, struct swlbr_edge_profile *edges,
			   const struct swlbr_error *error);

#endif
