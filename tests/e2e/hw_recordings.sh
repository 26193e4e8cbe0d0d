#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Recordings that others made (../shared/hw, its README.md has where they are from): what must come
# out of them, to the last count, and that neither new formats nor damage do harm.
. "$(dirname "$0")/lib/common.sh"
root=$(cd "$here/../.." && pwd)
hw=$root/../shared/hw
[ -d "$hw" ] || { echo "skip hw_recordings: ../shared/hw is not there"; exit 0; }
asan=$BUILD_ASAN/perf-swlbr
cd "$scratch" || exit 1

# fetch NAME: $scratch/NAME, unpacked
fetch()
{
	if [ -f "$hw/$1" ]; then
		cp "$hw/$1" "$1"
	else
		zstd -dqf -o "$1" "$hw/$1.zst"
	fi
}

# arcs NAME [OPTION…]: converts it to NAME.arcs; its summary is in NAME.json
arcs()
{
	local name=$1
	shift
	"$asan" convert --json -i "$name" -f arcs -o "$name.arcs" "$@" >"$name.json" 2>err || {
		fail "$name: convert: $(head -c 300 err)"
		return 1
	}
}

# sum NAME KIND BINARY: distinct rows and their counts
sum()
{
	awk -F'\t' -v kind="$2" -v binary="$3" \
		'$1 == kind && $2 ~ binary { n++; c += $5 } END { print n + 0, c + 0 }' "$1.arcs"
}

# nr NAME KIND FROM TO: the count of one row
nr() { awk -F'\t' -v k="$2" -v f="$3" -v t="$4" '$1 == k && $3 == f && $4 == t { print $5 }' "$1.arcs"; }

# said NAME KEY: a number of the summary
said() { sed -n "s/^  \"$2\": \([0-9]*\),$/\1/p" "$1.json"; }
dropped() { grep '"dropped"' "$1.json" | sed -n "s/.*\"$2\": \([0-9]*\).*/\1/p"; }

for name in test.lbr perf_lbr.data propeller_sample_1.perfdata1 perf-vmlinux.data \
	perf.data.branch-4.14 perf.data.branch_stack_spec; do
	fetch $name || fail "fetch $name"
	arcs $name
done

is "test.lbr: samples and entries" "$(said test.lbr samples) $(said test.lbr entries)" "9232 147712"
is "test.lbr: ranges of test.binary" "$(sum test.lbr range test.binary)" "357 134677"
is "test.lbr: bytes of instructions executed" "$(awk -F'\t' '$1 == "range" && $2 ~ /test.binary/ {
	print $3, $4, $5 }' test.lbr.arcs | tr -d + | {
	sum=0
	while read -r from to nr; do sum=$((sum + nr * (1 + to - from))); done
	echo $sum
})" 5390972
is "test.lbr: one range" "$(nr test.lbr range +0x4e80 +0x4e8e)" 1134

name=propeller_sample_1.perfdata1
is "propeller: samples, entries, empty stacks" \
	"$(said $name samples) $(said $name entries) $(said $name empty_stacks)" "3740 119424 8"
is "propeller: sources, and entries with both ends in the binary" \
	"$(awk -F'\t' '$1 == "branch" && $2 == "572ac72487ae1966" && $4 !~ /:/ { s[$3]; n += $5 }
	END { print length(s), n }' $name.arcs)" "9 119419"
is "propeller: the event was throttled, and that is told" \
	"$([ "$(said $name throttled)" -gt 0 ] && grep -c '"throttled", "text"' $name.json)" 1

is "perf-vmlinux: ranges of the kernel" \
	"$(sum perf-vmlinux.data range 948da3c05fff6a515eab7b9dd416e30564b2ccf2 | cut -d' ' -f2)" 1936

name=perf_lbr.data
is "perf_lbr: samples" "$(said $name samples)" 19
is "perf_lbr: ranges" "$(nr $name range +0x910 +0x91b) $(nr $name range +0x940 +0x94d)" "31 341"
is "perf_lbr: branches" "$(nr $name branch +0x91b +0x910) $(nr $name branch +0x94d +0x940)" "32 353"

name=perf.data.branch-4.14
is "branch-4.14: samples, entries" "$(said $name samples) $(said $name entries)" "13 416"
is "branch-4.14: each entry is counted or has no address" \
	"$(($(said $name entries_counted) + $(dropped $name no_address)))" 416
name=perf.data.branch_stack_spec
is "branch_stack_spec: samples, entries" "$(said $name samples) $(said $name entries)" "8 128"
is "branch_stack_spec: each entry is counted or of a wrong path" \
	"$(($(said $name entries_counted) + $(dropped $name wrong_path)))" 128

# Two at once, and in two steps through arcs files, give the same.
"$asan" convert -q -i test.lbr,perf_lbr.data -f arcs -o both.arcs 2>err || fail "two inputs"
"$asan" convert -q -i test.lbr.arcs -i perf_lbr.data.arcs -f arcs -o steps.arcs || fail "two arcs"
is "inputs are summed, whether perf.data or arcs" "$(cmp both.arcs steps.arcs 2>&1)" ""
"$asan" convert -q -i - -f arcs -o pipe.arcs < <(cat test.lbr) 2>err || fail "standard input"
is "a perf.data may come through a pipe" "$(cmp pipe.arcs test.lbr.arcs 2>&1)" ""

# Formats: read to the end, one line that says why there is nothing, exit 1.
for file in "$hw"/formats/*; do
	name=${file##*/}
	"$asan" convert -i "$file" -f arcs -o none.arcs 2>err
	is "formats/$name: status" $? 1
	is "formats/$name: what to do is said, damage is not" \
		"$(grep -c "record with 'perf record -b'" err) $(grep -c "comes before is used" err)" "1 0"
	[ ! -e none.arcs ] || fail "formats/$name: an output appeared"
done
is "formats: lost samples are told" "$("$asan" convert --json -i \
	"$hw/formats/perf.data.lost_samples-4.4" -f arcs -o none.arcs 2>/dev/null | grep -c '"lost": 2,')" 1

# Damage: status 1, and the place is told; within a second.
for file in "$hw"/corrupt/*; do
	name=${file##*/}
	timeout 10 "$asan" convert -i "$file" -f arcs -o none.arcs 2>err
	is "corrupt/$name: status" $? 1
	is "corrupt/$name: the offset is told in one line" "$(grep -c 'offset [0-9]' err)" 1
	is "corrupt/$name: nothing of a sanitizer" "$(grep -cE 'Sanitizer|runtime error' err)" 0
	[ ! -e none.arcs ] || fail "corrupt/$name: an output appeared"
done

# What is sound of a recording that was cut off is used, and that is said.
head -c 200000 test.lbr >cut.lbr
"$asan" convert --json -i cut.lbr -f arcs -o cut.lbr.arcs >cut.lbr.json 2>err
is "a recording cut off: status" $? 0
says "a recording cut off: it is said where" err 'truncated: .*the last whole record ends at [0-9]+; what comes before is used'
is "a recording cut off: the samples before the cut" \
	"$([ "$(said cut.lbr samples)" -gt 300 ] && echo many)" many
exit $status
