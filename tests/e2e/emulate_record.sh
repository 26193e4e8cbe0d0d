#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An LBR for programs that nobody instrumented: stock tools take the recording, its stacks are what
# the program did, and whatever ends the program, what was recorded is in the file.
. "$(dirname "$0")/lib/common.sh"
root=$(cd "$here/../.." && pwd)
cd "$scratch" || exit 1
ulimit -c 0

build() { "$root/scripts/workloads.sh" "$@" >log 2>&1 || { tail -5 log; fail "workloads $*"; exit 1; }; }

build --cflags "-g -Wl,--emit-relocs" --variant debug lua
build --cflags "-gdwarf-4" --variant dwarf4 lua
build --cc "clang-19 --target=aarch64-linux-gnu" --cflags "-g" --variant aarch64 lua
gcc -O1 -no-pie -o tasks "$here/emulate/tasks.c" -lpthread -ldl || fail "build of tasks.c"

# record OUTPUT ARGUMENTS…: fails the test if it does
record()
{
	local output=$1

	shift
	"$swlbr" record -q -o "$output" --emulate "$@" >out 2>err ||
		fail "record $*: status $?: $(cat err)"
	# The emulator itself tells of children that abort.
	! grep -v "uncaught target signal 6" err || fail "record $*: $(cat err)"
}

# script OPTIONS…: perf script on tasks.data
script() { perf script -f -i tasks.data "$@" 2>/dev/null; }

# accurate NAME DATA ARCS: 98.5 % or more of taken-edge overlap, on 10,000,000 branches or more
accurate()
{
	local line

	line=$(/usr/bin/python3 "$root/tests/accuracy/overlap.py" "$2" "$3" 2>&1)
	if awk '{ exit !($1 >= 98.5 && $6 == 0 && $14 >= 10000000) }' <<<"$line"; then
		ok "$1: $line"
	else
		fail "$1: $line"
	fi
}

# quiet NAME FILE: nothing in FILE but what is always said
quiet()
{
	grep -vE "more samples|misprediction bit is missing" "$2" |
		grep -iE "warning|error|not on instruction|mismatch|bogus|invalid" >complaints
	is "$1" "$(grep -vE 'contents: 0 \(0.0%\)' complaints)" ""
}

bench=$here/lib/bench.lua
record lua.data -c 1009 -- "$WORKLOADS/debug/lua" "$bench" 26
record lua.arcs --emulate=counts -- "$WORKLOADS/debug/lua" "$bench" 26
accurate "x86-64" lua.data lua.arcs
echo 1 >kept.arcs
record kept.arcs --emulate=counts -- /bin/true
is "an older file is kept" "$(cat kept.arcs.old) $(head -c 5 kept.arcs)" "1 kind"$'\t'
is "perf evlist says that it is emulated" "$(perf evlist -i lua.data)" swlbr/emulated-branches/
is "so does the header" \
	"$(perf report -f --header-only -i lua.data 2>/dev/null | grep -c 'cpudesc : x86_64 emulated by QEMU')" 1
is "mispredicts and cycles are left open" "$(perf script -f -i lua.data -F brstack |
	tr -s ' ' '\n' | cut -d/ -f3- | sort -u | tr -d '\n')" "-/-/-/0/"
is "stacks have 32 entries" "$(perf script -f -i lua.data -F brstack | awk 'NR > 1 { print NF }' |
	sort -u)" 32

"$swlbr" convert -q -i lua.data -f arcs -o converted.arcs || fail "convert"
is "convert knows where they are from" "$(sed 1d converted.arcs | cut -f8 | sort -u)" emu

llvm-profgen-19 --perfdata=lua.data --binary="$WORKLOADS/debug/lua" --output=lua.prof \
	--format=text >tool.log 2>&1 || fail "llvm-profgen: $(tail -2 tool.log)"
quiet "llvm-profgen has nothing to complain of" tool.log
is "its profile has the interpreter's loop" "$(grep -c '^luaV_execute:[1-9]' lua.prof)" 1
/usr/lib/llvm-19/bin/perf2bolt -p lua.data -o lua.fdata "$WORKLOADS/debug/lua" >tool.log 2>&1 ||
	fail "perf2bolt: $(tail -2 tool.log)"
quiet "perf2bolt has nothing to complain of" tool.log
is "its profile has the interpreter's loop" \
	"$([ "$(grep -c '^1 luaV_execute' lua.fdata)" -gt 50 ] && echo yes)" yes
record dwarf4.data -c 1009 -- "$WORKLOADS/dwarf4/lua" "$bench" 26
create_gcov --binary="$WORKLOADS/dwarf4/lua" --profile=dwarf4.data --gcov=lua.gcov \
	--gcov_version=2 >tool.log 2>&1 || fail "create_gcov: $(tail -2 tool.log)"
quiet "create_gcov has nothing to complain of" tool.log
is "its profile has the interpreter's loop" "$(dump_gcov --gcov_version=2 lua.gcov 2>/dev/null |
	grep -c '^luaV_execute total:[1-9]')" 1

record arm.data -c 1009 --sysroot=/usr/aarch64-linux-gnu -- "$WORKLOADS/aarch64/lua" "$bench" 26
record arm.arcs --emulate=counts --sysroot=/usr/aarch64-linux-gnu -- "$WORKLOADS/aarch64/lua" \
	"$bench" 26
accurate "aarch64" arm.data arm.arcs
llvm-profgen-19 --perfdata=arm.data --binary="$WORKLOADS/aarch64/lua" --output=arm.prof \
	--format=text >tool.log 2>&1 || fail "aarch64: llvm-profgen: $(tail -2 tool.log)"
quiet "aarch64: llvm-profgen has nothing to complain of" tool.log
is "aarch64: its profile has the interpreter's loop" "$(grep -c '^luaV_execute:[1-9]' arm.prof)" 1

# The options.
record tasks.data -c 11 --depth=64 -- ./tasks mark 20000
is "--depth=64" "$(script -F brstack | awk '{ print NF }' | sort -n | tail -1)" 64
record tasks.data -c 11 --depth=8 -- ./tasks mark 20000
is "--depth=8" "$(script -F brstack | awk '{ print NF }' | sort -n | tail -1)" 8
periods=$(script -F period | awk '{ n += $1 } END { print n }')
samples=$(script -F period | wc -l)
is "-c 11: 11 branches a sample, all accounted for" \
	"$(awk -v p="$periods" -v s="$samples" 'BEGIN { r = p / s; print (r > 10.9 && r < 11.1 && p > 60000) }')" 1

# kinds FILTER: the instructions that the stacks' branches are, in the program's own code
kinds()
{
	record tasks.data -c 11 -j "$1" -- ./tasks mark 20000
	objdump -d --no-show-raw-insn tasks | sed -nE 's/^ +([0-9a-f]+):\s+(bnd )?([a-z]+).*/0x\1 \3/p' >insns
	script -F brstack | tr -s ' ' '\n' | cut -d/ -f1 | sort -u |
		awk 'NR == FNR { name[$1] = $2; next } $1 in name { print name[$1] }' insns - |
		sort -u | tr '\n' ' '
}
is "-j any_call" "$(kinds any_call)" "call "
is "-j any_ret,u" "$(kinds any_ret,u)" "ret "
is "-j cond" "$(kinds cond | grep -cE '^(j[a-ln-z][a-z]* )+$')" 1
is "-j any is the default" "$(kinds any)" "$(kinds u)"
is "and tells apart" "$(kinds any | grep -c 'call.*j.*ret')" 1

# Tasks, and their ends.
record tasks.data -c 1009 -- ./tasks threads
is "8 threads: each has its samples" "$(script -F tid | sort | uniq -c | awk '$1 > 150' | wc -l)" 8
is "8 threads: forks and exits are there" "$(script --show-task-events -F tid |
	grep -oE 'PERF_RECORD_(FORK|EXIT)' | sort | uniq -c | awk '{ printf "%s %s ", $1, $2 }')" \
	"9 PERF_RECORD_EXIT 8 PERF_RECORD_FORK "
record tasks.data -c 1009 -- ./tasks forks
is "50 forks, some killed: each has its samples" \
	"$(script -F pid | sort | uniq -c | awk '$1 > 30' | wc -l)" 51
is "50 forks: forks and exits are there" "$(script --show-task-events -F tid |
	grep -oE 'PERF_RECORD_(FORK|EXIT)' | sort | uniq -c | awk '{ printf "%s %s ", $1, $2 }')" \
	"51 PERF_RECORD_EXIT 50 PERF_RECORD_FORK "
record tasks.data -c 101 -- ./tasks execs
is "an exec: another image, the same process" "$(script --show-task-events -F pid |
	grep -c 'COMM exec: tasks'),$(script -F pid | sort -u | wc -l)" 2,1
record tasks.data -c 101 -- ./tasks closes
is "a program that closes all descriptors" \
	"$([ "$(script -F pid | wc -l)" -gt 100 ] && echo yes)" yes
{ "$swlbr" record -q --emulate -c 1009 -o tasks.data -- ./tasks killed 200000; } >out 2>err
is "killed: record ends as the program does" $? 137
is "killed: what was recorded is there" "$(script -F period |
	awk '{ n += $1 } END { print (n > 600000 && n < 620000) }')" 1
"$swlbr" record -q --emulate -c 101 -o tasks.data -- ./tasks limited 2>err
says "threads that cannot be recorded are told" err "8 threads were not recorded"
printf '#!%s/tasks mark\n' "$PWD" >script && chmod +x script
record tasks.data -c 101 -- ./script
is "a script runs under its interpreter" "$(script --show-task-events -F pid |
	grep -c 'COMM exec: tasks')" 1

# What does not work says so.
runner=()
refused() # NAME STATUS REGEX ARGUMENTS…
{
	local name=$1 wanted=$2 regex=$3

	shift 3
	rm -f none.data
	"${runner[@]}" "$swlbr" record -o none.data "$@" >out 2>err
	is "$name: status" "$?" "$wanted"
	is "$name: is said" "$(head -1 err | grep -cE -e "$regex")" 1
	is "$name: no file" "$(ls none.data 2>/dev/null)" ""
}
refused "no such program" 1 "no-such-program: No such file" --emulate -- ./no-such-program
refused "no program" 1 "bench.lua: (not a program|Permission)" --emulate -- "$bench"
runner=(env PATH=/nowhere)
refused "no emulator" 1 "qemu-x86_64 is not in PATH" --emulate -- ./tasks mark
runner=()
refused "too few branches for a sample" 1 "no samples: .* smaller -c" --emulate -c 100000000 -- ./tasks mark
refused "a running process" 129 "--emulate runs a command" --emulate -p $$
refused "a wrong filter" 129 "kinds are" --emulate -j any,anything -- ./tasks mark
refused "a depth too large" 129 "not 8 to 64" --emulate --depth=65 -- ./tasks mark
refused "-j without --emulate" 129 "is for --emulate" -j any -- ./tasks mark
exit $status
