/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A seccomp filter that tells us of exec, fork and dlclose before they happen, in any thread, and
 * costs nothing elsewhere. ptrace alone sees an exec only when the old memory is gone, and sees
 * nothing of threads that it does not trace.
 */
#ifndef SWLBR_USER_EXEC_FILTER_H
#define SWLBR_USER_EXEC_FILTER_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>

enum filter_call { FILTER_EXEC, FILTER_FORK, FILTER_UNMAP, FILTER_OTHER };

/*
 * In the child, before exec: install the filter. @unmap_at: where in its page the dynamic loader's
 * munmap returns, -1 if not known. Returns the listener, or -1 and errno. Async-signal-safe.
 */
int exec_filter_install(int unmap_at);

/*
 * Where in its page the munmap system call of the dynamic loader @path returns to (dlclose uses
 * it; malloc and everything else have others); -1 if there is none or several.
 */
int exec_filter_loader_unmap(const char *path);

enum filter_call exec_filter_call(const struct seccomp_notif *notif);
/* True if the clone() of @notif makes a process that ptrace does not report as a fork. */
bool exec_filter_escapes(const struct seccomp_notif *notif);

/* Let the call of notification @id go on. False: it will not, for it was interrupted. */
bool exec_filter_continue(int listener, uint64_t id);

/*
 * A process that answers for us when we are gone, so that programs under the filter live on. It
 * takes over when the write end of a pipe, which *@alive_ret is, closes.
 */
void exec_filter_start_keeper(int listener, int *alive_ret);

#endif
