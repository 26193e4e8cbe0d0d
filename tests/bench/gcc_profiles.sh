#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What gcc makes of our auto-profile (with --symbol-list, the counts being exact), beside plain -O2 and
# its own instrumented profile: instructions and taken branches of a run with another input than that
# of training, and the size of .text.
# gcc 12.2 divides by zero on auto-profiles of loops that it may vectorize at any cost, so it may not.
#   NAMES (lua bzip2 zstd sqlite3)
. "$(dirname "$0")/lib/start.sh"
# shellcheck disable=SC2206
names=(${NAMES:-lua bzip2 zstd sqlite3})

# variant NAME FLAGS NAMES…: built from nothing, since the profile's name is in the flags
variant()
{
	local variant=$1 flags=$2

	shift 2
	rm -rf "${WORKLOADS:?}/$variant"
	scripts/workloads.sh --cc gcc-12 --variant "$variant" --cflags "$flags" "$@" >"$scratch/log" 2>&1 ||
		{ tail -20 "$scratch/log"; exit 1; }
}

mkdir "$scratch/gcda"
scripts/workloads.sh --source "${names[@]}" >/dev/null || exit 1
(cd "$WORKLOADS/src" && LC_ALL=C cat bzip2/*.c lua/src/*.c) 2>/dev/null | head -c 400000 >"$scratch/train.txt"
(cd "$WORKLOADS/src" && LC_ALL=C cat sqlite3/src/*.c) | head -c 400000 >"$scratch/test.txt"
"$root/tests/e2e/lib/sql.sh" 4000 >"$scratch/train.sql"
"$root/tests/e2e/lib/sql.sh" 2500 | sed 's/name/value/' >"$scratch/test.sql"

# run NAME PROGRAM train|test COMMAND…: what it says is in $scratch/err, and shown if it fails
run()
{
	local name=$1 program=$2 input=$3 size=21

	shift 3
	[ "$input" = train ] || size=23
	case $name in
	lua) "$@" "$program" "$root/tests/e2e/lib/bench.lua" $size ;;
	bzip2) "$@" "$program" -9 -k -c "$scratch/$input.txt" ;;
	zstd) "$@" "$program" -9 --single-thread -c "$scratch/$input.txt" ;;
	sqlite3) "$@" "$program" :memory: <"$scratch/$input.sql" ;;
	esac >/dev/null 2>"$scratch/err" || { echo "FAIL $name: $* $program: $(tail -5 "$scratch/err")" >&2; return 1; }
}

# figures NAME VARIANT: millions of instructions, millions of taken branches, kilobytes of .text
figures()
{
	local program=$scratch/program instructions branches text

	strip -g -o "$program" "$WORKLOADS/$2/$1" || return 1
	run "$1" "$program" test valgrind --tool=callgrind --callgrind-out-file=/dev/null || return 1
	instructions=$(sed -n 's/.*Collected : *//p' "$scratch/err")
	run "$1" "$program" test "$swlbr" record -q --emulate=counts -o "$scratch/arcs" -- || return 1
	branches=$(awk '$1 == "branch" { n += $5 } END { print n }' "$scratch/arcs")
	text=$(size -A "$program" | awk '$1 == ".text" { print $2 }')
	awk -v i="$instructions" -v b="$branches" -v t="$text" \
		'BEGIN { printf "%.1f %.2f %.1f", i / 1e6, b / 1e6, t / 1e3 }'
}

variant gcc-plain "-g -Wl,--build-id" "${names[@]}"
variant gcc-instrumented "-fprofile-generate -dumpdir $scratch/gcda/" "${names[@]}"
printf '%-8s %-22s %-22s %-22s\n' "" "plain -O2" "-fauto-profile" "-fprofile-use"
for name in "${names[@]}"; do
	program=$WORKLOADS/gcc-plain/$name
	run "$name" "$program" train "$swlbr" record -q --emulate=counts -o "$scratch/arcs" -- &&
		"$swlbr" convert -q -i "$scratch/arcs" -f gcc-afdo --symbol-list -o "$scratch/$name.gcov" "$program" ||
		exit 1
	variant "gcc-auto" "-fauto-profile=$scratch/$name.gcov -fvect-cost-model=very-cheap" "$name"
	grep -v '^$' "$scratch/log" | head -3
	run "$name" "$WORKLOADS/gcc-instrumented/$name" train || exit 1
	variant "gcc-own" "-fprofile-use -dumpdir $scratch/gcda/" "$name"
	ls "$scratch/gcda/"*.gcda >/dev/null || exit 1
	plain=$(figures "$name" gcc-plain) && auto=$(figures "$name" gcc-auto) &&
		own=$(figures "$name" gcc-own) || exit 1
	printf '%-8s %-22s %-22s %-22s\n' "$name" "$plain" "$auto" "$own"
	echo "$plain $auto $own" >>"$scratch/all"
done
echo "(millions of instructions, millions of taken branches, kilobytes of .text)"
# The mean cut of each, to plain; gcc's own is what could be had.
awk '
	{ for (i = 1; i <= 3; i++) { auto[i] += 1 - $(3 + i) / $i; own[i] += 1 - $(6 + i) / $i } }
	END {
		split("instructions taken_branches .text", what)
		for (i = 1; i <= 3; i++)
			printf "mean cut of %s: -fauto-profile %.1f %%, -fprofile-use %.1f %%: %.0f %% of it\n",
			       what[i], 100 * auto[i] / NR, 100 * own[i] / NR, 100 * auto[i] / own[i]
	}' "$scratch/all" | tr _ ' '
echo "ok gcc_profiles"
