// SPDX-License-Identifier: GPL-2.0-only
/*
 * A TCG plugin that records the branches of what QEMU emulates. The recorder (perf swlbr record
 * --emulate) starts the emulator with it, with arguments of its own making; see lane.h for what
 * they share.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "plugin.h"
#include "qemu_plugin_api.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_API_VERSION;

/* All kinds that are branches. */
#define BRANCHES ((1U << BRANCH_KINDS) - (2U << BRANCH_REPEAT))

struct options options = { .depth = 32, .period = 10007, .filter = ~0U };

static bool parse_option(const char *name, const char *value)
{
	uint64_t number;

	if (!strcmp(name, "socket")) {
		options.socket = value;
	} else if (!strcmp(name, "sysroot")) {
		options.sysroot = value;
	} else if (!strcmp(name, "mode")) {
		options.mode = strcmp(value, "counts") ? LANE_LBR : LANE_COUNTS;
		return options.mode == LANE_COUNTS || !strcmp(value, "lbr");
	} else if (!strcmp(name, "recorder")) {
		if (!number_in(value, 0, 1, 0x7fffffff, &number))
			return false;
		options.recorder = (pid_t)number;
	} else if (!strcmp(name, "depth")) {
		if (!number_in(value, 0, 1, LANE_MAX_DEPTH, &number))
			return false;
		options.depth = (uint32_t)number;
	} else if (!strcmp(name, "period")) {
		return number_in(value, 0, 1, 1ULL << 62, &options.period);
	} else if (!strcmp(name, "filter")) {
		if (!number_in(value, 0, 0, UINT32_MAX, &number))
			return false;
		options.filter = (uint32_t)number;
	} else {
		return false;
	}
	return true;
}

/* The text of the emulator's -plugin option that it was started with. */
static const char *find_text(void)
{
	FILE *file = fopen("/proc/self/cmdline", "re");
	char *word = NULL;
	size_t size = 0;
	bool next = false;

	while (file && getdelim(&word, &size, '\0', file) > 0 && !next)
		next = !strcmp(word, "-plugin") || !strcmp(word, "--plugin");
	if (file)
		fclose(file);
	return next ? word : NULL;
}

static int fail(const char *what)
{
	fprintf(stderr, "perf swlbr: emulator plugin: %s\n", what);
	return 1;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
					   char **argv)
{
	if (info->version.min > QEMU_PLUGIN_API_VERSION ||
	    info->version.cur < QEMU_PLUGIN_API_VERSION)
		return fail("made for version 1 of the interface, which this QEMU does not take");
	options.system = info->system_emulation;
	options.machine = guest_machine_of_target(info->target_name);
	if (!options.machine)
		return fail("programs of this machine are not known");
	options.decode = strcmp(info->target_name, "x86_64") ? branch_decode_aarch64
							     : branch_decode_x86_64;
	for (int i = 0; i < argc; i++) {
		char *value = strchr(argv[i], '=');

		if (!value)
			return fail("an option without a value");
		*value++ = '\0';
		if (!parse_option(argv[i], value))
			return fail("an option that is not known, or a bad value");
	}
	options.on_block = options.mode == LANE_COUNTS	? vcpu_on_block_counts
			   : ~options.filter & BRANCHES ? vcpu_on_block_filtered
							: vcpu_on_block_lbr;
	options.text = find_text();
	if (!options.socket || !options.recorder || !options.text)
		return fail("to be used through 'perf swlbr record --emulate'");
	if (options.system && options.mode != LANE_COUNTS)
		return fail("a whole machine can only be counted");
	vcpu_start();
	blocks_register(id);
	if (!options.system)
		syscalls_register(id);
	qemu_plugin_register_vcpu_init_cb(id, vcpu_init);
	qemu_plugin_register_vcpu_exit_cb(id, vcpu_exit);
	return 0;
}
