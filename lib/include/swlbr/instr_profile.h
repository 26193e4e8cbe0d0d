/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_INSTR_PROFILE_H
#define SWLBR_INSTR_PROFILE_H

#include <swlbr/profraw.h>

/**
 * Write @set as an indexed profile (.profdata) for -fprofile-use; it appears at @path when it is
 * whole. The result holds what `llvm-profdata merge` makes of the same raw profiles: functions
 * merged by name and hash, call targets as hashes of names, the summary. It has the lowest format
 * version that holds the data, so that the compiler that made the program reads it.
 *
 * SWLBR_ERROR_MISMATCH if the profiles are of kinds that do not go together (front-end and IR
 * instrumentation, function entries only and all blocks). Functions that cannot be merged with
 * the first of their name and hash are left out and reported.
 */
struct swlbr_error *swlbr_instr_profile_write(const struct swlbr_profraws *set, const char *path,
					      const struct swlbr_reporter *reporter);

#endif
