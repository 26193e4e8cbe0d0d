#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Counters and branch stacks of one binary side by side: in one unit, each from the side that was
# preferred, and what only one side saw is there.
. "$(dirname "$0")/lib/common.sh"
asan=$BUILD_ASAN/perf-swlbr
export XDG_CACHE_HOME=$scratch
cd "$scratch" || exit 1
flags=$("$swlbr" cflags --cc clang-19) || { fail "cflags"; exit 1; }
# shellcheck disable=SC2086
clang-19 -O2 -g $flags -Wl,--build-id -o loop "$here/samples/loop.c" || { fail "build"; exit 1; }
export LLVM_PROFILE_FILE=/dev/null
"$swlbr" record -q -o counters.data -- ./loop 300000 >out 2>err || fail "record: $(cat err)"
"$swlbr" record -q -o stacks.data --emulate -c 1009 -- ./loop 300000 >out 2>err ||
	fail "record --emulate: $(cat err)"

convert() { "$asan" convert -i counters.data -i stacks.data -f "$@" 2>err || fail "convert $*: $(cat err)"; }
# sum SOURCE FILE: executions of the source's taken branches
sum() { awk -F'\t' -v source="$1" '$1 == "branch" && $8 == source { sum += $5 } END { print sum + 0 }' "$2"; }
keys() { awk -F'\t' -v kind=branch 'NR > 1 && $1 == kind { print $2, $3, $4 }' "$1" | sort -u; }
near() { awk -v a="$1" -v b="$2" -v by="$3" 'BEGIN { print (b > 0 && a > b * (1 - by) && a < b * (1 + by)) }'; }

convert arcs -o rows
is "tables keep the rows of both" "$(tail -n +2 rows | cut -f8 | sort -u | tr '\n' ' ')" "emu sw "
"$asan" convert -q -i counters.data -f arcs -o sw.rows || fail "convert counters"
is "the counters' rows as they are" "$(diff <(grep 'sw$' rows) <(grep 'sw$' sw.rows))" ""
for side in sw hw sum; do
	convert arcs --prefer $side -o $side
	grep -q "side by side (--prefer $side)" err && ok "$side: the summary says so" ||
		fail "$side: $(cat err)"
	is "$side: every branch is there" "$(diff <(keys rows) <(keys $side))" ""
done
cp err sum.err
is "sw, hw: each branch once" \
	"$(for side in sw hw; do keys $side | wc -l; grep -c ^branch $side; done | sort -u | wc -l)" 1
is "sw: what counters saw is theirs" "$(diff <(grep 'sw$' sw) <(grep 'sw$' rows))" ""
is "hw: in executions, as many as counters saw of them" \
	"$(near "$(sum emu hw)" "$(sum emu sum)" 0.05)" 1
is "sum: a count stands for period / depth executions" \
	"$(awk '/a count of emu is .* executions, from period and depth/ { print int($7 * 10) }' sum.err)" 315
# Of the branches that counters saw, sw has the counts of the run, and hw estimates of them.
of_counters()
{
	awk -F'\t' '$1 == "branch" && FNR != NR && seen[$2 $3 $4] { sum += $5 }
		$1 == "branch" && FNR == NR { seen[$2 $3 $4] = 1 } END { print sum }' sw.rows "$1"
}
is "hw and sw agree on what counters saw" "$(near "$(of_counters hw)" "$(of_counters sw)" 0.001)" 1
convert llvm-sample -o default.prof
grep -q 'prefer sw' err && ok "profiles of one build: the counters' by default" || fail "default: $(cat err)"
for side in sw hw sum; do
	"$asan" convert -q -i counters.data,stacks.data --prefer $side -f llvm-sample -o $side.prof || fail "$side.prof"
	"$asan" convert -q -i stacks.data,counters.data --prefer $side -f llvm-sample -o turned || fail "$side.prof"
	is "$side: whatever the order of inputs" "$(cmp $side.prof turned 2>&1)" ""
done
is "and it is that profile" "$(cmp default.prof sw.prof 2>&1)" ""

# Totals have no samples to choose among; the same recording's stacks do.
"$asan" convert -q -i counters.data -f arcs --comm loop -o chosen || fail "--comm of counters"
is "--comm takes the stacks" "$(cmp -s chosen sw.rows; echo $?)" 1
rm chosen
"$asan" convert -q -i counters.data -f arcs --comm loop --from arcs -o chosen 2>err
is "--comm --from arcs: status, no output" "$? $(ls chosen 2>/dev/null)" "1 "
says "--comm --from arcs: why" err "counters.data: no branch stacks.*--comm"

# Weights
w() { "$asan" convert -q "$@" -f arcs -o weighted || fail "convert $*"; }
for input in counters.data stacks.data rows; do
	w -i $input -i $input -i $input && mv weighted thrice
	w --weight $input=3 -i $input
	is "a weight of 3 is three times $input" "$(cmp weighted thrice 2>&1)" ""
done
w --weight counters.data=5 -i counters.data,stacks.data
is "a weight is of one input" "$(grep -c . weighted) $(sum emu weighted) $(sum sw weighted)" \
	"$(grep -c . rows) $(sum emu rows) $((5 * $(sum sw rows)))"
w --weight counters.data=5 -i stacks.data,counters.data,rows -i stacks.data && mv weighted one
w --weight counters.data=5 -i counters.data -i stacks.data,stacks.data -i rows
is "whatever comes before or after" "$(cmp weighted one 2>&1)" ""
for bad in other=2 counters.data=0 counters.data=-1 counters.data=5000; do
	"$asan" convert -i counters.data --weight $bad -f arcs -o none >err 2>&1
	is "--weight $bad: status" $? 129
done
"$asan" convert -i counters.data --prefer left -f arcs -o none >err 2>&1
is "--prefer left: status" $? 129
"$asan" convert -i counters.data --prefer hw -f llvm-profdata -o none >err 2>&1
is "--prefer for counters alone: status" $? 129
[ ! -e none ] && ok "no output after an error" || fail "an output after an error"
exit $status
