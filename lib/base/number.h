/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Numbers in text, without the signs and blanks that strtoull takes. */
#ifndef SWLBR_BASE_NUMBER_H
#define SWLBR_BASE_NUMBER_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/**
 * The number in @base (0: as C writes it) at *@text, which moves to its end: there is a character of
 * @ends, or the text ends. False if it is none or does not fit; *@text stays then.
 */
static inline bool number_at(const char **text, int base, const char *ends, uint64_t *ret)
{
	char *end;

	if (!**text || !strchr("0123456789abcdefABCDEF", **text))
		return false;
	errno = 0;
	*ret = strtoull(*text, &end, base);
	if (errno || end == *text || !strchr(ends, *end))
		return false;
	*text = end;
	return true;
}

/** @text is a number in @base, no less than @least and no more than @most. */
static inline bool number_in(const char *text, int base, uint64_t least, uint64_t most,
			     uint64_t *ret)
{
	return number_at(&text, base, "", ret) && *ret >= least && *ret <= most;
}

#endif
