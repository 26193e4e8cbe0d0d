#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A kernel is built with the profile of one that counts: the compiler finds each function as it was,
# optimizes by the profile, and the kernel works.
#
#   tests/kernel/check_profile_use.sh [VERSION]     of package linux-source-VERSION (6.1)
. "$(dirname "$0")/lib/start.sh"

build_counting
boot profiled "$counting/dwarf" 2 <<'RUN'
busy getppid 20000 0
busy stat 20000 0
busy read 10000 0 1
busy pipe 10000 0 1
busy fork 200 0
cat /sys/kernel/debug/swlbr/counters >/share/counters
RUN
"$swlbr" convert -q -i "$scratch/profiled/counters" -f llvm-profdata -o "$scratch/kernel.profdata" \
	"$counting/dwarf/vmlinux" 2>"$scratch/err"
is "the profile" "$?$(cat "$scratch/err")" 0

# Values were not profiled, and the compiler is told so: it would take their absence for a profile of
# other code. Debug information is as in the kernel that counted: without, clang 19 makes other blocks
# of a few functions (task_work_run). All anew: make does not know that the file is another.
rm -rf "$counting/used"
KCFLAGS="-fprofile-use=$scratch/kernel.profdata -mllvm -disable-vp=true" build "$counting" used \
	CONFIG_DEBUG_INFO_DWARF5=y
cp "$scratch/log" "$counting/used/warnings"
# A weak function that another takes the place of has counters, which stay 0; if the other is in code
# that does not count, the profile has only the weak one, of the same name. Nothing is lost of that.
mismatches() { grep -E 'hash mismatch|profile-instr-out-of-date' "$scratch/log"; }
is "no function that was counted is another now" "$(mismatches | grep -v ' up to 0 count discarded')" ""
replaced=$(mismatches | sed -n 's/.*(hash mismatch) \([^ ]*\) .*/\1/p')
is "what did not count is weak functions that are replaced" \
	"$(for name in $replaced; do
		find "$counting/dwarf" -name '*.o' ! -name 'vmlinux.o' -print0 |
			xargs -0 nm -A 2>/dev/null | grep -c " W $name$" | grep -x 0 && echo "$name"
	done)" ""
# objtool warns of code that the compiler found to be unreachable by way of inlining.
is "no other warning" "$(grep -i 'warning:' "$scratch/log" |
	grep -vE 'hash mismatch|profile-instr-|objtool: .*: unreachable instruction' | head -n 5)" ""

# hot FOLDER: how many objects have functions in the section of those that ran often
hot()
{
	(cd "$1" && find fs kernel mm -name '*.o' -print0 | xargs -0 llvm-readelf-19 -SW |
		grep -c ' \.text\.hot\. ')
}
is "without a profile, no function is known to be hot" "$(hot "$counting/dwarf")" 0
sorted=$(hot "$counting/used")
is "with it, in $sorted objects some are" "$((sorted > 20))" 1

boot used "$counting/used" 2 <<'RUN'
busy stat 20000 0 1
busy pipe 10000 0 1
busy fork 200 0 1
echo done
RUN
is "the kernel works" "$(cat "$scratch/used/said")" done
exit $status
