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
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "emulate.h"
#include "emulated.h"
#include "emulator.h"

#define TICK		  10 /* ms between looks into the rings, which hold more than that */
#define PROGRESS_INTERVAL 250000000ULL
#define MAX_BATCH	  (64 << 20) /* bytes of records sorted together */

struct open_lane {
	struct lane_reader reader;
	struct emulated_process *process;
	bool ended;
};

/* A record of the batch. */
struct item {
	uint64_t time;
	size_t offset; /* in the batch's bytes */
	uint32_t lane;
	uint32_t order; /* of records with equal times */
};

struct emulate {
	const struct emulate_options *options;
	struct emulate_summary *summary;
	struct emulated emulated;
	struct open_lane *lanes;
	size_t nr_lanes;
	uint8_t *bytes; /* of the batch */
	size_t nr_bytes, max_bytes;
	struct item *items;
	size_t nr_items, max_items;
	pid_t child;
	int listener, signals;
	char directory[64];
	struct sockaddr_un address;
	uint64_t next_progress;
	unsigned int stops; /* SIGINT, SIGTERM and SIGHUP received */
	bool no_children;
	sigset_t old_mask;
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

static struct swlbr_error *open_signals(struct emulate *emulate)
{
	struct sigaction hangup;
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaction(SIGHUP, NULL, &hangup);
	if (hangup.sa_handler != SIG_IGN) /* nohup */
		sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, &emulate->old_mask);
	emulate->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return emulate->signals < 0 ? swlbr_error_errno(errno, "signalfd") : NULL;
}

/* The descriptor that the process at the other end of @connection sends; -1 if it does not. */
static int receive_fd(int connection)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct pollfd ready = { .fd = connection, .events = POLLIN };
	int fd;

	if (poll(&ready, 1, 1000) <= 0 || recvmsg(connection, &message, MSG_CMSG_CLOEXEC) != 1 ||
	    !CMSG_FIRSTHDR(&message) ||
	    CMSG_FIRSTHDR(&message)->cmsg_len != CMSG_LEN(sizeof(int)) ||
	    CMSG_FIRSTHDR(&message)->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

static struct swlbr_error *add_lane(struct emulate *emulate, int connection)
{
	struct open_lane *grown, *lane;
	struct ucred peer;
	socklen_t size = sizeof(peer);
	struct swlbr_error *error;
	int fd = receive_fd(connection);

	if (fd < 0 || getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size)) {
		if (fd >= 0)
			close(fd);
		return NULL; /* it ended, or is not the plugin */
	}
	grown = reallocarray(emulate->lanes, emulate->nr_lanes + 1, sizeof(*grown));
	if (!grown) {
		close(fd);
		return swlbr_error_no_memory();
	}
	emulate->lanes = grown;
	lane = &grown[emulate->nr_lanes];
	memset(lane, 0, sizeof(*lane));
	error = lane_reader_open(fd, peer.pid, &lane->reader);
	if (error) {
		emulate_note(emulate->summary, "%s", error->message);
		swlbr_error_destroy(error);
		return NULL;
	}
	error = emulated_process_of(&emulate->emulated, &lane->reader, &lane->process);
	if (error)
		lane_reader_close(&lane->reader);
	else
		emulate->nr_lanes++;
	return error;
}

static struct swlbr_error *accept_lanes(struct emulate *emulate)
{
	struct swlbr_error *error = NULL;
	int connection;

	while (!error && (connection = accept4(emulate->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		error = add_lane(emulate, connection);
		close(connection);
	}
	return error;
}

static void read_signals(struct emulate *emulate)
{
	struct signalfd_siginfo info;

	while (read(emulate->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		emulate->summary->stop_signal = (int)info.ssi_signo;
		/* As perf record: the program is asked to end, and its end is waited for. */
		if (!emulate->stops++ && emulate->child && !emulate->summary->child_ended)
			kill(emulate->child, SIGTERM);
	}
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

static struct swlbr_error *add_item(struct emulate *emulate, size_t lane, size_t offset,
				    uint64_t time)
{
	if (emulate->nr_items == emulate->max_items) {
		size_t max = emulate->max_items ? 2 * emulate->max_items : 1024;
		struct item *grown = reallocarray(emulate->items, max, sizeof(*grown));

		if (!grown)
			return swlbr_error_no_memory();
		emulate->items = grown;
		emulate->max_items = max;
	}
	emulate->items[emulate->nr_items] = (struct item){
		.time = time,
		.offset = offset,
		.lane = (uint32_t)lane,
		.order = (uint32_t)emulate->nr_items,
	};
	emulate->nr_items++;
	return NULL;
}

/* Take what the ring of lane @index has into the batch. */
static struct swlbr_error *take(struct emulate *emulate, size_t index)
{
	struct lane_reader *reader = &emulate->lanes[index].reader;
	size_t base = emulate->nr_bytes, size, at = 0;
	const struct lane_record *record;
	struct swlbr_error *error = NULL;
	uint64_t time = 0;

	if (emulate->max_bytes - base < LANE_MAX_RING) {
		uint8_t *grown = realloc(emulate->bytes, base + 2 * LANE_MAX_RING);

		if (!grown)
			return swlbr_error_no_memory();
		emulate->bytes = grown;
		emulate->max_bytes = base + 2 * LANE_MAX_RING;
	}
	size = lane_reader_take(reader, emulate->bytes + base);
	while (!error && lane_next_record(emulate->bytes + base, size, &at, &record)) {
		if (record->time > time) /* within a lane the order stays */
			time = record->time;
		error = add_item(emulate, index, (size_t)((const uint8_t *)record - emulate->bytes),
				 time);
	}
	if (at != size)
		reader->broken = true;
	emulate->nr_bytes += size;
	return error;
}

static int compare_items(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Write the batch in the order of time. */
static struct swlbr_error *write_batch(struct emulate *emulate)
{
	struct swlbr_error *error = NULL;
	size_t nr = emulate->nr_items;

	if (!nr)
		return NULL;
	qsort(emulate->items, nr, sizeof(*emulate->items), compare_items);
	for (size_t i = 0; !error && i < nr; i++) {
		const struct item *item = &emulate->items[i];
		const struct open_lane *lane = &emulate->lanes[item->lane];

		error = emulated_record(
			&emulate->emulated, lane->process, lane->reader.tid,
			(const struct lane_record *)(emulate->bytes + item->offset));
	}
	emulate->nr_items = emulate->nr_bytes = 0;
	if (!error && emulate->emulated.writer)
		error = swlbr_perfdata_write_round(emulate->emulated.writer);
	return error;
}

static struct swlbr_error *drain(struct emulate *emulate)
{
	struct swlbr_error *error = NULL;

	for (size_t i = 0; !error && i < emulate->nr_lanes && emulate->nr_bytes < MAX_BATCH; i++)
		error = take(emulate, i);
	return error ? error : write_batch(emulate);
}

static void look_for_ends(struct emulate *emulate)
{
	for (size_t i = 0; i < emulate->emulated.nr_processes; i++) {
		struct emulated_process *process = emulate->emulated.processes[i];
		struct pollfd ended = { .fd = process->pidfd, .events = POLLIN };

		if (!process->ended)
			process->ended = poll(&ended, 1, 0) > 0;
	}
	for (size_t i = 0; i < emulate->nr_lanes; i++) {
		struct open_lane *lane = &emulate->lanes[i];

		lane->ended = lane->process->ended || lane->process->replaced ||
			      lane_reader_is_closed(&lane->reader);
	}
}

/* Lanes that had ended before the last drain() hold nothing more. */
static struct swlbr_error *close_ended(struct emulate *emulate, bool all)
{
	struct swlbr_error *error = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < emulate->nr_lanes; i++) {
		struct open_lane lane = emulate->lanes[i];

		if (!error && (lane.ended || all)) {
			error = emulated_lane_ended(&emulate->emulated, lane.process, &lane.reader);
			lane_reader_close(&lane.reader);
		} else {
			emulate->lanes[kept++] = lane;
		}
	}
	emulate->nr_lanes = kept;
	for (size_t i = emulate->emulated.nr_processes; !error && i-- > 0;) {
		struct emulated_process *process = emulate->emulated.processes[i];

		if (!process->nr_lanes && (process->ended || process->replaced || all))
			error = emulated_process_ended(&emulate->emulated, process);
	}
	return error;
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
	look_for_ends(emulate);
	error = accept_lanes(emulate);
	if (!error)
		error = drain(emulate);
	if (!error)
		error = close_ended(emulate, last);
	return error;
}

static bool should_stop(const struct emulate *emulate)
{
	return emulate->no_children || emulate->stops > 1 ||
	       (emulate->stops && emulate->summary->child_ended);
}

static struct swlbr_error *loop(struct emulate *emulate)
{
	struct pollfd fds[] = {
		{ .fd = emulate->signals, .events = POLLIN },
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
		return swlbr_arcs_write(emulate->emulated.profile, emulate->options->output);
	emulate->summary->bytes = swlbr_perfdata_writer_size(writer);
	emulate->emulated.writer = NULL;
	return swlbr_perfdata_writer_commit(writer);
}

static void emulate_deinit(struct emulate *emulate)
{
	for (size_t i = 0; i < emulate->nr_lanes; i++)
		lane_reader_close(&emulate->lanes[i].reader);
	free(emulate->lanes);
	free(emulate->bytes);
	free(emulate->items);
	emulated_deinit(&emulate->emulated);
	if (emulate->listener >= 0)
		close(emulate->listener);
	if (emulate->signals >= 0) {
		close(emulate->signals);
		sigprocmask(SIG_SETMASK, &emulate->old_mask, NULL);
	}
	if (emulate->address.sun_path[0])
		unlink(emulate->address.sun_path);
	if (emulate->directory[0])
		rmdir(emulate->directory);
}

struct swlbr_error *emulate_run(const struct emulate_options *options,
				struct emulate_summary *summary)
{
	struct emulate emulate = {
		.options = options, .summary = summary, .listener = -1, .signals = -1
	};
	struct swlbr_error *error;
	struct emulator emulator;

	*summary = (struct emulate_summary){ .start = now() };
	emulate.next_progress = summary->start + 1000000000;
	emulate.emulated.options = options;
	emulate.emulated.summary = summary;
	error = emulator_find(options, &emulator);
	if (!error)
		error = open_output(&emulate, emulator.program.machine->target);
	if (!error)
		error = open_socket(&emulate);
	if (!error)
		error = open_signals(&emulate);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (!error)
		error = emulator_start(&emulator, options, emulate.address.sun_path,
				       &emulate.old_mask, &emulate.child);
	if (!error)
		error = loop(&emulate);
	summary->end = now();
	if (!error)
		error = write_output(&emulate);
	emulate_deinit(&emulate);
	return error;
}
