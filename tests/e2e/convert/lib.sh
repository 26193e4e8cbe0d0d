# SPDX-License-Identifier: GPL-2.0-only
#
# For the convert tests: builds programs with one compiler, and compares profiles. Sourced.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
sources=$PWD/tests/e2e/convert
swlbr=${BUILD:-$PWD/build}/perf-swlbr
asan=${BUILD_ASAN:-$PWD/build/asan}/perf-swlbr
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failed=0

# check NAME COMMAND…: what COMMAND prints is shown if it fails.
check()
{
	local name=$1
	shift
	if "$@" >check.out 2>&1; then
		echo "ok $name"
	else
		echo "FAIL $name: $*"
		sed 's/^/# /' check.out | cut -c1-300 | head -20
		failed=1
	fi
}

# The llvm-profdata that reads what clang-$1 makes; empty if there is none.
profdata_of()
{
	local n

	for n in "$1" $([ "$1" -lt 18 ] && echo 14); do
		if command -v "llvm-profdata-$n" || command -v "/usr/lib/llvm-$n/bin/llvm-profdata"; then
			return
		fi
	done
}

# The flags that keep the counters of clang-$1 in place; with -fprofile-generate.
in_place()
{
	"$swlbr" cflags --cc "clang-$1"
}

# build N FLAGS…: loops and calls, with clang-N.
build()
{
	local n=$1
	shift
	"clang-$n" -O2 "$@" -o loops "$sources/loops.c" "$sources/other.c" 2>build.err &&
		"clang++-$n" -O2 "$@" -o calls "$sources/calls.cc" 2>build.err && return
	cat build.err
	return 1
}

# What $1 shows of profile $2, functions sorted: their order in the file is that of a hash table,
# which has not always been filled in the same order.
shown()
{
	"$1" show --all-functions --counts --ic-targets --memop-sizes --detailed-summary "$2" &&
		"$1" show --showcs --all-functions --counts --detailed-summary "$2" || return 1
}

blocks()
{
	awk '/^  [^ ]/ || !/^[ \t]/ { if (block) print block; block = "" }
		{ block = block $0 "\\n" } END { print block }' | sort
}

# same_profile TOOL A B: what TOOL shows of A and B is the same; A is not empty.
same_profile()
{
	local tool=$1 file

	for file in "$2" "$3"; do
		shown "$tool" "$file" >"$file.raw" && blocks <"$file.raw" >"$file.show" || return 1
		# Orders of values are kept here, and functions sorted.
		"$tool" merge -text "$file" -o "$file.text" || return 1
	done
	grep -q 'Maximum function count: [1-9]' "$2.raw" || { echo "$2 is empty"; return 1; }
	diff "$2.show" "$3.show" || return 1
	diff "$2.text" "$3.text"
}

# same_code N A B: clang-N makes the same objects with both profiles, and others without.
same_code()
{
	local n=$1 a=$2 b=$3

	"clang-$n" -O2 -c "$sources/loops.c" -o code.none &&
		"clang-$n" -O2 -c "$sources/loops.c" "-fprofile-use=$a" -o code.a &&
		"clang-$n" -O2 -c "$sources/loops.c" "-fprofile-use=$b" -o code.b || return 1
	cmp code.a code.b || return 1
	! cmp -s code.none code.a || { echo "the profile changed nothing"; return 1; }
	"clang++-$n" -O2 -c "$sources/calls.cc" "-fprofile-use=$a" -o code.a &&
		"clang++-$n" -O2 -c "$sources/calls.cc" "-fprofile-use=$b" -o code.b &&
		cmp code.a code.b
}
