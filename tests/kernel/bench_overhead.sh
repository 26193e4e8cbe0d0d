#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What counting costs: a plain kernel and one with swlbr, their sizes and the instructions that a
# system call takes in each, from the program's call to its return. An emulated machine counts them:
# the same on any computer, and no measure of time, since an instruction is one whatever it does.
#
#   tests/kernel/bench_overhead.sh [VERSION]     of package linux-source-VERSION (6.1)
. "$(dirname "$0")/lib/start.sh"

# row NAME PLAIN INSTRUMENTED
row()
{
	echo "$2 $3" | awk -v name="$1" '
		function number(n) { return n ~ /\./ ? sprintf("%.1f", n) : n }
		{ printf "%-28s %12s %12s %7.3f\n", name, number($1), number($2), $1 ? $2 / $1 : 0 }'
}

sizes()
{
	size "$1/vmlinux" | awk 'NR == 2 { print "text", $1; print "data", $2; print "bss", $3 }'
	size -A "$1/vmlinux" | awk '$1 ~ /^\.(text|rodata|data|init\.text|data\.\.percpu)$/ { print $1, $2 }'
	echo "bzImage $(stat -c %s "$1/arch/x86/boot/bzImage")"
}

# costs NAME FOLDER: so few of each that the timer, at 4,000,000 instructions, is in less than half of
# the pairs that busy measures. Random addresses would change how many page tables a fork copies.
costs()
{
	ACCEL=tcg,thread=single APPEND="nokaslr norandmaps" boot "$1" "$2" 1 -icount shift=0,sleep=off <<-'RUN' >"$scratch/boot"
		for row in getppid:1000 stat:100 read:50 pipe:100 fork:2; do
			echo "$row $(busy --cost ${row%:*} ${row#*:})"
		done
	RUN
	! grep FAIL "$scratch/boot" || exit 1
}

build_plain
build_counting
costs plain "$off/plain"
costs instrumented "$counting/dwarf"

echo "Linux $version on x86-64, $(sed -n 's/^CONFIG_CC_VERSION_TEXT="\(.*\)"/\1/p' "$off/plain/.config")"
printf '%-28s %12s %12s %7s\n' "bytes" plain instrumented ratio
join <(sizes "$off/plain" | sort) <(sizes "$counting/dwarf" | sort) | while read -r name plain with; do
	case $name in
	text | data | bss) row "vmlinux $name (size)" "$plain" "$with" ;;
	bzImage) row "$name" "$plain" "$with" ;;
	*) row "vmlinux $name" "$plain" "$with" ;;
	esac
done
printf '%-28s %12s %12s %7s\n' "instructions" plain instrumented ratio
paste -d' ' "$scratch/plain/said" "$scratch/instrumented/said" | while read -r name plain same with; do
	[ "$name" = "$same" ] || { echo "FAIL $name is not $same"; exit 1; }
	case $name in
	read:*) name="open, read, close" ;;
	pipe:*) name="pipe: write, read" ;;
	fork:*) name="fork, exit, wait" ;;
	*) name=${name%:*} ;;
	esac
	row "$name" "$plain" "$with"
done || exit 1
exit $status
