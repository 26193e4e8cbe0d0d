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
	awk -F'\t' 'NR == 1 { for (i = 2; i <= 4; i++) plain[i] = $i }
		{ printf "%s\t%.9f\t%.9f\t%.9f\n", $1, $2 / plain[2], $3 / plain[3], $4 / plain[4] }' \
		"$name.builds" >>all
done
echo
awk -F'\t' '
	!($1 in nr) { order[++builds] = $1 }
	{ nr[$1]++; for (i = 2; i <= 4; i++) sum[$1, i] += log($i) }
	END {
		printf "%-32s %14s %16s %8s\n", "geometric mean, to plain", "instructions", "taken branches", ".text"
		for (b = 1; b <= builds; b++) {
			what = order[b]
			printf "%-32s %14.3f %16.3f %8.3f\n", what, exp(sum[what, 2] / nr[what]),
			       exp(sum[what, 3] / nr[what]), exp(sum[what, 4] / nr[what])
		}
	}' all
echo "ok builds"
