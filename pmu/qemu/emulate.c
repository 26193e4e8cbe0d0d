// SPDX-License-Identifier: GPL-2.0-only
/* The recording loop: new lanes, their records, the ends of processes, signals to us. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "emulate.h"
#include "emulated.h"
#include "emulator.h"
#include "lanes.h"
#include "pmu/user/stop_signals.h"

#define TICK		  10 /* ms between looks into the rings, which hold more than that */
#define PROGRESS_INTERVAL 250000000ULL

struct emulate {
	const struct emulate_options *options;
	struct emulate_summary *summary;
	struct emulated emulated;
	struct lanes lanes;
	pid_t child;
	int listener;
	struct stop_signals signals;
	char directory[64];
	struct sockaddr_un address;
	uint64_t next_progress;
	bool no_children;
};

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void emulate_note(struct emulate_summary *summary, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (summary->nr_notes < EMULATE_MAX_NOTES &&
	    vasprintf(&summary->note[summary->nr_notes], format, args) < 0)
		summary->note[summary->nr_notes] = NULL;
	va_end(args);
	summary->nr_notes++;
}

void emulate_summary_deinit(struct emulate_summary *summary)
{
	for (size_t i = 0; i < EMULATE_MAX_NOTES; i++)
		free(summary->note[i]);
}

static struct swlbr_error *open_socket(struct emulate *emulate)
{
	const char *parent = getenv("TMPDIR");

	emulate->address.sun_family = AF_UNIX;
	/* A socket's path is short. */
	if (!parent || *parent != '/' || strlen(parent) > sizeof(emulate->directory) - 20)
		parent = "/tmp";
	snprintf(emulate->directory, sizeof(emulate->directory), "%s/swlbr.XXXXXX", parent);
	if (!mkdtemp(emulate->directory)) {
		struct swlbr_error *error = swlbr_error_errno(errno, "%s", emulate->directory);

		emulate->directory[0] = '\0';
		return error;
	}
	snprintf(emulate->address.sun_path, sizeof(emulate->address.sun_path), "%s/socket",
		 emulate->directory);
	emulate->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (emulate->listener < 0 ||
	    bind(emulate->listener, (struct sockaddr *)&emulate->address,
		 sizeof(emulate->address)) ||
	    listen(emulate->listener, SOMAXCONN))
		return swlbr_error_errno(errno, "%s", emulate->address.sun_path);
	return NULL;
}

static void read_signals(struct emulate *emulate)
{
	bool first = !emulate->signals.nr;

	stop_signals_read(&emulate->signals);
	emulate->summary->stop_signal = emulate->signals.last;
	/* As perf record: the program is asked to end, and its end is waited for. */
	if (first && emulate->signals.nr && emulate->child && !emulate->summary->child_ended)
		kill(emulate->child, SIGTERM);
}

/* Orphans of the program come to us, so that no child left means no descendant left. */
static void reap(struct emulate *emulate)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != emulate->child)
			continue;
		emulate->summary->child_ended = true;
		emulate->summary->child_status = status;
	}
	emulate->no_children = pid < 0 && errno == ECHILD;
}

static void show_progress(struct emulate *emulate)
{
	uint64_t time = now();

	if (!emulate->options->progress || time < emulate->next_progress)
		return;
	emulate->next_progress = time + PROGRESS_INTERVAL;
	emulate->summary->end = time;
	if (emulate->emulated.writer)
		emulate->summary->bytes = swlbr_perfdata_writer_size(emulate->emulated.writer);
	emulate->options->progress(emulate->summary);
}

static struct swlbr_error *tick(struct emulate *emulate, bool last)
{
	struct swlbr_error *error;

	/* In this order: what ended before its lanes are read has nothing more to say. */
	lanes_look_for_ends(&emulate->lanes);
	error = lanes_accept(&emulate->lanes, emulate->listener);
	if (!error)
		error = lanes_drain(&emulate->lanes);
	if (!error)
		error = lanes_close_ended(&emulate->lanes, last);
	return error;
}

static bool should_stop(const struct emulate *emulate)
{
	return emulate->no_children || emulate->signals.nr > 1 ||
	       (emulate->signals.nr && emulate->summary->child_ended);
}

static struct swlbr_error *loop(struct emulate *emulate)
{
	struct pollfd fds[] = {
		{ .fd = emulate->signals.fd, .events = POLLIN },
		{ .fd = emulate->listener, .events = POLLIN },
	};
	struct swlbr_error *error = NULL;

	while (!error && !should_stop(emulate)) {
		if (poll(fds, 2, TICK) < 0 && errno != EINTR)
			return swlbr_error_errno(errno, "poll");
		if (fds[0].revents)
			read_signals(emulate);
		reap(emulate);
		error = tick(emulate, false);
		show_progress(emulate);
	}
	if (!error)
		error = tick(emulate, false); /* lanes of the last moment */
	return error ? error : tick(emulate, true);
}

static struct swlbr_error *open_output(struct emulate *emulate, const char *machine)
{
	const struct emulate_options *options = emulate->options;
	struct swlbr_perfdata_info info = options->info;

	info.emulated = machine;

	if (options->counts) {
		struct swlbr_error *error = swlbr_edge_profile_create(&emulate->emulated.profile);

		return error || !options->kernel ? error : emulated_open_kernel(&emulate->emulated);
	}
	return swlbr_perfdata_writer_open(options->output, &info, &emulate->emulated.writer);
}

/* An empty result is an error that says why. */
static struct swlbr_error *check_result(const struct emulate *emulate)
{
	const struct emulate_options *options = emulate->options;
	const char *command = options->command[0];
	const struct swlbr_edge *edges;

	if (!emulate->summary->images)
		return swlbr_error_create(
			SWLBR_ERROR_NOT_FOUND,
			"%s: nothing was recorded: the emulator did not run it with our plugin",
			command);
	if (!options->counts && !emulate->summary->samples)
		return swlbr_error_create(
			SWLBR_ERROR_NOT_FOUND,
			"%s: no samples: no thread took %llu branches; use a smaller -c", command,
			(unsigned long long)options->info.period);
	if (!options->counts || swlbr_edge_profile_edges(emulate->emulated.profile, &edges))
		return NULL;
	if (options->kernel)
		return swlbr_error_create(
			SWLBR_ERROR_NOT_FOUND,
			"%s: nothing ran at its addresses: booted with nokaslr, and is it that kernel?",
			options->kernel);
	return swlbr_error_create(SWLBR_ERROR_NOT_FOUND, "%s: no code of any file was executed",
				  command);
}

static struct swlbr_error *write_output(struct emulate *emulate)
{
	struct swlbr_perfdata_writer *writer = emulate->emulated.writer;
	struct swlbr_error *error = check_result(emulate);

	if (error)
		return error;
	if (emulate->options->counts)
		return swlbr_arcs_record(emulate->emulated.profile, emulate->options->output);
	emulate->summary->bytes = swlbr_perfdata_writer_size(writer);
	emulate->emulated.writer = NULL;
	return swlbr_perfdata_writer_commit(writer);
}

static void emulate_deinit(struct emulate *emulate)
{
	lanes_deinit(&emulate->lanes);
	emulated_deinit(&emulate->emulated);
	if (emulate->listener >= 0)
		close(emulate->listener);
	stop_signals_close(&emulate->signals);
	if (emulate->address.sun_path[0])
		unlink(emulate->address.sun_path);
	if (emulate->directory[0])
		rmdir(emulate->directory);
}

struct swlbr_error *emulate_run(const struct emulate_options *options,
				struct emulate_summary *summary)
{
	struct emulate emulate = {
		.options = options, .summary = summary, .listener = -1, .signals = { .fd = -1 }
	};
	struct swlbr_error *error;
	struct emulator emulator;

	*summary = (struct emulate_summary){ .start = now() };
	emulate.next_progress = summary->start + 1000000000;
	emulate.emulated.options = options;
	emulate.emulated.summary = summary;
	emulate.lanes.emulated = &emulate.emulated;
	error = emulator_find(options, &emulator);
	if (!error)
		error = open_output(&emulate, emulator.program.machine->target);
	if (!error)
		error = open_socket(&emulate);
	if (!error)
		error = stop_signals_open(&emulate.signals);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (!error)
		error = emulator_start(&emulator, options, emulate.address.sun_path,
				       &emulate.signals.old_mask, &emulate.child);
	if (!error)
		error = loop(&emulate);
	summary->end = now();
	if (!error)
		error = write_output(&emulate);
	emulate_deinit(&emulate);
	return error;
}
