#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What swlbr costs a kernel that does not use it: nothing. A tree that it was put on, with the option
# off, is built to the same sections, byte by byte, as the tree of the package.
#
#   tests/kernel/check_off.sh [VERSION]     of package linux-source-VERSION (6.1)
. "$(dirname "$0")/lib/start.sh"

# sections VMLINUX: those that are loaded and not empty in the file
sections()
{
	llvm-readelf-19 -SW "$1" | sed -n 's/^ *\[ *[0-9]*\] //p' |
		awk '$2 != "NOBITS" && $5 !~ /^0+$/ && $7 ~ /A/ { print $1 }'
}

# bytes VMLINUX SECTION
bytes()
{
	rm -f "$scratch/bytes"
	llvm-objcopy-19 -O binary --only-section="$2" "$1" "$scratch/bytes" && cat "$scratch/bytes"
}

build_plain
build "$off" build
plain=$off/plain
with=$off/build

[ -f "$off/source/kernel/swlbr/core.c" ] && grep -q '^# CONFIG_SWLBR is not set' "$with/.config" &&
	! grep -q SWLBR "$plain/.config" &&
	ok "one tree knows the option, the other does not" ||
	fail "one tree knows the option, the other does not"
is "their configurations are the same otherwise" \
	"$(diff "$plain/.config" "$with/.config" | grep '^[<>]' | grep -v 'SWLBR')" ""
is "their sections are the same" "$(sections "$plain/vmlinux")" "$(sections "$with/vmlinux")"

for section in $(sections "$plain/vmlinux"); do
	bytes "$plain/vmlinux" "$section" >"$scratch/a" && bytes "$with/vmlinux" "$section" >"$scratch/b" &&
		[ -s "$scratch/a" ] || fail "$section: no bytes"
	is "$section: $(stat -c %s "$scratch/a") bytes, the same" "$(cmp "$scratch/a" "$scratch/b" 2>&1)" ""
done
is ".bss: the same size" "$(size -A "$plain/vmlinux" | awk '$1 == ".bss" { print $2 }')" \
	"$(size -A "$with/vmlinux" | awk '$1 == ".bss" { print $2 }')"
for section in .text .rodata .data .init.text .data..percpu; do
	sections "$plain/vmlinux" | grep -qxF "$section" || fail "there is no $section"
done
is "bzImage: the same" "$(cmp "$plain/arch/x86/boot/bzImage" "$with/arch/x86/boot/bzImage" 2>&1)" ""
exit $status
