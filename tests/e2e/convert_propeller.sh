#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Propeller's files, of exact counts of the very binary: clang and lld take them without a word, and
# the program that they make of the same source takes fewer branches and prints the same.
. "$(dirname "$0")/lib/common.sh"
. "$here/lib/taken.sh"
root=$(cd "$here/../.." && pwd)
asan=$BUILD_ASAN/perf-swlbr
cd "$scratch" || exit 1
"$root/scripts/workloads.sh" --source lua bzip2 >log 2>&1 || { tail -5 log; fail "workloads"; exit 1; }
(cd "$WORKLOADS/src" && LC_ALL=C cat bzip2/*.c) | head -c 200000 >in.txt

# build N NAME OUT FLAGS…: with clang-N and its lld; what they say goes to $OUT.said
build()
{
	local n=$1 name=$2 out=$3 dir=$PWD files flags

	shift 3
	case $name in
	lua)
		files=$(ls "$WORKLOADS"/src/lua/src/*.c | grep -vE '/(luac|ltests|onelua)\.c$')
		flags="-DLUA_USE_POSIX -DLUA_USE_DLOPEN -DLUA_COMPAT_5_3 -Dluai_makeseed(L)=1 -lm -ldl"
		;;
	bzip2)
		files="blocksort huffman crctable randtable compress decompress bzlib bzip2"
		files=$(printf "$WORKLOADS/src/bzip2/%s.c " $files)
		flags=-D_FILE_OFFSET_BITS=64
		;;
	two) files="one.c other.c" flags= ;;
	esac
	# shellcheck disable=SC2086
	"clang-$n" -O2 "$@" -Wl,--build-id -fuse-ld="/usr/bin/ld.lld-$n" -o "$dir/$out" \
		$files $flags >"$out.said" 2>&1
}

# relink N NAME OUT FLAGS…: with the files of the conversion to $NAME.clusters
relink()
{
	local n=$1 name=$2 out=$3

	shift 3
	build "$n" "$name" "$out" "-fbasic-block-sections=list=$PWD/$name.clusters" \
		"-Wl,--symbol-ordering-file=$PWD/$name.clusters.symbols" "$@"
}

# sound CLUSTERS: each line is what the format has; no block or function comes twice
sound()
{
	awk 'NR == 1 { bad += $0 != "v1"; next }
		$1 == "m" { bad += NF != 2; module = $2; next }
		$1 == "f" { bad += NF < 2 || seen[module, $2]++; module = ""; functions++; next }
		$1 == "c" { bad += $2 != 0; split("", ids)
			for (i = 2; i <= NF; i++) bad += $i !~ /^[0-9]+$/ || ids[$i]++
			next }
		{ bad++ }
		END { print (functions > 2 && !bad) ? "yes" : "no" }' "$1"
}

for n in 19 22; do
	map=-fbasic-block-address-map
	for name in lua bzip2; do
		build $n $name base $map || { fail "clang-$n $name: build: $(tail -1 base.said)"; continue; }
		count $name ./base arcs >expected || fail "clang-$n $name: emulated"
		"$asan" convert -i arcs -f propeller -o $name.clusters ./base 2>summary ||
			{ fail "clang-$n $name: convert: $(tail -1 summary)"; continue; }
		is "clang-$n $name: the cluster file is sound" "$(sound $name.clusters)" yes
		is "clang-$n $name: each function is once in the order" \
			"$(sort $name.clusters.symbols | uniq -d | head -3)" ""
		is "clang-$n $name: both files have the same functions" \
			"$(awk '$1 == "f" { print $2 }' $name.clusters)" "$(cat $name.clusters.symbols)"
		# What is not in a block is in stubs of calls and in the C library's files.
		known=$(sed -n 's/.* ran; \([0-9]*\)\..* % of what ran is.*/\1/p' summary)
		[ "${known:-0}" -ge 95 ] && ok "clang-$n $name: $known % of what ran is in blocks" ||
			fail "clang-$n $name: $(grep 'basic blocks' summary)"
		relink $n $name laid || fail "clang-$n $name: rebuild: $(tail -1 laid.said)"
		is "clang-$n $name: clang and lld have nothing to say" \
			"$(diff base.said laid.said | head -3)" ""
		count $name ./laid arcs2 >output || fail "clang-$n $name: it does not run"
		is "clang-$n $name: its output is the same" "$(cmp expected output 2>&1)" ""
		before=$(taken arcs base) after=$(taken arcs2 laid)
		if [ "$after" -gt 1000 ] && [ $((after * 100)) -lt $((before * 85)) ]; then
			ok "clang-$n $name: taken branches $before, laid out $after"
		else
			fail "clang-$n $name: taken branches $before, laid out $after"
		fi
	done
	# The linker has the functions one after the other, as they were ordered.
	nm -n laid | awk '$2 ~ /[tT]/ && $3 !~ /\.cold$/ { print $3 }' |
		grep -Fxf bzip2.clusters.symbols >placed
	is "clang-$n: functions are where the order says" "$(diff placed bzip2.clusters.symbols)" ""

	# A profile of the new layout, in two ranges of addresses for each function, gives it again.
	relink $n bzip2 again $map || fail "clang-$n: build with a map: $(tail -1 again.said)"
	llvm-readobj-$n --bb-addr-map again | awk '/BB Ranges/ { n = 0 } /Base Address/ && ++n > 1 { two = 1 }
		END { exit !two }' || fail "clang-$n: no function in two ranges"
	count bzip2 ./again arcs3 >output
	"$asan" convert -q -i arcs3 -f propeller -o second.clusters --symbol-order second.order ./again ||
		fail "clang-$n: convert of the new layout"
	is "clang-$n: the same blocks of the new layout" \
		"$(diff <(awk '/^f/ { print; next } { for (i = 2; i <= NF; i++) print $i | "sort"; close("sort") }' bzip2.clusters |
			sort) <(awk '/^f/ { print; next } { for (i = 2; i <= NF; i++) print $i | "sort"; close("sort") }' second.clusters |
			sort) | head -5)" ""
	cp second.clusters bzip2.clusters
	cp second.order bzip2.clusters.symbols
	relink $n bzip2 third && count bzip2 ./third arcs4 >output
	third=$(taken arcs4 third)
	[ $((third * 100)) -lt $((after * 103)) ] && [ "$third" -gt 1000 ] &&
		ok "clang-$n: laid out again it is as good: $after, then $third" ||
		fail "clang-$n: laid out again: $after, then $third"

	# What the compiler adds to the map of its own analysis is read past.
	build $n bzip2 map0 $map && count bzip2 ./map0 arcs >output
	build $n bzip2 map1 $map -mllvm -pgo-analysis-map=func-entry-count,bb-freq,br-prob ||
		fail "clang-$n: build with an analysis map: $(tail -1 map1.said)"
	llvm-readobj-$n --bb-addr-map map1 | grep -q 'Frequency: [1-9]' ||
		fail "clang-$n: no analysis in the map"
	"$asan" convert -q -i arcs -f propeller -o map0.clusters ./map0 && count bzip2 ./map1 arcs >output
	"$asan" convert -q -i arcs -f propeller -o map1.clusters ./map1 ||
		fail "clang-$n: convert with an analysis map"
	is "clang-$n: the same with an analysis map" "$(cmp map0.clusters map1.clusters 2>&1)" ""
done

# The older spelling of the flag is the same map.
build 19 bzip2 map1 -fbasic-block-sections=labels && count bzip2 ./map1 arcs >output
"$asan" convert -q -i arcs -f propeller -o map1.clusters ./map1 || fail "labels: convert"
build 19 bzip2 base -fbasic-block-address-map && count bzip2 ./base arcs >output
"$asan" convert -q -i arcs -f propeller -o map0.clusters ./base || fail "map: convert"
is "-fbasic-block-sections=labels: the same" "$(cmp map0.clusters map1.clusters 2>&1)" ""

# Of branch stacks, sampled: nearly as good.
run bzip2 ./base "$swlbr" record -q --emulate -c 997 -o stacks.data -- >output 2>err ||
	fail "stacks: record: $(tail -1 err)"
"$asan" convert -q -i stacks.data -f propeller -o bzip2.clusters ./base 2>err ||
	fail "stacks: convert: $(tail -1 err)"
relink 19 bzip2 sampled && count bzip2 ./sampled arcs2 >output
before=$(taken arcs base) after=$(taken arcs2 sampled)
[ "$after" -gt 1000 ] && [ $((after * 100)) -lt $((before * 88)) ] &&
	ok "of stacks: taken branches $before, laid out $after" ||
	fail "of stacks: taken branches $before, laid out $after"

# Of the counters of an instrumented build, for the same instrumented build.
# shellcheck disable=SC2046
build 19 bzip2 counted $("$swlbr" cflags --cc clang-19) -fbasic-block-address-map &&
	LLVM_PROFILE_FILE=/dev/null run bzip2 ./counted "$swlbr" record -q -o counted.data -- >output &&
	"$asan" convert -q -i counted.data -f propeller -o bzip2.clusters ./counted || fail "counters: convert"
# shellcheck disable=SC2046
relink 19 bzip2 recounted $("$swlbr" cflags --cc clang-19) || fail "counters: $(tail -1 recounted.said)"
export LLVM_PROFILE_FILE=/dev/null
count bzip2 ./counted arcs >expected && count bzip2 ./recounted arcs2 >output
is "of counters: its output is the same" "$(cmp expected output 2>&1)" ""
before=$(taken arcs counted) after=$(taken arcs2 recounted)
[ "$after" -gt 1000 ] && [ $((after * 100)) -lt $((before * 92)) ] &&
	ok "of counters: taken branches $before, laid out $after" ||
	fail "of counters: taken branches $before, laid out $after"

# Two static functions of one name, called by the one file ./other.c and the other one.c
cat >one.c <<'SOURCE'
#include <stdio.h>
static __attribute__((noinline)) int work(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++) {
		sum = i % 7 ? sum ^ i : sum + i;
		if (sum == 123456789)
			puts("never");
	}
	return sum;
}
int other(int n);
int main(int argc, char **argv)
{
	int sum = 0;
	(void)argv;
	for (int i = 0; i < 100 * argc; i++)
		sum += work(i) + other(i);
	return printf("%d\n", sum) < 0;
}
SOURCE
cat >other.c <<'SOURCE'
static __attribute__((noinline)) int work(int n)
{
	int sum = 1;
	for (int i = 0; i < n; i++)
		sum = i % 3 ? sum * i : sum + i;
	return sum;
}
int other(int n) { return work(n) + 1; }
SOURCE
for n in 19 22; do
	build $n two two -fbasic-block-address-map && count two ./two arcs >expected
	"$asan" convert -i arcs -f propeller -o two.clusters ./two 2>summary || fail "two: convert"
	is "clang-$n: two of one name are left out" "$(grep '^f' two.clusters | sort)" \
		"$(printf 'f main\nf other')"
	is "clang-$n: and the summary says so" "$(grep -c 'left out: 2 functions whose names' summary)" 1
	build $n two two -g -fbasic-block-address-map && count two ./two arcs >expected
	"$asan" convert -i arcs -f propeller -o two.clusters ./two 2>summary || fail "two: convert"
	is "clang-$n: with debug information the files tell them apart" \
		"$(awk '$1 == "m" { m = $2 " "; next } $1 == "f" { print m $2; m = "" }' two.clusters | sort)" \
		"$(printf 'main\none.c work\nother\nother.c work')"
	is "clang-$n: the name is once in the order" "$(grep -c '^work$' two.clusters.symbols)" 1
	relink $n two laid -g || fail "clang-$n: rebuild two: $(tail -1 laid.said)"
	is "clang-$n: nothing to say of two" "$(cat laid.said)" ""
	count two ./laid arcs2 >output
	is "clang-$n: two print the same" "$(cmp expected output 2>&1)" ""
	nm laid | grep -q ' t work.cold' && ok "clang-$n: one.c's is split" ||
		fail "clang-$n: one.c's work is not split"
done

# What cannot be done is said, and nothing is written.
rm -f none none.symbols
build 19 two plain && count two ./plain arcs3 >output
"$asan" convert -q -i arcs3 -f propeller -o none ./plain 2>err
is "no map: exit status" $? 1
says "no map: the flag to build with" err 'no basic block address map.*-fbasic-block-address-map'
llvm-objcopy-19 --strip-all --keep-section=.llvm_bb_addr_map two stripped
"$asan" convert -q -i arcs -f propeller -o none ./stripped 2>err
says "stripped" err 'stripped: Propeller knows functions by their symbols'
id=$(readelf -n two | sed -n 's/.*Build ID: //p')
awk -v id="$id" -F'\t' -v OFS='\t' 'NR == 1 { print }
	$1 == "range" && $2 == id && !done++ { $3 = "0x10"; $4 = "0x20"; print }' arcs >elsewhere
"$asan" convert -q -i elsewhere -f propeller -o none ./two 2>err
is "a profile that hits no block: exit status" $? 1
says "a profile that hits no block" err 'none of its basic blocks ran'
printf '\007\0' >bytes && objcopy --update-section .llvm_bb_addr_map=bytes two odd
"$asan" convert -q -i arcs -f propeller -o none ./odd 2>err
says "an unknown version" err 'version 7 of the basic block address map is not supported, 2 to 5 are'
"$asan" convert -q -i arcs -f propeller -o - ./two >/dev/null 2>said
is "-o - alone: exit status" $? 129
head -1 said >err
says "-o - alone" err 'two files: with -o -, give --symbol-order'
"$asan" convert -q -i arcs -f propeller -o none --symbol-order ./none ./two 2>said
is "one file for both: exit status" $? 129
"$asan" convert -q -i arcs -f arcs --symbol-order x -o none ./two 2>said
head -1 said >err
says "--symbol-order of another format" err 'perf swlbr: --symbol-order is for propeller'
"$asan" convert -q -i arcs -f propeller -o - --symbol-order order ./two >piped &&
	cmp piped two.clusters && cmp order two.clusters.symbols && ok "to standard output" ||
	fail "to standard output"
is "nothing is left behind" "$(ls none* 2>/dev/null)" ""
exit $status
