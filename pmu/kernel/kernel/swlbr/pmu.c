// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PMU "swlbr": perf events of the counters.
 *
 * Each CPU has one scanner, which all events there share. It compares the CPU's counters with a
 * copy of what they were, and gives every event what was counted since. A timer lets it look at as
 * many of them as a slice of time allows, in turn. Where an event begins or ends it looks at all,
 * so that each event gets exactly what was counted while it was there.
 */
#define pr_fmt(fmt) "swlbr: " fmt

#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/hrtimer.h>
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <asm/irq_regs.h>
#include <asm/sections.h>
#include <asm/tsc.h>

#include "compat.h"
#include "swlbr.h"

/* Events on a CPU at once, and what one may have waiting to be put into a sample. */
#define MAX_EVENTS		32
#define MAX_DELTAS		512
/* Samples made of one tick's deltas, each with a branch stack of its own. */
#define MAX_SAMPLES		8
#define MAX_TRIES		8
/* Two entries: a branch into a straight line, and the one that ends it. */
#define STACK_DEPTH		2
/* Counters looked at between two looks at the clock, and deltas handed out at once. */
#define CHUNK			512
#define MAX_FOUND		64

#define DEFAULT_TICK_NS		(NSEC_PER_SEC / 1000)
#define MIN_TICK_NS		(100 * NSEC_PER_USEC)
/* A CPU that stays idle is looked at ever more rarely, down to this. */
#define IDLE_TICK_NS		(10 * NSEC_PER_MSEC)
/* Scanning may take this part of the time between ticks; writing samples takes some more. */
#define SLICE_PART		16

/**
 * struct swlbr_event - what is ours of a perf event
 * @tick_ns: how often it wants the scanner to look
 * @kinds: bits of the PERF_BR_* that its branch stacks may have
 * @phase: where in its counts the next branch stack is drawn
 * @sum: of the deltas
 * @raw: the deltas since the last sample
 * @deltas: room for those of @raw
 * @stack: of one sample
 * @entries: room for those of @stack
 */
struct swlbr_event {
	u64				tick_ns;
	u32				kinds;
	u32				phase;
	u64				sum;
	struct swlbr_raw		raw;
	struct swlbr_delta		deltas[MAX_DELTAS];
	struct perf_branch_stack	stack;
	struct perf_branch_entry	entries[STACK_DEPTH];
};

/**
 * struct scanner - of a CPU. Only it changes this, with interrupts off.
 * @timer: ticks while there are events that want samples
 * @users: events that may come to this CPU; under users_lock
 * @tick_ns: between ticks
 * @idle_ns: between ticks that find the CPU idle; 0: the last one did not
 * @events: those on the CPU now, started or not
 * @full: samples had to be written to make room: enough for this tick
 * @busy: it is scanning, or writing samples: what that leads to is not to scan
 * @last: what each counter was when it was last looked at
 * @at: which is looked at next
 * @found: counters that had changed, not handed out yet
 * @nr_found: how many
 * @found_sum: of their deltas
 * @ticks: how often the timer ran
 * @looked_at: counters that it looked at
 * @total_ns: all its runs
 * @longest_ns: its longest run
 * @longest_of_tick: the tick's length then
 * @late: runs that took more than a quarter of it
 */
struct scanner {
	struct hrtimer		timer;
	unsigned int		users;
	u64			tick_ns;
	u64			idle_ns;
	struct perf_event	*events[MAX_EVENTS];
	bool			full;
	bool			busy;
	u64			*last;
	u64			at;
	struct swlbr_delta	found[MAX_FOUND];
	unsigned int		nr_found;
	u64			found_sum;
	u64			ticks;
	u64			looked_at;
	u64			total_ns;
	u64			longest_ns;
	u64			longest_of_tick;
	u64			late;
};

static DEFINE_PER_CPU(struct scanner, scanners);
static DEFINE_MUTEX(users_lock);
static struct pmu swlbr_pmu;

static struct swlbr_event *to_swlbr(struct perf_event *event)
{
	return event->pmu_private;
}

/* --- samples --- */

static void fill_entry(struct perf_branch_entry *entry, u32 from, u32 to, u8 kind)
{
	const unsigned long text = (unsigned long)_text;

	memset(entry, 0, sizeof(*entry));
	entry->from = text + from;
	entry->to = text + to;
	entry->type = kind;
}

/* The branches of one line of @counter that the event wants. The lines take turns. */
static void fill_stack(struct swlbr_event *swlbr, const struct swlbr_lines *lines, u32 counter)
{
	struct perf_branch_entry *entries = swlbr->stack.entries;
	u32 first = lines->first[counter], nr = lines->first[counter + 1] - first, n = 0;
	const struct swlbr_line *line;

	if (!nr)
		return;
	line = &lines->lines[first + swlbr->phase % nr];
	if (swlbr->kinds & BIT(line->out_kind))
		fill_entry(&entries[n++], line->out_from, line->out_to, line->out_kind);
	if (swlbr->kinds & BIT(line->into_kind))
		fill_entry(&entries[n++], line->into_from, line->into_to, line->into_kind);
	swlbr->stack.nr = n;
}

/* The counter that a place drawn at random among @sum increments belongs to. */
static u32 draw_counter(struct swlbr_event *swlbr, const struct swlbr_delta *deltas, u32 nr,
			u64 sum)
{
	u64 place;
	u32 i;

	/* Steps by the golden section fall evenly, whatever the counts. */
	swlbr->phase += 0x9e3779b9;
	place = mul_u64_u32_shr(sum, swlbr->phase, 32);
	for (i = 0; i + 1 < nr && place >= deltas[i].nr; i++)
		place -= deltas[i].nr;
	return deltas[i].counter;
}

static void draw_stack(struct swlbr_event *swlbr, const struct swlbr_delta *deltas, u32 nr,
		       u64 sum)
{
	const struct swlbr_lines *lines = swlbr_lines();
	u32 i;

	swlbr->stack.nr = 0;
	swlbr->stack.hw_idx = -1ULL;
	/* A counter may have no line, or none that the event wants. */
	for (i = 0; lines && !swlbr->stack.nr && i < MAX_TRIES; i++)
		fill_stack(swlbr, lines, draw_counter(swlbr, deltas, nr, sum));
	for (i = 0; lines && !swlbr->stack.nr && i < nr; i++)
		fill_stack(swlbr, lines, deltas[i].counter);
}

/*
 * One sample of @nr deltas that count @sum. @first: perf may find that there are too many; true is
 * returned then.
 */
static bool output_sample(struct perf_event *event, struct pt_regs *regs,
			  struct swlbr_delta *deltas, u32 nr, u64 sum, bool first)
{
	struct swlbr_event *swlbr = to_swlbr(event);
	struct perf_raw_record raw = {
		.frag.data = &swlbr->raw,
		.frag.size = struct_size(&swlbr->raw, deltas, nr),
	};
	struct perf_sample_data data;

	perf_sample_data_init(&data, 0, sum);
	if (has_branch_stack(event)) {
		draw_stack(swlbr, deltas, nr, sum);
		swlbr_save_stack(&data, event, &swlbr->stack);
	}
	if (event->attr.sample_type & PERF_SAMPLE_RAW) {
		/* What was there is in earlier samples. */
		memmove(swlbr->deltas, deltas, nr * sizeof(*deltas));
		swlbr->raw.nr = nr;
		swlbr_save_raw(&data, event, &raw);
	}
	if (first)
		return perf_event_overflow(event, &data, regs);
	READ_ONCE(event->overflow_handler)(event, &data, regs);
	return false;
}

/* How many of @deltas make up @share of the counts; their sum goes to @sum. */
static u32 take_share(const struct swlbr_delta *deltas, u32 nr, u64 share, u64 *sum)
{
	u32 i;

	*sum = 0;
	for (i = 0; i < nr && (!i || *sum < share); i++)
		*sum += deltas[i].nr;
	return i;
}

/*
 * All that waits goes into samples: several, if each is to have a branch stack, and nobody counts
 * samples or looks at each. perf may want to know the counts of other events of the group for them:
 * what is found then would come into the event while it is written, so nothing is looked for.
 */
static void output(struct perf_event *event, struct pt_regs *regs)
{
	struct scanner *scanner = this_cpu_ptr(&scanners);
	struct swlbr_event *swlbr = to_swlbr(event);
	u32 nr = swlbr->raw.nr, at = 0, taken;
	u64 share = swlbr->sum, sum;
	bool first = true, too_many = false, was_busy = scanner->busy;

	scanner->busy = true;
	if (has_branch_stack(event) && !atomic_read(&event->event_limit) && !swlbr_has_prog(event))
		share = max(event->attr.sample_period, DIV_ROUND_UP_ULL(swlbr->sum, MAX_SAMPLES));
	for (; at < nr; at += taken) {
		taken = take_share(swlbr->deltas + at, nr - at, share, &sum);
		too_many |= output_sample(event, regs, swlbr->deltas + at, taken, sum, first);
		first = false;
	}
	swlbr->raw.nr = 0;
	swlbr->sum = 0;
	scanner->busy = was_busy;
	if (too_many)
		swlbr_pmu.stop(event, 0);
}

/* --- the scanner --- */

static bool wants_samples(struct perf_event *event)
{
	return event && is_sampling_event(event) && !(event->hw.state & PERF_HES_STOPPED);
}

static void give(struct perf_event *event, struct scanner *scanner, struct pt_regs *regs)
{
	struct swlbr_event *swlbr = to_swlbr(event);

	if (wants_samples(event) && swlbr->raw.nr + scanner->nr_found > MAX_DELTAS) {
		output(event, regs);
		scanner->full = true;
	}
	/* perf may have found that there are too many samples. */
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	local64_add(scanner->found_sum, &event->count);
	if (!wants_samples(event))
		return;
	memcpy(swlbr->deltas + swlbr->raw.nr, scanner->found,
	       scanner->nr_found * sizeof(*scanner->found));
	swlbr->raw.nr += scanner->nr_found;
	swlbr->sum += scanner->found_sum;
}

static void hand_out(struct scanner *scanner, struct pt_regs *regs)
{
	unsigned int i;

	for (i = 0; scanner->nr_found && i < MAX_EVENTS; i++)
		if (scanner->events[i])
			give(scanner->events[i], scanner, regs);
	scanner->nr_found = 0;
	scanner->found_sum = 0;
}

static void add_delta(struct scanner *scanner, u32 counter, u64 delta, struct pt_regs *regs)
{
	while (delta) {
		u32 part = min_t(u64, delta, U32_MAX);

		if (scanner->nr_found == MAX_FOUND)
			hand_out(scanner, regs);
		scanner->found[scanner->nr_found++] = (struct swlbr_delta){ counter, part };
		scanner->found_sum += part;
		delta -= part;
	}
}

static void look_at(struct scanner *scanner, u64 first, const u64 *from, u64 nr,
		    struct pt_regs *regs)
{
	u64 *last = scanner->last + first;
	u64 i;

	for (i = 0; i < nr; i++) {
		u64 now = READ_ONCE(from[i]);

		if (likely(now == last[i]))
			continue;
		add_delta(scanner, first + i, now - last[i], regs);
		last[i] = now;
	}
}

#define NO_LIMIT	U64_MAX

/*
 * Look at the counters in turn, until @cycles are up, and at most once at each. Returns at how
 * many.
 */
static u64 scan(struct scanner *scanner, u64 cycles, struct pt_regs *regs)
{
	const struct swlbr_engine *engine = swlbr_engine();
	const unsigned int cpu = smp_processor_id();
	const cycles_t start = get_cycles();
	u64 left, nr, looked_at = 0;

	if (scanner->busy)
		return 0;
	scanner->busy = true;
	scanner->full = false;
	for (left = engine->nr_counters; left; left -= nr) {
		const u64 *from = engine->counters(scanner->at, cpu, &nr);

		nr = min3(nr, left, (u64)CHUNK);
		look_at(scanner, scanner->at, from, nr, regs);
		looked_at += nr;
		scanner->at += nr;
		if (scanner->at == engine->nr_counters)
			scanner->at = 0;
		if (cycles != NO_LIMIT && (scanner->full || get_cycles() - start >= cycles))
			break;
	}
	hand_out(scanner, regs);
	scanner->busy = false;
	return looked_at;
}

static void scan_all(struct scanner *scanner, struct pt_regs *regs)
{
	scan(scanner, NO_LIMIT, regs);
}

static u64 note_time(struct scanner *scanner, u64 cycles)
{
	u64 ns = div_u64(cycles * NSEC_PER_MSEC, tsc_khz ?: 1);

	scanner->ticks++;
	scanner->total_ns += ns;
	if (ns > scanner->tick_ns / 4)
		scanner->late++;
	if (ns > scanner->longest_ns) {
		scanner->longest_ns = ns;
		scanner->longest_of_tick = scanner->tick_ns;
	}
	return ns;
}

/* The shortest tick that an event wants; 0 if none wants one. */
static u64 wanted_tick(const struct scanner *scanner)
{
	u64 tick_ns = 0;
	unsigned int i;

	for (i = 0; i < MAX_EVENTS; i++) {
		struct perf_event *event = scanner->events[i];

		if (wants_samples(event) && (!tick_ns || to_swlbr(event)->tick_ns < tick_ns))
			tick_ns = to_swlbr(event)->tick_ns;
	}
	return tick_ns;
}

/*
 * Time until the next tick. One that wakes an idle CPU is counted by all that it takes to wake it
 * and to let it sleep again, and finds little else: twice as long is waited each time. Nothing is
 * lost by looking later.
 */
static u64 next_tick(struct scanner *scanner)
{
	u64 longest = max_t(u64, scanner->tick_ns, IDLE_TICK_NS);

	if (!is_idle_task(current)) {
		scanner->idle_ns = 0;
		return scanner->tick_ns;
	}
	scanner->idle_ns = min(2 * max(scanner->idle_ns, scanner->tick_ns), longest);
	return scanner->idle_ns;
}

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct scanner *scanner = container_of(timer, struct scanner, timer);
	const cycles_t start = get_cycles();
	struct pt_regs *regs = get_irq_regs();
	u64 tick_ns, slice, took = 0;
	unsigned int i;

	/* A CPU that goes offline leaves its timers to another before its last event stops. */
	if (scanner != this_cpu_ptr(&scanners))
		return HRTIMER_NORESTART;
	if (!regs)
		goto again;
	slice = div_u64((u64)tsc_khz * scanner->tick_ns, SLICE_PART * NSEC_PER_MSEC);
	scanner->looked_at += scan(scanner, slice, regs);
	for (i = 0; i < MAX_EVENTS; i++) {
		struct perf_event *event = scanner->events[i];
		u64 sum = wants_samples(event) ? to_swlbr(event)->sum : 0;

		if (sum && sum >= event->attr.sample_period)
			output(event, regs);
	}
	took = note_time(scanner, get_cycles() - start);
again:
	tick_ns = wanted_tick(scanner);
	if (!tick_ns)
		return HRTIMER_NORESTART;
	scanner->tick_ns = tick_ns;
	/* Where samples take longer than they may, others get three quarters of the time still. */
	hrtimer_forward_now(timer, ns_to_ktime(max(next_tick(scanner), 4 * took)));
	return HRTIMER_RESTART;
}

/* --- the PMU --- */

static void swlbr_start(struct perf_event *event, int flags)
{
	struct scanner *scanner = this_cpu_ptr(&scanners);
	struct pt_regs regs = {};
	u64 tick_ns;

	if (!(event->hw.state & PERF_HES_STOPPED))
		return;
	/* What was counted up to now is the others'. */
	perf_fetch_caller_regs(&regs);
	scan_all(scanner, &regs);
	event->hw.state = 0;
	to_swlbr(event)->raw.nr = 0;
	to_swlbr(event)->sum = 0;
	tick_ns = wanted_tick(scanner);
	if (!tick_ns || (tick_ns == scanner->tick_ns && hrtimer_active(&scanner->timer)))
		return;
	scanner->tick_ns = tick_ns;
	scanner->idle_ns = 0;
	hrtimer_start(&scanner->timer, ns_to_ktime(tick_ns), HRTIMER_MODE_REL_PINNED_HARD);
}

/* With PERF_EF_UPDATE it gets what was counted up to now. */
static void swlbr_stop(struct perf_event *event, int flags)
{
	struct scanner *scanner = this_cpu_ptr(&scanners);
	struct pt_regs regs = {};

	if (event->hw.state & PERF_HES_STOPPED)
		return;
	if (flags & PERF_EF_UPDATE) {
		perf_fetch_caller_regs(&regs);
		scan_all(scanner, &regs);
		if (wants_samples(event) && to_swlbr(event)->sum)
			output(event, &regs);
	}
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	/* Should the timer be running now, it finds that nobody wants it. */
	if (!wanted_tick(scanner))
		hrtimer_try_to_cancel(&scanner->timer);
}

static int swlbr_add(struct perf_event *event, int flags)
{
	struct scanner *scanner = this_cpu_ptr(&scanners);
	unsigned int i;

	for (i = 0; i < MAX_EVENTS && scanner->events[i]; i++)
		;
	if (i == MAX_EVENTS)
		return -EAGAIN;
	event->hw.idx = i;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	scanner->events[i] = event;
	if (flags & PERF_EF_START)
		swlbr_start(event, 0);
	perf_event_update_userpage(event);
	return 0;
}

static void swlbr_del(struct perf_event *event, int flags)
{
	struct scanner *scanner = this_cpu_ptr(&scanners);

	swlbr_stop(event, PERF_EF_UPDATE);
	scanner->events[event->hw.idx] = NULL;
}

static void swlbr_read(struct perf_event *event)
{
	struct scanner *scanner = this_cpu_ptr(&scanners);
	struct pt_regs regs = {};

	/*
	 * A hardware event that leads the group reads it in NMIs, which may have come in the middle
	 * of anything here: it gets what was counted when the scanner last looked.
	 */
	if (in_nmi() || event->hw.state & PERF_HES_STOPPED)
		return;
	perf_fetch_caller_regs(&regs);
	scan_all(scanner, &regs);
}

static void put_scanner(unsigned int cpu)
{
	struct scanner *scanner = per_cpu_ptr(&scanners, cpu);

	/* No event is on the CPU then, so that neither is the timer running. */
	if (--scanner->users)
		return;
	hrtimer_cancel(&scanner->timer);
	kvfree(scanner->last);
	scanner->last = NULL;
}

static int get_scanner(unsigned int cpu)
{
	struct scanner *scanner = per_cpu_ptr(&scanners, cpu);

	if (!scanner->users) {
		scanner->last = kvcalloc(swlbr_engine()->nr_counters, sizeof(*scanner->last),
					 GFP_KERNEL);
		if (!scanner->last)
			return -ENOMEM;
	}
	scanner->users++;
	return 0;
}

/* Of one CPU, or of all, below @end. */
static void put_scanners(int cpu, unsigned int end)
{
	unsigned int i;

	for_each_possible_cpu(i)
		if (i < end && (cpu < 0 || i == cpu))
			put_scanner(i);
}

/* Of one CPU, or of all. */
static int get_scanners(int cpu)
{
	unsigned int i;
	int err = 0;

	mutex_lock(&users_lock);
	for_each_possible_cpu(i) {
		if (cpu >= 0 && i != cpu)
			continue;
		err = get_scanner(i);
		if (!err)
			continue;
		put_scanners(cpu, i);
		break;
	}
	mutex_unlock(&users_lock);
	return err;
}

static void swlbr_destroy(struct perf_event *event)
{
	mutex_lock(&users_lock);
	put_scanners(event->cpu, nr_cpu_ids);
	mutex_unlock(&users_lock);
	kfree(event->pmu_private);
}

/* What kinds of branch the filter lets through; 0 if it asks for what is not known. */
static u32 wanted_kinds(u64 filter)
{
	static const struct {
		u64 flag;
		u32 kinds;
	} filters[] = {
		{ PERF_SAMPLE_BRANCH_ANY, ~0U },
		{ PERF_SAMPLE_BRANCH_ANY_CALL,
		  BIT(PERF_BR_CALL) | BIT(PERF_BR_IND_CALL) | BIT(PERF_BR_COND_CALL) },
		{ PERF_SAMPLE_BRANCH_ANY_RETURN, BIT(PERF_BR_RET) | BIT(PERF_BR_COND_RET) },
		{ PERF_SAMPLE_BRANCH_IND_CALL, BIT(PERF_BR_IND_CALL) },
		{ PERF_SAMPLE_BRANCH_COND, BIT(PERF_BR_COND) },
		{ PERF_SAMPLE_BRANCH_IND_JUMP, BIT(PERF_BR_IND) },
		{ PERF_SAMPLE_BRANCH_CALL, BIT(PERF_BR_CALL) },
	};
	/* Flags that there is nothing to be said of, and how much is told of each branch. */
	u64 known = PERF_SAMPLE_BRANCH_PLM_ALL | PERF_SAMPLE_BRANCH_NO_FLAGS |
		    PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_HW_INDEX |
		    PERF_SAMPLE_BRANCH_TYPE_SAVE;
	u32 kinds = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(filters); i++) {
		known |= filters[i].flag;
		if (filter & filters[i].flag)
			kinds |= filters[i].kinds;
	}
	return filter & ~known ? 0 : kinds;
}

static int set_period(struct perf_event *event, struct swlbr_event *swlbr)
{
	struct hw_perf_event *hwc = &event->hw;

	swlbr->tick_ns = DEFAULT_TICK_NS;
	/* What is inherited has lost the frequency below. */
	if (event->parent)
		swlbr->tick_ns = to_swlbr(event->parent)->tick_ns;
	if (!event->attr.freq)
		return 0;
	swlbr->tick_ns = max_t(u64, MIN_TICK_NS, div64_u64(NSEC_PER_SEC, event->attr.sample_freq));
	/* The timer's rate is the frequency: nothing is left for perf to adjust. */
	event->attr.freq = 0;
	event->attr.sample_period = 1;
	hwc->sample_period = 1;
	hwc->last_period = 1;
	local64_set(&hwc->period_left, 1);
	return 0;
}

static int swlbr_event_init(struct perf_event *event)
{
	struct swlbr_event *swlbr;
	u32 kinds = 0;
	int err;

	if (event->attr.type != swlbr_pmu.type)
		return -ENOENT;
	if (event->attr.config)
		return -EINVAL;
	/*
	 * All that is counted is in this kernel, some of it while idle: there is no event without.
	 * perf also asks for one without the kernel where the user may not profile it, and is told
	 * so: counters tell as much as addresses do.
	 */
	if (event->attr.exclude_kernel) {
		err = swlbr_allow_kernel(event);
		return err ?: -ENOENT;
	}
	if (event->attr.exclude_idle || event->attr.exclude_host)
		return -ENOENT;
	if (has_branch_stack(event)) {
		u64 filter = event->attr.branch_sample_type;

		kinds = wanted_kinds(filter);
		if (!kinds || !(filter & PERF_SAMPLE_BRANCH_KERNEL))
			return -EOPNOTSUPP;
	}
	swlbr = kzalloc(sizeof(*swlbr), GFP_KERNEL);
	if (!swlbr)
		return -ENOMEM;
	swlbr->kinds = kinds;
	err = is_sampling_event(event) ? set_period(event, swlbr) : 0;
	if (!err)
		err = get_scanners(event->cpu);
	if (err) {
		kfree(swlbr);
		return err;
	}
	event->pmu_private = swlbr;
	event->destroy = swlbr_destroy;
	return 0;
}

PMU_FORMAT_ATTR(event, "config:0-7");
static struct attribute *format_attrs[] = { &format_attr_event.attr, NULL };
static const struct attribute_group format_group = { .name = "format", .attrs = format_attrs };

PMU_EVENT_ATTR_STRING(branches, branches_attr, "event=0x00");
static struct attribute *event_attrs[] = { &branches_attr.attr.attr, NULL };
static const struct attribute_group event_group = { .name = "events", .attrs = event_attrs };

static ssize_t branches_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%d\n", STACK_DEPTH);
}
static DEVICE_ATTR_RO(branches);
static struct attribute *caps_attrs[] = { &dev_attr_branches.attr, NULL };
static const struct attribute_group caps_group = { .name = "caps", .attrs = caps_attrs };

static const struct attribute_group *attr_groups[] = {
	&format_group, &event_group, &caps_group, NULL,
};

static struct pmu swlbr_pmu = {
	.module		= THIS_MODULE,
	.task_ctx_nr	= perf_sw_context,
	.capabilities	= PERF_PMU_CAP_NO_NMI,
	.attr_groups	= attr_groups,
	.event_init	= swlbr_event_init,
	.add		= swlbr_add,
	.del		= swlbr_del,
	.start		= swlbr_start,
	.stop		= swlbr_stop,
	.read		= swlbr_read,
};

/* /sys/kernel/debug/swlbr/scanners: what they cost. */
static int scanners_show(struct seq_file *file, void *unused)
{
	unsigned int cpu;

	seq_puts(file, "cpu ticks counters total_ns longest_ns of_tick_ns over_quarter\n");
	for_each_possible_cpu(cpu) {
		const struct scanner *scanner = per_cpu_ptr(&scanners, cpu);

		seq_printf(file, "%u %llu %llu %llu %llu %llu %llu\n", cpu, scanner->ticks,
			   scanner->looked_at, scanner->total_ns, scanner->longest_ns,
			   scanner->longest_of_tick, scanner->late);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(scanners);

static int __init pmu_init(void)
{
	unsigned int cpu;

	if (!swlbr_engine() || !swlbr_engine()->per_cpu)
		return 0;
	for_each_possible_cpu(cpu) {
		struct scanner *scanner = per_cpu_ptr(&scanners, cpu);

		hrtimer_init(&scanner->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
		scanner->timer.function = tick;
	}
	debugfs_create_file("scanners", 0400, swlbr_debugfs, NULL, &scanners_fops);
	swlbr_note_perf();
	return perf_pmu_register(&swlbr_pmu, "swlbr", -1);
}
late_initcall(pmu_init);
