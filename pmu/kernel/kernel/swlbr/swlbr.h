/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SWLBR_H
#define _SWLBR_H

#include <linux/types.h>
#include <uapi/linux/swlbr.h>

/**
 * struct swlbr_engine - who counts, and where
 * @name: for people
 * @id: for programs
 * @per_cpu: each CPU has counters of its own, and only it changes them; else all share them
 * @nr_counters: how many there are, on one CPU
 * @counters: where they are. Gives the address of counter @first of @cpu (which is of no
 *	consequence for shared ones), and how many of those from it on lie in one piece. Called
 *	with @first < @nr_counters, in any context.
 *
 * Counters only grow, and wrap at 2^64. They are numbered as the engine likes, as long as user
 * space can find out the order from vmlinux. All else that is known about them it knows from there.
 */
struct swlbr_engine {
	const char	*name;
	u32		id;
	bool		per_cpu;
	u64		nr_counters;
	const u64	*(*counters)(u64 first, unsigned int cpu, u64 *nr);
};

int swlbr_register_engine(const struct swlbr_engine *engine);
const struct swlbr_engine *swlbr_engine(void);

void swlbr_sum(u64 *sums);
u64 *swlbr_sums_since_reset(bool *since_boot);
int swlbr_reset(void);
void swlbr_note_perf(void);
u64 swlbr_before_perf(void);
u32 swlbr_build_id(u8 id[SWLBR_ID_SIZE]);

extern struct dentry *swlbr_debugfs;

/**
 * struct swlbr_lines - the lines that user space told, once they are found good
 * @first: of each counter, the index of its first line; one more for the end
 * @lines: by counter
 */
struct swlbr_lines {
	u32			*first;
	struct swlbr_line	*lines;
};

const struct swlbr_lines *swlbr_lines(void);

#endif /* _SWLBR_H */
