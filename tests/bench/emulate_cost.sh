#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What emulated recording costs: processor and wall time of perf swlbr record --emulate as a ratio to
# the same program under plain qemu-user, in pairs, recorder included; memory on a long run.
#   PAIRS (5), LUA_SIZE (33), ROWS (60000), LONG_SIZE (36: about 10^10 instructions): a shorter look
. "$(dirname "$0")/lib/start.sh"
pairs=${PAIRS:-5} lua_size=${LUA_SIZE:-33} rows=${ROWS:-60000} long_size=${LONG_SIZE:-36}
scripts/workloads.sh lua sqlite3 >/dev/null || exit 1
lua_script=$root/tests/e2e/lib/bench.lua
tests/e2e/lib/sql.sh "$rows" >"$scratch/sql"

lua_run() { "$@" "$WORKLOADS/plain/lua" "$lua_script" "$lua_size" >/dev/null; }
sqlite3_run() { "$@" "$WORKLOADS/plain/sqlite3" :memory: <"$scratch/sql" >/dev/null; }
plain() { qemu-x86_64 "$@"; }
lbr() { "$swlbr" record -q --emulate -o "$scratch/perf.data" -- "$@"; }
lbr_1009() { "$swlbr" record -q --emulate -c 1009 -o "$scratch/perf.data" -- "$@"; }
counts() { "$swlbr" record -q --emulate=counts -o "$scratch/perf.arcs" -- "$@"; }

# times_of COMMAND…: processor and wall time, seconds
times_of()
{
	local TIMEFORMAT='%U %S %R' times

	times=$({ time "$@" 2>"$scratch/err"; } 2>&1) && [ ! -s "$scratch/err" ] ||
		{ echo "FAIL $*: $(cat "$scratch/err")" >&2; return 1; }
	awk '{ print $1 + $2, $3 }' <<<"$times"
}

# pairs_of NAME HOW: median ratios to plain
pairs_of()
{
	local name=$1 how=$2 i alone with

	for i in $(seq "$pairs"); do
		alone=$(times_of "${name}_run" plain) && with=$(times_of "${name}_run" "$how") || exit 1
		echo "$alone $with"
	done >"$scratch/pairs"
	awk -v what="$name, $how" '
		{ cpu[NR] = $3 / $1; wall[NR] = $4 / $2; alone += $2 }
		END {
			n = asort_(cpu); asort_(wall)
			printf "%s: %.2f x processor time (%.2f to %.2f), %.2f x wall time, of %.1f s\n",
			       what, cpu[int((n + 1) / 2)], cpu[1], cpu[n], wall[int((n + 1) / 2)], alone / n
		}
		function asort_(a, i, j, t) {
			for (i = 2; i <= NR; i++)
				for (j = i; j > 1 && a[j - 1] > a[j]; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
			return NR
		}' "$scratch/pairs"
}

echo "under perf swlbr record --emulate / under plain qemu-user, median of $pairs pairs:"
for how in lbr lbr_1009 counts; do
	pairs_of lua $how
	pairs_of sqlite3 $how
done

# peaks COMMAND…: greatest resident sizes seen, of the recorder and of the emulator
peaks()
{
	local pid recorder=0 emulator=0 size child

	"$@" >/dev/null &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		size=$(awk '/VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null)
		[ "${size:-0}" -le $recorder ] || recorder=$size
		child=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null)
		size=$(awk '/VmHWM/ { print $2 }' "/proc/${child%% *}/status" 2>/dev/null)
		[ "${size:-0}" -le $emulator ] || emulator=$size
		sleep 0.1
	done
	wait $pid || { echo "FAIL $*" >&2; return 1; }
	echo "recorder $((recorder / 1024)) MB, emulator with the program $((emulator / 1024)) MB"
}

for size in $((long_size - 6)) "$long_size"; do
	peaks=$(peaks "$swlbr" record -q --emulate -o "$scratch/perf.data" -- "$WORKLOADS/plain/lua" \
		"$lua_script" "$size") || exit 1
	echo "peak memory, lua $size: $peaks; perf.data $(($(stat -c %s "$scratch/perf.data") / 1000000)) MB"
done
counts "$WORKLOADS/plain/lua" "$lua_script" "$long_size" >/dev/null &&
	totals=$(/usr/bin/python3 tests/accuracy/totals.py "$scratch/perf.arcs" "$WORKLOADS/plain/lua") ||
	{ echo "FAIL counts of lua $long_size"; exit 1; }
echo "that run: $totals"
echo "ok emulate_cost"
