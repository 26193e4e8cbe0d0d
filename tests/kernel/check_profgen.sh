#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# llvm-profgen, which makes sample profiles of branch stacks, takes those of the kernel: as perf
# recorded them, and with the walks of perf swlbr inject.
#
#   tests/kernel/check_profgen.sh [VERSION]     of package linux-source-VERSION (6.1)
. "$(dirname "$0")/lib/start.sh"

build_counting
vmlinux=$counting/dwarf/vmlinux
mkdir "$scratch/recorded"
"$swlbr" map --kernel-table "$vmlinux" >"$scratch/recorded/lines" 2>"$scratch/err" ||
	fail "map --kernel-table: $(cat "$scratch/err")"
boot recorded "$counting/dwarf" 2 <<'RUN'
cat lines >/sys/kernel/debug/swlbr/lines
perf record -o /tmp/data -m 4M -e swlbr// -b -R -a -- busy stat 50000 0 1 >/share/perf.err 2>&1
cp /tmp/data /share/data
RUN
"$swlbr" inject -q -i "$scratch/recorded/data" -o "$scratch/walks" "$vmlinux" 2>"$scratch/err"
is "inject" "$?$(cat "$scratch/err")" 0

# profile NAME DATA [OPTION OF PERF SCRIPT...]. Samples of counters that stand for no line of code have
# no branches: llvm-profgen would take the first of them for a call chain. Of what it says, two things
# are none of the stacks' doing: that vmlinux has a few symbols with another name than DWARF gives
# them, and that a longer recording would be better.
profile()
{
	local name=$1 said=$scratch/$1.said

	perf script -i "$2" -F ip,brstack "${@:3}" --show-mmap-events 2>/dev/null |
		grep 0x >"$scratch/$name.script"
	llvm-profgen-19 --kernel --binary="$vmlinux" --perfscript="$scratch/$name.script" --format=text \
		--output="$scratch/$name.prof" >"$said" 2>&1
	is "$name: llvm-profgen" $? 0 || cat "$said"
	is "$name: no range is off the boundaries of instructions, none crosses functions" \
		"$(grep 'of samples are from ranges' "$said")" ""
	is "$name: it has nothing else to say" "$(grep -vE 'of samples are from ranges|inconsistent name from symbol table|x more samples' \
			"$said")" ""
	functions=$(grep -c '^[^ ]*:[0-9]*:[0-9]*$' "$scratch/$name.prof")
	is "$name: the profile has $functions functions" "$((functions > 100))" 1
	for function in vfs_statx path_lookupat link_path_walk; do
		is "$name: $function, which ran 100,000 times, is in it" \
			"$(grep -cE "^$function:[1-9][0-9]*:" "$scratch/$name.prof")" 1
	done
	llvm-profdata-19 show --sample "$scratch/$name.prof" >/dev/null 2>"$scratch/err"
	is "$name: llvm-profdata reads it" "$?$(cat "$scratch/err")" 0
}

profile recorded "$scratch/recorded/data"
# Without the events that carry the exact counts.
profile walks "$scratch/walks" -F trace:
exit $status
