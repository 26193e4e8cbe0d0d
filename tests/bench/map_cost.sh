#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What making branches of counters costs: the map of the largest program beside a disassembly of it, in
# turns; and the work after the end of a recording of about ten seconds of lua.
#   ROUNDS (5), SECONDS_EACH (10)
. "$(dirname "$0")/lib/start.sh"
rounds=${ROUNDS:-5}
scripts/workloads.sh --cflags "$("$swlbr" cflags)" --variant inplace lua sqlite3 >/dev/null || exit 1
script=$root/tests/e2e/lib/bench.lua
cd "$scratch" || exit 1
export XDG_CACHE_HOME=$scratch/cache

median() { sort -n | awk '{ row[NR] = $1 } END { print row[int((NR + 1) / 2)] }'; }

sqlite3=$WORKLOADS/inplace/sqlite3
for _ in $(seq "$rounds"); do
	ours=$(measure "$swlbr" map --no-cache --stat "$sqlite3") &&
		theirs=$(measure llvm-objdump-19 -d "$sqlite3") || exit 1
	echo "$ours $theirs"
done >rows
awk '{ print $1, $4, $2, $5, $1 / $4, $2 / $5, $3 }' rows >ratios
for column in 1 2 3 4 5 6; do cut -d' ' -f$column ratios | median; done | paste -sd' ' | awk -v what="sqlite3" '
	{ printf "%s: map %.2f s, llvm-objdump-19 -d %.2f s: %.2f x wall time, %.2f x processor time (goal 0.5)\n",
	  what, $1, $2, $5, $6 }'
echo "peak memory of the map: $(($(cut -d' ' -f7 ratios | sort -n | tail -1) / 1024)) MB"
"$swlbr" map --stat "$sqlite3" >/dev/null && cached=$(measure "$swlbr" map --stat "$sqlite3") || exit 1
echo "from the cache: ${cached%% *} s"

# fib() dominates: its time grows 1.618-fold a step.
alone=$(LLVM_PROFILE_FILE=/dev/null measure "$WORKLOADS/inplace/lua" "$script" 30) || exit 1
size=$(awk -v t="${alone%% *}" -v want="${SECONDS_EACH:-10}" \
	'BEGIN { n = 30; while (t < want) { t *= 1.618; n++ } print n }')
rm -rf "${XDG_CACHE_HOME:?}"
for cache in empty filled; do
	cost=$(measure "$swlbr" record -v -o lua.data -- "$WORKLOADS/inplace/lua" "$script" "$size" 2>err) ||
		{ cat err; exit 1; }
	peak=${cost##* }
	echo "lua $size, $cache cache: $(grep -oE '^\[ [0-9.]+ s, [0-9.]+ s of it after.*' err | tr -d '[]'); peak $((peak / 1024)) MB; $(grep -o '[0-9]* branch stacks' err)"
done
echo "ok map_cost"
