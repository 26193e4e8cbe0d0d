#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Sums of profiles: whatever the order and the steps, with weights, and as llvm-profdata's.
. "$(dirname "$0")/lib/common.sh"
asan=$BUILD_ASAN/perf-swlbr
export XDG_CACHE_HOME=$scratch
cd "$scratch" || exit 1
merge() { "$asan" merge -q "$@" || fail "merge $*"; }
same() { is "$1" "$(cmp "$2" "$3" 2>&1)" ""; }

clang-19 -O2 -g -Wl,--build-id -o loop "$here/samples/loop.c" || { fail "build"; exit 1; }
for seed in 1 2 3; do
	/usr/bin/python3 "$here/lib/synthetic_arcs.py" loop 0.5 $seed >$seed.arcs
	"$asan" convert -q -i $seed.arcs -f llvm-sample -o $seed.prof loop || fail "convert"
done

for kind in arcs prof; do
	merge -o 12 1.$kind 2.$kind
	merge -o 23 2.$kind 3.$kind
	merge -o 123 1.$kind 2.$kind 3.$kind
	merge -o left 12 3.$kind
	merge -o right 1.$kind 23
	merge -o turned 3.$kind 1.$kind 2.$kind
	same "$kind: (a + b) + c = a + b + c" left 123
	same "$kind: a + (b + c) = a + b + c" right 123
	same "$kind: c + a + b = a + b + c" turned 123
	merge --weight 1.$kind=3 -o weighted 1.$kind 2.$kind
	merge -o thrice 1.$kind 1.$kind 1.$kind 2.$kind
	same "$kind: a weight of 3 is three times" weighted thrice
	merge -o alone 1.$kind
	same "$kind: one file stays as it is" alone 1.$kind
	is "$kind: sums are other than their parts" "$(cmp -s 12 1.$kind || echo other)" other
	cp 1.$kind here && merge -o here here 2.$kind
	same "$kind: the output may be an input" here 12
done
llvm-profdata-19 merge --sample --text -o theirs -weighted-input=2,1.prof -weighted-input=1,2.prof
merge --weight 1.prof=2 -o ours 1.prof 2.prof
same "as llvm-profdata merges" ours theirs
"$asan" convert -q -i 1.arcs,2.arcs -f arcs -o converted && merge -o merged 1.arcs 2.arcs
same "convert sums as merge does" converted merged

"$asan" merge -o none 1.arcs 1.prof 2>err
is "two kinds: status" $? 1
says "two kinds: says so" err '1.prof is a sample profile, but 1.arcs is an arcs file'
head -c 700 1.prof >cut.prof && printf '\n 5: x\n' >>cut.prof
"$asan" merge -o none 1.prof cut.prof 2>err
is "a damaged file: status" $? 1
says "a damaged file: name and line" err 'cut.prof: line [0-9]+: '
"$asan" merge -o none loop 2>err
is "another file: status" $? 1
says "another file: says what it is not" err 'loop: neither an arcs file nor a sample profile'
"$asan" merge -o none --weight 3.prof=2 1.prof >err 2>&1
is "a weight of no file: status" $? 129
"$asan" merge -o none --weight 1.prof=-2 1.prof >err 2>&1
is "a negative weight: status" $? 129
[ ! -e none ] && ok "no output after an error" || fail "an output after an error"
exit $status
