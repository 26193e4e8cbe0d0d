#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# perf swlbr map: any binary has a map or one line that says why not; damaged ones do no harm.
. "$(dirname "$0")/lib/common.sh"
cd "$scratch" || exit 1
export XDG_CACHE_HOME=$scratch/cache
checked=$BUILD_ASAN/perf-swlbr
build_endings || { fail "build"; exit 1; }

"$swlbr" map endings >stat 2>err
is "--stat" "$? $(grep -c 'increment sites' stat)" "0 1"
is "most counters have a site" \
	"$(awk '$2 == "counters," { print ($3 >= 0.9 * $1) }' stat)" 1
"$swlbr" map --function marked endings >dump
is "--function: one function, with its counter" "$(grep -c '^0x' dump) $(grep -c 'counter' dump |
	awk '{ print ($1 > 0) }')" "1 1"
"$swlbr" map --function no_such endings >dump 2>err
is "no such function: status" $? 1
says "no such function: says so" err 'no function no_such$'
strip -o stripped endings
"$swlbr" map --no-cache --stat stripped >stripped.stat
is "stripped: the same sites" "$(grep 'increment sites' stripped.stat)" "$(grep 'increment sites' stat)"
echo text >text
"$swlbr" map text 2>err
is "no ELF file: status" $? 1
says "no ELF file: says so" err 'text: not an ELF file'
"$swlbr" map endings >/dev/full 2>err
is "output that cannot be written: status" $? 1
if command -v aarch64-linux-gnu-gcc >/dev/null; then
	echo 'int main(void) { return 0; }' >a.c
	aarch64-linux-gnu-gcc -o arm a.c && "$swlbr" map arm 2>err
	says "another machine: says so" err 'machine 183'
else
	echo "skip another machine: no compiler for it"
fi

# Who may be called from anywhere. In a kernel, and here, constant data lie in the segment of code.
cat >taken.c <<'C'
__attribute__((noinline)) int in_table(int n) { return n + 1; }
__attribute__((noinline)) int in_data(int n) { return n + 2; }
__attribute__((noinline)) int in_code(int n) { return n + 3; }
__attribute__((noinline)) int pushed(int n) { return n + 4; }
__attribute__((noinline)) int only_called(int n) { return n + 5; }
__attribute__((noinline)) int in_both(int n) { return n + 6; }
static int (*const table[])(int) = { in_table, in_both };
int (*data[])(int) = { in_data, in_both };
__attribute__((noinline)) int seventh(int a, int b, int c, int d, int e, int f, int (*call)(int))
{
	return call(a + b + c + d + e + f);
}
int main(int argc, char **argv)
{
	int (*volatile call)(int) = in_code;

	return table[argc / 9](0) + data[argc / 9](0) + call(0) + only_called(0) +
	       seventh(0, 0, 0, 0, 0, 0, pushed);
}
C
gcc -O1 -fno-pie -no-pie -fno-ipa-cp -Wl,-z,noseparate-code -o taken taken.c || fail "build of taken.c"
"$swlbr" map --dump taken | grep -E ' (in_[a-z]*|pushed|only_called):' >dump
is "addresses taken: by constant tables beside code, by data, by code" \
	"$(grep 'address taken' dump | grep -oE 'in_[a-z]*|pushed|only_called' | sort | paste -sd' ')" \
	"in_both in_code in_data in_table pushed"

# As Linux asks for a feature of the processor: by code in a section of its own, which jumps back.
cat >feature.c <<'C'
extern unsigned char features;
unsigned char features;
__attribute__((noinline)) int has(void)
{
	asm goto("jmp 6f\n"
		 ".pushsection .altinstr_aux, \"ax\"\n"
		 "6: testb $1, features(%%rip)\n"
		 "jnz %l[yes]\n"
		 "jmp %l[no]\n"
		 ".popsection" : : : : yes, no);
yes:
	return 1;
no:
	return 0;
}
int main(void) { return has(); }
C
gcc -O1 -o feature feature.c || fail "build of feature.c"
"$swlbr" map --dump feature >dump
is "a jump to .altinstr_aux goes to where that jumps back to" \
	"$(sed -n '/ has:/,/^0x/p' dump | sed -n '2,6s/^ *[-0-9a-fx>]* \(.*\)/\1/p' | sed 's/0x[0-9a-f]* //' |
		paste -sd,)" "jump,taken,taken,return,return"

# As Linux has a condition that seldom changes: a nop that it overwrites with a jump, and back.
cat >label.c <<'C'
extern const char __start___jump_table[], __stop___jump_table[];
int key;
__attribute__((noinline)) int on(void)
{
	asm goto("1: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
		 ".pushsection __jump_table, \"aw\"\n"
		 ".balign 8\n"
		 ".long 1b - ., %l[yes] - .\n"
		 ".quad key - .\n"
		 ".popsection" : : : : yes);
	return 0;
yes:
	return 1;
}
int main(void) { return on() + (__start___jump_table == __stop___jump_table); }
C
gcc -O1 -o label label.c || fail "build of label.c"
"$swlbr" map --dump label >dump
is "a jump label goes on or to its target" \
	"$(sed -n '/ on:/,/^0x/p' dump | sed -n '2,4s/.*\(conditional branch\|fall-through\|taken\).*/\1/p' |
		sort | paste -sd,)" "conditional branch,fall-through,taken"

# As Linux makes the processor fetch code anew: a return from no interrupt, to what comes next.
cat >anew.c <<'C'
__attribute__((noinline)) int anew(int n)
{
	asm volatile("movl %%ss, %%eax\n"
		     "pushq %%rax\n"
		     "pushq %%rsp\n"
		     "addq $8, (%%rsp)\n"
		     "pushfq\n"
		     "movl %%cs, %%eax\n"
		     "pushq %%rax\n"
		     "pushq $1f\n"
		     "iretq\n"
		     "1:" : : : "rax", "memory");
	return n + 1;
}
int main(void) { return anew(6); }
C
gcc -O1 -fno-pie -no-pie -mno-red-zone -o anew anew.c || fail "build of anew.c"
./anew
is "an interrupt's return to an address that was pushed is a jump to it" \
	"$? $("$swlbr" map --dump anew | sed -n '/ anew:/,/^0x/p' | sed -n '2,4s/.* //p' |
		paste -sd,)" "7 jump,taken,return"

# Copies with a byte wrong here and there, in headers and tables most of all.
cat >damage.py <<'P'
import random, sys
data = bytearray(open(sys.argv[1], "rb").read())
random.seed(int(sys.argv[2]))
for _ in range(random.choice((1, 3, 30))):
    at = random.choice((random.randrange(64), random.randrange(64, 1024),
                        random.randrange(len(data)), len(data) - 1 - random.randrange(2400)))
    data[at] = random.choice((0, 1, 0x7f, 0x80, 0xff, random.randrange(256)))
open("damaged", "wb").write(data)
P
bad= maps=0 refusals=0
for seed in $(seq 60); do
	rm -f damaged
	/usr/bin/python3 damage.py endings "$seed" || fail "damage.py $seed"
	timeout 60 "$checked" map --no-cache damaged >out 2>err
	result=$?
	if [ $result = 0 ] && grep -q 'increment sites' out; then
		maps=$((maps + 1))
	elif [ $result = 1 ] && [ "$(wc -l <err)" = 1 ] && grep -q '^perf swlbr: damaged: ' err; then
		refusals=$((refusals + 1))
	else
		bad+=" $seed:$result:$(head -c 200 err)"
	fi
done
is "60 damaged files: a map or one line" "$bad" ""
is "60 damaged files: both come about ($maps, $refusals)" "$((maps > 9)) $((refusals > 9))" "1 1"
# Headers that lie: there is no symbol that tells the version, so that .rodata is searched.
strip -o lying endings
/usr/bin/python3 - lying <<'PYTHON'
import struct, sys

with open(sys.argv[1], "r+b") as file:
    data = bytearray(file.read())
    offset, size, nr, names = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HHH", data, 58)
    strings = struct.unpack_from("<Q", data, offset + names * size + 24)[0]
    for at in range(offset, offset + nr * size, size):
        name = strings + struct.unpack_from("<I", data, at)[0]
        if data[name : data.index(0, name)] == b".rodata":
            struct.pack_into("<Q", data, at + 32, 1 << 44)
            place = struct.unpack_from("<Q", data, at + 24)[0]
    begin, entry, entries = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    for at in range(begin, begin + entries * entry, entry):
        kind, _, start, _, _, held = struct.unpack_from("<IIQQQQ", data, at)
        if kind == 1 and start <= place < start + held:
            struct.pack_into("<Q", data, at + 40, 1 << 45)
    file.seek(0)
    file.write(data)
PYTHON
timeout 20 "$swlbr" map lying >out 2>err
is "a .rodata of 16 TB is not searched" "$(($? == 124))" 0
exit $status
