#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What it costs to make an edge profile of branch stacks: of walks over the branches of a small
# program ("walk"), and of 20 binaries in 50 processes with 300,000 distinct edges ("many"). Beside
# it the least that it can cost, a loop over the file with two hash tables; and others' tools.
#   SAMPLES (1000000), PEERS=no: without others' tools, which take minutes
. "$(dirname "$0")/lib/start.sh"
samples=${SAMPLES:-1000000}
hw=$PWD/../shared/hw
here=$PWD/tests/bench
CC=${CC:-gcc}

[ -f "$hw/test.lbr.zst" ] || { echo "skip branch_stacks: ../shared/hw is not there"; exit 0; }
$CC -O2 -o "$scratch/generate" "$here/stacks_generate.c" &&
	$CC -O2 -o "$scratch/floor" "$here/stacks_floor.c" &&
	$CC -O2 -std=gnu11 -Ilib/include -o "$scratch/aggregate" "$here/stacks_aggregate.c" \
		-L"$BUILD" -Wl,-rpath,"$BUILD" -lswlbr || { echo "FAIL build"; exit 1; }
cd "$scratch" || exit 1

# A program for the walks: functions of single-byte instructions where test.lbr's program was, so
# that every address is one of an instruction.
{
	echo '.text'
	for ((i = 0; i < 158; i++)); do
		printf '.globl f%d\n.type f%d,@function\nf%d:\n' $i $i $i
		for ((j = 0; j < 255; j++)); do echo nop; done
		printf 'ret\n.size f%d,.-f%d\n' $i $i
	done
	printf '.globl _start\n_start: ret\n'
} >program.s
$CC -g -c -o program.o program.s && ld -z noseparate-code -Ttext=0x400200 -o program program.o || exit 1
zstd -dqf -o test.lbr "$hw/test.lbr.zst"
"$swlbr" convert -q -i test.lbr -f arcs -o all.arcs 2>/dev/null || { echo "FAIL test.lbr"; exit 1; }
awk -F'\t' '$2 ~ /test.binary$/ && $4 !~ /:/' all.arcs >walk.arcs
./generate walk walk.arcs "$PWD/program" "$samples" walk.data
./generate many "$samples" many.data

# best NAME COMMAND…: the least of five; prints the command's own first number
best()
{
	for _ in 1 2 3 4 5; do "$@"; done | sort -n | head -1 | cut -d' ' -f1
}

# cost COMMAND…: processor seconds, and kilobytes at most
cost()
{
	/usr/bin/time -f '%U %S %M' -o time.out "$@" >cost.out 2>&1 || { tail -1 cost.out >&2; return 1; }
	tail -1 time.out | awk '{ print $1 + $2, $3 }'
}

for kind in walk many; do
	aggregate=$(best ./aggregate $kind.data)
	floor=$(best ./floor $kind.data)
	echo "$kind $samples $aggregate $floor" | awk '{
		printf "%s: %.1f M entries/s counted; %.2f times the bare loop (%.3f s, %.3f s)\n",
			$1, $2 * 32 / $3 / 1e6, $3 / $4, $3, $4 }'
	"$swlbr" convert -q -i $kind.data -f arcs -o $kind.out program 2>err ||
		{ echo "FAIL $kind: $(cat err)"; exit 1; }
	set -- $(cost "$swlbr" convert -q -i $kind.data -f arcs -o $kind.out program)
	ours=$1
	echo "$kind: convert -f arcs: $1 s, $2 KB, $(wc -l <$kind.out) edges"
	eval "ours_$kind=$ours"
done
if "$swlbr" convert --list-formats | grep -q '^llvm-sample '; then
	set -- $(cost "$swlbr" convert -q -i walk.data -f llvm-sample -o walk.sample program)
	echo "walk: convert -f llvm-sample: $1 s, $2 KB"
else
	echo "skip llvm-sample: no such format in this build"
fi

# Through perf's own decoding, beside a dlfilter that does nothing.
if [ -f "$BUILD/dlfilter-swlbr.so" ]; then
	cat >nothing.c <<-'C'
	#include <perf/perf_dlfilter.h>
	int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
	{
		return !data && !sample && !ctx ? 0 : 1;
	}
	C
	$CC -O2 -shared -fPIC -o nothing.so nothing.c
	"$swlbr" record -q --emulate -c 1009 -o ls.data -- ls -lR /usr/include/linux >/dev/null &&
		"$swlbr" record -q --emulate -c 307 -o forks.data -- \
			sh -c 'for i in 1 2 3; do ls / | sort -r; done' >/dev/null ||
		{ echo "FAIL record --emulate"; exit 1; }
	for file in test.lbr ls.data forks.data walk.data; do
		pairs=15
		[ $file != walk.data ] || pairs=3
		for _ in $(seq $pairs); do
			ours=$(measure perf script -i $file --dlfilter "$BUILD/dlfilter-swlbr.so" --dlarg -q \
				--dlarg -f --dlarg arcs --dlarg -o --dlarg filtered.arcs 2>err) &&
				nothing=$(measure perf script -i $file --dlfilter ./nothing.so 2>err) ||
				{ echo "FAIL $file: $(cat err)"; exit 1; }
			echo "$ours $nothing"
		done | awk '{ print $2 / $5, $2, $5 }' | sort -n | awk -v file=$file '
			{ row[NR] = $0 }
			END {
				split(row[int((NR + 1) / 2)], a)
				printf "dlfilter, %s: %.2f times one that does nothing (%.3f s, %.3f s)\n",
					file, a[1], a[2], a[3] }'
	done
else
	echo "skip dlfilter: not built"
fi

# Four times the file: four times the time, the same memory.
rm -f many.data
./generate walk walk.arcs "$PWD/program" $((4 * samples)) four.data
set -- $(cost "$swlbr" convert -q -i four.data -f arcs -o four.arcs program)
echo "four times walk: $1 s, $2 KB ($(echo "$1 $ours_walk" | awk '{ printf "%.1f", $1 / $2 }') times the time)"
rm -f four.data
echo "ok branch_stacks"
[ "${PEERS-}" != no ] || exit 0

peer()
{
	local name=$1

	shift
	command -v "$1" >/dev/null || { echo "skip $name is not installed"; return; }
	cost timeout 900 "$@" | awk -v name="$name" -v ours="$ours_walk" '{
		printf "%s: %s s, %s KB: %.1f times ours\n", name, $1, $2, $1 / ours }'
}
peer llvm-profgen llvm-profgen-19 --binary=program --perfdata=walk.data --output=out.profgen
peer perf2bolt /usr/lib/llvm-19/bin/perf2bolt -p walk.data -o out.fdata program
peer create_llvm_prof create_llvm_prof --binary=program --profile=walk.data --out=out.llvm_prof
peer "perf script" perf script -i walk.data -F ip,brstack
