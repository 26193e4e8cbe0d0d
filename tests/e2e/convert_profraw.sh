#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The profile made of a program's own .profraw is what llvm-profdata makes of it, for each compiler
# here and each kind of instrumentation; and so is what llvm-profdata makes of our .profraw.
. "$(dirname "$0")/convert/lib.sh"

# compare NAME TOOL N INPUT…: convert of the inputs against llvm-profdata merge of them.
compare()
{
	local name=$1 tool=$2 n=$3 list
	shift 3
	list=$(IFS=,; echo "$*")
	rm -f theirs.* ours.*
	"$tool" merge "$@" -o theirs.profdata || return 1
	"$asan" convert -q -i "$list" -f llvm-profdata -o ours.profdata || return 1
	same_profile "$tool" theirs.profdata ours.profdata || return 1
	"$asan" convert -q -i "$list" -f llvm-profraw -o ours.profraw || return 1
	"$tool" merge ours.profraw -o again.profdata || return 1
	same_profile "$tool" theirs.profdata again.profdata || return 1
	[ $# -gt 1 ] || cmp "$1" ours.profraw
}

# run PROGRAM OUTPUT ARGUMENT
run()
{
	LLVM_PROFILE_FILE=$PWD/$2 "./$1" "$3" >/dev/null
}

try()
{
	local n=$1 what=$2 tool=$3 program
	shift 3
	build "$n" "$@" || return 1
	for program in loops calls; do
		run $program $program.1.profraw 5000 && run $program $program.2.profraw 300 &&
			run $program $program.3.profraw 77777 || return 1
		compare "$what" "$tool" "$n" $program.1.profraw || return 1
		compare "$what" "$tool" "$n" $program.1.profraw $program.2.profraw || return 1
	done
	# Two binaries, three runs each.
	compare "$what" "$tool" "$n" {loops,calls}.{1,2,3}.profraw
}

found=no
for n in 14 15 16 19 22; do
	command -v "clang-$n" >/dev/null || continue
	tool=$(profdata_of "$n")
	[ -n "$tool" ] || { echo "skip convert_profraw-$n no llvm-profdata for clang-$n"; continue; }
	found=yes
	check "clang-$n: -fprofile-generate" try "$n" plain "$tool" -fprofile-generate
	check "clang-$n: the same code with either profile" same_code "$n" theirs.profdata ours.profdata
	check "clang-$n: counters in place" try "$n" inplace "$tool" $(in_place "$n")
	check "clang-$n: the same code with either profile of counters in place" \
		same_code "$n" theirs.profdata ours.profdata
	check "clang-$n: entry counters" try "$n" entry "$tool" -fprofile-generate \
		-mllvm -pgo-instrument-entry
	check "clang-$n: front-end instrumentation" try "$n" front "$tool" -fprofile-instr-generate
	check "clang-$n: not position-independent" try "$n" nopie "$tool" -fprofile-generate -no-pie
	cp theirs.profdata first.profdata
	check "clang-$n: context-sensitive" try "$n" cs "$tool" -fprofile-use=first.profdata \
		-fcs-profile-generate
	[ "$n" -ge 19 ] || continue
	check "clang-$n: conditions (bitmaps)" try "$n" mcdc "$tool" -fprofile-instr-generate \
		-fcoverage-mapping -fcoverage-mcdc
	check "clang-$n: vtables" try "$n" vtables "$tool" -fprofile-generate -fno-exceptions \
		-mllvm -enable-vtable-value-profiling
done
[ $found = yes ] || echo "skip convert_profraw no clang here"
exit $failed
