#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the tests and counts what they say. A test is a program of tests/unit (built with sanitizers)
# or a script of tests/e2e; it prints lines "ok NAME", "FAIL NAME why" and "skip NAME why".
# One that ends badly without a FAIL line, or says nothing, counts as one failure.
#
#   tests/run.sh [--bench] [NAME…]     NAME: a test's base name, without .sh; default all
#
# Environment, handed on to the scripts: BUILD, BUILD_ASAN (folders with perf-swlbr), WORKLOADS.
# With CHECK_KERNEL=yes, tests/kernel/check_kernel.sh is one of the tests.
set -u
shopt -s nullglob
cd "$(dirname "$0")/.." || exit 1

export BUILD=${BUILD:-$PWD/build}
export BUILD_ASAN=${BUILD_ASAN:-$BUILD/asan}
export WORKLOADS=${WORKLOADS:-$BUILD/workloads}
# Two at a time: scripts measure behaviour under load well enough, and small machines cope.
jobs=${TEST_JOBS:-2}
limit=${TEST_TIME_LIMIT:-1500}
export ASAN_OPTIONS=${ASAN_OPTIONS-detect_leaks=1:abort_on_error=0}
export UBSAN_OPTIONS=${UBSAN_OPTIONS-print_stacktrace=1}
export LC_ALL=C.UTF-8
# A test that runs make does so on its own, not as a job of the make that runs the tests.
MAKEFLAGS=$(sed 's/ *-j[0-9]* *--jobserver-[^ ]*//' <<<"${MAKEFLAGS-}")
export MAKEFLAGS

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM

passed=0 failed=0 skipped=0

# Runs one test with a folder of its own to work in; its output and status go to $results.
run_one()
{
	local test=$1 name=$2 status scratch

	scratch=$(mktemp -d)
	(cd "$PWD" && TMPDIR=$scratch timeout --kill-after=10 "$limit" "$test") \
		>"$results/$name.out" 2>&1 </dev/null
	status=$?
	rm -rf "$scratch"
	echo $status >"$results/$name.status"
}

# Counts @name's lines, and shows its output if something in it failed.
report()
{
	local name=$1 out=$results/$1.out status ok bad skips

	status=$(cat "$results/$name.status" 2>/dev/null || echo none)
	ok=$(grep -c '^ok ' "$out")
	bad=$(grep -c '^FAIL ' "$out")
	skips=$(grep -c '^skip ' "$out")
	if [ "$bad" = 0 ]; then
		if [ "$status" = 124 ] || [ "$status" = 137 ]; then
			echo "FAIL $name: stopped after $limit seconds" >>"$out"
			bad=1
		elif [ "$status" != 0 ]; then
			echo "FAIL $name: ended with status $status" >>"$out"
			bad=1
		elif [ "$ok$skips" = 00 ]; then
			echo "FAIL $name: said nothing" >>"$out"
			bad=1
		fi
	fi
	passed=$((passed + ok))
	failed=$((failed + bad))
	skipped=$((skipped + skips))
	if [ "$bad" != 0 ]; then
		echo "== $name: $ok passed, $bad failed"
		sed 's/^/   /' "$out"
	else
		echo "== $name: $ok passed"
		grep '^skip ' "$out" | sed 's/^/   /'
		[ "$bench" = no ] || grep -v '^ok ' "$out" | sed 's/^/   /'
	fi
}

wanted()
{
	local name=$1 one

	[ ${#only[@]} != 0 ] || return 0
	for one in "${only[@]}"; do
		[ "$one" != "$name" ] || return 0
	done
	return 1
}

bench=no
[ "${1-}" != --bench ] || { bench=yes; shift; }
only=("$@")

parallel=() alone=()
if [ $bench = yes ]; then
	alone=(tests/bench/*.sh)
	limit=${TEST_TIME_LIMIT:-3600}
else
	for source in tests/unit/*.c; do
		parallel+=("$BUILD_ASAN/${source%.c}")
	done
	for script in tests/e2e/*.sh; do
		case ${script##*/} in
		serial_*) alone+=("$script") ;;
		*) parallel+=("$script") ;;
		esac
	done
	[ "${CHECK_KERNEL-}" != yes ] || alone+=(tests/kernel/check_kernel.sh)
fi

# A name that no test has would be a test that is not run.
for name in "${only[@]}"; do
	for test in "${parallel[@]}" "${alone[@]}"; do
		[ "$(basename "$test" .sh)" != "$name" ] || continue 2
	done
	echo "tests/run.sh: no test is called '$name'" >&2
	exit 2
done
if [ $bench = no ] && [ ! -x "$BUILD_ASAN/perf-swlbr" ]; then
	echo "tests/run.sh: $BUILD_ASAN/perf-swlbr is not there; make check builds it" >&2
	exit 2
fi

running=0
names=()
for test in "${parallel[@]}"; do
	name=$(basename "$test" .sh)
	# A helper that others source is not a test.
	wanted "$name" && [ -x "$test" -o "${test%.sh}" = "$test" ] || continue
	[ $running -lt "$jobs" ] || { wait -n; running=$((running - 1)); }
	run_one "$test" "$name" &
	running=$((running + 1))
	names+=("$name")
done
wait
for name in "${names[@]}"; do
	report "$name"
done
for test in "${alone[@]}"; do
	name=$(basename "$test" .sh)
	wanted "$name" && [ -x "$test" ] || continue
	[ "$name" != check_kernel ] || limit=${TEST_TIME_LIMIT:-3000} # it builds one
	run_one "$test" "$name"
	report "$name"
done

line="$passed passed, $failed failed"
[ $skipped = 0 ] || line="$line, $skipped skipped"
echo "$line"
[ $failed = 0 ] && [ $((passed + skipped)) != 0 ]
