#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Counters of the instrumented build and branch stacks of the shipped one, in one sample profile.
. "$(dirname "$0")/lib/common.sh"
asan=$BUILD_ASAN/perf-swlbr
export XDG_CACHE_HOME=$scratch LLVM_PROFILE_FILE=/dev/null
cd "$scratch" || exit 1
flags=$("$swlbr" cflags --cc clang-19) || { fail "cflags"; exit 1; }
source=$here/samples/loop.c
# shellcheck disable=SC2086
clang-19 -O2 -g $flags -Wl,--build-id -o instrumented "$source" &&
	clang-19 -O2 -g -Wl,--build-id -o shipped "$source" || { fail "build"; exit 1; }
# What ran differs too: only the counters' run has an odd number, and thereby calls thrice.
"$swlbr" record -q -o counters.data -- ./instrumented 300001 >out 2>err ||
	fail "record: $(cat err)"
"$swlbr" record -q -o stacks.data --emulate -c 1009 -- ./shipped 300000 >out 2>err ||
	fail "record --emulate: $(cat err)"

convert() { "$asan" convert -i counters.data,stacks.data -f llvm-sample "$@" 2>err || fail "convert $*: $(cat err)"; }
# total FUNCTION FILE: its total
total() { sed -n "s/^$1:\([0-9]*\):.*/\1/p" "$2"; }
head_of() { sed -n "s/^$1:[0-9]*:\([0-9]*\)$/\1/p" "$2"; }
convert -o default.prof
grep -qE 'two builds, combined by source place: .* \([1-9][0-9]* places\)' err && ok "the summary says so" ||
	fail "summary: $(cat err)"
grep -q 'are they of one' err && fail "a warning: $(cat err)" || ok "without a warning"
for side in sw hw sum; do
	convert --prefer $side -o $side.prof
	clang-19 -O2 -g -fprofile-sample-use=$side.prof -Werror -c -o $side.o "$source" 2>err &&
		llvm-profdata-19 merge --sample -o $side.extbinary $side.prof 2>err && ok "$side: clang and llvm-profdata take it" ||
		fail "$side: $(cat err)"
done
is "counters are preferred" "$(cmp default.prof sw.prof 2>&1)" ""
is "which is another profile than that of the shipped build" \
	"$(cmp -s default.prof hw.prof || echo other)" other
for side in counters stacks; do
	"$asan" convert -q -i $side.data -f llvm-sample -o $side.prof || fail "convert $side"
done
is "what only counters saw is there" \
	"$(for prof in counters stacks sw hw sum; do total thrice $prof.prof | grep -c .; done | tr '\n' ' ')" "1 0 1 1 1 "
is "what only stacks saw is there" \
	"$(for prof in counters stacks sw hw sum; do total twice $prof.prof | grep -c .; done | tr '\n' ' ')" "0 1 1 1 1 "
# Either is called once a turn of the loop, 300,000 times.
is "both are in executions" "$(awk -v a="$(head_of twice hw.prof)" -v b="$(head_of thrice hw.prof)" \
	'BEGIN { print (a / b > 0.9 && a / b < 1.1) }')" 1
is "prefer sw: its function as counters have it" "$(total thrice sw.prof)" "$(total thrice counters.prof)"
"$asan" convert -q -i stacks.data -i counters.data -f llvm-sample -o turned.prof || fail "turned"
is "whatever the order of inputs" "$(cmp turned.prof default.prof 2>&1)" ""
"$asan" convert -q --normalize -i stacks.data -i counters.data -f llvm-sample -o normal.prof || fail "normalize"
is "normalized: the fixed total" "$(grep -E '^[^ ]' normal.prof | awk -F: '{ sum += $2 }
	END { print (sum > 999999900 && sum < 1000000100) }')" 1
exit $status
