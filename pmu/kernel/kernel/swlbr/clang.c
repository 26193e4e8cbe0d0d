// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters that clang -fprofile-generate puts into the kernel.
 *
 * The linker collects them in the per-CPU section. clang updates a counter by one locked
 * instruction; scripts/swlbr_percpu replaces each LOCK prefix by that of %gs, which is as long, so
 * that a CPU updates its own copy: exact without a lock, under preemption, interrupts and NMIs.
 */
#define pr_fmt(fmt) "swlbr: " fmt

#include <linux/errno.h>
#include <linux/init.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/swlbr.h>
#include <asm/sections.h>

#include "swlbr.h"

/* Set by the linker script. */
extern u64 __percpu __swlbr_counters_start[], __percpu __swlbr_counters_end[];

static u64 nr_counters(void)
{
	return ((unsigned long)__swlbr_counters_end - (unsigned long)__swlbr_counters_start) /
	       sizeof(u64);
}

/**
 * swlbr_setup_cpu() - let the counters of a CPU begin at 0
 * @cpu: its per-CPU area was just made and is not in use
 *
 * The area is a copy of the template, which the boot CPU has counted in up to now: fold_template()
 * sees to it that this is in the sums once.
 */
void __init swlbr_setup_cpu(unsigned int cpu)
{
	memset(per_cpu_ptr(__swlbr_counters_start, cpu), 0, nr_counters() * sizeof(u64));
}

/* What was counted before the boot CPU had its per-CPU area, which is freed after boot. */
static void __init fold_template(void)
{
	const u64 *template = (const u64 *)(__per_cpu_load +
		((unsigned long)__swlbr_counters_start - (unsigned long)__per_cpu_start));
	u64 i;

	for (i = 0; i < nr_counters(); i++)
		this_cpu_add(__swlbr_counters_start[i], template[i]);
}

/**
 * swlbr_check_module() - refuse a module whose code counts
 * @name: of the module
 * @hdr: its file
 * @sechdrs: its sections
 * @secstrings: their names
 *
 * Its counters would be of all CPUs at once, and nobody would read them.
 *
 * Return: 0 or -ENOEXEC.
 */
int swlbr_check_module(const char *name, const Elf_Ehdr *hdr, const Elf_Shdr *sechdrs,
		       const char *secstrings)
{
	unsigned int i;

	for (i = 1; i < hdr->e_shnum; i++) {
		if (strcmp(secstrings + sechdrs[i].sh_name, "__llvm_prf_cnts"))
			continue;
		pr_err("%s: modules may not count: build it without -fprofile-generate\n", name);
		return -ENOEXEC;
	}
	return 0;
}

static const u64 *clang_counters(u64 first, unsigned int cpu, u64 *nr)
{
	*nr = nr_counters() - first;
	return per_cpu_ptr(__swlbr_counters_start, cpu) + first;
}

static struct swlbr_engine clang_engine = {
	.name		= "clang",
	.id		= SWLBR_ENGINE_CLANG,
	.per_cpu	= true,
	.counters	= clang_counters,
};

static int __init clang_init(void)
{
	clang_engine.nr_counters = nr_counters();
	fold_template();
	return swlbr_register_engine(&clang_engine);
}
early_initcall(clang_init);
