# SPDX-License-Identifier: GPL-2.0-only
# Sourced first by the tests and measurements here: $version, the first argument; what was built; kernels and
# where they are kept; and $scratch, which goes when the script ends.
#
# Environment: BUILD (folder with perf-swlbr), KERNEL_BUILD and KERNEL_OFF (OUT of guest.sh, for
# kernels that count and for those that do not).
set -u
version=${1:-6.1}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
repository=$(dirname "$(dirname "$here")")
BUILD=${BUILD:-$repository/build}
counting=${KERNEL_BUILD:-$BUILD/kernel-$version}
off=${KERNEL_OFF:-$BUILD/kernel-$version-off}
guest=$here/guest.sh
swlbr=$BUILD/perf-swlbr
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
. "$repository/tests/lib/say.sh"

# Sizes are compared: /proc/config.gz grows by the options themselves.
common="CONFIG_IKCONFIG=n CONFIG_IKCONFIG_PROC=n"

# build OUT FOLDER [CONFIG_X=y...]: a kernel, or the end of the script; the log is in $scratch/log
build()
{
	local out=$1 folder=$2

	shift 2
	# shellcheck disable=SC2086
	FOLDER=$folder "$guest" build "$version" "$out" $common "$@" >"$scratch/log" 2>&1 || {
		fail "build of Linux $version, $folder: $(tail -n 5 "$scratch/log")"
		exit 1
	}
}

# The tree as it is in the package, in $off/plain. It is built in $off/build, where the one with the
# option off is built afterwards, from the same tree in the same place: paths are in kernels.
build_plain()
{
	[ ! -d "$off/plain" ] || return 0
	GRAFT=no build "$off" build
	mv "$off/build" "$off/plain"
}

# With DWARF, which is not loaded: what is measured is the same kernel as without.
build_counting()
{
	build "$counting" dwarf CONFIG_SWLBR=y CONFIG_DEBUG_INFO_DWARF5=y
}

# boot NAME FOLDER CPUS [QEMU OPTION...]: run the script on standard input in a guest with the kernel
# of a build folder; what it leaves is in $scratch/NAME
boot()
{
	local name=$1 folder=$2 cpus=$3

	shift 3
	[ -f "$scratch/initramfs" ] || "$guest" initramfs "$scratch/initramfs" ||
		{ fail "initramfs"; exit 1; }
	share=$scratch/$name
	mkdir -p "$share"
	cat >"$share/run"
	CPUS=$cpus "$guest" run "$folder/arch/x86/boot/bzImage" "$scratch/initramfs" "$share" "$@" \
		>"$share/said" 2>"$share/err"
	is "$name: the guest got to its end" "$?" 0 || cat "$share/err" "$share/console"
	is "$name: the kernel has nothing to complain of" \
		"$(grep -E 'WARNING:|BUG:|Oops|Call Trace|INFO: |suspicious|possible .* detected' \
			"$share/dmesg" 2>&1)" ""
}
