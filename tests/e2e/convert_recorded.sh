#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The profile made of a recording is what llvm-profdata makes of the .profraw files that the same
# processes wrote.
. "$(dirname "$0")/convert/lib.sh"

record()
{
	local output=$1 profraw=$2
	shift 2
	LLVM_PROFILE_FILE=$PWD/$profraw "$swlbr" record -q -o "$output" -- "$@" >record.out 2>&1 ||
		{ cat record.out; return 1; }
}

try()
{
	local n=$1 tool=$2
	shift 2
	build "$n" $(in_place "$n") "$@" || return 1
	rm -f three.*
	record loops.data loops.profraw ./loops 5000 || return 1
	record calls.data calls.profraw ./calls 5000 || return 1
	record three.data 'three.%p.profraw' \
		sh -c './loops 10; ./calls 777; ./loops 4321; ./calls 99' || return 1
	"$tool" merge loops.profraw -o theirs.profdata &&
		"$asan" convert -q -i loops.data -f llvm-profdata -o ours.profdata &&
		same_profile "$tool" theirs.profdata ours.profdata || return 1
	"$tool" merge calls.profraw -o theirs.profdata &&
		"$asan" convert -q -i calls.data -f llvm-profdata -o ours.profdata &&
		same_profile "$tool" theirs.profdata ours.profdata || return 1
	"$asan" convert -q -i calls.data -f llvm-profraw -o ours.profraw &&
		"$tool" merge ours.profraw -o ours.profdata &&
		same_profile "$tool" theirs.profdata ours.profdata || return 1
	"$tool" merge three.*.profraw -o theirs.profdata &&
		"$asan" convert -q -i three.data -f llvm-profdata -o ours.profdata &&
		same_profile "$tool" theirs.profdata ours.profdata || return 1
	# Of one kind and the other, mixed.
	"$tool" merge three.*.profraw loops.profraw calls.profraw -o theirs.profdata &&
		"$asan" convert -q -i calls.profraw,three.data -i loops.data -f llvm-profdata \
			-o ours.profdata &&
		same_profile "$tool" theirs.profdata ours.profdata
}

# The program is not where it was, or not what it was.
moved()
{
	mkdir -p kept && cp loops kept/instrumented || return 1
	"$asan" convert -q -i loops.data -f llvm-profdata -o before.profdata || return 1
	clang-"$1" -O1 -fprofile-generate -Wl,--build-id -o loops "$sources/loops.c" \
		"$sources/other.c" || return 1
	! "$asan" convert -i loops.data -f llvm-profdata -o none.profdata 2>changed.err || return 1
	grep -q 'loops has changed since the recording: build-id [0-9a-f]* then, [0-9a-f]* now' \
		changed.err || { cat changed.err; return 1; }
	[ ! -e none.profdata ] && [ "$(wc -l <changed.err)" = 1 ] || return 1
	rm loops
	! "$asan" convert -i loops.data -f llvm-profdata -o none.profdata 2>gone.err || return 1
	grep -q 'is not there any more; give the binary as an argument' gone.err ||
		{ cat gone.err; return 1; }
	"$asan" convert -q -i loops.data -f llvm-profdata -o after.profdata calls kept/instrumented &&
		cmp before.profdata after.profdata
}

found=
for n in 14 15 16 19 22; do
	command -v "clang-$n" >/dev/null || continue
	tool=$(profdata_of "$n")
	[ -n "$tool" ] || { echo "skip convert_recorded-$n no llvm-profdata for clang-$n"; continue; }
	found=$n
	check "clang-$n: without a build-id" try "$n" "$tool" -Wl,--build-id=none
	check "clang-$n: stripped" try "$n" "$tool" -Wl,--build-id -s
	check "clang-$n: with a build-id" try "$n" "$tool" -Wl,--build-id
	check "clang-$n: the same code with either profile" same_code "$n" theirs.profdata ours.profdata
done
# With the compiler that the last recording is of.
[ -z "$found" ] || check "a binary that has moved or changed" moved "$found"
[ -n "$found" ] || echo "skip convert_recorded no clang here"
exit $failed
