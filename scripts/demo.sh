#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The main job on a real program, step by step: build lua with counters, record it, look at the
# recording with unpatched perf, make a profile, and build lua with it. `make demo` runs it.
set -euo pipefail

root=$(realpath "$(dirname "$0")/..")
build=$(realpath "${BUILD:-$root/build}")
work=$build/demo
lua=$build/workloads
size=${DEMO_SIZE:-32}
export PATH=$build:$PATH BUILD=$build
# Where perf runs commands from: the one just built, also if another is installed.
mkdir -p "$work"
cd "$work"

# Shows a command, then runs it.
step()
{
	printf '\n$ %s\n' "$*"
	"$@"
}

say() { printf '\n== %s\n' "$*"; }

script=$root/../shared/workloads/bench.lua
[ -f "$script" ] || script=$root/tests/e2e/lib/bench.lua
cp "$script" bench.lua

say "Flags for a compiler, and lua built with them"
step perf swlbr cflags --cc clang-19
step "$root/scripts/workloads.sh" --cc clang-19 --variant inplace \
	--cflags "$(perf swlbr cflags --cc clang-19)" lua
cp "$lua/inplace/lua" lua.counted

say "One run, recorded from outside"
step perf swlbr record -o perf.data -- ./lua.counted bench.lua 24

say "Unpatched perf reads the recording"
step perf evlist -i perf.data
printf '\n$ perf script -i perf.data | head -4 | cut -c 1-100\n'
perf script -i perf.data 2>/dev/null | sed -n 1,4p | cut -c 1-100

say "A profile for clang"
step perf swlbr convert -i perf.data -f llvm-profdata -o lua.profdata
step llvm-profdata-19 show lua.profdata

say "lua built without a profile, and with this one"
"$root/scripts/workloads.sh" --cc clang-19 --variant plain lua
# A profile of the same name may have other contents.
rm -f "$lua/demo/lua.recipe"
step "$root/scripts/workloads.sh" --cc clang-19 --variant demo \
	--cflags "-fprofile-use=$work/lua.profdata" lua
cp "$lua/plain/lua" lua.plain
cp "$lua/demo/lua" lua.profiled
step size lua.plain lua.profiled

# seconds PROGRAM: user time, the best of three
seconds()
{
	local i

	for i in 1 2 3; do
		(TIMEFORMAT=%U; { time "$1" bench.lua "$size" >/dev/null; } 2>&1)
	done | sort -n | head -1
}

printf '\n%-14s %6s s\n' lua.plain "$(seconds ./lua.plain)" lua.profiled \
	"$(seconds ./lua.profiled)"
say "The recording and the profile are in $work"
