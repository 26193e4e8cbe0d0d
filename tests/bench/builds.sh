#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What clang makes of each kind of profile: instructions executed and branches taken by the program as
# built with it, counted exactly in the program's own code, and the size of its .text; on another
# input than the profile is from. One program wobbles by a per cent or two: the means say more.
#   PROGRAMS ("lua bzip2 zstd sqlite3")
. "$(dirname "$0")/lib/start.sh"
. tests/bench/lib/programs.sh
. tests/bench/lib/builds.sh
cd "$scratch" || exit 1
programs=${PROGRAMS:-lua bzip2 zstd sqlite3}
# shellcheck disable=SC2086
make_inputs $programs
for name in $programs; do
	profile_counters "$name" && profile_emulated "$name" &&
		builds_of "$name" >"$name.builds" || { echo "FAIL builds: $name"; exit 1; }
	print_builds "$name" <"$name.builds"
done
echo
# shellcheck disable=SC2086
means $programs | print_means
echo "ok builds"
