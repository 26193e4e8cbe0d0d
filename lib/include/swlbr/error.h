/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_ERROR_H
#define SWLBR_ERROR_H

/**
 * enum swlbr_error_code - what kind of failure an error is
 * @SWLBR_ERROR_SYSTEM: a system call failed; the message ends with strerror's text
 * @SWLBR_ERROR_NO_MEMORY: an allocation failed
 * @SWLBR_ERROR_FORMAT: a file is damaged, truncated or not of the kind it should be
 * @SWLBR_ERROR_UNSUPPORTED: the file is sound, but of a version or kind not handled
 * @SWLBR_ERROR_NOT_INSTRUMENTED: the binary holds no counters
 * @SWLBR_ERROR_NOT_FOUND: what was asked for is not there
 * @SWLBR_ERROR_MISMATCH: two inputs do not belong together
 */
enum swlbr_error_code {
	SWLBR_ERROR_SYSTEM,
	SWLBR_ERROR_NO_MEMORY,
	SWLBR_ERROR_FORMAT,
	SWLBR_ERROR_UNSUPPORTED,
	SWLBR_ERROR_NOT_INSTRUMENTED,
	SWLBR_ERROR_NOT_FOUND,
	SWLBR_ERROR_MISMATCH,
};

/**
 * struct swlbr_error - why a call failed
 *
 * Every function that can fail returns a pointer to one, NULL being success. The caller owns it:
 * it is passed on (perhaps with context added by swlbr_error_prefix()) or destroyed.
 */
struct swlbr_error {
	enum swlbr_error_code code;
	char *message; /* one line, no newline at its end */
};

/** Create an error from a printf format. Never returns NULL. */
struct swlbr_error *swlbr_error_create(enum swlbr_error_code code, const char *format, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull));

/** As swlbr_error_create() with SWLBR_ERROR_SYSTEM, ": " and strerror(@errnum) appended. */
struct swlbr_error *swlbr_error_errno(int errnum, const char *format, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull));

/** The error of a failed allocation; needs no memory. */
struct swlbr_error *swlbr_error_no_memory(void) __attribute__((returns_nonnull));

/** Put "<formatted>: " before @error's message; takes @error and returns the error to pass on. */
struct swlbr_error *swlbr_error_prefix(struct swlbr_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull));

/** Free an error; NULL is fine. */
void swlbr_error_destroy(struct swlbr_error *error);

#endif
