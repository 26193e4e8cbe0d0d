#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# BOLT's formats, of exact counts of the very binary: BOLT takes all of them, and the binary that it
# makes of them takes fewer branches. The fdata is what perf2bolt makes of the same edges.
. "$(dirname "$0")/lib/common.sh"
. "$here/lib/taken.sh"
root=$(cd "$here/../.." && pwd)
asan=$BUILD_ASAN/perf-swlbr
bolt=/usr/lib/llvm-19/bin
export XDG_CACHE_HOME=$scratch
cd "$scratch" || exit 1
names="lua zstd bzip2 sqlite3"
# shellcheck disable=SC2086
"$root/scripts/workloads.sh" --variant relocations --cflags "-g -Wl,--build-id -Wl,--emit-relocs" \
	$names >log 2>&1 || { tail -5 log; fail "workloads"; exit 1; }
(cd "$WORKLOADS/src" && LC_ALL=C cat bzip2/*.c) | head -c 200000 >in.txt
"$here/lib/sql.sh" 1000 >in.sql

for name in $names; do
	program=$WORKLOADS/relocations/$name
	count "$name" "$program" arcs >expected || fail "$name: emulated"
	"$asan" convert -q -i arcs -f bolt -o fdata "$program" &&
		"$asan" convert -q -i arcs -f bolt-preagg -o preagg "$program" ||
		{ fail "$name: convert"; continue; }
	"$bolt/perf2bolt" -pa -p preagg -o theirs "$program" >perf2bolt.out 2>&1 ||
		fail "$name: perf2bolt: $(tail -3 perf2bolt.out)"
	is "$name: perf2bolt: traces that do not match" \
		"$(sed -n 's/.*traces mismatching.*: \([0-9]*\) .*/\1/p' perf2bolt.out)" 0
	# Calls of stubs have names there; and what came from another binary is told by it alone.
	grep -v 'PLT\|\[unknown\]\|_BOLT_PSEUDO' theirs | sort >theirs.known
	grep -v '\[unknown\]' fdata | sort >fdata.known
	is "$name: fdata is as perf2bolt's" "$(diff theirs.known fdata.known | head -5)" ""
	[ "$(wc -l <fdata.known)" -gt 100 ] && ok "$name: it is not empty" || fail "$name: it is empty"
	# BOLT 19 cannot move labels whose address is taken, as those of lua's interpreter loop are.
	skip=
	[ $name != lua ] || skip=-skip-funcs=luaV_execute/1
	"$bolt/llvm-bolt" "$program" -o bolted $skip -data fdata -reorder-blocks=ext-tsp \
		-reorder-functions=hfsort -split-functions -report-stale >bolt.out 2>&1 ||
		fail "$name: llvm-bolt: $(tail -3 bolt.out)"
	is "$name: llvm-bolt: stale profiles" "$(grep -iE 'stale.*profile|invalid' bolt.out |
		grep -v 'callsites with invalid\|stale functions' | head -3)" ""
	count "$name" ./bolted arcs2 >output || fail "$name: the optimized binary does not run"
	is "$name: its output is the same" "$(cmp expected output 2>&1)" ""
	before=$(taken arcs "$program") after=$(awk '$1 == "branch" { n += $5 } END { printf "%d\n", n }' arcs2)
	if [ "$after" -gt 1000 ] && [ $((after * 100)) -lt $((before * 90)) ]; then
		ok "$name: taken branches: $after of $before"
	else
		fail "$name: taken branches: $after of $before"
	fi
done

strip -o stripped "$WORKLOADS/relocations/bzip2"
count bzip2 ./stripped arcs >/dev/null
"$asan" convert -q -i arcs -f bolt -o none stripped 2>err && fail "stripped: no error"
says "stripped: says why" err 'stripped: stripped: BOLT knows functions by their symbols'
exit $status
