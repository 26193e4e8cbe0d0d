/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PERF_SWLBR_CONVERT_SAMPLES_H
#define PERF_SWLBR_CONVERT_SAMPLES_H

#include "convert.h"

/* Writers of sample profiles, made of all binaries that have debug information. */
struct swlbr_error *convert_write_llvm_sample(struct convert *convert,
					      struct swlbr_edge_profile *edges, const char *path);
struct swlbr_error *convert_write_llvm_extbinary(struct convert *convert,
						 struct swlbr_edge_profile *edges,
						 const char *path);
struct swlbr_error *convert_write_gcc_afdo(struct convert *convert,
					   struct swlbr_edge_profile *edges, const char *path);

/* Writers of edge profiles of one binary. */
struct swlbr_error *convert_write_llvm_unsymbolized(struct convert *convert,
						    struct swlbr_edge_profile *edges,
						    const char *path);
struct swlbr_error *convert_write_bolt(struct convert *convert, struct swlbr_edge_profile *edges,
				       const char *path);
struct swlbr_error *convert_write_bolt_preagg(struct convert *convert,
					      struct swlbr_edge_profile *edges, const char *path);
struct swlbr_error *convert_write_propeller(struct convert *convert,
					    struct swlbr_edge_profile *edges, const char *path);
struct swlbr_error *convert_write_autofdo_text(struct convert *convert,
					       struct swlbr_edge_profile *edges, const char *path);

/* The executions of ranges in each binary: @ret is the caller's to free(). */
struct swlbr_error *convert_edge_weights(struct swlbr_edge_profile *edges, uint64_t **ret,
					 uint64_t *total_ret);

#endif
