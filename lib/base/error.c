// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Errors with a message that grows as it is passed up. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <swlbr/error.h>

/* Used when even an error cannot be allocated; never freed. */
static struct swlbr_error no_memory = {
	.code = SWLBR_ERROR_NO_MEMORY,
	.message = (char *)"out of memory",
};

static struct swlbr_error *error_wrap(enum swlbr_error_code code, char *message)
{
	struct swlbr_error *error = malloc(sizeof(*error));

	if (!error || !message) {
		free(error);
		free(message);
		return &no_memory;
	}
	error->code = code;
	error->message = message;
	return error;
}

static char *format_message(const char *format, va_list args)
{
	char *message;

	return vasprintf(&message, format, args) < 0 ? NULL : message;
}

struct swlbr_error *swlbr_error_create(enum swlbr_error_code code, const char *format, ...)
{
	va_list args;
	char *message;

	va_start(args, format);
	message = format_message(format, args);
	va_end(args);
	return error_wrap(code, message);
}

struct swlbr_error *swlbr_error_errno(int errnum, const char *format, ...)
{
	va_list args;
	char *message, *full = NULL;

	va_start(args, format);
	message = format_message(format, args);
	va_end(args);
	if (message && asprintf(&full, "%s: %s", message, strerror(errnum)) < 0)
		full = NULL;
	free(message);
	return error_wrap(SWLBR_ERROR_SYSTEM, full);
}

struct swlbr_error *swlbr_error_no_memory(void)
{
	return &no_memory;
}

struct swlbr_error *swlbr_error_prefix(struct swlbr_error *error, const char *format, ...)
{
	va_list args;
	char *prefix, *full = NULL;
	enum swlbr_error_code code = error->code;

	if (error == &no_memory)
		return error;
	va_start(args, format);
	prefix = format_message(format, args);
	va_end(args);
	if (prefix && asprintf(&full, "%s: %s", prefix, error->message) < 0)
		full = NULL;
	free(prefix);
	swlbr_error_destroy(error);
	return error_wrap(code, full);
}

void swlbr_error_destroy(struct swlbr_error *error)
{
	if (!error || error == &no_memory)
		return;
	free(error->message);
	free(error);
}
