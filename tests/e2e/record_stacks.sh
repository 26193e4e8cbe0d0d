#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Counters become branch stacks and totals: exact where the program's loops are known, and read by
# unpatched perf and by others' profile tools without a complaint.
. "$(dirname "$0")/lib/common.sh"
. "$here/lib/stacks.sh"
cd "$scratch" || exit 1
PATH=$BUILD:$PATH
export XDG_CACHE_HOME=$scratch/cache

cat >p.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int sink;
__attribute__((noinline)) int leaf(int i)
{
	if (i % 4 == 0)
		sink++;
	return i & 7;
}
__attribute__((noinline)) int other(int i) { return sink + i; }
int (*table[])(int) = { leaf, other };
static int less(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(int argc, char **argv)
{
	static int numbers[500];
	int n = argc > 1 ? atoi(argv[1]) : 1000000, sum = 0;

	for (int i = 0; i < n; i++) {
		switch (leaf(i)) {
		case 0: sum += 3; break;
		case 1: sum ^= i; break;
		case 2: sum -= 9; break;
		case 3: sum *= 5; break;
		case 4: sum += sink; break;
		case 5: sum |= 1; break;
		default: sum--;
		}
	}
	for (int i = 0; i < 90000; i++)
		sum += table[i % 3 == 0](i);
	for (int i = 0; i < 500; i++)
		numbers[i] = i * 7919 % 503;
	qsort(numbers, 500, sizeof(*numbers), less);
	for (int i = 2; i < argc; i++) {
		if (!fork())
			_exit(leaf(i) & 0);
		wait(NULL);
	}
	return printf("%d\n", sum + numbers[7]) < 0;
}
C
for compiler in clang-19 clang-14 clang-22; do
	command -v $compiler >/dev/null || { echo "skip $compiler is not here"; continue; }
	rm -f p
	# shellcheck disable=SC2046
	$compiler -O2 $("$swlbr" cflags --cc $compiler) -o p p.c || { fail "$compiler: build"; continue; }
	record p.data -- ./p 1000000
	arcs_of p.arcs p.data
	is "$compiler: calls of leaf() are exact" "$(calls_of p.arcs p leaf)" 1060000
	is "$compiler: and of other(), by the value profile" "$(calls_of p.arcs p other)" 30000
	is "$compiler: main is called once" "$(calls_of p.arcs p main)" 1
	overlaps $compiler p.data p.arcs
	coherent $compiler p.data
	profiled $compiler p.data p
done

# What follows is of one compiler.
rm -f p
# shellcheck disable=SC2046
$cc -O2 $("$swlbr" cflags --cc "$cc") -Wl,--emit-relocs -o p p.c || fail build
record p.data -- ./p 1000000
for command in "report --stdio" "report --stdio -b --sort symbol_from,symbol_to" \
	"report --stdio --branch-history" "annotate --stdio -s leaf" "script -F ip,brstack"; do
	# shellcheck disable=SC2086
	perf ${command%% *} -i p.data ${command#* } >out 2>err
	is "perf $command" "$? $([ "$(wc -l <out)" -gt 5 ] && echo some)" "0 some"
done
perf report --stdio -i p.data -b --sort symbol_from,symbol_to 2>/dev/null | grep -q leaf &&
	ok "perf report -b names functions" || fail "perf report -b names functions"
perf script -i p.data 2>/dev/null | grep -q 'swlbr:arc: .*nr=' &&
	ok "perf script prints totals" || fail "perf script prints totals"
bolted "$cc" p.data p

# create_gcov reads DWARF 4 and no later one; an address outside of all mappings is damage to it.
# shellcheck disable=SC2046
$cc -O2 $("$swlbr" cflags --cc "$cc") -gdwarf-4 -o dwarf4 p.c || fail "build with DWARF 4"
"$swlbr" record -q -o g.data -- ./dwarf4 1000000 >/dev/null || fail "record of DWARF 4"
create_gcov --binary=dwarf4 --profile=g.data --gcov=g.gcov -gcov_version=1 >gcov.out 2>&1
is "create_gcov: status, nothing said" "$? $(cat gcov.out)" "0 "
is "create_gcov: leaf() is in the profile" \
	"$(dump_gcov -gcov_version=1 g.gcov 2>&1 | grep -c '^leaf total:[1-9]')" 1
is "code without counters has a name" "$(perf report --stdio -i g.data -b --sort dso_from 2>/dev/null |
	grep -c '\[no counters\]')" 1

stacks() { perf script -i "$1" -F ip,brstack 2>/dev/null | grep -c /; }
record c.data -c 1000 --depth 8 -- ./p 1000000
is "--depth: the longest stack" "$(perf script -i c.data -F brstack 2>/dev/null |
	awk 'NF > most { most = NF } END { print most }')" 8
record d.data -c 500 -- ./p 1000000
is "-c: half the period, twice the stacks" "$(awk -v a="$(stacks c.data)" -v b="$(stacks d.data)" \
	'BEGIN { print (a > 100 && b > 1.9 * a && b < 2.1 * a) }')" 1
record f.data -- ./p 1000 a b c
arcs_of p.arcs f.data
is "forked children's counts are their own" "$(calls_of p.arcs p leaf)" 61003
strip -o stripped p
record t.data -- ./stripped 1000000
arcs_of p.arcs t.data
is "stripped: the same calls" "$(calls_of p.arcs p leaf)" 1060000
"$swlbr" convert -q -i p.data -f llvm-profraw -o p.profraw || fail "convert to llvm-profraw"
arcs_of p.arcs p.profraw ./p
is "of a .profraw: the same calls" "$(calls_of p.arcs p leaf)" 1060000
"$swlbr" convert -q -i p.data --from nothing -f arcs -o x.arcs 2>err
is "--from nothing: no such thing" "$? $(wc -l <err | awk '{ print ($1 > 0) }')" "129 1"
exit $status
