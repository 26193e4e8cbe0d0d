// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <perf/cpumap.h>
#include <perf/event.h>
#include <perf/evlist.h>
#include <perf/evsel.h>
#include <perf/mmap.h>
#include <perf/threadmap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "event_parse.h"
#include "kernel_events.h"
#include "task.h"

#define BUFFER_PAGES   128	/* per CPU, as perf record's default of 512 KB */
#define DRAIN_INTERVAL 50000000 /* ns: 10 MB/s and CPU fit into the buffers */

/* The kernel's id of an event on one CPU and thread. */
struct kernel_event_id {
	uint64_t id;
	size_t event;
};

/* On what to open events. */
struct opening {
	struct perf_cpu_map *cpus;
	struct perf_thread_map *threads;
	bool at_exec;
};

static int print_nothing(enum libperf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

static void tell(const struct session *session, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void tell(const struct session *session, const char *format, ...)
{
	char *line;
	va_list args;

	va_start(args, format);
	if (session->options->tell && vasprintf(&line, format, args) >= 0) {
		session->options->tell(line);
		free(line);
	}
	va_end(args);
}

static long read_sysctl(const char *name)
{
	char path[128];
	long value = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fscanf(file, "%ld", &value) != 1)
		value = -1;
	fclose(file);
	return value;
}

static int open_once(const struct opening *opening, struct perf_event_attr *attr)
{
	struct perf_evsel *evsel = perf_evsel__new(attr);
	int result = evsel ? perf_evsel__open(evsel, opening->cpus, opening->threads) : -ENOMEM;

	if (evsel) {
		perf_evsel__close(evsel);
		perf_evsel__delete(evsel);
	}
	return -result;
}

/* errno of opening an event like that, or 0; does without what older kernels do not know. */
static int try_open(const struct opening *opening, struct perf_event_attr *attr)
{
	int failure = open_once(opening, attr);

	if (failure == EINVAL) { /* before 6.0 */
		attr->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
		failure = open_once(opening, attr);
	}
	if (failure == EINVAL && attr->build_id) { /* before 5.12 */
		attr->build_id = 0;
		failure = open_once(opening, attr);
	}
	return failure;
}

/* Likewise; gives up the kernel where it is not permitted and was not asked for. */
static int try_open_user(const struct opening *opening, const struct event_request *request,
			 struct perf_event_attr *attr)
{
	int failure = try_open(opening, attr);

	if ((failure == EACCES || failure == EPERM) && !request->modified) {
		attr->exclude_kernel = attr->exclude_hv = 1;
		failure = try_open(opening, attr);
	}
	return failure;
}

static bool is_hardware(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_RAW;
}

/* Why an event could not be opened, and what can be done. */
static void explain(const struct perf_event_attr *attr, int failure, char text[256])
{
	if (is_hardware(attr) && (failure == ENOENT || failure == EOPNOTSUPP || failure == ENODEV))
		snprintf(
			text, 256,
			"this machine has no hardware counter for it; record on the hardware, or in a guest that is given a PMU");
	else if (failure == EACCES || failure == EPERM)
		snprintf(
			text, 256,
			"not permitted (%s); kernel.perf_event_paranoid is %ld: lower it, or take modifier u",
			strerror(failure), read_sysctl("perf_event_paranoid"));
	else if (failure == EMFILE)
		snprintf(text, 256, "too many open files; raise ulimit -n");
	else
		snprintf(
			text, 256,
			"the kernel does not sample it for a program (%s); perf list tells what this machine has",
			strerror(failure));
}

static void explain_no_stacks(const struct perf_event_attr *attr, int failure, char text[256])
{
	const char *why = "this processor, or the guest, has no branch records for it";

	if (attr->type == PERF_TYPE_SOFTWARE)
		why = "software events have none";
	else if (failure == EACCES || failure == EPERM)
		why = "not permitted, lower kernel.perf_event_paranoid";
	snprintf(
		text, 256,
		"%s (%s); a hardware event such as cycles:u has them on a processor with LBR or BRBE, --emulate on any",
		why, strerror(failure));
}

static void prepare_attr(const struct opening *opening, const struct event_request *request,
			 bool first, struct perf_event_attr *attr)
{
	long most = read_sysctl("perf_event_max_sample_rate");

	*attr = request->attr;
	attr->size = sizeof(*attr);
	attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			    PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			    PERF_SAMPLE_BRANCH_STACK;
	attr->branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	attr->read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->disabled = 1;
	attr->inherit = 1;
	attr->enable_on_exec = opening->at_exec;
	if (attr->freq && most > 0 && attr->sample_freq > (uint64_t)most)
		attr->sample_freq = (uint64_t)most;
	/*
	 * One event tells of mappings at the moment they are made, and of threads; processes are
	 * ours to tell.
	 */
	attr->mmap = attr->mmap2 = attr->build_id = attr->comm = attr->task = first;
}

/* Find out how @request can be opened; false if not at all. */
static bool choose_attr(const struct kernel_events *events, const struct opening *opening,
			const struct event_request *request, struct perf_event_attr *attr)
{
	int failure, stackless;
	char why[256];

	if (request->missing) {
		tell(events->session, "%s: not recorded: %s", request->name, request->missing);
		return false;
	}
	prepare_attr(opening, request, !events->summary->nr_events, attr);
	failure = try_open_user(opening, request, attr);
	if (!failure)
		return true;
	attr->sample_type &= ~(uint64_t)PERF_SAMPLE_BRANCH_STACK;
	attr->branch_sample_type = 0;
	attr->build_id = attr->mmap;
	attr->read_format |= PERF_FORMAT_LOST;
	stackless = try_open_user(opening, request, attr);
	if (!stackless) {
		explain_no_stacks(attr, failure, why);
		tell(events->session, "%s: recorded without branch stacks: %s", request->name, why);
		return true;
	}
	explain(attr, stackless, why);
	tell(events->session, "%s: not recorded: %s", request->name, why);
	return false;
}

/* perf's name of it: modifier u where the kernel is left out unasked. */
static char *event_name(const struct event_request *request, const struct perf_event_attr *attr)
{
	size_t size = strlen(request->name);
	const char *suffix = "";
	char *name;

	if (attr->exclude_kernel && !request->modified)
		suffix = strchr(request->name, ':') || request->name[size - 1] == '/' ? "u" : ":u";
	return asprintf(&name, "%s%s", request->name, suffix) < 0 ? NULL : name;
}

static struct swlbr_error *add_event(struct kernel_events *events,
				     const struct event_request *request,
				     struct perf_event_attr *attr)
{
	struct recorder_event *event;
	struct perf_evsel *evsel;

	event = reallocarray(events->summary->events, events->summary->nr_events + 1,
			     sizeof(*event));
	if (!event)
		return swlbr_error_no_memory();
	events->summary->events = event;
	event += events->summary->nr_events;
	*event = (struct recorder_event){ .name = event_name(request, attr) };
	if (!event->name)
		return swlbr_error_no_memory();
	events->summary->nr_events++;
	evsel = perf_evsel__new(attr);
	if (!evsel)
		return swlbr_error_no_memory();
	perf_evlist__add(events->evlist, evsel);
	return NULL;
}

static int compare_ids(const void *a, const void *b)
{
	const struct kernel_event_id *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* The kernel's ids of all that is open, so that records find their event. */
static struct swlbr_error *collect_ids(struct kernel_events *events, const struct opening *opening)
{
	size_t cpus = (size_t)perf_cpu_map__nr(opening->cpus), event = 0;
	size_t threads = (size_t)perf_thread_map__nr(opening->threads);
	struct perf_evsel *evsel;

	events->nr_cpus = cpus;
	events->nr_threads = threads;
	events->ids = calloc(cpus * threads * events->summary->nr_events, sizeof(*events->ids));
	if (!events->ids)
		return swlbr_error_no_memory();
	perf_evlist__for_each_evsel(events->evlist, evsel)
	{
		for (size_t i = 0; i < cpus * threads; i++) {
			struct perf_counts_values counts = { 0 };
			int failure = perf_evsel__read(evsel, (int)(i / threads),
						       (int)(i % threads), &counts);

			if (failure < 0)
				return swlbr_error_errno(-failure, "%s: its id",
							 events->summary->events[event].name);
			events->ids[events->nr_ids++] =
				(struct kernel_event_id){ .id = counts.id, .event = event };
		}
		event++;
	}
	qsort(events->ids, events->nr_ids, sizeof(*events->ids), compare_ids);
	return NULL;
}

static struct swlbr_error *announce(struct kernel_events *events)
{
	struct swlbr_error *error = NULL;
	struct perf_evsel *evsel;
	size_t event = 0;

	perf_evlist__for_each_evsel(events->evlist, evsel)
	{
		struct recorder_event *row = &events->summary->events[event++];

		if (!error)
			error = swlbr_perfdata_writer_add_event(events->session->writer,
								perf_evsel__attr(evsel), row->name,
								&row->id);
	}
	return error;
}

static int open_evlist(struct kernel_events *events, const struct opening *opening)
{
	int failure;

	perf_evlist__set_maps(events->evlist, opening->cpus, opening->threads);
	failure = perf_evlist__open(events->evlist);
	if (failure)
		return -failure;
	/* Less where little may be locked: kernel.perf_event_mlock_kb, ulimit -l. */
	for (int pages = BUFFER_PAGES; pages; pages /= 2) {
		failure = perf_evlist__mmap(events->evlist, pages);
		if (failure != -EPERM && failure != -ENOMEM)
			break;
	}
	return -failure;
}

static struct swlbr_error *start_timer(struct kernel_events *events)
{
	struct itimerspec every = { .it_interval.tv_nsec = DRAIN_INTERVAL,
				    .it_value.tv_nsec = DRAIN_INTERVAL };

	events->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (events->timer < 0)
		return swlbr_error_errno(errno, "timerfd");
	timerfd_settime(events->timer, 0, &every, NULL);
	return NULL;
}

static void close_events(struct kernel_events *events)
{
	if (!events->evlist)
		return;
	perf_evlist__munmap(events->evlist);
	perf_evlist__close(events->evlist);
	perf_evlist__delete(events->evlist);
	events->evlist = NULL;
}

static void forget_events(struct kernel_events *events)
{
	close_events(events);
	for (size_t i = 0; i < events->summary->nr_events; i++)
		free(events->summary->events[i].name);
	free(events->summary->events);
	events->summary->events = NULL;
	events->summary->nr_events = 0;
}

static struct swlbr_error *open_all(struct kernel_events *events, const struct opening *opening)
{
	const struct event_list *list = events->session->options->events;
	struct swlbr_error *error = NULL;
	struct perf_event_attr attr;
	int failure;

	for (size_t i = 0; !error && i < list->nr; i++)
		if (choose_attr(events, opening, &list->requests[i], &attr))
			error = add_event(events, &list->requests[i], &attr);
	if (error || !events->summary->nr_events)
		return error;
	failure = open_evlist(events, opening);
	if (failure) {
		tell(events->session,
		     "-e: no event is recorded: %s; kernel.perf_event_mlock_kb and ulimit -l and -n limit what can be opened",
		     strerror(failure));
		forget_events(events);
		return NULL;
	}
	error = collect_ids(events, opening);
	if (!error)
		error = announce(events);
	return error ? error : start_timer(events);
}

struct swlbr_error *kernel_events_open(struct kernel_events *events, struct session *session,
				       const pid_t *tids, size_t nr_tids, bool at_exec)
{
	struct opening opening = { .at_exec = at_exec };
	struct swlbr_error *error;

	*events = (struct kernel_events){ .session = session,
					  .summary = session->summary,
					  .timer = -1 };
	if (!session->options->events || !session->options->events->nr)
		return NULL;
	libperf_init(print_nothing);
	opening.cpus = perf_cpu_map__new(NULL);
	opening.threads = perf_thread_map__new_array((int)nr_tids, NULL);
	events->evlist = perf_evlist__new();
	if (!opening.cpus || !opening.threads || !events->evlist) {
		error = swlbr_error_no_memory();
	} else {
		for (size_t i = 0; i < nr_tids; i++)
			perf_thread_map__set_pid(opening.threads, (int)i, tids[i]);
		error = open_all(events, &opening);
	}
	perf_cpu_map__put(opening.cpus);
	perf_thread_map__put(opening.threads);
	if (!error && !events->summary->nr_events)
		close_events(events);
	return error;
}

struct swlbr_error *kernel_events_attach(struct kernel_events *events, struct session *session)
{
	struct swlbr_error *error;
	pid_t *all = NULL;
	size_t nr_all = 0;

	for (size_t i = 0; i < session->options->nr_pids; i++) {
		pid_t *tids = NULL, *grown;
		size_t nr = thread_list(session->options->pids[i], &tids);

		grown = nr ? reallocarray(all, nr_all + nr, sizeof(*all)) : all;
		if (nr && !grown) {
			free(tids);
			free(all);
			return swlbr_error_no_memory();
		}
		all = grown;
		if (nr)
			memcpy(all + nr_all, tids, nr * sizeof(*tids));
		nr_all += nr;
		free(tids);
	}
	if (!nr_all) { /* attaching will tell */
		*events = (struct kernel_events){ .session = session, .timer = -1 };
		return NULL;
	}
	error = kernel_events_open(events, session, all, nr_all, false);
	free(all);
	return error;
}

void kernel_events_enable(struct kernel_events *events)
{
	if (events->evlist)
		perf_evlist__enable(events->evlist);
}

void kernel_events_disable(struct kernel_events *events)
{
	if (events->evlist)
		perf_evlist__disable(events->evlist);
}

/* The event whose record it is; NULL if it is none of ours. */
static struct recorder_event *find_event(const struct kernel_events *events,
					 const union perf_event *record)
{
	const uint8_t *bytes = (const uint8_t *)record;
	struct kernel_event_id key, *found;

	/* IDENTIFIER: the first field of a sample, the last of all else. */
	if (record->header.size < 16)
		return NULL;
	memcpy(&key.id,
	       record->header.type == PERF_RECORD_SAMPLE ? bytes + 8
							 : bytes + record->header.size - 8,
	       sizeof(key.id));
	found = bsearch(&key, events->ids, events->nr_ids, sizeof(key), compare_ids);
	return found ? &events->summary->events[found->event] : NULL;
}

/* Whether a record belongs into the file: processes and their execs are told by the tracer. */
static bool count_record(struct recorder_event *event, const union perf_event *record)
{
	const struct perf_record_fork *task = &record->fork;

	switch (record->header.type) {
	case PERF_RECORD_SAMPLE:
		event->samples++;
		return true;
	case PERF_RECORD_LOST:
		event->lost += record->lost.lost;
		return true;
	case PERF_RECORD_LOST_SAMPLES:
		event->lost += record->lost_samples.lost;
		return true;
	case PERF_RECORD_THROTTLE:
		event->throttled++;
		return true;
	case PERF_RECORD_UNTHROTTLE:
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return true;
	case PERF_RECORD_COMM:
		return !(record->header.misc & PERF_RECORD_MISC_COMM_EXEC);
	case PERF_RECORD_FORK:
		return task->pid == task->ppid;
	case PERF_RECORD_EXIT:
		return task->pid != task->tid;
	default:
		return false;
	}
}

static struct swlbr_error *drain_buffer(struct kernel_events *events, struct perf_mmap *map)
{
	struct swlbr_error *error = NULL;
	union perf_event *record;

	if (perf_mmap__read_init(map) < 0) /* empty */
		return NULL;
	while (!error && (record = perf_mmap__read_event(map))) {
		struct recorder_event *event = find_event(events, record);

		if (event && count_record(event, record))
			error = swlbr_perfdata_write_kernel_record(events->session->writer,
								   &record->header, event->id);
		perf_mmap__consume(map);
	}
	perf_mmap__read_done(map);
	return error;
}

struct swlbr_error *kernel_events_drain(struct kernel_events *events)
{
	struct swlbr_error *error = NULL;
	struct perf_mmap *map;
	uint64_t expirations;

	if (!events->evlist)
		return NULL;
	if (read(events->timer, &expirations, sizeof(expirations)) < 0 && errno != EAGAIN)
		return swlbr_error_errno(errno, "timerfd");
	perf_evlist__for_each_mmap(events->evlist, map, false) if (!error)
		error = drain_buffer(events, map);
	return error;
}

/* What the kernel has lost of the event number @nr, told or not; @ret stays if it cannot say. */
static struct swlbr_error *read_lost(const struct kernel_events *events, size_t nr, uint64_t *ret)
{
	struct perf_evsel *evsel;
	uint64_t lost = 0;

	perf_evlist__for_each_evsel(events->evlist, evsel)
	{
		if (nr--)
			continue;
		if (!(perf_evsel__attr(evsel)->read_format & PERF_FORMAT_LOST))
			return NULL;
		for (size_t i = 0; i < events->nr_cpus * events->nr_threads; i++) {
			struct perf_counts_values counts = { 0 };
			int failure = perf_evsel__read(evsel, (int)(i / events->nr_threads),
						       (int)(i % events->nr_threads), &counts);

			if (failure < 0)
				return swlbr_error_errno(-failure, "what the kernel lost");
			lost += counts.lost;
		}
		break;
	}
	*ret = lost;
	return NULL;
}

static struct swlbr_error *write_lost(struct kernel_events *events,
				      const struct recorder_event *event, uint64_t lost)
{
	struct {
		struct perf_event_header header;
		uint64_t id, lost;
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
		uint64_t identifier;
	} record = {
		.header = { .type = PERF_RECORD_LOST, .size = sizeof(record) },
		.lost = lost,
		.time = session_now(),
		.cpu = UINT32_MAX, /* several */
	};

	return swlbr_perfdata_write_kernel_record(events->session->writer, &record.header,
						  event->id);
}

struct swlbr_error *kernel_events_finish(struct kernel_events *events)
{
	struct recorder_summary *summary = events->summary;
	struct recorder_event *loser = NULL;
	struct swlbr_error *error = NULL;
	uint64_t told = 0, lost = 0;

	if (!events->evlist)
		return NULL;
	error = kernel_events_drain(events);
	for (size_t i = 0; !error && i < summary->nr_events; i++) {
		struct recorder_event *event = &summary->events[i];

		/* Events share buffers: a record in one's name tells of what all lost. */
		told += event->lost;
		error = read_lost(events, i, &event->lost);
		lost += event->lost;
		if (event->lost && !loser)
			loser = event;
	}
	return error || lost <= told ? error : write_lost(events, loser, lost - told);
}

void kernel_events_deinit(struct kernel_events *events)
{
	close_events(events);
	free(events->ids);
	if (events->timer >= 0)
		close(events->timer);
}
