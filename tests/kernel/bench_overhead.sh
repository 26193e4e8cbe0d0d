#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What counting costs: a plain kernel and one with swlbr, their sizes and the instructions that a
# system call takes in each, from the program's call to its return. An emulated machine counts them:
# the same on any computer, and no measure of time, since an instruction is one whatever it does.
# Then what the PMU's timer takes: instructions, nanoseconds of emulation, and natively the loop of
# it that looks at counters.
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

# ticks LABEL NAME [QEMU OPTION...]: the PMU at work, and what its timer says of itself
ticks()
{
	local label=$1

	shift
	mkdir -p "$scratch/$1"
	cp "$scratch/lines" "$scratch/$1/lines"
	boot "$1" "$counting/dwarf" 1 "${@:2}" <<-'RUN' >"$scratch/boot"
		cat lines >/sys/kernel/debug/swlbr/lines
		perf record -F 1000 -o /tmp/data -e swlbr// -b -R -a busy stat 200000 0 >/dev/null 2>&1
		cat /sys/kernel/debug/swlbr/scanners
	RUN
	! grep FAIL "$scratch/boot" || exit 1
	awk -v name="$label" '$1 == 0 && $2 && $3 { printf "%-28s %12d %12d %7.2f\n", name, $3 / $2, $5, $4 / $3 }' \
		"$scratch/$1/said"
}

"$swlbr" map --kernel-table "$counting/dwarf/vmlinux" >"$scratch/lines" 2>"$scratch/err" ||
	{ fail "map --kernel-table: $(cat "$scratch/err")"; exit 1; }
printf '%-28s %12s %12s %7s\n' "ticks, 1,000 a second" counters "longest, ns" "ns each"
ACCEL=tcg,thread=single ticks "1 ns an instruction" instructions -icount shift=0,sleep=off
ticks "emulated" emulated
sed -n '/^static void look_at(/,/^}/p' "$repository/pmu/kernel/kernel/swlbr/pmu.c" >"$scratch/look_at.h"
clang-19 -O2 -I"$scratch" -o "$scratch/scan_cost" "$here/scan_cost.c" || exit 1
symbol() { nm "$counting/dwarf/vmlinux" | sed -n "s/ . $1\$//p"; }
counters=$(((0x$(symbol __swlbr_counters_end) - 0x$(symbol __swlbr_counters_start)) / 8))
"$scratch/scan_cost" "$counters" | while read -r cached other; do
	printf '%-28s %12s %12s %7s\n' "this machine, in caches" "$counters" "" "$cached"
	printf '%-28s %12s %12s %7s\n' "this machine, not in caches" "$counters" "" "$other"
done
exit $status
