#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The main job on lua: build with our flags, record, look at the branches with perf as it is, turn the
# recording into profiles, and see what clang makes of them. Called by `make demo`.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
export BUILD=${BUILD:-$PWD/build}
export WORKLOADS=${WORKLOADS:-$BUILD/workloads}
export PATH=$BUILD:$PATH LC_ALL=C.UTF-8
swlbr=$BUILD/perf-swlbr
. tests/bench/lib/programs.sh
. tests/bench/lib/builds.sh
mkdir -p "$BUILD/demo"
cd "$BUILD/demo"
make_inputs lua
rm -f ./*.out

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
# Shows a command, then runs it.
try()
{
	printf '$ %s\n' "${*/$WORKLOADS\/inplace\//./}"
	"$@"
}
# Lines of a report, without blanks at their ends and perf's remarks.
lines() { sed 's/ *$//; /^#/d; /^$/d' | { sed "$1q"; cat >/dev/null; }; }

say "1. lua, from its Debian source package, built so that counters tell of branches:"
echo '$ clang-19 -O2 $(perf swlbr cflags) …'
perf swlbr cflags | fold -s -w 90 | sed 's/^/    /'
"$root/scripts/workloads.sh" --variant inplace --cflags "$(perf swlbr cflags)" lua >log 2>&1 ||
	{ tail -5 log; exit 1; }

say "2. The counters are read from outside while lua runs, and become branch stacks:"
try perf swlbr record -o lua.data -- "$WORKLOADS/inplace/lua" train.lua 26

say "3. Unpatched perf shows the branches that were taken most:"
echo '$ perf report -i lua.data -b --sort symbol_from,symbol_to'
perf report -i lua.data -b --stdio --sort symbol_from,symbol_to 2>/dev/null | lines 6
echo '$ perf script -i lua.data -F ip,brstack'
perf script -i lua.data -F ip,brstack 2>/dev/null | cut -c1-100 | lines 2

say "4. Profiles for compilers of the same recording: a sample profile, and an exact indexed one:"
try perf swlbr convert -i lua.data -f llvm-sample -o lua.prof
try perf swlbr convert -i lua.data -f llvm-profdata -o lua.profdata

say "5. For comparison, an LBR emulated on the plain build (no counters in it):"
workload lua plain ""
echo '$ perf swlbr record --emulate -c 1009 -- plain/lua …; perf swlbr convert -f llvm-sample …'
profile_emulated lua 2>/dev/null

say "6. lua built with each profile, on another script than the one recorded, counted exactly:"
builds_of lua | print_builds "lua"
echo
echo "The second number of a column is relative to plain. All files are in $BUILD/demo."
