#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The code of a kernel in an emulated machine is counted, exceptions included.
. "$(dirname "$0")/lib/common.sh"
cd "$scratch" || exit 1
machine=(qemu-system-aarch64 -M virt -cpu cortex-a57 -m 64 -display none -serial none -monitor none
	-nodefaults -kernel kernel)
aarch64-linux-gnu-gcc -nostdlib -static -Wl,-Ttext=0x40080000 -Wl,--build-id -o kernel \
	"$here/emulate/bare.S" || fail "build of bare.S"
timeout 60 "$swlbr" record -q --emulate=counts --kernel=kernel -o kernel.arcs -- "${machine[@]}" \
	>out 2>&1 || fail "record: status $?: $(head -3 out)"

address() { nm kernel | sed -n "s/^0*\([0-9a-f]*\) [tT] $1\$/0x\1/p"; }
ran()
{
	awk -F'\t' -v at="$(address "$1")" '
		$1 == "range" && strtonum_($3) <= strtonum_(at) && strtonum_(at) <= strtonum_($4) { n += $5 }
		END { print n + 0 }
		function strtonum_(hex, i, n) {
			for (i = 3; i <= length(hex); i++)
				n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
			return n
		}' kernel.arcs
}
is "calls" "$(ran marked)" 1000
is "system calls" "$(ran system_call)" 100
is "their handler" "$(ran handler)" 100
is "what goes on behind them" "$(ran resumed)" 100
is "an exception is no branch" "$(awk -F'\t' -v t="$(address handler)" -v u="$(address resumed)" \
	'$1 == "branch" && ($4 == t || $4 == u)' kernel.arcs)" ""
is "the loops' branches" "$(awk -F'\t' '$1 == "branch" && $5 ~ /^99+$/ { print $5 }' kernel.arcs |
	sort -n | tr '\n' ' ')" "99 999 "

aarch64-linux-gnu-gcc -nostdlib -static -Wl,-Ttext=0x48080000 -Wl,--build-id -o other \
	"$here/emulate/bare.S" || fail "build of bare.S"
"$swlbr" record -o none.arcs --emulate=counts --kernel=other -- "${machine[@]}" 2>err
is "a kernel that did not run: status" $? 1
says "a kernel that did not run" err "other: nothing ran at its addresses"
is "a kernel that did not run: no file" "$(ls none.arcs 2>/dev/null)" ""
"$swlbr" record -o none.arcs --emulate=counts --kernel=kernel -- /bin/true 2>err
is "a command that is no machine: status" $? 1
says "a command that is no machine" err "must be qemu-system"
"$swlbr" record -o none.arcs --emulate=counts --kernel=kernel.arcs -- "${machine[@]}" 2>err
is "a kernel that is none: status" $? 1
says "a kernel that is none" err "kernel.arcs: not an ELF image of a kernel"
exit $status
