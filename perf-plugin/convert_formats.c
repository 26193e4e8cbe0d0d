// SPDX-License-Identifier: GPL-2.0-only
/* The output formats. */
#include <stdio.h>
#include <string.h>

#include <swlbr/edge_writers.h>
#include <swlbr/instr_profile.h>

#include "convert.h"
#include "convert_samples.h"

static struct swlbr_error *write_profdata(struct convert *convert, const char *path)
{
	return swlbr_instr_profile_write(&convert->set, path, &convert->reporter);
}

static struct swlbr_error *write_profraw(struct convert *convert, const char *path)
{
	return swlbr_profraws_write(&convert->set, path);
}

static struct swlbr_error *write_rows(const struct convert *convert,
				      struct swlbr_edge_profile *edges, const char *path,
				      struct swlbr_error *(*write)(struct swlbr_edge_profile *edges,
								   const char *path))
{
	struct swlbr_edge_profile *normalized;
	struct swlbr_error *error;

	if (!convert->normalize)
		return write(edges, path);
	error = swlbr_edge_profile_create(&normalized);
	if (!error)
		error = swlbr_edge_profile_normalize(edges, normalized);
	if (!error)
		error = write(normalized, path);
	swlbr_edge_profile_destroy(normalized);
	return error;
}

static struct swlbr_error *write_arcs(struct convert *convert, struct swlbr_edge_profile *edges,
				      const char *path)
{
	return write_rows(convert, edges, path, swlbr_arcs_write);
}

static struct swlbr_error *write_json(struct convert *convert, struct swlbr_edge_profile *edges,
				      const char *path)
{
	return write_rows(convert, edges, path, swlbr_json_write);
}

static const struct convert_format formats[] = {
	{ "llvm-profdata", write_profdata, NULL,
	  "indexed profile for clang -fprofile-use (.profdata), from counters" },
	{ "llvm-profraw", write_profraw, NULL,
	  "raw profile for llvm-profdata merge (.profraw), from counters" },
	{ "llvm-sample", NULL, convert_write_llvm_sample,
	  "sample profile for clang -fprofile-sample-use, text" },
	{ "llvm-extbinary", NULL, convert_write_llvm_extbinary,
	  "the same in LLVM's extensible binary form" },
	{ "gcc-afdo", NULL, convert_write_gcc_afdo,
	  "auto-profile for gcc -fauto-profile (.gcov, gcc 12 and 13; 16)" },
	{ "llvm-unsymbolized", NULL, convert_write_llvm_unsymbolized,
	  "edge profile of one binary for llvm-profgen --unsymbolized-profile" },
	{ "bolt", NULL, convert_write_bolt, "profile of one binary for llvm-bolt (fdata)" },
	{ "bolt-preagg", NULL, convert_write_bolt_preagg,
	  "edge profile of one binary for perf2bolt -pa" },
	{ "propeller", NULL, convert_write_propeller,
	  "layout of one binary for clang -fbasic-block-sections=list= and ld.lld" },
	{ "autofdo-text", NULL, convert_write_autofdo_text,
	  "edge profile of one binary for create_gcov --profiler=text" },
	{ "arcs", NULL, write_arcs, "edge profile as a table of text" },
	{ "json", NULL, write_json, "the same as JSON" },
};

#define NR_FORMATS (sizeof(formats) / sizeof(formats[0]))

int convert_list_formats(void)
{
	for (size_t i = 0; i < NR_FORMATS; i++)
		printf("%-18s %s\n", formats[i].name, formats[i].summary);
	return fflush(stdout) ? 1 : 0;
}

const struct convert_format *convert_find_format(const char *name)
{
	for (size_t i = 0; i < NR_FORMATS; i++) {
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	}
	return NULL;
}
