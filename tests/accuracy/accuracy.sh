#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# How near the branches made from counters are to those that a program has taken. The truth is the
# exact count of the very run that the counters are from: the instrumented program in an emulator.
# Called by `make bench-accuracy`; prints tables, and a line "ok" or "FAIL" for each bar.
#   PROGRAMS ("lua bzip2 zstd sqlite3"), BUILDS ("inplace generate atomic inplace-14 inplace-22")
set -u
cd "$(dirname "$0")/../.." || exit 1
root=$PWD
BUILD=${BUILD:-$PWD/build}
export WORKLOADS=${WORKLOADS:-$BUILD/workloads} LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
export SWLBR=$BUILD/perf-swlbr
swlbr=$SWLBR
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
. tests/bench/lib/programs.sh
cd "$scratch" || exit 1
programs=${PROGRAMS:-lua bzip2 zstd sqlite3}
builds=${BUILDS:-inplace generate atomic inplace-14 inplace-22}
status=0

compare() { /usr/bin/python3 "$root/tests/accuracy/compare_arcs.py" "$@"; }

# bar NAME VALUE LIMIT: at most; or, with a limit that begins with >, at least
bar()
{
	if awk -v value="$2" -v limit="$3" 'BEGIN {
		exit !(value != "" && (limit ~ /^>/ ? value >= substr(limit, 2) + 0 : value <= limit + 0)) }'; then
		echo "ok $1: $2 (bar ${3/>/>= })"
	else
		echo "FAIL $1: $2 (bar ${3/>/>= })"
		status=1
	fi
}

# program_of NAME BUILD: builds it as that
program_of()
{
	local cc=clang-19 flags

	case $2 in
	inplace) flags=$("$swlbr" cflags) ;;
	generate) flags="-fprofile-generate -Wl,--build-id" ;;
	atomic) flags="-fprofile-generate -fprofile-update=atomic -Wl,--build-id" ;;
	inplace-*) cc=clang-${2#inplace-} flags=$("$swlbr" cflags --cc "$cc") ;;
	esac
	"$root/scripts/workloads.sh" --cc "$cc" --variant "$2" --cflags "$flags" "$1" >log 2>&1 ||
		{ tail -5 log >&2; return 1; }
}

# measure_build NAME BUILD: NAME.BUILD.truth and .arcs, of one run; prints what compare_arcs.py does
measure_build()
{
	local name=$1 program=$WORKLOADS/$2/$1 out=$1.$2

	program_of "$name" "$2" || return 1
	rm -f run.profraw
	LLVM_PROFILE_FILE=run.profraw run_program train "$name" "$program" \
		"$swlbr" record -q --emulate=counts -o "$out.truth" -- >/dev/null || return 1
	"$swlbr" convert --json -i run.profraw -f arcs -o "$out.arcs" "$program" >"$out.json" || return 1
	compare "$out.truth" "$out.arcs" "$program" --worst 8 >"$out.compared" || return 1
	head -1 "$out.compared"
}

# field NAME: a number of compare_arcs.py's line
field() { grep -o " $1 [0-9.]*" <<<" $line" | cut -d' ' -f3; }
json() { sed -n "s/^  \"$2\": \([0-9]*\),$/\1/p" "$1"; }

table()
{
	local name build line exact

	printf '%-9s %-11s %9s %8s %7s %7s %17s %7s\n' "" "" "taken" "edge" "edge" "block" \
		"calls, returns:" "exact"
	printf '%-9s %-11s %9s %8s %7s %7s %9s %7s %7s\n' program build "jumps, M" overlap error error \
		overlap error share
	for name in $programs; do
		for build in $builds; do
			[[ $build != inplace-* ]] || command -v "clang-${build#inplace-}" >/dev/null ||
				{ echo "skip $name $build: clang-${build#inplace-} is not here"; continue; }
			line=$(measure_build "$name" "$build") ||
				{ echo "FAIL $name $build: not measured"; status=1; continue; }
			exact=$(awk -v all="$(json "$name.$build.json" branches_of_counters)" \
				-v exact="$(json "$name.$build.json" branches_exact)" \
				'BEGIN { printf "%.1f", 100 * exact / all }')
			printf '%-9s %-11s %9.2f %8s %7s %7s %9s %7s %7s\n' "$name" "$build" \
				"$(field taken | awk '{ print $1 / 1e6 }')" "$(field edge-overlap)" \
				"$(field edge-error)" "$(field block-error)" "$(field with-calls-overlap)" \
				"$(field with-calls-error)" "$exact"
			echo "$line" >"$name.$build.line"
			"$swlbr" map --dump "$WORKLOADS/$build/$name" | grep -E ' counter [0-9]+ ' |
				sort >"$name.$build.increments"
		done
	done
}

# sane NAME.BUILD: however little the counters tell, no count is out of all proportion
sane()
{
	local line

	line=$(cat "$1.line")
	bar "$1: edge error is of the size of the run, %" "$(field edge-error)" 150
	bar "$1: increments that the map has" "$(wc -l <"$1.increments")" ">100"
	bar "$1: increments that it has twice" "$(uniq -d "$1.increments" | wc -l)" 0
}

bars()
{
	local name line file

	for file in *.line; do
		[ ! -f "${file%.line}.arcs" ] || sane "${file%.line}"
	done

	for name in lua bzip2 zstd; do
		[ -f "$name.inplace.line" ] || continue
		line=$(cat "$name.inplace.line")
		bar "$name: edge overlap, %" "$(field edge-overlap)" ">98.5"
		bar "$name: edge error, %" "$(field edge-error)" 2
		bar "$name: block error, %" "$(field block-error)" 1.5
	done
}

# Another oracle on one program: callgrind knows no calls' or tail calls' counts that we could use.
cross_check()
{
	local line

	cp "$WORKLOADS/inplace/bzip2" bzip2.stripped && strip -g bzip2.stripped
	LLVM_PROFILE_FILE=cross.profraw valgrind -q --tool=callgrind --dump-instr=yes \
		--collect-jumps=yes --compress-pos=no --callgrind-out-file=cross.callgrind \
		./bzip2.stripped -9 -k -c train.txt >/dev/null || return 1
	/usr/bin/python3 "$root/tests/accuracy/callgrind_arcs.py" cross.callgrind bzip2.stripped \
		cross.truth || return 1
	"$swlbr" convert -q -i cross.profraw -f arcs -o cross.arcs "$WORKLOADS/inplace/bzip2" &&
		compare --inside cross.truth cross.arcs "$WORKLOADS/inplace/bzip2" >cross.line || return 1
	line=$(head -1 cross.line)
	echo "bzip2, truth by callgrind: edge overlap $(field edge-overlap), edge error $(field edge-error), block error $(field block-error)"
	bar "bzip2 by callgrind: edge overlap, %" "$(field edge-overlap)" ">98.5"
}

# long_run NAME WRAPPER…: at least 10^7 taken branches
long_run()
{
	local name=$1

	shift
	case $name in
	lua) "$@" "$WORKLOADS/inplace/lua" train.lua 30 ;;
	bzip2) "$@" "$WORKLOADS/inplace/bzip2" -9 -k -c long.txt ;;
	zstd) "$@" "$WORKLOADS/inplace/zstd" -q -9 --single-thread -c long.txt ;;
	sqlite3) "$@" "$WORKLOADS/inplace/sqlite3" :memory: <long.sql ;;
	esac
}

# The stacks of a recording alone, against its totals.
stacks()
{
	local name size overlap taken

	cat all.txt all.txt | head -c 5000000 >long.txt
	"$root/tests/e2e/lib/sql.sh" 30000 >long.sql
	echo
	printf '%-9s %10s %9s %9s %9s\n' "stacks" "taken, M" "overlap" "file, MB" "after, s"
	for name in $programs; do
		program_of "$name" inplace || return 1
		long_run "$name" "$swlbr" record -v -o long.data -- >/dev/null 2>err &&
			"$swlbr" convert --json -i long.data -f arcs -o long.arcs >long.json &&
			"$swlbr" convert -q -i long.data -f arcs --from stacks -o long.stacks ||
			{ cat err; return 1; }
		overlap=$(/usr/bin/python3 "$root/tests/accuracy/overlap_arcs.py" long.stacks long.arcs)
		taken=$(json long.json branches_of_counters)
		size=$(stat -c %s long.data | awk '{ print $1 / 1e6 }')
		printf '%-9s %10.2f %9s %9.2f %9s\n' "$name" \
			"$(awk -v n="$taken" 'BEGIN { print n / 1e6 }')" "$overlap" "$size" \
			"$(grep -o '[0-9.]* s of it after' err | cut -d' ' -f1)"
		bar "$name: branches of the run" "$taken" ">10000000"
		bar "$name: overlap of stacks and totals, %" "$overlap" ">98.5"
		bar "$name: file, MB" "$size" 20
	done
}

# Four threads at the same counters, without atomics: many updates are lost, on each run others.
lost_updates()
{
	local flags lost line counted share

	flags=$("$swlbr" cflags)
	# shellcheck disable=SC2086
	clang-19 -O2 $flags -o racing "$root/tests/accuracy/racing.c" -lpthread &&
		clang-19 -O2 $flags -fprofile-update=atomic -o atomic "$root/tests/accuracy/racing.c" \
			-lpthread || return 1
	for counted in racing atomic; do
		"$swlbr" record -o $counted.data -- ./$counted >/dev/null 2>$counted.err || return 1
	done
	"$swlbr" record -q --emulate=counts -o racing.truth -- ./racing >/dev/null &&
		"$swlbr" convert -i racing.data -f arcs -o racing.arcs 2>racing.said &&
		"$swlbr" convert -q -i racing.data -f llvm-sample -o racing.prof || return 1
	lost=$(awk -v racing="$(increments racing.err)" -v atomic="$(increments atomic.err)" \
		'BEGIN { printf "%.1f", 100 * (1 - racing / atomic) }')
	line=$(compare racing.truth racing.arcs racing) || return 1
	echo
	echo "four threads, $lost % of the increments lost: edge overlap $(field edge-overlap) %, edge error $(field edge-error) %, block error $(field block-error) %"
	sed 's/^/   /' racing.said racing.err
	# What is lost can only make counts smaller; what is repaired stays near.
	share=$(largest racing.arcs racing.truth)
	bar "lost updates: the largest count, to the largest of the truth" "$share" 1.05
	bar "lost updates: and it is there" "$share" ">0.2"
	bar "lost updates: rows that are no number" \
		"$(awk -F'\t' 'NR > 1 && $5 !~ /^[0-9]+$/ { bad++ } END { if (NR > 1) print bad + 0 }' racing.arcs)" 0
	llvm-profdata-19 show --sample racing.prof >/dev/null || return 1
	share=$(sed -nE 's/^ +[0-9.]+: ([0-9]+)( .*)?$/\1/p' racing.prof | sort -n | tail -1 |
		awk -v most="$(most racing.truth)" '{ printf "%.3f", $1 / most }')
	bar "lost updates: sample profile's largest count, to the truth's" "$share" 1.05
	bar "lost updates: and it is there" "$share" ">0.2"
}

increments() { grep -o '[0-9]* increments' "$1" | cut -d' ' -f1; }
# most ARCS: executions of the instruction that ran most, in the program itself
most()
{
	/usr/bin/python3 -c '
import sys
sys.path.insert(0, sys.argv[3])
import arcs
_, ranges = arcs.read(sys.argv[1], arcs.build_id(sys.argv[2]))
print(max(arcs.executions(ranges, arcs.instructions(sys.argv[2])[0]).values()))' "$1" racing "$root/tests/accuracy"
}
largest() { awk -v a="$(most "$1")" -v b="$(most "$2")" 'BEGIN { printf "%.3f", a / b }'; }

# shellcheck disable=SC2086
make_inputs $programs bzip2
table
bars
if [[ " $programs " == *" sqlite3 "* ]] && [ -f sqlite3.inplace.compared ]; then
	echo "sqlite3: what costs most:"
	tail -n +2 sqlite3.inplace.compared
fi
[[ " $programs " != *" bzip2 "* ]] || cross_check || { echo "FAIL cross-check"; status=1; }
stacks || { echo "FAIL stacks"; status=1; }
lost_updates || { echo "FAIL lost updates"; status=1; }
exit $status
