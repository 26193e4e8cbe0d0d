/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_SWLBR_H
#define _LINUX_SWLBR_H

#include <linux/init.h>
#include <linux/module.h>

#ifdef CONFIG_SWLBR_CLANG
void __init swlbr_setup_cpu(unsigned int cpu);
int swlbr_check_module(const char *name, const Elf_Ehdr *hdr, const Elf_Shdr *sechdrs,
		       const char *secstrings);
#else
static inline void swlbr_setup_cpu(unsigned int cpu) { }
static inline int swlbr_check_module(const char *name, const Elf_Ehdr *hdr,
				     const Elf_Shdr *sechdrs, const char *secstrings)
{
	return 0;
}
#endif

#endif /* _LINUX_SWLBR_H */
