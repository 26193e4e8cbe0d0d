#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Building and booting kernels for tests, in small steps that a test, or a person, calls:
#
#   tests/kernel/guest.sh build VERSION OUT [CONFIG_X=y...]    a kernel of package linux-source-VERSION
#   tests/kernel/guest.sh initramfs FILE                       with busybox, perf, busy, cycles, noise
#   tests/kernel/guest.sh run KERNEL INITRAMFS FOLDER [QEMU OPTION...]
#
# "build" keeps OUT/source and OUT/build, or OUT/FOLDER, for the next time; with GRAFT=no without
# swlbr. KCFLAGS go to the compiler. "run" boots, executes FOLDER/run in the guest, where the folder
# is /share, and gives back its exit status and, on standard output, what it printed. Environment:
# CPUS (1), MEMORY (1G), APPEND, GUEST_TIME (300 seconds), CONSOLE (a file for the kernel's
# messages), ACCEL (tcg), RECORDER (a command that runs QEMU).
set -euo pipefail

here=$(dirname "$(realpath "$0")")
repository=$(dirname "$(dirname "$here")")

fail()
{
	echo "tests/kernel/guest.sh: $*" >&2
	exit 1
}

# The tree is unpacked and grafted beside its place, so that a broken run leaves none behind.
prepare_tree()
{
	local version=$1 out=$2

	if [ ! -d "$out/source" ]; then
		rm -rf "$out/unpacking"
		mkdir -p "$out/unpacking"
		tar -C "$out/unpacking" -xJf "/usr/src/linux-source-$version.tar.xz"
		mv "$out/unpacking/linux-source-$version" "$out/source"
		rmdir "$out/unpacking"
	fi
	if [ "${GRAFT-yes}" = no ]; then
		"$repository/scripts/kernel-graft.sh" "$out/source" --revert
	else
		"$repository/scripts/kernel-graft.sh" "$out/source"
	fi
}

build()
{
	local version=$1 out=$2 build line symbol make

	shift 2
	build=$out/${FOLDER:-build}
	mkdir -p "$build"
	out=$(realpath "$out")
	build=$(realpath "$build")
	prepare_tree "$version" "$out"
	# What is said last holds.
	{ grep '^CONFIG_' "$here/guest.config"; [ $# = 0 ] || printf '%s\n' "$@"; } | tac |
		awk -F= '!seen[$1]++' >"$build/all.config"
	make=(env -u MAKEFLAGS -u MAKELEVEL -u O -u CFLAGS make -s -C "$out/source" O="$build"
		LLVM=-19 ARCH=x86_64 KBUILD_BUILD_TIMESTAMP=@0 KBUILD_BUILD_USER=test
		KBUILD_BUILD_HOST=test KBUILD_BUILD_VERSION=1)
	"${make[@]}" allnoconfig KCONFIG_ALLCONFIG="$build/all.config" >"$build/config.log" 2>&1 ||
		{ cat "$build/config.log" >&2; return 1; }
	grep '^CONFIG_' "$build/all.config" | while read -r line; do
		symbol=${line%%=*}
		grep -qxF "$line" "$build/.config" || [ "${line#*=}" = n ] ||
			! grep -rqE "^(menu)?config ${symbol#CONFIG_}$" --include='Kconfig*' "$out/source" ||
			fail "the configuration does not take $line"
	done
	"${make[@]}" -j"$(nproc)" bzImage modules
}

add_program()
{
	local root=$1 program=$2 library

	cp -L --parents "$program" "$root"
	ldd "$program" | grep -o '/[^ ]*' | while read -r library; do
		cp -L --parents "$library" "$root"
	done
}

initramfs()
{
	local file root

	file=$(realpath "$1")
	root=$(mktemp -d)
	mkdir -p "$root"/{bin,dev,proc,sys,tmp,share,etc,root}
	cp /bin/busybox "$root/bin/"
	for applet in $(/bin/busybox --list); do
		[ "$applet" = busybox ] || ln -s busybox "$root/bin/$applet"
	done
	add_program "$root" /usr/bin/perf
	gcc -O2 -static -o "$root/bin/busy" "$here/busy.c"
	gcc -O2 -static -o "$root/bin/cycles" "$here/cycles.c"
	gcc -O2 -static -I"$repository/pmu/include/uapi/linux" -o "$root/bin/noise" "$here/noise.c"
	cp "$here/init" "$root/init"
	echo 'root:x:0:0::/root:/bin/sh' >"$root/etc/passwd"
	echo 'nobody:x:65534:65534::/tmp:/bin/sh' >>"$root/etc/passwd"
	(cd "$root" && find . | LC_ALL=C sort | /bin/busybox cpio -o -H newc 2>/dev/null) |
		gzip -1 >"$file"
	rm -rf "$root"
}

# Without cx16, since QEMU 7.2 makes flags of other values at a cmpxchg16b (its helper reads cc_op, which
# the translation has not stored yet): an interrupt that comes right then cannot return. SLUB has many.
# A q35, since its table of interrupts (_PRT) is ready: that of a "pc" is a loop, which took a kernel with
# KASAN the 30 seconds after which ACPI gives up. Then nothing ever came from /share.
run()
{
	local kernel=$1 initramfs=$2 folder=$3 console cpus=${CPUS:-1} status=0

	shift 3
	console=${CONSOLE:-$folder/console}
	rm -f "$folder/status" "$folder/output"
	timeout --kill-after=5 "${GUEST_TIME:-300}" ${RECORDER-} qemu-system-x86_64 -nodefaults -no-reboot \
		-machine q35 -display none -cpu max,-cx16 -smp "$cpus" -m "${MEMORY:-1G}" -serial "file:$console" \
		-virtfs "local,path=$folder,mount_tag=share,security_model=none" \
		-accel "${ACCEL:-tcg}" -kernel "$kernel" -initrd "$initramfs" \
		-append "console=ttyS0 tsc=reliable panic=-1 oops=panic ${APPEND-}" "$@" </dev/null || status=$?
	[ ! -f "$folder/output" ] || cat "$folder/output"
	[ -f "$folder/status" ] || {
		tail -n 20 "$console" >&2
		fail "the guest did not get to its end (status of QEMU: $status)"
	}
	return "$(cat "$folder/status")"
}

case ${1-} in
build | initramfs | run) "$@" ;;
*) sed -n '3,/^set/{/^set/d;s/^# \?//;p}' "$0" >&2; exit 129 ;;
esac
