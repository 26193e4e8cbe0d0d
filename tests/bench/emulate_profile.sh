#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What clang makes of an emulated LBR's profile: instructions executed and branches taken by the
# program as built with the profile, relative to the plain build. Both are counted exactly, in the
# program's own code, on the input that the profile is from (which flatters it) and on another one.
#   PERIODS ("1009 100003")
. "$(dirname "$0")/lib/start.sh"
. tests/bench/lib/programs.sh
. tests/bench/lib/builds.sh
cd "$scratch" || exit 1
make_inputs lua bzip2

for name in lua bzip2; do
	workload "$name" plain "" || exit 1
	for period in ${PERIODS:-1009 100003}; do
		run_program train $name "used/plain/$name" "$swlbr" record -q --emulate -c "$period" \
			-o perf.data -- >/dev/null || exit 1
		llvm-profgen-19 --perfdata=perf.data --binary="used/plain/$name" \
			--output="$name.$period.prof" 2>log || { cat log; exit 1; }
		workload "$name" "$period" "-fprofile-sample-use=$PWD/$name.$period.prof" || exit 1
		for input in train measure; do
			plain=$(totals $input $name "used/plain/$name") || exit 1
			used=$(totals $input $name "used/$period/$name") || exit 1
			echo "$plain $used" | awk -v what="$name, -c $period, $input" '
				{ printf "%s: instructions %.1f M, %.1f M plain (%.3f); taken branches %.1f M, %.1f M plain (%.3f)\n",
				  what, $6 / 1e6, $1 / 1e6, $6 / $1, $8 / 1e6, $3 / 1e6, $8 / $3 }'
		done
	done
done
echo "ok emulate_profile"
