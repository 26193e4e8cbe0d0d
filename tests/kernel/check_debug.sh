#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel watches itself: lockdep, RCU's and sleeping's checks, objtool's of noinstr code, KASAN,
# while events come and go, records are read and written, and CPUs are busy.
#
#   tests/kernel/check_debug.sh [VERSION]     of package linux-source-VERSION (6.1)
. "$(dirname "$0")/lib/start.sh"

build "$counting" debug CONFIG_SWLBR=y CONFIG_PREEMPT=y CONFIG_PROVE_LOCKING=y CONFIG_PROVE_RCU=y \
	CONFIG_DEBUG_ATOMIC_SLEEP=y CONFIG_DEBUG_PREEMPT=y CONFIG_DEBUG_LIST=y CONFIG_DEBUG_ENTRY=y \
	CONFIG_NOINSTR_VALIDATION=y CONFIG_DEBUG_OBJECTS=y CONFIG_DEBUG_OBJECTS_TIMERS=y \
	CONFIG_DEBUG_OBJECTS_WORK=y CONFIG_DEBUG_IRQFLAGS=y CONFIG_KASAN=y
cp "$scratch/log" "$counting/debug/warnings"
is "objtool has nothing to say of noinstr code" "$(grep -c 'noinstr' "$scratch/log")" 0
is "nor has the compiler" "$(grep -i warning "$scratch/log" | grep -vc noinstr)" 0

mkdir "$scratch/stress"
"$swlbr" map --kernel-table "$counting/debug/vmlinux" >"$scratch/stress/lines" 2>"$scratch/err" ||
	fail "map --kernel-table: $(cat "$scratch/err")"
GUEST_TIME=1200 MEMORY=2G boot stress "$counting/debug" 2 <<'RUN'
swlbr=/sys/kernel/debug/swlbr
cat lines >$swlbr/lines
perf record -F 1000 -m 1M -o /tmp/a -e swlbr// -b -R -a -- sleep 60 >/dev/null 2>&1 &
recording=$!
(while :; do cat $swlbr/counters $swlbr/scanners >/dev/null; echo 1 >$swlbr/reset; done) &
(while :; do cat lines >$swlbr/lines; done) &
(while :; do busy pipe 200 0 1; busy fork 5 0 1; done) &
cycles 100
perf record -o /tmp/b -e swlbr// -b busy fork 20 0 1 >/dev/null 2>&1; echo "task: $?"
perf stat -e swlbr/branches/ -a busy stat 1000 0 1 >/dev/null 2>&1; echo "stat: $?"
wait $recording; echo "recording: $?"
dmesg | grep -c 'Lock dependency validator\|KernelAddressSanitizer initialized'
grep -c 'debug_locks: *1' /proc/lockdep_stats
RUN
is "it watched, and all that was started came to its end" \
	"$(grep -v 'bytes of records' "$scratch/stress/said")" "task: 0
stat: 0
recording: 0
2
1"
is "100 events came and went, and had records" "$(grep -c '[1-9] bytes of records' "$scratch/stress/said")" 1
exit $status
