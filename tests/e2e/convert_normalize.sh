#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# --normalize: equal workloads give equal text, however long they ran and wherever they were built.
. "$(dirname "$0")/lib/common.sh"
asan=$BUILD_ASAN/perf-swlbr
cd "$scratch" || exit 1

mkdir -p one another/deeper
clang-19 -O2 -g -Wl,--build-id -o one/loop "$here/samples/loop.c" && cp one/loop another/deeper ||
	{ fail "build"; exit 1; }
/usr/bin/python3 "$here/lib/synthetic_arcs.py" one/loop 0.5 1 >rows
for binary in "$PWD/one/loop 1" "$PWD/another/deeper/loop 3"; do
	# Binaries without a build-id are known by their paths; the second ran thrice as long.
	awk -F'\t' -v OFS='\t' -v path="${binary% *}" -v factor="${binary##* }" \
		'NR > 1 { $2 = path; $5 *= factor } { print }' rows >"${binary##* }.rows"
done
for format in llvm-sample arcs json; do
	for which in 1 3; do
		"$asan" convert -q --normalize -i $which.rows -f $format \
			-o $which.$format ||
			fail "convert $which to $format"
	done
	"$asan" convert -q -i 3.rows -f $format -o plain.$format || fail "convert to $format"
	is "$format: the same of both" "$(cmp 1.$format 3.$format 2>&1)" ""
	is "$format: no path of this machine" "$(grep -cF "$PWD" 1.$format)" 0
	is "$format: other than without" "$(cmp -s plain.$format 3.$format || echo other)" other
	is "$format: not empty" "$([ "$(wc -l <1.$format)" -gt 10 ] && echo yes)" yes
done
is "arcs: taken branches come to the fixed total" \
	"$(awk -F'\t' '$1 == "branch" { sum += $5 }
		END { print (sum > 999999000 && sum < 1000001000) }' 1.arcs)" 1
is "arcs: what ran at all is still there" "$(cut -f5 1.arcs | grep -cx 0) $(wc -l <1.arcs)" \
	"0 $(wc -l <rows)"
"$asan" convert -q --normalize -i rows -f bolt -o none one/loop >err 2>&1
is "a format that does not take it: status" $? 129
exit $status
