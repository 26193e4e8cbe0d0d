#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Exact counts of emulated programs: each instruction, jump and call as often as callgrind counts
# it; threads, forks and ends by signals included; each program image once.
. "$(dirname "$0")/lib/common.sh"
root=$(cd "$here/../.." && pwd)
cd "$scratch" || exit 1

# Addresses are in hashes (lua's string cache), so programs are not position independent; and what a
# program is called is in its memory, so both runs are of one file, without the DWARF that valgrind
# 3.19 cannot read.
"$root/scripts/workloads.sh" --cflags "-no-pie -fno-pie" --variant nopie lua bzip2 >log 2>&1 || {
	tail -5 log
	fail "workloads"
	exit 1
}
cp "$WORKLOADS/nopie/lua" "$WORKLOADS/nopie/bzip2" .
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
exit $status
