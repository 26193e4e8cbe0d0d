#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What recording costs: the program's wall time under the recorder as a ratio to the same program
# alone, in pairs; the recorder's own processor time with a large counter section.
#   PAIRS (5), SECONDS_EACH (about 10): a shorter look
. "$(dirname "$0")/lib/start.sh"
pairs=${PAIRS:-5}
seconds=${SECONDS_EACH:-10}
flags=$("$swlbr" cflags) || exit 1
scripts/workloads.sh --cflags "$flags" --variant inplace lua sqlite3 >/dev/null || exit 1
export LLVM_PROFILE_FILE=/dev/null

now() { date +%s.%N; }

lua_run() { "$@" "$WORKLOADS/inplace/lua" "$lua_script" "$lua_size" >/dev/null; }
sqlite3_run() { "$@" "$WORKLOADS/inplace/sqlite3" :memory: <"$scratch/sql" >/dev/null; }
threads_run() { "$@" "$scratch/threads" 10000; }
record() { "$swlbr" record -v -o "$scratch/perf.data" -- "$@" 2>"$scratch/err"; }

# seconds_of COMMAND…
seconds_of()
{
	local start

	start=$(now)
	"$@" || { echo "FAIL $*" >&2; return 1; }
	echo "$(now) $start" | awk '{ print $1 - $2 }'
}

# pairs_of NAME: median ratio, least and most, and what was done after the end
pairs_of()
{
	local name=$1 run=${1}_run i alone with after

	: >"$scratch/ratios"
	for i in $(seq "$pairs"); do
		alone=$(seconds_of "$run" env) && with=$(seconds_of "$run" record) &&
			after=$(grep -o '[0-9.]* s of it after' "$scratch/err") || exit 1
		echo "$alone $with ${after%% *}" | awk '{ printf "%.4f %.3f %s\n", ($2 - $3) / $1, $1, $3 }' \
			>>"$scratch/ratios"
	done
	sort -n "$scratch/ratios" | awk -v name="$name" '
		{ ratio[NR] = $1; alone += $2; if ($3 > after) after = $3 }
		END { printf "%s: %.3f x (median of %d pairs, %.3f to %.3f) of %.1f s alone; after the end: %.3f s at most\n",
		      name, ratio[int((NR + 1) / 2)], NR, ratio[1], ratio[NR], alone / NR, after }'
}

lua_script=../shared/workloads/bench.lua
[ -f "$lua_script" ] || lua_script=tests/e2e/lib/bench.lua
lua_size=30
alone=$(seconds_of lua_run env) || exit 1
# fib() dominates: its time grows 1.618-fold a step.
lua_size=$(awk -v t="$alone" -v want="$seconds" \
	'BEGIN { n = 30; while (t < want) { t *= 1.618; n++ } print n }')
rows=100000
tests/e2e/lib/sql.sh $rows >"$scratch/sql"
alone=$(seconds_of sqlite3_run env) || exit 1
rows=$(awk -v t="$alone" -v want="$seconds" -v n=$rows 'BEGIN { printf "%d", n * want / t }')
tests/e2e/lib/sql.sh "$rows" >"$scratch/sql"

cat >"$scratch/threads.c" <<'C'
#include <pthread.h>
#include <stdlib.h>
static volatile int sink;
static void *work(void *arg) { for (int i = 0; i < 100; i++) sink++; return arg; }
int main(int argc, char **argv)
{
	for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--) {
		pthread_t thread;
		pthread_create(&thread, NULL, work, NULL);
		pthread_join(thread, NULL);
	}
}
C
# shellcheck disable=SC2086
clang-19 -O1 $flags -o "$scratch/threads" "$scratch/threads.c" -lpthread &&
	clang-19 -O1 $flags -o "$scratch/large" tests/bench/large_counters.c || exit 1

echo "wall time of the program under perf swlbr record / alone:"
pairs_of lua
pairs_of sqlite3
pairs=$((pairs * 3)) pairs_of threads
record "$scratch/large" 10 && cost=$(grep -o 'recorder.*' "$scratch/err") ||
	{ echo "FAIL 40 MB of counters: $(tail -3 "$scratch/err")"; exit 1; }
echo "40 MB of counters, all busy, 99 Hz: ${cost%]}"
echo "ok record_cost"

