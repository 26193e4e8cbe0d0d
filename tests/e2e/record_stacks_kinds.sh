#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Counters become branch stacks and totals: of libraries that come and go, of C++ exceptions, and
# however often the counters are looked at.
. "$(dirname "$0")/lib/common.sh"
. "$here/lib/stacks.sh"
cd "$scratch" || exit 1
PATH=$BUILD:$PATH
export XDG_CACHE_HOME=$scratch/cache
flags="-O2 $("$swlbr" cflags --cc "$cc") -Wl,--emit-relocs"

# Two libraries, and a program that both call back. Each time one is closed the other one gets its
# addresses, which llvm-profgen and perf2bolt take to be one library's all the time: they are asked
# about the run that keeps both.
cat >library.c <<'C'
static volatile int sink;
__attribute__((noinline)) static int in_library(int i)
{
	if (i % 3 == 0)
		sink++;
	return i & 3;
}
#if NUMBER == 2
__attribute__((noinline)) static int in_second(int i) { return i & 16 ? sink : in_library(i); }
#else
#define in_second in_library
#endif
int library_work(int nr, int (*back)(int))
{
	int sum = 0;

	for (int i = 0; i < nr; i++)
		sum += in_second(i) == 2 ? back(i) : 1;
	return sum;
}
C
cat >opens.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
static volatile int sink;
__attribute__((noinline)) int called_back(int i)
{
	if (i % 8 == 2)
		sink++;
	return i & 1;
}
__attribute__((noinline)) int leaf(int i) { return i % 5 ? sink : i; }
int main(int argc, char **argv)
{
	int sum = 0;

	(void)argv;
	for (int time = 0; time < 4; time++) {
		void *library = dlopen(time % 2 ? "./second.so" : "./first.so", RTLD_NOW | RTLD_LOCAL);
		int (*work)(int, int (*)(int)) = (int (*)(int, int (*)(int)))dlsym(library, "library_work");

		sum += work(400000, called_back);
		if (argc < 2)
			dlclose(library);
		for (int i = 0; i < 300000; i++)
			sum += leaf(i);
	}
	return printf("%d\n", sum) < 0;
}
C
# shellcheck disable=SC2086
$cc $flags -o opens opens.c && $cc $flags -DNUMBER=1 -shared -fPIC -o first.so library.c &&
	$cc $flags -DNUMBER=2 -shared -fPIC -o second.so library.c || { fail "build"; exit 1; }
for variant in "-F 10" "-F 1000" "-F 99 -- ./opens keep"; do
	name="dlopen, $variant"
	[[ $variant == *keep ]] || variant+=" -- ./opens"
	# shellcheck disable=SC2086
	record opens.data $variant
	arcs_of opens.arcs opens.data
	is "$name: calls inside the libraries" \
		"$(calls_of opens.arcs first.so in_library) $(calls_of opens.arcs second.so in_second)" "800000 800000"
	is "$name: calls of the libraries" \
		"$(calls_of opens.arcs first.so library_work) $(calls_of opens.arcs second.so library_work)" "2 2"
	is "$name: calls by the libraries" "$(calls_of opens.arcs opens called_back)" 300000
	is "$name: calls inside the program" "$(calls_of opens.arcs opens leaf)" 1200000
	overlaps "$name" opens.data opens.arcs
	coherent "$name" opens.data
done
profiled "dlopen" opens.data opens first.so second.so
bolted "dlopen" opens.data opens first.so second.so

# One loop after the other: how often the counters are looked at changes no total, but the stacks' times.
cat >phases.c <<'C'
#include <stdio.h>
static volatile int sink;
__attribute__((noinline)) int first(int i) { return i % 3 ? sink : i; }
__attribute__((noinline)) int second(int i) { return i % 3 ? sink : i; }
int main(void)
{
	int sum = 0;

	for (int i = 0; i < 20000000; i++)
		sum += first(i);
	for (int i = 0; i < 20000000; i++)
		sum += second(i);
	return printf("%d\n", sum) < 0;
}
C
# shellcheck disable=SC2086
$cc $flags -o phases phases.c || { fail "build"; exit 1; }
for frequency in 10 99 1000; do
	record phases.data -F $frequency -- ./phases
	arcs_of phases.$frequency.arcs phases.data
	overlaps "-F $frequency" phases.data phases.$frequency.arcs
	coherent "-F $frequency" phases.data
	profiled "-F $frequency" phases.data phases
	bolted "-F $frequency" phases.data phases
done
is "-F: the totals do not depend on it" \
	"$(cmp phases.10.arcs phases.99.arcs 2>&1)$(cmp phases.10.arcs phases.1000.arcs 2>&1)" ""
is "-F: they are the counts" \
	"$(calls_of phases.10.arcs phases first) $(calls_of phases.10.arcs phases second)" "20000000 20000000"
# A fifth of the stacks is of the whole run, so that not all can be in order.
is "-F 1000: three quarters of the first loop's stacks come before three quarters of the second's" \
	"$(perf script -i phases.data -F time,ip,sym,event 2>/dev/null | awk '
		/branches/ && / (first|second)$/ { loop[NR] = $NF; all[$NF]++ }
		END { for (i = 1; i <= NR; i++) if (i in loop) {
				seen[loop[i]]++
				if (seen["first"] == int(all["first"] * 3 / 4) && !first) first = i
				if (seen["second"] == int(all["second"] / 4) && !second) second = i
			}
			print (all["first"] > 2000), (all["second"] > 2000), (first && first < second) }')" "1 1 1"

# Exceptions: stacks are whole, and calls that end otherwise are counted. The truth is the emulator's.
# Code that only landing pads lead to is not asked for: the map does not find all of its increments.
# shellcheck disable=SC2086
${cc/clang/clang++} $flags -o exceptions "$here/emulate/exceptions.cc" || { fail "build"; exit 1; }
"$swlbr" record -q --emulate=counts -o truth.arcs -- ./exceptions 300000 >/dev/null || fail "the exceptions' truth"
record exceptions.data -- ./exceptions 300000
arcs_of exceptions.arcs exceptions.data
for function in main _ZNK6square4areaEl _ZNK4line4areaEl; do
	is "exceptions: calls of $function" "$(calls_of exceptions.arcs exceptions $function)" \
		"$(calls_of truth.arcs exceptions $function)"
done
coherent exceptions exceptions.data
profiled exceptions exceptions.data exceptions
bolted exceptions exceptions.data exceptions
exit $status
