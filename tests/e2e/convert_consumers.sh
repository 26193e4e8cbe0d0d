#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each format made of an edge profile is taken by the tool that it is for, without a word of
# complaint, and means to it what the counts were.
. "$(dirname "$0")/lib/common.sh"
root=$(cd "$here/../.." && pwd)
asan=$BUILD_ASAN/perf-swlbr
export XDG_CACHE_HOME=$scratch
cd "$scratch" || exit 1
cp "$here/samples/loop.c" "$here/samples/inlining.cc" .

# quiet NAME COMMAND…: it succeeds and says nothing
quiet()
{
	local name=$1

	shift
	"$@" >out 2>&1 || { fail "$name: $(head -3 out)"; return; }
	is "$name" "$(head -3 out)" ""
}

convert() { "$asan" convert -q "$@" || fail "convert $*"; }

# clang: exact counts of a run.
clang-19 -O2 -g -Wl,--build-id -o loop loop.c && clang++-19 -O2 -g -Wl,--build-id -o inlining inlining.cc &&
	"$swlbr" record -q --emulate=counts -o loop.arcs -- ./loop 200000 >loop.out &&
	"$swlbr" record -q --emulate=counts -o inlining.arcs -- ./inlining 500 >inlining.out ||
	{ fail "recording"; exit 1; }
for program in loop inlining; do
	case $program in
	loop) source=loop.c compiler=clang-19 ;;
	inlining) source=inlining.cc compiler=clang++-19 ;;
	esac
	convert -i $program.arcs -f llvm-sample -o text ./$program
	convert -i $program.arcs -f llvm-sample -o text2 ./$program
	is "$program: two conversions are equal" "$(cmp text text2 2>&1)" ""
	for options in "" --compress --md5 "--compress --md5" --symbol-list; do
		# shellcheck disable=SC2086
		convert -i $program.arcs -f llvm-extbinary $options -o extbinary ./$program
		quiet "$program: clang takes llvm-extbinary $options" \
			$compiler -O2 -g -fprofile-sample-use=extbinary -c -o object $source
		case $options in
		*md5*) continue ;; # names are numbers then; convert_samples compares the bytes
		esac
		rm -f again
		llvm-profdata-19 merge --sample --text extbinary -o again 2>err
		is "$program: llvm-profdata reads llvm-extbinary $options" "$(cmp text again 2>&1)" ""
	done
	quiet "$program: clang takes llvm-sample" \
		$compiler -O2 -g -fprofile-sample-use=text -c -o object $source
	rm -f theirs
	llvm-profgen-19 --unsymbolized-profile=<(convert -i $program.arcs -f llvm-unsymbolized -o - ./$program) \
		--binary=./$program --format=text -o theirs 2>err
	# Heads count calls from other binaries too: main's from libc.
	is "$program: as llvm-profgen, but for calls from other binaries" \
		"$(diff <(sed 's/^\([^ ].*\):[0-9]*$/\1/' theirs) <(sed 's/^\([^ ].*\):[0-9]*$/\1/' text) | head -3)" ""
done
convert -i loop.arcs -f llvm-sample -o text ./loop
is "the loop's count is exact" "$(grep -c ': 200000' text | sed 's/^[1-9].*/yes/')" yes
clang-19 -O2 -g -fprofile-sample-use=text -S -emit-llvm -o loop.ll loop.c
grep -q '!{!"function_entry_count", i64 2}' loop.ll && ok "clang: main and work are entered once" ||
	fail "clang: entry counts: $(grep function_entry_count loop.ll)"

# Another machine.
if command -v aarch64-linux-gnu-gcc >/dev/null; then
	aarch64-linux-gnu-gcc -O2 -g -Wl,--build-id -o loop64 loop.c && "$swlbr" record -q --emulate=counts \
		-o loop64.arcs --sysroot /usr/aarch64-linux-gnu -- ./loop64 200000 >out
	convert -i loop64.arcs -f llvm-sample -o text64 ./loop64
	convert -i loop64.arcs -f llvm-unsymbolized -o unsymbolized ./loop64
	rm -f theirs
	llvm-profgen-19 --unsymbolized-profile=unsymbolized --binary=./loop64 --format=text -o theirs 2>err
	is "aarch64: as llvm-profgen, but for the call of main" \
		"$(diff <(sed 's/^\(main:.*\):[0-9]*$/\1/' theirs) <(sed 's/^\(main:.*\):[0-9]*$/\1/' text64) | head -3)" ""
	is "aarch64: the loop's count is exact" "$(grep -c ': 200000' text64)" 7
else
	echo "skip aarch64: no compiler"
fi

# Several inputs are summed.
convert -i loop.arcs,loop.arcs -f llvm-sample -o double ./loop
llvm-profdata-19 merge --sample --text --weighted-input=2,text -o twice
is "two inputs are the sum" "$(cmp double twice 2>&1)" ""

# gcc.
gcc-12 -O2 -g -Wl,--build-id -o gloop loop.c && "$swlbr" record -q --emulate=counts -o gloop.arcs -- ./gloop 200000 >out &&
	convert -i gloop.arcs -f gcc-afdo -o gloop.gcov ./gloop
quiet "gcc takes gcc-afdo" gcc-12 -O2 -g -Wall -Wextra -Werror -fauto-profile=gloop.gcov \
	-fdump-tree-optimized-blocks-details=blocks -c -o object loop.c
for count in 200000 2062; do
	grep -q "basic block .*count $count (auto FDO)" blocks && ok "gcc: a block of count $count" ||
		fail "gcc: no block of count $count: $(grep 'basic block.*count' blocks | head -20)"
done
convert -i gloop.arcs -f gcc-afdo --symbol-list -o listed.gcov ./gloop
for profile in gloop listed; do
	gcc-12 -O2 -g -fauto-profile=$profile.gcov -fdump-tree-optimized-blocks-details=$profile.blocks -c -o object loop.c
	sed -n '/^;; Function thrice/,/^;; Function work/s/.*basic block 2,.*count \([^,]*\).*/\1/p' $profile.blocks
done >thrice
is "gcc: a function that did not run, without and with --symbol-list" \
	"$(tr '\n' ';' <thrice)" "1073741824 (estimated locally);0 (auto FDO);"
"$asan" convert -q -i gloop.arcs -f gcc-afdo --md5 -o none ./gloop >err 2>&1
is "--md5 is not for gcc: status" $? 129
g++-12 -O2 -g -Wl,--build-id -o ginlining inlining.cc && "$swlbr" record -q --emulate=counts -o ginlining.arcs -- ./ginlining 500 >out &&
	convert -i ginlining.arcs -f gcc-afdo -o ginlining.gcov ./ginlining
# gcc 12.2 divides by zero where an auto-profile lets it vectorize at more cost than -O2 does alone.
quiet "g++ takes gcc-afdo" g++-12 -O2 -g -Wall -fvect-cost-model=very-cheap -fauto-profile=ginlining.gcov -c -o object inlining.cc
# clang's discriminators are the same in both formats.
clang++-19 -O2 -g -fdebug-info-for-profiling -Wl,--build-id -o cinlining inlining.cc || fail "build of inlining.cc"
/usr/bin/python3 "$here/lib/synthetic_arcs.py" cinlining >synthetic.arcs
convert -i synthetic.arcs -f gcc-afdo -o synthetic.gcov ./cinlining
convert -i synthetic.arcs -f llvm-sample -o synthetic.prof ./cinlining
if /usr/bin/python3 "$here/lib/check_gcov.py" synthetic.gcov synthetic.prof >out 2>&1 &&
	grep -qE '^[1-9][0-9]{2,} agree$' out && grep -q '^ *[0-9]*\.[0-9]*: [1-9]' synthetic.prof; then
	ok "gcc-afdo has the smallest count of each line: $(cat out)"
else
	fail "gcc-afdo has the smallest count of each line: $(tail -1 out)"
fi
# A loop on one line, 10 times 100 turns: gcc calls its body discriminator 3, which of clang's would be
# of the same place as 0.
cat >oneline.c <<'SOURCE'
int numbers[100];
__attribute__((noipa)) int many(int *a, int n) { int s = 1; for (int i = 0; i < n; i++) s = s * 3 + a[i]; return s; }
int main(void)
{
	int s = 0;

	for (int i = 0; i < 10; i++)
		s += many(numbers, 100);
	return s & 1;
}
SOURCE
gcc-12 -O2 -g -Wl,--build-id -o oneline oneline.c && "$swlbr" record -q --emulate=counts -o oneline.arcs -- ./oneline >out
convert -i oneline.arcs -f gcc-afdo -o oneline.gcov ./oneline
is "gcc-afdo: a loop's line has the count of its entry" \
	"$(/usr/bin/python3 "$here/lib/check_gcov.py" oneline.gcov | grep '^many')" "$(printf 'many head 10\nmany 0 10')"

# A line that decides, and what the decision is about, which gcc has merged with like code elsewhere or
# made a conditional move of: order() differs in its first byte 900 times of 3000, in its second 600
# times of the rest. What gcc has split off order() is a part of it.
cat >order.c <<'SOURCE'
static int order(const unsigned char *a, const unsigned char *b, long *left)
{
	unsigned char c, d;
	long n;

	c = a[0]; d = b[0];
	if (c != d) return c > d;
	c = a[1]; d = b[1];
	if (c != d) return c > d;
	c = a[2]; d = b[2];
	if (c != d) return c > d;
	for (n = 3; n < 40; n++) {
		c = a[n]; d = b[n];
		if (c != d) return c > d;
		left[0]--;
		left[c & 3] += a[n] * n;
	}
	return 0;
}
static __attribute__((noinline)) long wrap(const long *step, long nr, long size)
{
	long at = 0, sum = 0;

	for (long i = 0; i < nr; i++) {
		at = at * 3 + step[i];
		if (at >= size) at -= size;
		sum += at;
	}
	return sum;
}
int main(void)
{
	static unsigned char one[64], other[64];
	long left[4] = { 0 }, step[1000], count = 0;

	for (int i = 0; i < 1000; i++) {
		other[0] = i < 300;
		other[1] = i >= 300 && i < 500;
		other[2] = i >= 500 && i < 600;
		count += order(one, other, left) + order(other, one, left) + 2 * order(one, other, left);
		step[i] = i == 7 ? 50 : 0;
	}
	return (count + left[0] + wrap(step, 1000, 49)) & 1;
}
SOURCE
gcc-12 -O2 -g -Wl,--build-id -o order order.c && "$swlbr" record -q --emulate=counts -o order.arcs -- ./order
convert -i order.arcs -f gcc-afdo -o order.gcov ./order
/usr/bin/python3 "$here/lib/check_gcov.py" order.gcov >order.lines
# The line of the third comparison (10) stays, since the merged code is of it.
is "gcc-afdo: lines that only decide are not in it, what comes before them is" \
	"$(grep -E '^(order ([5-9]|10)|wrap [567]) ' order.lines | tr '\n' ' ')" \
	"order 5 3000 order 7 2100 order 9 1500 order 10 1500 wrap 5 1000 wrap 7 1000 "
is "gcc-afdo: what was split off a function is of its lines" \
	"$(grep -c '^order 0 order' order.lines) $(grep -c '^order 1[4-9] [1-9]' order.lines)" "0 4"
gcc-12 -O2 -g -fauto-profile=order.gcov -fvect-cost-model=very-cheap \
	-fdump-tree-fixup_cfg3-blocks-details="$PWD/order.blocks" -c -o object order.c
for count in 900 2100 600 44400; do
	is "gcc: blocks of count $count in each of the three calls" \
		"$(grep -c "basic block .*count $count (auto FDO)" order.blocks)" "$([ $count = 44400 ] && echo 9 || echo 3)"
done

# Loops on one line, whose guard is told by the lines about it, and one whose body is a call with an
# argument that is computed before the loop: to gcc they are as hot as they were.
cat >turns.c <<'SOURCE'
volatile int out;
int p[300];
__attribute__((noipa)) int find(int *a, int n, int k)
{
	int j = 0;
	out = n;
	while (j < n && a[j] != k) j++;
	out = j;
	return j;
}
__attribute__((noipa)) void fill(int *a, int n, int k)
{
	out = n;
	for (int i = 0; i < n; i++) a[i] = i * k + (i >> 3);
	out = 0;
}
__attribute__((noipa)) int work(int *a, int n) { return a[n & 7] + n; }
int main(void)
{
	int s = 0;

	for (int i = 0; i < 1000; i++)
		s += work(p, 200);
	for (int i = 0; i < 1000; i++) {
		fill(p, 250, i);
		s += find(p, 250, -1);
	}
	return s & 1;
}
SOURCE
for level in 1 2 3; do
	gcc-12 -O$level -g -Wl,--build-id -o turns turns.c && "$swlbr" record -q --emulate=counts -o turns.arcs -- ./turns >out
	convert -i turns.arcs -f gcc-afdo -o turns.gcov ./turns
	gcc-12 -O$level -g -fauto-profile=turns.gcov -fvect-cost-model=very-cheap \
		-fdump-tree-fixup_cfg3-blocks-details="$PWD/turns.blocks" -c -o object turns.c
	for function in find fill main; do
		sed -n "/^;; Function $function /,/^;; Function [^${function:0:1}]/p" turns.blocks |
			sed -n 's/.*basic block .*loop depth 1.* count \([0-9]*\) (auto FDO).*/\1/p' | sort -n | tail -1
	done >hot
	is "gcc -O$level: loops are as hot as they were entered at least" \
		"$(awk '$1 < 1000' hot | wc -l) of $(wc -l <hot)" "0 of 3"
done

# gcc 16's version, whose compiler is not at hand: read by a reader of its own.
convert -i synthetic.arcs -f gcc-afdo --gcov-version 3 -o synthetic3.gcov ./cinlining
if /usr/bin/python3 "$here/lib/check_gcov.py" synthetic3.gcov synthetic.gcov >out 2>&1 &&
	grep -qE '^[1-9][0-9]{2,} agree$' out; then
	ok "gcc-afdo, version 3: as version 2, with a summary: $(cat out)"
else
	fail "gcc-afdo, version 3: $(tail -1 out)"
fi
cat >places.c <<'SOURCE'
static __attribute__((noinline)) int f(int n, int b) { int s = 0; for (int i = 0; i < n; i++) { if (i % 3 == b) s += i; else if (i % 5 == b) s ^= i * 7; else if (i % 7 == b) s -= i * 3; else if (i % 11 == b) s |= i; else s += 2; } return s; }
int main(int argc, char **argv) { (void)argv; return f(1000 * argc, argc) == 7; }
SOURCE
gcc-12 -O1 -g -Wl,--build-id -o places places.c && "$swlbr" record -q --emulate=counts -o places.arcs -- ./places
convert -i places.arcs -f gcc-afdo --gcov-version 3 -o places3.gcov ./places
convert -i places.arcs -f gcc-afdo -o places.gcov ./places
# gcc's discriminators of f's line, as another reader of DWARF has them.
llvm-dwarfdump-19 --debug-line places | awk '$1 ~ /^0x/ && $2 == 1 { print $6 }' | sort -un >wanted
/usr/bin/python3 "$here/lib/check_gcov.py" --places places3.gcov | awk '$1 == "f" { print $3 }' | sort -un >got
is "gcc-afdo, version 3: places have gcc's discriminators" "$(comm -23 got wanted)" ""
[ "$(wc -l <got)" -ge 5 ] && [ "$(awk '$1 % 2' got | head -1)" ] && ok "gcc-afdo, version 3: also odd ones" ||
	fail "gcc-afdo, version 3: discriminators $(tr '\n' ' ' <got)"
is "gcc-afdo: version 2 has none" "$(/usr/bin/python3 "$here/lib/check_gcov.py" --places places.gcov |
	awk '$3 != 0' | head -3)" ""
"$asan" convert -q -i places.arcs -f gcc-afdo --gcov-version 4 -o none ./places >err 2>&1
is "--gcov-version 4: status" $? 129
"$asan" convert -q -i places.arcs -f llvm-sample --gcov-version 3 -o none ./places >err 2>&1
is "--gcov-version is for gcc: status" $? 129

# google/autofdo.
gcc-12 -O2 -gdwarf-4 -Wl,--build-id -o aloop loop.c && "$swlbr" record -q --emulate=counts -o aloop.arcs -- ./aloop 200000 >out
convert -i aloop.arcs -f autofdo-text -o aloop.txt ./aloop
create_gcov --binary=./aloop --profile=aloop.txt --profiler=text --gcov=aloop.gcov --gcov_version=2 >out 2>&1 ||
	fail "create_gcov: $(tail -2 out)"
dump_gcov --gcov_version=2 aloop.gcov >dumped 2>&1
is "create_gcov takes autofdo-text" "$(grep -c ': 200000$' dumped | sed 's/^[1-9].*/yes/')" yes

# json, to two readers.
convert -i loop.arcs -f json -o loop.json
sum=$(awk 'NR > 1 { n += $5; rows++ } END { printf "%d %d\n", rows, n }' loop.arcs)
is "json: python" "$(/usr/bin/python3 -c '
import json, sys
rows = json.load(open("loop.json"))
print(len(rows), sum(row["nr"] for row in rows))')" "$sum"
"$root/scripts/workloads.sh" sqlite3 >log 2>&1 || tail -5 log
is "json: sqlite3" "$("$WORKLOADS/plain/sqlite3" :memory: ".mode list" ".separator ' '" \
	"select count(*), sum(value->>'nr') from json_each(readfile('loop.json'))")" "$sum"
exit $status
