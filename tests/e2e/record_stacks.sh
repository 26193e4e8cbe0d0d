#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Counters become branch stacks and totals: exact where the program's loops are known, and read by
# unpatched perf and by others' profile tools without a complaint.
. "$(dirname "$0")/lib/common.sh"
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
vaddr_of() { nm p | awk -v name="$1" '$3 == name { print $1 }'; }
# calls_of FUNCTION: the sum of branches to its begin, of the same binary and of outside
calls_of()
{
	awk -F'\t' -v to="0x$(vaddr_of "$1" | sed 's/^0*//')" '
		$1 == "branch" { sub(/.*:/, "", $4); if ($4 == to) sum += $5 } END { print sum + 0 }' p.arcs
}

for cc in clang-19 clang-14 clang-22; do
	command -v $cc >/dev/null || { echo "skip $cc is not here"; continue; }
	# shellcheck disable=SC2046
	$cc -O2 $("$swlbr" cflags --cc $cc) -o p p.c || { fail "$cc: build"; continue; }
	"$swlbr" record -q -o p.data -- ./p 1000000 >/dev/null || fail "$cc: record"
	"$swlbr" convert -q -i p.data -f arcs -o p.arcs || fail "$cc: convert"
	is "$cc: calls of leaf() are exact" "$(calls_of leaf)" 1060000
	is "$cc: and of other(), by the value profile" "$(calls_of other)" 30000
	is "$cc: main is called once" "$(calls_of main)" 1
	"$swlbr" convert -q -i p.data --from stacks -f arcs -o s.arcs || fail "$cc: --from stacks"
	is "$cc: stacks overlap with totals by over 98 %" \
		"$(/usr/bin/python3 "$here/../accuracy/overlap_arcs.py" p.arcs s.arcs |
			awk '{ print ($1 > 98) }')" 1
	llvm-profgen-19 --perfdata=p.data --binary=p --output=p.prof >profgen.out 2>&1
	is "$cc: llvm-profgen is content" "$(grep -ci warning profgen.out) $(test -s p.prof && echo some)" \
		"0 some"
	perf script -i p.data -F +brstackinsn >insn.out 2>/dev/null
	is "$cc: perf finds the code of all stacks" \
		"$(grep -ciE 'mismatch|no text' insn.out) $([ "$(wc -l <insn.out)" -gt 1000 ] && echo some)" \
		"0 some"
done

# What follows is of one compiler.
# shellcheck disable=SC2046
$cc -O2 $("$swlbr" cflags --cc "$cc") -Wl,--emit-relocs -o p p.c || fail build
"$swlbr" record -q -o p.data -- ./p 1000000 >/dev/null || fail record
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
if [ -x /usr/lib/llvm-19/bin/perf2bolt ]; then
	/usr/lib/llvm-19/bin/perf2bolt -p p.data -o p.fdata p >bolt.out 2>&1
	is "perf2bolt: traces that do not match" \
		"$(grep -oE 'traces mismatching disassembled function contents: [0-9]+' bolt.out | grep -o '[0-9]*$')" 0
	is "perf2bolt: a profile" "$(test -s p.fdata && echo some)" some
fi

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
"$swlbr" record -q -c 1000 --depth 8 -o c.data -- ./p 1000000 >/dev/null
is "--depth: the longest stack" "$(perf script -i c.data -F brstack 2>/dev/null |
	awk 'NF > most { most = NF } END { print most }')" 8
is "-c: half the period, twice the stacks" "$("$swlbr" record -q -c 500 -o d.data -- ./p 1000000 \
	>/dev/null; awk -v a="$(stacks c.data)" -v b="$(stacks d.data)" \
	'BEGIN { print (a > 100 && b > 1.9 * a && b < 2.1 * a) }')" 1
"$swlbr" record -q -o f.data -- ./p 1000 a b c >/dev/null
"$swlbr" convert -q -i f.data -f arcs -o p.arcs
is "forked children's counts are their own" "$(calls_of leaf)" 61003
strip -o stripped p
"$swlbr" record -q -o t.data -- ./stripped 1000000 >/dev/null
"$swlbr" convert -q -i t.data -f arcs -o p.arcs
is "stripped: the same calls" "$(calls_of leaf)" 1060000
"$swlbr" convert -q -i p.data -f llvm-profraw -o p.profraw
"$swlbr" convert -q -i p.profraw -f arcs -o p.arcs ./p
is "of a .profraw: the same calls" "$(calls_of leaf)" 1060000
"$swlbr" convert -q -i p.data --from nothing -f arcs -o x.arcs 2>err
is "--from nothing: no such thing" "$? $(wc -l <err | awk '{ print ($1 > 0) }')" "129 1"
exit $status
