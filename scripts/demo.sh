#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The main job on lua, as far as it exists: build with our flags, record, look at the file with
# perf, turn it into a profile, and build lua with that. Called by `make demo`.
set -euo pipefail
cd "$(dirname "$0")/.."
export BUILD=${BUILD:-$PWD/build}
export WORKLOADS=${WORKLOADS:-$BUILD/workloads}
export PATH=$BUILD:$PATH LC_ALL=C.UTF-8
out=$BUILD/demo
script=tests/e2e/lib/bench.lua
mkdir -p "$out"

step() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }

# Shows a command, then runs it.
try()
{
	step "$*"
	"$@"
}

first() { sed "$1q" && cat >/dev/null; }

step 'clang-19 -O2 $(perf swlbr cflags) …    # lua, from its Debian source package'
flags=$(perf swlbr cflags)
echo "$flags"
scripts/workloads.sh --variant plain lua >"$out/log" 2>&1
scripts/workloads.sh --variant inplace --cflags "$flags" lua >>"$out/log" 2>&1

try perf swlbr record -o "$out/perf.data" -- "$WORKLOADS/inplace/lua" "$script" 28
step "perf evlist -i $out/perf.data"
perf evlist -i "$out/perf.data" 2>/dev/null
step "perf script -i $out/perf.data | head -3"
perf script -i "$out/perf.data" 2>/dev/null | cut -c1-150 | first 3
try perf swlbr convert -i "$out/perf.data" -f llvm-profdata -o "$out/lua.profdata"
step "llvm-profdata-19 show --topn=5 $out/lua.profdata"
llvm-profdata-19 show --topn=5 "$out/lua.profdata"

step "clang-19 -O2 -fprofile-use=lua.profdata …"
rm -rf "$WORKLOADS/demo"
scripts/workloads.sh --variant demo --cflags "-fprofile-use=$out/lua.profdata" lua >>"$out/log" 2>&1
measure()
{
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" "$script" 22 2>&1 >/dev/null |
		awk '/Collected/ { print $NF }'
}
plain=$(measure "$WORKLOADS/plain/lua")
profiled=$(measure "$WORKLOADS/demo/lua")
awk -v plain="$plain" -v profiled="$profiled" 'BEGIN {
	printf "%-28s %15s\n", "lua, size 22", "instructions"
	printf "%-28s %15d\n", "plain -O2", plain
	printf "%-28s %15d  %.1f %%\n", "with the profile", profiled, 100 * profiled / plain
}'
