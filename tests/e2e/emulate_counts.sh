#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Exact counts of emulated programs: each instruction, jump and call as often as callgrind counts
# it; threads, forks and ends by signals included; each program image once.
. "$(dirname "$0")/lib/common.sh"
root=$(cd "$here/../.." && pwd)
cd "$scratch" || exit 1

# Addresses are in hashes, so programs are not position independent, and lua's cache of strings, whose
# key is an address that may be one of the stack or of libc, has one row. What a program is called is
# in its memory, so both runs are of one file, without the DWARF that valgrind 3.19 cannot read.
"$root/scripts/workloads.sh" --cflags "-no-pie -fno-pie -DSTRCACHE_N=1 -DSTRCACHE_M=2" \
	--variant fixed lua bzip2 >log 2>&1 || {
	tail -5 log
	fail "workloads"
	exit 1
}
cp "$WORKLOADS/fixed/lua" "$WORKLOADS/fixed/bzip2" .
clang++-19 -O2 -no-pie -o exceptions "$here/emulate/exceptions.cc" || fail "build of exceptions.cc"
strip -g lua bzip2 exceptions
(cd "$WORKLOADS/src" && LC_ALL=C cat bzip2/*.c lua/src/*.c) | head -c 200000 >in.txt
cp "$here/lib/bench.lua" .

# against_callgrind NAME ARGUMENTS…
against_callgrind()
{
	local name=$1

	"$swlbr" record -q --emulate=counts -o "$name.arcs" -- ./"$@" >emulated.out 2>err ||
		fail "$name: emulated: $(cat err)"
	valgrind -q --tool=callgrind --dump-instr=yes --collect-jumps=yes --skip-plt=no \
		--compress-pos=no --compress-strings=no --callgrind-out-file="$name.callgrind" \
		./"$@" >valgrind.out 2>err || fail "$name: valgrind: $(cat err)"
	is "$name: output is the same" "$(cmp emulated.out valgrind.out 2>&1)" ""
	/usr/bin/python3 "$root/tests/accuracy/against_callgrind.py" "$name.arcs" \
		"$name.callgrind" "$name" >compared 2>&1
	if grep -qE '^[1-9][0-9]* instructions, [1-9][0-9]* jumps, [1-9][0-9]* calls compared, 0 differ' compared; then
		ok "$name: $(tail -1 compared)"
	else
		fail "$name: $(tail -6 compared)"
	fi
}

against_callgrind lua bench.lua 20
against_callgrind bzip2 -9 -k -c in.txt
against_callgrind exceptions 300

# address SYMBOL BINARY
address() { nm "$2" | sed -n "s/^0*\([0-9a-f]*\) [tT] $1\$/0x\1/p"; }

# branch ARCS FROM TO: its count, however often the row is there; ran ARCS ADDRESS: executions
branch() { awk -F'\t' -v f="$2" -v t="$3" '$1 == "branch" && $3 == f && $4 == t { n += $5 } END { print n + 0 }' "$1"; }
ran()
{
	/usr/bin/python3 - "$1" "$2" <<-'PYTHON'
	import sys
	rows = [line.split("\t") for line in open(sys.argv[1])][1:]
	at = int(sys.argv[2], 16)
	print(sum(int(row[4]) for row in rows
	          if row[0] == "range" and int(row[2], 16) <= at <= int(row[3], 16)))
	PYTHON
}

gcc -O1 -no-pie -o odd "$here/emulate/odd_branches.c" || fail "build of odd_branches.c"
"$swlbr" record -q --emulate=counts -o odd.arcs -- ./odd 100 || fail "odd: record"
grep -F "$(readelf -n odd | sed -n 's/.*Build ID: //p')	" odd.arcs | sed '1i kind' >odd.own
at() { address "odd_$1" odd; }
is "a jump to the next instruction is taken" "$(branch odd.own "$(at jump)" "$(at landed)")" 100
is "a call of the next instruction is taken" "$(branch odd.own "$(at call)" "$(at called)")" 100
is "rep movs is executed once" "$(ran odd.own "$(at rep)")" 100
is "rep movs is no branch" "$(grep -c "^branch	[0-9a-f]*	$(at rep)	" odd.own)" 0
is "an instruction on two pages is executed once" "$(ran odd.own "$(at crossing)")" 100
is "and is no branch" "$(grep -c "^branch	[0-9a-f]*	$(at crossing)	" odd.own)" 0
is "the code behind it too" "$(ran odd.own "$(at end)")" 100

# Each way to make tasks, to be interrupted, and to end: marked() is counted exactly.
ulimit -c 0
gcc -O1 -no-pie -o tasks "$here/emulate/tasks.c" -lpthread -ldl || fail "build of tasks.c"
aarch64-linux-gnu-gcc -O1 -o tasks.arm "$here/emulate/tasks.c" -lpthread -ldl ||
	fail "build of tasks.c for aarch64"

# marks NAME WANTED ARGUMENTS…: of $program
marks()
{
	local name=$1 wanted=$2 marked

	shift 2
	marked=$(address marked $program)
	rm -f tasks.arcs
	{ "$swlbr" record -q --emulate=counts --sysroot="$sysroot" -o tasks.arcs -- \
		./$program "$@"; } >out 2>err
	[ "$wanted" != printed ] || wanted=$(cat out)
	is "$name" "$(awk -F'\t' -v t="$marked" '$1 == "branch" && $4 == t { n += $5 } END { print n + 0 }' tasks.arcs)" \
		"$wanted"
}

all_marks()
{
	marks "$1 a plain run" 3 mark 3
	marks "$1 8 threads" 800000 threads
	marks "$1 50 forked children, some killed" 1030000 forks
	marks "$1 an exec" 3000 execs
	marks "$1 a program that closes all descriptors" 5000 closes
	marks "$1 signals at any place" printed timers
	marks "$1 faults that are mended" 200 faults
	is "$1 a signal is no branch" \
		"$(awk -F'\t' -v t="$(address on_fault $program)" '$4 == t' tasks.arcs)" ""
	marks "$1 handlers that never return" 30 jumps
	marks "$1 a program killed by SIGKILL" 4000 killed 4000
}

sysroot=
program=tasks
all_marks "x86-64:"
sysroot=/usr/aarch64-linux-gnu
program=tasks.arm
all_marks "aarch64:"

# What is at an address may change: addresses are of the file that was there then.
for number in 1 2; do
	gcc -O1 -shared -fPIC -Wl,-Ttext-segment=0x2000000000 -DNUMBER=$number -o lib$number.so "$here/emulate/library.c" ||
		fail "build of library.c"
done
"$swlbr" record -q --emulate=counts -o libraries.arcs -- ./tasks libraries ./lib1.so ./lib2.so >out ||
	fail "libraries: record"
is "both libraries were at one place" "$(cat out)" ""
for number in 1 2; do
	is "library $number has its own counts" "$(awk -F'\t' -v t="$(address library_marked lib$number.so)" \
		-v id="$(readelf -n lib$number.so | sed -n 's/.*Build ID: //p')" \
		'$1 == "range" && $2 == id && $3 == t { n += $5 } END { print n }' libraries.arcs)" ${number}000
done
exit $status
