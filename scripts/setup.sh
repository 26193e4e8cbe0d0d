#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Installs what building, the demonstration and the tests need, by package name, and builds libperf
# (which is not a Debian package) from the kernel's source package into the build folder.
# Does nothing, quickly, where nothing is missing.
set -euo pipefail

usage()
{
	cat <<-USAGE
	usage: scripts/setup.sh [--list] [--build-dir DIR] [build|demo|check|check-kernel|check-kernel-full|ci]

	Installs what 'make all' (build), 'make demo', 'make check', one of the other two or
	'make check CHECK_KERNEL=yes' (ci) needs; what 'make check' needs by default.
	Without root it says what is missing and how to get it.

	    --list           print the packages, one a line, and stop
	    --build-dir DIR  where libperf goes (default: build)
	USAGE
}

packages_build="gcc libc6-dev make pkg-config libelf-dev libdw-dev libtraceevent-dev zlib1g-dev
	libzstd-dev libmd-dev libzydis-dev linux-source-6.1 xz-utils ca-certificates asciidoc-base xmlto
	docbook-xml docbook-xsl"
packages_demo="qemu-user clang-19 llvm-19 libclang-rt-19-dev linux-perf binutils dpkg-dev python3"
packages_check="clang-14 llvm-14 clang-22 llvm-22 libclang-rt-14-dev libclang-rt-22-dev clang-format-14
	g++ dwz lld-19 lld-22 bolt-19 autofdo valgrind procps util-linux tcl zstd time
	gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-system-arm"
packages_check_kernel="lld-19 llvm-19 qemu-system-x86 busybox-static bc bison flex perl"
packages_check_kernel_full="linux-source-6.12"

packages_of()
{
	case $1 in
	build) echo $packages_build ;;
	demo) echo $packages_build $packages_demo ;;
	check) echo $packages_build $packages_demo $packages_check ;;
	check-kernel) echo $packages_build $packages_demo $packages_check_kernel ;;
	ci) packages_of check; packages_of check-kernel ;;
	check-kernel-full) packages_of check-kernel; echo $packages_check_kernel_full ;;
	all) packages_of check; packages_of check-kernel-full ;;
	esac
}

missing_packages()
{
	# Installed packages, not known ones: dpkg also remembers removed packages.
	comm -13 <(dpkg-query -W -f '${db:Status-Abbrev},${Package},${Provides}\n' | grep '^ii' |
		tr -d ' ' | tr ',' '\n' | sed 's/(.*//' | sort -u) \
		<(packages_of "$purpose" | tr ' ' '\n' | sort -u)
}

install_packages()
{
	local missing

	missing=$(missing_packages | tr '\n' ' ')
	[ -n "$missing" ] || return 0
	if [ "$(id -u)" != 0 ]; then
		echo "scripts/setup.sh: missing packages: $missing" >&2
		echo "scripts/setup.sh: get them with: apt-get install --no-install-recommends $missing" >&2
		return 1
	fi
	echo "scripts/setup.sh: installing $missing" >&2
	export DEBIAN_FRONTEND=noninteractive
	# A fresh system has no package lists, and old lists name files that are gone.
	apt-get install -s --no-install-recommends $missing >/dev/null 2>&1 ||
		apt-get -qq update >&2
	apt-get -qq -y install --no-install-recommends $missing >&2 || {
		apt-get -qq update >&2
		apt-get -qq -y install --no-install-recommends $missing >&2
	}
}

# Builds in a folder of its own and renames, so that an interrupted run leaves nothing half-made
# and two at once do not disturb each other.
build_libperf()
{
	local source=linux-source-6.1 tree

	[ ! -e "$build/libperf/lib/libperf.a" ] || return 0
	mkdir -p "$build"
	work=$(mktemp -d "$build/libperf.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	echo "scripts/setup.sh: building libperf from package $source" >&2
	tar -C "$work" -xJf "/usr/src/$source.tar.xz" "$source"/{tools,scripts} \
		"$source"/include/{uapi,linux} "$source"/arch/x86/{include,lib}
	tree=$work/$source
	env -u MAKEFLAGS -u MAKELEVEL -u O -u CFLAGS -u LDFLAGS -u DESTDIR make -s -C "$tree/tools/lib/perf" \
		install_lib install_headers prefix="$work/out" libdir="$work/out/lib" \
		>"$work/log" 2>&1 || { cat "$work/log" >&2; return 1; }
	mv -T "$work/out" "$build/libperf" 2>/dev/null || [ -e "$build/libperf/lib/libperf.a" ]
}

purpose=check
build=build
work=
while [ $# -gt 0 ]; do
	case $1 in
	--list) packages_of all | tr ' ' '\n' | sort -u; exit 0 ;;
	--build-dir) build=$2; shift ;;
	--help | -h) usage; exit 0 ;;
	build | demo | check | check-kernel | check-kernel-full | ci) purpose=$1 ;;
	*) usage >&2; exit 129 ;;
	esac
	shift
done

cd "$(dirname "$0")/.."
install_packages
mkdir -p "$build"
build=$(realpath "$build")
build_libperf
