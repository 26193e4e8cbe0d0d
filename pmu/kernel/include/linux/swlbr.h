/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_SWLBR_H
#define _LINUX_SWLBR_H

#include <linux/init.h>

#ifdef CONFIG_SWLBR_CLANG
void __init swlbr_setup_cpu(unsigned int cpu);
#else
static inline void swlbr_setup_cpu(unsigned int cpu) { }
#endif

#endif /* _LINUX_SWLBR_H */
