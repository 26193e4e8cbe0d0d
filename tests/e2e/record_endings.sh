#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# However a program image ends, every execution is counted once, and the exit status is the program's.
. "$(dirname "$0")/lib/common.sh"
cd "$scratch" || exit 1
build_endings || { fail "build"; exit 1; }
export ENDINGS_LIBRARY=$scratch/libendings.so

# Records @1; if that takes a minute, $scratch/hang is what the processes were at.
record()
{
	local watch status

	rm -f hang
	(sleep 60 && for pid in $(pgrep -x endings) $(pgrep -x perf-swlbr); do
		grep -E '^(Name|Pid|State|TracerPid|Sig|Shd)' "/proc/$pid/status"
		cat "/proc/$pid/syscall" "/proc/$pid/stack"
	done >hang 2>/dev/null) &
	watch=$!
	timeout 300 "$swlbr" record -o e.data -- ./endings "$1" >out 2>err
	status=$?
	pkill -P $watch
	kill $watch
	wait $watch
	return $status
}

tried=0
while read -r mode count; do
	[ "$mode" != attach ] || continue
	tried=$((tried + 1))
	timeout 60 ./endings "$mode" >/dev/null 2>&1
	plain=$?
	record "$mode"
	recorded=$?
	is "$mode: count" "$(marked_count e.data)" "$count"
	is "$mode: status" "$recorded" "$plain"
	[ "$recorded" = "$plain" ] || cat err hang
	if grep -q 'some lost\|warning' err; then
		fail "$mode: reports a loss: $(cat err)"
	else
		ok "$mode: no loss"
	fi
	rm -f e.data
done 2>/dev/null < <(./endings list)
is "thirty ways of ending or more were tried" "$((tried >= 30))" 1

strip -o stripped endings
timeout 60 "$swlbr" record -q -o e.data -- ./stripped exec 2>err
is "stripped: count" "$(marked_count e.data)" 208
"$cc" -O1 $("$swlbr" cflags --cc "$cc") -Wl,--build-id=none -o noid "$here/endings.c" -lpthread
rm -f e.data
timeout 60 "$swlbr" record -q -o e.data -- ./noid exit 2>err
is "without build-id: rows carry a digest" \
	"$(perf script -i e.data 2>/dev/null | grep -c 'swlbr:counters: build_id=d19e' | sed 's/[1-9].*/yes/')" yes
exit $status
