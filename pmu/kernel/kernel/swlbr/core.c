// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters of the kernel, whoever counts.
 */
#define pr_fmt(fmt) "swlbr: " fmt

#include <linux/buildid.h>
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "swlbr.h"

static const struct swlbr_engine *the_engine __ro_after_init;

/*
 * What the counters were when they were last reset. They are never written to: a CPU may be in the
 * middle of adding to one of its own.
 */
static u64 *baseline;
static DEFINE_MUTEX(baseline_lock);

/**
 * swlbr_register_engine() - say who counts
 * @engine: stays the caller's, forever
 *
 * Return: 0, or -EBUSY if another one counts already.
 */
int __init swlbr_register_engine(const struct swlbr_engine *engine)
{
	if (the_engine)
		return -EBUSY;
	the_engine = engine;
	pr_info("%llu counters of %s, %s\n", engine->nr_counters, engine->name,
		engine->per_cpu ? "per CPU" : "shared");
	return 0;
}

/**
 * swlbr_engine() - who counts
 *
 * Return: the engine, or NULL if there is none.
 */
const struct swlbr_engine *swlbr_engine(void)
{
	return the_engine;
}

static void add_cpu(u64 *sums, unsigned int cpu)
{
	u64 first, nr, i;

	for (first = 0; first < the_engine->nr_counters; first += nr) {
		const u64 *from = the_engine->counters(first, cpu, &nr);

		/* Above what a CPU does in a millisecond others should have a turn. */
		nr = min_t(u64, nr, 65536);
		for (i = 0; i < nr; i++)
			sums[first + i] += READ_ONCE(from[i]);
		cond_resched();
	}
}

/**
 * swlbr_sum() - the counters, summed over all CPUs that there may ever be
 * @sums: nr_counters values
 *
 * Each value is exact for some moment of the call, not all of them for the same one.
 */
void swlbr_sum(u64 *sums)
{
	unsigned int cpu;

	memset(sums, 0, array_size(the_engine->nr_counters, sizeof(*sums)));
	if (!the_engine->per_cpu) {
		add_cpu(sums, 0);
		return;
	}
	for_each_possible_cpu(cpu)
		add_cpu(sums, cpu);
}

/**
 * swlbr_sums_since_reset() - what was counted since swlbr_reset() was last called, or from boot on
 * @since_boot: set to whether it never was
 *
 * Return: nr_counters values, to be freed by kvfree(), or NULL if there is no memory.
 */
u64 *swlbr_sums_since_reset(bool *since_boot)
{
	u64 *sums = kvmalloc_array(the_engine->nr_counters, sizeof(*sums), GFP_KERNEL);
	u64 i;

	if (!sums)
		return NULL;
	mutex_lock(&baseline_lock);
	swlbr_sum(sums);
	*since_boot = !baseline;
	for (i = 0; baseline && i < the_engine->nr_counters; i++)
		sums[i] -= baseline[i];
	mutex_unlock(&baseline_lock);
	return sums;
}

/**
 * swlbr_reset() - count from 0 again, for those who read the sums
 *
 * Return: 0 or -ENOMEM.
 */
int swlbr_reset(void)
{
	u64 *sums = kvmalloc_array(the_engine->nr_counters, sizeof(*sums), GFP_KERNEL);

	if (!sums)
		return -ENOMEM;
	mutex_lock(&baseline_lock);
	swlbr_sum(sums);
	swap(baseline, sums);
	mutex_unlock(&baseline_lock);
	kvfree(sums);
	return 0;
}

static u64 total_before_perf __ro_after_init;

/**
 * swlbr_note_perf() - note how much was counted up to now, where perf begins to see it
 */
void __init swlbr_note_perf(void)
{
	u64 first, nr, i;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		for (first = 0; first < the_engine->nr_counters; first += nr) {
			const u64 *from = the_engine->counters(first, cpu, &nr);

			for (i = 0; i < nr; i++)
				total_before_perf += READ_ONCE(from[i]);
		}
		if (!the_engine->per_cpu)
			break;
	}
}

/**
 * swlbr_before_perf() - how much was counted before perf could see it
 *
 * Return: the sum of all counters then, from boot on.
 */
u64 swlbr_before_perf(void)
{
	return total_before_perf;
}

extern const char __start_notes[], __stop_notes[];

/**
 * swlbr_build_id() - the build-id of the running vmlinux
 * @id: where it goes
 *
 * Return: its size in bytes, 0 if the kernel was linked without one.
 */
u32 swlbr_build_id(u8 id[SWLBR_ID_SIZE])
{
	BUILD_BUG_ON(SWLBR_ID_SIZE != BUILD_ID_SIZE_MAX);
	memset(id, 0, SWLBR_ID_SIZE);
	if (build_id_parse_buf(__start_notes, id, __stop_notes - __start_notes))
		return 0;
	return SWLBR_ID_SIZE;
}
