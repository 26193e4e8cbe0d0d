#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# An instrumented kernel in a virtual machine, with the distribution's perf: counts are exact, the
# PMU gives perf what it asks for, and what comes out of the machine becomes profiles here.
#
#   tests/kernel/check_kernel.sh [VERSION]     of package linux-source-VERSION (6.1)
#
# Environment: BUILD (folder with perf-swlbr), KERNEL_BUILD (keeps the kernel; BUILD/kernel-VERSION).
# Prints "ok NAME" and "FAIL NAME why", as the tests of tests/e2e do.
set -u
version=${1:-6.1}
here=$(dirname "$(realpath "$0")")
repository=$(dirname "$(dirname "$here")")
BUILD=${BUILD:-$repository/build}
out=${KERNEL_BUILD:-$BUILD/kernel-$version}
guest=$here/guest.sh
swlbr=$BUILD/perf-swlbr
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0

ok() { echo "ok $*"; }
fail() { echo "FAIL $*"; status=1; }

# is NAME GOT WANTED
is()
{
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		fail "$1: got '$2', expected '$3'"
	fi
}

# boot NAME CPUS: run the script on standard input in a guest; what it leaves is in $scratch/NAME
boot()
{
	share=$scratch/$1
	mkdir -p "$share"
	cat >"$share/run"
	CPUS=$2 "$guest" run "$out/build/arch/x86/boot/bzImage" "$scratch/initramfs" "$share" \
		>"$share/said" 2>"$share/err"
	is "$1: the guest got to its end" "$?" 0 || cat "$share/err"
	is "$1: the kernel has nothing to complain of" \
		"$(grep -cE 'WARNING|BUG|Oops|Call Trace|lockdep|RCU' "$share/dmesg" 2>/dev/null)" 0
}

# count PROFILE FUNCTION: the first counter of a function
count()
{
	llvm-profdata-19 show --function="$2" --counts "$1" |
		sed -n 's/^ *Function count: //p; s/^ *Block counts: //p' | head -n 1
}

"$guest" build "$version" "$out" CONFIG_SWLBR=y >"$scratch/log" 2>&1 ||
	{ fail "build of Linux $version: $(tail -n 5 "$scratch/log")"; exit 1; }
is "the build has no warning" "$(grep -ci warning "$scratch/log")" 0
vmlinux=$out/build/vmlinux
"$guest" initramfs "$scratch/initramfs" || { fail "initramfs"; exit 1; }

# --- the engine ---

"$out/build/scripts/swlbr_percpu" --check "$vmlinux" >"$scratch/check"
is "all counters are per CPU, none where nothing may count" $? 0
"$out/build/scripts/swlbr_percpu" "$vmlinux" 2>"$scratch/err"
is "a second rewrite is refused" "$? $(grep -c 'refers to a counter in a way' "$scratch/err")" "1 1"

boot counts 2 <<'RUN'
cd /sys/kernel/debug/swlbr
cat counters >/share/boot
echo 1 >reset
busy getppid 100000 0
cat counters >/share/one
echo 1 >reset
busy getppid 100000 0 1
cat counters >/share/two
grep ' _text$' /proc/kallsyms >/share/text
RUN
boot again 1 <<'RUN'
cat /sys/kernel/debug/swlbr/counters >/share/boot
RUN
for name in boot one two; do
	"$swlbr" convert -i "$scratch/counts/$name" -f llvm-profdata -o "$scratch/$name.profdata" \
		"$vmlinux" 2>"$scratch/$name.err" || fail "convert: $(cat "$scratch/$name.err")"
	"$swlbr" convert -q -i "$scratch/counts/$name" -f llvm-profraw -o "$scratch/$name.profraw" \
		"$vmlinux"
	llvm-profdata-19 merge -o "$scratch/$name.merged" "$scratch/$name.profraw" 2>"$scratch/err"
	is "$name: llvm-profdata makes the same of the .profraw" \
		"$(cat "$scratch/err"; llvm-profdata-19 show --all-functions --counts "$scratch/$name.merged" | md5sum)" \
		"$(llvm-profdata-19 show --all-functions --counts "$scratch/$name.profdata" | md5sum)"
done
is "getppid x 100,000 on one CPU: exact" "$(count "$scratch/one.profdata" __x64_sys_getppid)" 100000
is "getppid x 100,000 on each of two: exact" "$(count "$scratch/two.profdata" __x64_sys_getppid)" \
	200000
is "boot code is in the first, which says so" \
	"$(grep -c 'boot code (__init): [1-9]' "$scratch/boot.err") $(grep -c 'from boot on' "$scratch/boot.err")" \
	"1 1"
is "start_kernel ran once" "$(count "$scratch/boot.profdata" start_kernel)" 1
is "after a reset it is said to be one" "$(grep -c 'from a reset on' "$scratch/one.err")" 1

offset_of() { od -An -tu8 -j72 -N8 "$1" | tr -d ' '; }
text=$(nm "$vmlinux" | sed -n 's/ T _text$//p')
is "the load offset is that of the run" "$(offset_of "$scratch/counts/boot")" \
	"$((0x$(cut -d' ' -f1 "$scratch/counts/text") - 0x$text))"
[ "$(offset_of "$scratch/counts/boot")" != "$(offset_of "$scratch/again/boot")" ] &&
	ok "two boots, two bases" || fail "two boots, two bases: $(offset_of "$scratch/again/boot")"

exit $status
