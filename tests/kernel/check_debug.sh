#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel watches itself: lockdep, RCU's and sleeping's checks, objtool's of noinstr code, KASAN,
# while events come and go, records are read and written, and CPUs are busy.
#
#   tests/kernel/check_debug.sh [VERSION]     of package linux-source-VERSION (6.1)
. "$(dirname "$0")/lib/start.sh"

debug="CONFIG_PREEMPT=y CONFIG_PROVE_LOCKING=y CONFIG_PROVE_RCU=y CONFIG_DEBUG_ATOMIC_SLEEP=y
	CONFIG_DEBUG_PREEMPT=y CONFIG_DEBUG_LIST=y CONFIG_DEBUG_ENTRY=y CONFIG_NOINSTR_VALIDATION=y
	CONFIG_DEBUG_OBJECTS=y CONFIG_DEBUG_OBJECTS_TIMERS=y CONFIG_DEBUG_OBJECTS_WORK=y
	CONFIG_DEBUG_IRQFLAGS=y CONFIG_KASAN=y"

# warnings FOLDER: what the build of a folder warned of, without places in functions
warnings() { grep -i warning "$counting/$1/warnings" | sed 's/+0x[0-9a-f]*//' | sort -u; }

# What a build says once it does not say again when it is continued.
for folder in debug-plain debug; do
	with=CONFIG_SWLBR=$([ $folder = debug ] && echo y || echo n)
	# shellcheck disable=SC2086
	build "$counting" $folder $with $debug
	! grep -qi warning "$scratch/log" || cp "$scratch/log" "$counting/$folder/warnings"
	touch "$counting/$folder/warnings"
done
# With KASAN, clang 19 leaves calls out of noinstr code to functions that are not noinstr.
is "objtool and the compiler warn of nothing that they do not warn of without counters ($(
	warnings debug-plain | wc -l))" "$(comm -13 <(warnings debug-plain) <(warnings debug))" ""

mkdir "$scratch/stress"
"$swlbr" map --kernel-table "$counting/debug/vmlinux" >"$scratch/stress/lines" 2>"$scratch/err" ||
	fail "map --kernel-table: $(cat "$scratch/err")"
GUEST_TIME=2400 MEMORY=2G boot stress "$counting/debug" 2 <<'RUN'
swlbr=/sys/kernel/debug/swlbr
cat lines >$swlbr/lines
perf record -F 4000 -m 1M -o /tmp/a -e swlbr// -b -R -a -- sleep 60 >/dev/null 2>&1 &
recording=$!
(while :; do cat $swlbr/counters $swlbr/scanners >/dev/null; echo 1 >$swlbr/reset; done) &
loops=$!
(while :; do cat lines >$swlbr/lines; done) &
loops="$loops $!"
(while :; do busy pipe 200 0 1; busy fork 5 0 1; done) &
loops="$loops $!"
cycles 500
wait $recording; echo "recording: $?"
# An event of a task looks at all counters at each switch, and with all the above a fork takes seconds.
kill $loops
perf record -F 4000 -o /tmp/b -e swlbr// -b -R busy fork 20 0 1 >/dev/null 2>&1; echo "task: $?"
perf stat -e swlbr/branches/ -a busy stat 1000 0 1 >/dev/null 2>&1; echo "stat: $?"
dmesg | grep -c 'Lock dependency validator\|KernelAddressSanitizer initialized'
grep -c 'debug_locks: *1' /proc/lockdep_stats
RUN
is "it watched, and all that was started came to its end" \
	"$(grep -v 'bytes of records' "$scratch/stress/said")" "recording: 0
task: 0
stat: 0
2
1"
is "1,000 starts and stops" "$(grep -c '^[1-9][0-9]* bytes of records' "$scratch/stress/said")" 1
exit $status
