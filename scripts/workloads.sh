#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds real programs to record: lua, bzip2, zstd and sqlite3 of Debian's source packages, fetched
# by name and never committed. The same compiler and flags give the same binary wherever the
# folders are: sources are compiled under relative names, one translation unit at a time.
set -euo pipefail

usage()
{
	cat <<-USAGE
	usage: scripts/workloads.sh [OPTIONS] [NAME…]      lua bzip2 zstd sqlite3 (default: all)

	    --cc CC          compiler (clang-19)
	    --cflags FLAGS   added to -O2, for compiling and for linking
	    --variant NAME   what this compiler and these flags are called (plain)
	    --dir DIR        work folder (\$WORKLOADS, or workloads in \$BUILD, or build/workloads)
	    --source         fetch and unpack only

	The program NAME is then DIR/VARIANT/NAME, and its source DIR/src/NAME.
	USAGE
}

die()
{
	echo "scripts/workloads.sh: $*" >&2
	exit 1
}

package_of()
{
	case $1 in
	lua) echo lua5.4 ;;
	bzip2) echo bzip2 ;;
	zstd) echo libzstd ;;
	sqlite3) echo sqlite3 ;;
	*) die "no workload '$1'; there are lua, bzip2, zstd and sqlite3" ;;
	esac
}

# apt-get or apt-cache with the system's own package sources turned into source-package sources,
# all state in a folder of ours.
private_apt()
{
	local tool=$1 apt=$work/apt

	shift
	mkdir -p "$apt"/{parts,lists/partial,cache/archives/partial}
	"apt-$tool" -qq -o "Dir::Etc::sourcelist=$apt/sources.list" -o "Dir::Etc::sourceparts=$apt/parts" \
		-o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" \
		-o APT::Sandbox::User=root -o Acquire::Languages=none "$@"
}

make_apt_lists()
{
	local apt=$work/apt file

	mkdir -p "$apt/parts"
	: >"$apt/sources.list"
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ ! -f "$file" ] || sed -n 's/^deb[[:space:]]/deb-src /p' "$file" >>"$apt/sources.list"
	done
	for file in /etc/apt/sources.list.d/*.sources; do
		[ ! -f "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$apt/parts/${file##*/}"
	done
	# One source that fails (a foreign one may have no source packages) does not stop the others.
	private_apt get update >"$apt/log" 2>&1 || true
}

# The versions of a source package, newest first. A mirror may lack the files of the newest one.
versions_of()
{
	private_apt cache showsrc "$1" 2>/dev/null | sed -n 's/^Version: //p' | sort -ruV
}

# Downloads @package's source into @to.
download_source()
{
	local package=$1 to=$2 version

	for version in $(versions_of "$package"); do
		(cd "$to" && private_apt get source --download-only "$package=$version") \
			>>"$to/log" 2>&1 && return 0
	done
	return 1
}

# Fetches and unpacks @name's source into $work/src/NAME.
fetch()
{
	local name=$1 package download

	[ ! -d "$work/src/$name" ] || return 0
	package=$(package_of "$name")
	command -v dpkg-source >/dev/null || die "dpkg-source is missing; run scripts/setup.sh"
	echo "scripts/workloads.sh: fetching source package $package" >&2
	mkdir -p "$work/src"
	download=$(mktemp -d "$work/src/.$name.XXXXXX")
	download_source "$package" "$download" ||
		{ make_apt_lists && download_source "$package" "$download"; } || {
		cat "$work/apt/log" "$download/log" >&2 2>/dev/null || true
		rm -rf "$download"
		die "cannot fetch source package $package"
	}
	dpkg-source --no-check -x "$download"/*.dsc "$download/tree" >"$download/log" 2>&1 ||
		{ cat "$download/log" >&2; rm -rf "$download"; die "cannot unpack $package"; }
	prepare_"$name" "$download/tree" >"$download/log" 2>&1 ||
		{ cat "$download/log" >&2; rm -rf "$download"; die "cannot prepare $package"; }
	mv "$download/tree" "$work/src/$name"
	rm -rf "$download"
}

# Debian's build makes this header; it says where modules are, which the workload does not use.
prepare_lua() { echo '#define DEB_HOST_MULTIARCH ""' >"$1/src/lua5.4-deb-multiarch.h"; }
prepare_bzip2() { :; }
prepare_zstd() { :; }

# The single big source file is generated; the package holds its parts.
prepare_sqlite3()
{
	command -v tclsh >/dev/null || { echo "tclsh is missing; run scripts/setup.sh"; return 1; }
	(cd "$1" && CC=cc ./configure --disable-shared --disable-readline && make sqlite3.c shell.c)
}

# What is compiled, relative to the source; then the flags it needs.
sources_lua() { ls src/*.c | grep -vE '/(luac|ltests|onelua)\.c$'; }
flags_lua() { echo "-DLUA_USE_POSIX -DLUA_USE_DLOPEN -DLUA_COMPAT_5_3 -Dluai_makeseed(L)=1"; }
libs_lua() { echo "-lm -ldl"; }

sources_bzip2() { ls {blocksort,huffman,crctable,randtable,compress,decompress,bzlib,bzip2}.c; }
flags_bzip2() { echo "-D_FILE_OFFSET_BITS=64"; }
libs_bzip2() { :; }

sources_zstd() { ls lib/{common,compress,decompress,dictBuilder}/*.[cS] programs/*.c; }
flags_zstd()
{
	echo "-Ilib -Ilib/common -Ilib/compress -Ilib/dictBuilder -DXXH_NAMESPACE=ZSTD_" \
		"-DZSTD_MULTITHREAD -DZSTD_LEGACY_SUPPORT=0 -pthread"
}
libs_zstd() { echo "-pthread"; }

sources_sqlite3() { ls sqlite3.c shell.c; }
flags_sqlite3() { echo "-DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION"; }
libs_sqlite3() { echo "-lm"; }

# Builds $work/VARIANT/NAME unless this compiler has already made it with these flags.
build()
{
	local name=$1 out=$work/$variant/$1 recipe objects source

	recipe="$($cc --version | head -1) | $(flags_"$name") | $cflags"
	if [ -x "$out" ] && [ "$(cat "$out.recipe" 2>/dev/null)" = "$recipe" ]; then
		return 0
	fi
	mkdir -p "$work/$variant"
	objects=$(mktemp -d "$work/$variant/.$name.XXXXXX")
	cd "$work/src/$name"
	for source in $(sources_"$name"); do
		printf '%s\0' "$source"
	done | LC_ALL=C xargs -0 -P "$(nproc)" -I{} sh -c '
		object=$1/$(echo "$2" | tr / _).o; shift 2; "$@" -o "$object"' \
		sh "$objects" {} $cc -w -O2 $(flags_"$name") $cflags \
		"-ffile-prefix-map=$work/src/$name=." -c {} || {
		rm -rf "$objects"
		die "cannot compile $name"
	}
	LC_ALL=C $cc -O2 $cflags -o "$objects/program" "$objects"/*.o $(libs_"$name") || {
		rm -rf "$objects"
		die "cannot link $name"
	}
	rm -f "$out.recipe"
	mv "$objects/program" "$out"
	echo "$recipe" >"$objects/recipe"
	mv "$objects/recipe" "$out.recipe"
	rm -rf "$objects"
	cd "$root"
}

# Runs a function with @lock held: two runs of this script at once do not get in each other's way.
locked()
{
	local lock=$1

	shift
	mkdir -p "$(dirname "$lock")"
	(flock 9 && "$@") 9>"$lock"
}

cc=clang-19 cflags= variant=plain source_only=no names=()
root=$(realpath "$(dirname "$0")/..")
work=${WORKLOADS:-${BUILD:-$root/build}/workloads}
while [ $# -gt 0 ]; do
	case $1 in
	--cc) cc=$2; shift ;;
	--cflags) cflags=$2; shift ;;
	--variant) variant=$2; shift ;;
	--dir) work=$2; shift ;;
	--source) source_only=yes ;;
	--help | -h) usage; exit 0 ;;
	-*) usage >&2; exit 129 ;;
	*) names+=("$1") ;;
	esac
	shift
done
[ ${#names[@]} != 0 ] || names=(lua bzip2 zstd sqlite3)
mkdir -p "$work"
work=$(realpath "$work")
cd "$root"

for name in "${names[@]}"; do
	package_of "$name" >/dev/null
	locked "$work/.lock/src" fetch "$name"
	[ $source_only = yes ] || locked "$work/.lock/$variant.$name" build "$name"
done
