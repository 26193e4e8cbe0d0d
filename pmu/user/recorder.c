// SPDX-License-Identifier: GPL-2.0-only
/* The recording loop: events of the traced, held calls, ticks, signals to us. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec_filter.h"
#include "kernel_events.h"
#include "launch.h"
#include "stacks.h"
#include "stop_signals.h"
#include "tracer.h"

#define PROGRESS_INTERVAL 250000000ULL /* ns */
/* The share of a tick's interval that snapshots may take. */
#define SWEEP_SHARE 20

struct recorder {
	struct tracer tracer;
	struct launch launch;
	struct kernel_events kernel_events;
	const struct recorder_options *options;
	struct recorder_summary *summary;
	struct stop_signals signals;
	int timer, keeper;
	uint64_t interval; /* ns between ticks */
	uint64_t next_progress;
};

static struct swlbr_error *open_events(struct recorder *recorder)
{
	struct itimerspec every = { 0 };
	struct swlbr_error *error = stop_signals_open(&recorder->signals);

	if (error)
		return error;
	recorder->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (recorder->timer < 0)
		return swlbr_error_errno(errno, "timerfd");
	recorder->interval = (uint64_t)(1e9 / recorder->options->frequency);
	every.it_interval.tv_sec = (time_t)(recorder->interval / 1000000000);
	every.it_interval.tv_nsec = (long)(recorder->interval % 1000000000);
	every.it_value = every.it_interval;
	timerfd_settime(recorder->timer, 0, &every, NULL);
	return NULL;
}

static void read_signals(struct recorder *recorder)
{
	bool first = !recorder->signals.nr;

	stop_signals_read(&recorder->signals);
	recorder->summary->stop_signal = recorder->signals.last;
	/* As perf record: the program is asked to end, and its end is waited for. */
	if (first && recorder->signals.nr && recorder->tracer.child &&
	    !recorder->summary->child_ended)
		kill(recorder->tracer.child, SIGTERM);
}

static struct swlbr_error *reap(struct recorder *recorder)
{
	struct swlbr_error *error = NULL;
	int status;
	pid_t tid;

	while (!error && (tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0)
		error = tracer_event(&recorder->tracer, tid, status);
	return error;
}

static struct swlbr_error *on_call(struct recorder *recorder)
{
	struct seccomp_notif notif = { 0 };
	struct swlbr_error *error;

	/* Fork and end events that came before are older than this call. */
	error = reap(recorder);
	if (error || ioctl(recorder->tracer.listener, SECCOMP_IOCTL_NOTIF_RECV, &notif))
		return error;
	return tracer_call(&recorder->tracer, &notif);
}

static struct swlbr_error *on_tick(struct recorder *recorder)
{
	uint64_t expirations, now = session_now();

	if (read(recorder->timer, &expirations, sizeof(expirations)) != sizeof(expirations))
		return NULL;
	if (recorder->options->progress && now >= recorder->next_progress) {
		recorder->next_progress = now + PROGRESS_INTERVAL;
		recorder->summary->end = now;
		recorder->summary->bytes =
			swlbr_perfdata_writer_size(recorder->tracer.session.writer);
		recorder->options->progress(recorder->summary, NULL);
	}
	return tracer_sweep(&recorder->tracer, recorder->interval / SWEEP_SHARE);
}

static bool should_stop(const struct recorder *recorder)
{
	return recorder->signals.nr > 1 ||
	       (recorder->signals.nr &&
		(!recorder->tracer.child || recorder->summary->child_ended));
}

static struct swlbr_error *loop(struct recorder *recorder)
{
	struct pollfd fds[] = {
		{ .fd = recorder->signals.fd, .events = POLLIN },
		{ .fd = recorder->timer, .events = POLLIN },
		{ .fd = recorder->tracer.listener, .events = POLLIN },
		{ .fd = recorder->kernel_events.timer, .events = POLLIN },
	};
	struct swlbr_error *error = NULL;

	while (!error && recorder->tracer.tasks.nr_tasks && !should_stop(recorder)) {
		int n = poll(fds, 4, tracer_is_waiting(&recorder->tracer) ? 1 : -1);

		if (n < 0 && errno != EINTR)
			return swlbr_error_errno(errno, "poll");
		if (n > 0 && fds[0].revents)
			read_signals(recorder);
		error = reap(recorder);
		if (!error && n > 0 && fds[2].revents & POLLIN)
			error = on_call(recorder);
		else if (n > 0 && fds[2].revents)
			fds[2].fd = -1; /* nobody under the filter is left */
		if (!error && n > 0 && fds[1].revents)
			error = on_tick(recorder);
		if (!error && n > 0 && fds[3].revents)
			error = kernel_events_drain(&recorder->kernel_events);
		if (!error && tracer_is_waiting(&recorder->tracer))
			error = tracer_recheck(&recorder->tracer);
	}
	return error;
}

static struct swlbr_error *start(struct recorder *recorder)
{
	const struct recorder_options *options = recorder->options;
	struct swlbr_error *error = NULL;

	recorder->tracer.listener = -1;
	if (!options->command) {
		error = kernel_events_attach(&recorder->kernel_events, &recorder->tracer.session);
		for (size_t i = 0; !error && i < options->nr_pids; i++)
			error = tracer_attach(&recorder->tracer, options->pids[i]);
		if (!error)
			kernel_events_enable(&recorder->kernel_events);
		return error;
	}
	error = launch_start(&recorder->tracer, options->command, &recorder->signals.old_mask,
			     &recorder->launch);
	if (error)
		return error;
	if (recorder->tracer.listener >= 0)
		exec_filter_start_keeper(recorder->tracer.listener, &recorder->keeper);
	error = kernel_events_open(&recorder->kernel_events, &recorder->tracer.session,
				   &recorder->launch.pid, 1, true);
	if (!error && recorder->tracer.listener < 0)
		error = session_lost(
			&recorder->tracer.session, recorder->launch.pid, NULL, 0,
			"no seccomp user notification here: what runs before an exec, or in threads' forks, may be missed");
	launch_go(&recorder->launch);
	return error;
}

/* Why no counters were read. */
static struct swlbr_error *no_counters(const struct recorder_summary *summary, char *const *command)
{
	if (summary->refusal)
		return swlbr_error_create(SWLBR_ERROR_UNSUPPORTED, "%s", summary->refusal);
	/* exec does not come back where there is no process left to come back to. */
	if (command && !summary->program && WIFSIGNALED(summary->child_status))
		return swlbr_error_create(
			SWLBR_ERROR_FORMAT,
			"%s: ended by signal %d (%s) before it began: is the file whole?",
			command[0], WTERMSIG(summary->child_status),
			strsignal(WTERMSIG(summary->child_status)));
	return swlbr_error_create(
		SWLBR_ERROR_NOT_INSTRUMENTED,
		"%s: no counters in it or in what it ran: built without -fprofile-generate; see perf swlbr cflags",
		summary->program ? summary->program : "the process");
}

static struct swlbr_error *check_result(struct recorder *recorder)
{
	const struct recorder_summary *summary = recorder->summary;
	int failure = recorder->options->command ? launch_exec_error(&recorder->launch) : 0;
	struct swlbr_error *error;
	uint64_t samples = 0;

	if (failure)
		return swlbr_error_errno(failure, "%s", recorder->options->command[0]);
	if (summary->images)
		return NULL;
	error = no_counters(summary, recorder->options->command);
	for (size_t i = 0; i < summary->nr_events; i++)
		samples += summary->events[i].samples;
	if (!samples)
		return error;
	/* What the kernel saw is worth keeping. */
	error = swlbr_error_prefix(error, "only the events of -e are recorded");
	if (recorder->options->tell)
		recorder->options->tell(error->message);
	swlbr_error_destroy(error);
	return NULL;
}

static void recorder_deinit(struct recorder *recorder)
{
	tracer_deinit(&recorder->tracer);
	kernel_events_deinit(&recorder->kernel_events);
	if (recorder->tracer.listener >= 0)
		close(recorder->tracer.listener);
	if (recorder->keeper >= 0)
		close(recorder->keeper); /* the keeper takes over, or ends */
	if (recorder->launch.socket >= 0)
		close(recorder->launch.socket);
	if (recorder->timer >= 0)
		close(recorder->timer);
	stop_signals_close(&recorder->signals);
}

struct swlbr_error *recorder_run(const struct recorder_options *options,
				 struct recorder_summary *summary)
{
	struct recorder recorder = { .options = options,
				     .summary = summary,
				     .kernel_events = { .timer = -1 },
				     .keeper = -1,
				     .signals = { .fd = -1 },
				     .timer = -1,
				     .launch = { .socket = -1 } };
	struct swlbr_error *error, *detach_error;

	*summary = (struct recorder_summary){ .start = session_now() };
	recorder.tracer.session = (struct session){ .options = options, .summary = summary };
	recorder.next_progress = summary->start + 1000000000;
	error = swlbr_perfdata_writer_open(options->output, &options->info,
					   &recorder.tracer.session.writer);
	if (error)
		return error;
	error = open_events(&recorder);
	if (!error)
		error = start(&recorder);
	if (!error)
		error = loop(&recorder);
	detach_error = tracer_detach_all(&recorder.tracer);
	if (error)
		swlbr_error_destroy(detach_error);
	else
		error = detach_error;
	kernel_events_disable(&recorder.kernel_events);
	if (!error)
		error = kernel_events_finish(&recorder.kernel_events);
	summary->end = session_now();
	if (!error)
		error = check_result(&recorder);
	if (!error)
		error = stacks_write(&recorder.tracer.session);
	stacks_deinit(&recorder.tracer.session.stacks);
	summary->end = session_now();
	summary->bytes = swlbr_perfdata_writer_size(recorder.tracer.session.writer);
	if (error)
		swlbr_perfdata_writer_discard(recorder.tracer.session.writer);
	else
		error = swlbr_perfdata_writer_commit(recorder.tracer.session.writer);
	recorder_deinit(&recorder);
	return error;
}
