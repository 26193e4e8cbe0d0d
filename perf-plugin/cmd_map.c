// SPDX-License-Identifier: GPL-2.0-only
/* perf swlbr map: the branch map of a binary, for people. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <swlbr/branch_map.h>
#include <swlbr/kernel_lines.h>

#include "cmd.h"

static const char usage[] =
	"\n"
	" Usage: perf swlbr map [<options>] <binary>\n"
	"\n"
	"        --stat            what the map holds, in numbers (the default)\n"
	"        --dump            every block: how it ends, its edges, its increment sites\n"
	"        --function <name> dump this function alone\n"
	"        --kernel-table    of the vmlinux of a kernel with CONFIG_SWLBR: what that kernel is to\n"
	"                          be told for branch stacks, on standard output\n"
	"        --no-cache        make the map anew, whatever the cache has\n"
	"    -v, --verbose         with --stat: the functions with counters that no site updates\n"
	"    -h, --help            this text\n"
	"\n"
	" Examples:\n"
	"    perf swlbr map ./prog\n"
	"    perf swlbr map --function main ./prog\n"
	"    perf swlbr map --kernel-table vmlinux >/sys/kernel/debug/swlbr/lines\n"
	"\n";

struct map_options {
	bool dump, no_cache, verbose, kernel_table;
	const char *function, *binary;
};

static const char *const edge_names[] = {
	[SWLBR_MAP_FALLTHROUGH] = "fall-through", [SWLBR_MAP_TAKEN] = "taken",
	[SWLBR_MAP_INDIRECT] = "indirect",	  [SWLBR_MAP_TAIL] = "tail call",
	[SWLBR_MAP_AFTER_CALL] = "after call",
};

static const char *const end_names[] = {
	[SWLBR_MAP_END_NONE] = "falls through", [SWLBR_MAP_END_COND] = "conditional branch",
	[SWLBR_MAP_END_JUMP] = "jump",		[SWLBR_MAP_END_INDIRECT_JUMP] = "indirect jump",
	[SWLBR_MAP_END_CALL] = "call",		[SWLBR_MAP_END_INDIRECT_CALL] = "indirect call",
	[SWLBR_MAP_END_RETURN] = "return",	[SWLBR_MAP_END_STOP] = "trap",
};

static const char *const site_names[] = {
	[SWLBR_MAP_SITE_ONE] = "+1",
	[SWLBR_MAP_SITE_CONSTANT] = "constant",
	[SWLBR_MAP_SITE_SELECT] = "select",
	[SWLBR_MAP_SITE_SUM] = "sum",
};

static const char *name_of(const struct swlbr_branch_map *map, uint32_t function)
{
	const char *name = swlbr_branch_map_name(map, &map->functions[function]);

	return name ? name : "[no symbol]";
}

static void dump_block(const struct swlbr_branch_map *map, uint32_t number)
{
	const struct swlbr_map_block *block = &map->blocks[number];

	printf("  0x%" PRIx64 "-0x%" PRIx64 " %s", block->start, block->last,
	       end_names[block->end_kind]);
	if (block->callee != SWLBR_NONE)
		printf(" of %s", name_of(map, block->callee));
	if (block->value_function != SWLBR_NONE)
		printf(", value site %u of function record %u", block->value_site,
		       block->value_function);
	printf("%s%s%s\n", block->leaves ? ", leaves the map" : "",
	       block->entered ? ", entered from outside" : "", block->padding ? ", padding" : "");
	for (uint32_t i = 0; i < block->nr_sites; i++) {
		const struct swlbr_map_site *site = &map->sites[block->first_site + i];

		printf("    0x%" PRIx64 " counter %" PRIu64 " %s", site->vaddr, site->counter,
		       site_names[site->kind]);
		if (site->kind == SWLBR_MAP_SITE_CONSTANT)
			printf(" %+" PRId64, site->added);
		putchar('\n');
	}
	if (block->landing)
		printf("    what it throws lands at 0x%" PRIx64 "\n",
		       map->blocks[block->landing - 1].start);
	for (uint32_t i = 0; i < block->nr_edges; i++) {
		const struct swlbr_map_edge *edge = &map->edges[block->first_edge + i];
		uint32_t function = map->blocks[edge->to].function;

		printf("    -> 0x%" PRIx64 " %s", map->blocks[edge->to].start,
		       edge_names[edge->kind]);
		if (function != block->function)
			printf(" %s", name_of(map, function));
		putchar('\n');
	}
}

static void dump_function(const struct swlbr_branch_map *map, uint32_t number)
{
	const struct swlbr_map_function *function = &map->functions[number];

	printf("0x%" PRIx64 "-0x%" PRIx64 " %s:%s%s%s\n", function->start, function->end,
	       name_of(map, number), function->instrumented ? "" : " no increments",
	       function->never_returns ? ", never returns" : "",
	       function->address_taken ? ", address taken" : "");
	for (uint32_t i = 0; i < function->nr_blocks; i++)
		dump_block(map, function->first_block + i);
}

static int dump(const struct swlbr_branch_map *map, const struct map_options *options)
{
	bool found = false;

	for (uint32_t i = 0; i < map->nr_functions; i++) {
		if (options->function && strcmp(name_of(map, i), options->function))
			continue;
		dump_function(map, i);
		found = true;
	}
	return found ? 0
		     : cmd_failf("%s: no function %s", options->binary,
				 options->function ? options->function : "in it");
}

static uint64_t count_sites(const struct swlbr_branch_map *map, uint32_t kind)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < map->nr_sites; i++)
		nr += map->sites[i].kind == kind;
	return nr;
}

static uint64_t count_edges(const struct swlbr_branch_map *map, uint32_t kind)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < map->nr_edges; i++)
		nr += map->edges[i].kind == kind;
	return nr;
}

/* Which counters have a site that updates them. */
static bool *counters_with_site(const struct swlbr_branch_map *map)
{
	bool *has = calloc(map->nr_counters + 1, sizeof(*has));

	for (size_t i = 0; has && i < map->nr_sites; i++)
		has[map->sites[i].counter] = true;
	return has;
}

static void list_missing(const struct swlbr_counters *counters, const bool *has)
{
	for (size_t i = 0; i < counters->nr_functions; i++) {
		const struct swlbr_counter_function *function = &counters->functions[i];
		uint64_t missing = 0;

		for (uint64_t k = 0; k < function->nr_counters; k++)
			missing += !has[function->first_counter + k];
		if (missing && missing < function->nr_counters)
			printf("  function record %zu (0x%" PRIx64 "): %" PRIu64
			       " of %u counters\n",
			       i, function->function_pointer, missing, function->nr_counters);
	}
}

static int print_stat(const struct swlbr_branch_map *map, const struct swlbr_counters *counters,
		      const struct map_options *options, double seconds)
{
	uint64_t instrumented = 0, calls = 0, with_site = 0, bytes = 0;
	bool *has = counters_with_site(map);

	if (!has)
		return cmd_fail(swlbr_error_no_memory());
	for (size_t i = 0; i < map->nr_functions; i++) {
		instrumented += map->functions[i].instrumented;
		bytes += map->functions[i].end - map->functions[i].start;
	}
	for (size_t i = 0; i < map->nr_blocks; i++)
		calls += map->blocks[i].end_kind == SWLBR_MAP_END_CALL ||
			 map->blocks[i].end_kind == SWLBR_MAP_END_INDIRECT_CALL;
	for (uint64_t i = 0; i < map->nr_counters; i++)
		with_site += has[i];
	printf("%s\n", options->binary);
	printf("%12zu functions, %" PRIu64 " instrumented, %" PRIu64 " bytes of code\n",
	       map->nr_functions, instrumented, bytes);
	printf("%12zu basic blocks, %" PRIu64 " of them end in a call\n", map->nr_blocks, calls);
	printf("%12zu edges:", map->nr_edges);
	for (uint32_t i = 0; i <= SWLBR_MAP_AFTER_CALL; i++)
		printf("%s %" PRIu64 " %s", i ? "," : "", count_edges(map, i), edge_names[i]);
	printf("\n%12zu increment sites:", map->nr_sites);
	for (uint32_t i = 0; i <= SWLBR_MAP_SITE_SUM; i++)
		printf("%s %" PRIu64 " %s", i ? "," : "", count_sites(map, i), site_names[i]);
	printf("\n%12" PRIu64 " counters, %" PRIu64 " with a site\n", map->nr_counters, with_site);
	printf("%12.3f seconds\n", seconds);
	if (options->verbose && counters)
		list_missing(counters, has);
	free(has);
	return 0;
}

static int write_kernel_table(struct swlbr_elf *elf, const struct swlbr_branch_map *map,
			      const struct swlbr_counters *counters)
{
	struct swlbr_kernel_lines lines;
	struct swlbr_error *error = swlbr_kernel_lines_make(elf, counters, map, &lines);
	size_t done = 0;

	if (error)
		return cmd_fail(error);
	/* By write(): the kernel judges the table as a whole, and its verdict is the last one's. */
	while (!error && done < lines.size) {
		ssize_t n = write(STDOUT_FILENO, lines.data + done, lines.size - done);

		if (n < 0 && errno != EINTR)
			error = swlbr_error_errno(errno, "standard output");
		else if (n > 0)
			done += (size_t)n;
	}
	if (!error)
		fprintf(stderr,
			"[ perf swlbr map: %zu straight lines of %llu counters, of %llu in all ]\n",
			lines.nr, (unsigned long long)lines.nr_with_line,
			(unsigned long long)lines.nr_counters);
	swlbr_kernel_lines_deinit(&lines);
	return error ? cmd_fail(error) : 0;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int run(const struct map_options *options)
{
	struct swlbr_counters *counters = NULL;
	struct swlbr_branch_map *map = NULL;
	struct swlbr_elf *elf;
	struct swlbr_error *error;
	double start = now();
	int status;

	error = swlbr_elf_open(options->binary, &elf);
	if (error)
		return cmd_fail(error);
	error = swlbr_counters_locate(elf, &counters);
	if (error && error->code == SWLBR_ERROR_NOT_INSTRUMENTED) {
		swlbr_error_destroy(error);
		error = NULL;
	}
	if (!error)
		error = options->no_cache ? swlbr_branch_map_create(elf, counters, &map)
					  : swlbr_branch_map_load(elf, counters, &map);
	if (error)
		status = cmd_fail(error);
	else if (options->kernel_table)
		status = write_kernel_table(elf, map, counters);
	else if (options->dump)
		status = dump(map, options);
	else
		status = print_stat(map, counters, options, now() - start);
	swlbr_branch_map_destroy(map);
	swlbr_counters_destroy(counters);
	swlbr_elf_close(elf);
	return status;
}

int cmd_map(int argc, char **argv)
{
	enum { STAT = 256, DUMP, FUNCTION, NO_CACHE, KERNEL_TABLE };
	static const struct option long_options[] = {
		{ "stat", no_argument, NULL, STAT },
		{ "dump", no_argument, NULL, DUMP },
		{ "function", required_argument, NULL, FUNCTION },
		{ "kernel-table", no_argument, NULL, KERNEL_TABLE },
		{ "no-cache", no_argument, NULL, NO_CACHE },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct map_options options = { 0 };
	int option;

	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":vh", long_options, NULL)) != -1) {
		switch (option) {
		case STAT:
			break;
		case DUMP:
			options.dump = true;
			break;
		case FUNCTION:
			options.dump = true;
			options.function = optarg;
			break;
		case KERNEL_TABLE:
			options.kernel_table = true;
			break;
		case NO_CACHE:
			options.no_cache = true;
			break;
		case 'v':
			options.verbose = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return fflush(stdout) ? 1 : 0;
		case ':':
			return cmd_usage_error("map", "option '%s' wants a value",
					       argv[optind - 1]);
		default:
			return cmd_usage_error("map", "unknown option '%s'", argv[optind - 1]);
		}
	}
	if (optind + 1 != argc)
		return cmd_usage_error("map", "a map of what? one binary");
	options.binary = argv[optind];
	if (options.kernel_table && isatty(STDOUT_FILENO))
		return cmd_usage_error("map", "--kernel-table is no text: send it somewhere (>)");
	return run(&options);
}
