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

# Where perf filters, only what it lets through counts.
for choice in "--comm sort" "--pid $(perf script -i forks.data -F comm,pid | awk '$1 == "sort" { print $2; exit }')"; do
	# shellcheck disable=SC2086
	"$swlbr" convert -q -i forks.data -f arcs -o chosen.arcs $choice || fail "convert $choice"
	# shellcheck disable=SC2086
	perf script -i forks.data $choice --dlfilter "$filter" --dlarg -q --dlarg -f --dlarg arcs \
		--dlarg -o --dlarg chosen.filtered >out 2>err || fail "perf script $choice: $(head -3 err)"
	is "perf script ${choice% *}: the same as convert ${choice% *}" \
		"$(cmp chosen.arcs chosen.filtered 2>&1) $([ "$(wc -l <chosen.arcs)" -gt 100 ] && echo some)" " some"
	is "and not all" "$(cmp -s chosen.arcs forks.data.arcs; echo $?)" 1
	rm chosen.*
done
cp ls.data perf.data
perf script --dlfilter="$filter" --dlarg=-q --dlarg=-f --dlarg=arcs \
	--dlarg=-o --dlarg=joined.filtered --input=ls.data >out 2>err || fail "joined options: $(head -3 err)"
is "options joined to their values: the same bytes" "$(cmp ls.data.arcs joined.filtered 2>&1)" ""
perf script --dlfilter "$filter" --dlarg -q --dlarg -f --dlarg arcs --dlarg -o --dlarg unnamed.filtered \
	>out 2>err || fail "no input named: $(head -3 err)"
is "no input named: perf.data" "$(cmp ls.data.arcs unnamed.filtered 2>&1)" ""

for input in "-vi ls.data" "-fils.data" "--inp ls.data" "-i forks.data -i ls.data"; do
	rm -f spelt.filtered
	# shellcheck disable=SC2086
	perf script $input --dlfilter "$filter" --dlarg -q --dlarg -f --dlarg arcs --dlarg -o \
		--dlarg spelt.filtered >out 2>err || fail "$input: $(tail -3 err)"
	is "$input: the same bytes" "$(cmp ls.data.arcs spelt.filtered 2>&1)" ""
done
perf script -i ls.data --dlfilter "$filter" --dlarg -i --dlarg forks.data --dlarg -f --dlarg arcs \
	--dlarg -o --dlarg x >out 2>err
ended=$?
is "another file than perf reads: refused, and by no signal" \
	"$((ended != 0 && ended != 134 && ended != 139)) $(grep -c 'forks.data: perf does not read it' err)" "1 1"

perf script -i ls.data --dlfilter "$filter" --dlarg -f --dlarg nonsense --dlarg -o --dlarg x \
	>out 2>err
ended=$?
is "an unknown format: perf fails, and by no signal" \
	"$((ended != 0 && ended != 134 && ended != 139)) $(grep -c "unknown format 'nonsense'" err)" "1 1"
perf script -i ls.data --dlfilter "$filter" --dlarg -f --dlarg llvm-profraw --dlarg -o --dlarg x \
	>out 2>err
is "a format made from counters: perf fails" "$([ $? != 0 ] && grep -c "made from counters" err)" 1
mkdir -p exec/dlfilters
cp "$filter" exec/dlfilters/
is "perf lists it" "$(perf --exec-path="$PWD/exec" script --list-dlfilters 2>&1 |
	grep -c 'dlfilter-swlbr.so .*(perf swlbr)')" 1
exit $status
