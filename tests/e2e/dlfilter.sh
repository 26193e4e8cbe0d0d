#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What perf script decodes and hands to our dlfilter gives the same profile as convert.
. "$(dirname "$0")/lib/common.sh"
root=$(cd "$here/../.." && pwd)
hw=$root/../shared/hw
filter=$BUILD/dlfilter-swlbr.so
[ -f "$filter" ] || { echo "skip dlfilter: perf's header was not there when it was built"; exit 0; }
cd "$scratch" || exit 1

# same NAME: the arcs of perf.data NAME by both ways
same()
{
	"$swlbr" convert -q -i "$1" -f arcs -o "$1.arcs" 2>/dev/null || fail "$1: convert"
	perf script -i "$1" --dlfilter "$filter" --dlarg -q --dlarg -f --dlarg arcs \
		--dlarg -o --dlarg "$1.filtered" >out 2>err || fail "$1: perf script: $(head -3 err)"
	is "$1: the same bytes" "$(cmp "$1.arcs" "$1.filtered" 2>&1)" ""
	is "$1: perf prints nothing" "$(wc -c <out)" 0
}

if [ -d "$hw" ]; then
	zstd -dqf -o test.lbr "$hw/test.lbr.zst"
	same test.lbr
else
	echo "skip dlfilter: ../shared/hw is not there"
fi
"$swlbr" record -q --emulate -c 1009 -o ls.data -- ls -lR /usr/include/linux >/dev/null 2>err ||
	fail "record --emulate: $(cat err)"
"$swlbr" record -q --emulate -c 307 -o forks.data -- \
	sh -c 'for i in 1 2 3; do ls / | sort -r; done' >/dev/null 2>err || fail "record: $(cat err)"
same ls.data
same forks.data
is "the source is told" "$(cut -f8 ls.data.filtered | sort -u | tr '\n' ' ')" "emu source "

perf script -i ls.data --dlfilter "$filter" --dlarg -f --dlarg nonsense --dlarg -o --dlarg x \
	>out 2>err
is "an unknown format: perf fails" "$([ $? != 0 ] && grep -c "unknown format 'nonsense'" err)" 1
perf script -i ls.data --dlfilter "$filter" --dlarg -f --dlarg llvm-profraw --dlarg -o --dlarg x \
	>out 2>err
is "a format made from counters: perf fails" "$([ $? != 0 ] && grep -c "made from counters" err)" 1
mkdir -p exec/dlfilters
cp "$filter" exec/dlfilters/
is "perf lists it" "$(perf --exec-path="$PWD/exec" script --list-dlfilters 2>&1 |
	grep -c 'dlfilter-swlbr.so .*(perf swlbr)')" 1
exit $status
