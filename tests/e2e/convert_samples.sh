#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The sample profile of an edge profile is, byte for byte, what llvm-profgen makes of the same edges:
# of every kind of debug information, wherever it is kept. Edges are made up, so that all code is met.
. "$(dirname "$0")/lib/common.sh"
root=$(cd "$here/../.." && pwd)
asan=$BUILD_ASAN/perf-swlbr
cd "$scratch" || exit 1
export LLVM_PROFILE_FILE=/dev/null

arcs() { /usr/bin/python3 "$here/lib/synthetic_arcs.py" "$@"; }

# theirs BINARY ARCS OUT: by way of llvm-profgen
theirs()
{
	"$asan" convert -q -i "$2" -f llvm-unsymbolized -o unsymbolized "$1" &&
		llvm-profgen-19 --unsymbolized-profile=unsymbolized --binary="$1" --format=text \
			-o "$3" 2>profgen.err || { cat profgen.err; return 1; }
}

ours() { "$asan" convert -q -i "$2" -f llvm-sample -o "$3" "$1"; }

# compare NAME BINARY
compare()
{
	rm -f theirs ours
	arcs "$2" >arcs && theirs "$2" arcs theirs && ours "$2" arcs ours || {
		fail "$1: conversion"
		return
	}
	if cmp -s theirs ours && [ "$(wc -l <ours)" -gt 300 ]; then
		ok "$1: as llvm-profgen"
	else
		fail "$1: $(wc -l <ours) lines; $(diff theirs ours | head -5)"
	fi
}

# build NAME COMMAND…
build()
{
	local name=$1

	shift
	"$@" -Wl,--build-id -o "$name" "$here/samples/inlining.cc" 2>build.err || {
		cat build.err
		fail "$name: does not build"
		return 1
	}
}

variant() { build "$@" && compare "$1" "./$1"; }

variant dwarf5 clang++-19 -O2 -g
variant dwarf4 clang++-19 -O3 -gdwarf-4
variant for_profiling clang++-19 -O3 -g -fdebug-info-for-profiling -funroll-loops
variant flow_sensitive clang++-19 -O3 -g -fdebug-info-for-profiling -mllvm -enable-fs-discriminator
variant line_tables_only clang++-19 -O2 -gmlt
variant compressed clang++-19 -O2 -g -gz
variant kept_relocations clang++-19 -O2 -g -Wl,--emit-relocs
variant fixed_address clang++-19 -O2 -g -no-pie
variant lld_removed clang++-19 -O3 -g -fuse-ld=lld -ffunction-sections -Wl,--gc-sections,--icf=all
variant thin_lto clang++-19 -O3 -g -fuse-ld=lld -flto=thin
variant unique_names clang++-19 -O2 -g -funique-internal-linkage-names
variant dwarf64 clang++-19 -O2 -g -gdwarf64
variant clang14 clang++-14 -O2 -g
variant gcc g++-12 -O2 -g
variant gcc_dwarf4 g++-12 -O3 -gdwarf-4

# The binary form is the same to the byte too.
binary_form()
{
	"$asan" convert -q -i arcs -f llvm-extbinary $2 -o ours.extbinary ./unique_names &&
		llvm-profgen-19 --unsymbolized-profile=unsymbolized --binary=./unique_names \
			--format=extbinary $3 -o theirs.extbinary 2>profgen.err &&
		is "$1: as llvm-profgen" "$(cmp ours.extbinary theirs.extbinary 2>&1)" "" || fail "$1"
}
arcs unique_names >arcs && theirs ./unique_names arcs theirs
binary_form "extensible binary" "" ""
binary_form "with hashes" --md5 --use-md5
binary_form "with the list of functions" --symbol-list --populate-profile-symbol-list

# Split: .dwo files beside, then packages, then neither.
for version in 5 4; do
	for compiler in clang++-19 g++-12; do
		name=split_${compiler%%+*}$version
		variant "$name" $compiler -O2 -gdwarf-$version -gsplit-dwarf || continue
		cp ours "$name.expected"
		llvm-dwp-19 -e "$name" -o "$name.dwp" && rm -f "$name"*.dwo || fail "$name: dwp"
		ours "$name" arcs packaged
		is "$name: the same of a package" "$(cmp packaged "$name.expected" 2>&1)" ""
		rm "$name.dwp"
		"$asan" convert -q -i arcs -f llvm-sample -o none "$name" 2>err && fail "$name: no error"
		says "$name: says that its .dwo is missing" err '\.dwo.*not there'
	done
done

# Separate debug files, by name and by build-id; and what dwz has moved.
build whole clang++-19 -O2 -gdwarf-4 && build other g++-12 -O2 -gdwarf-4 && arcs whole >arcs &&
	ours whole arcs expected || fail "separate: build"
objcopy --only-keep-debug whole whole.debug && strip -o stripped whole &&
	objcopy --add-gnu-debuglink=whole.debug stripped && mv whole whole.kept || fail "separate: objcopy"
ours stripped arcs linked
is "separate debug file beside the binary" "$(cmp linked expected 2>&1)" ""
mkdir .debug && mv whole.debug .debug && ours stripped arcs linked2
is "separate debug file in .debug" "$(cmp linked2 expected 2>&1)" ""
mv .debug/whole.debug elsewhere
printf x >>elsewhere
strip -o bare whole.kept
mkdir -p wrong && cp elsewhere wrong/bare.debug
"$asan" convert -q -i arcs -f llvm-sample -o none bare 2>err && fail "stripped: no error"
says "stripped: says so, and the remedy" err 'bare: stripped: no debug information.*-g'
strip -g -o nodebug whole.kept
"$asan" convert -q -i arcs -f llvm-sample -o none nodebug 2>err && fail "no debug information: no error"
says "no debug information: names the flag" err 'nodebug: no debug information: build with -g'
[ ! -e none ] && ok "no output after an error" || fail "an output after an error"
if command -v dwz >/dev/null; then
	cp whole.kept z1 && cp other z2 && dwz -m common z1 z2 && ours z1 arcs dwz1
	is "what dwz has moved is found" "$(readelf -S z1 | grep -c gnu_debugaltlink) $(cmp dwz1 expected 2>&1)" "1 "
	rm common
	"$asan" convert -q -i arcs -f llvm-sample -o none z1 2>err && fail "dwz: no error"
	says "what dwz has moved is missed" err 'dwz to common, which is not there'
else
	echo "skip dwz: not installed"
fi

# Another build's edges.
build rebuilt clang++-19 -O1 -g
"$asan" convert -q -i arcs -f llvm-sample -o none rebuilt 2>err && fail "another build: no error"
says "another build's edges are refused" err '^perf swlbr: .*: is it another build\?$'

# A call from another binary has no place in the profile, but the callee was entered.
main=$(nm whole.kept | awk '$3 == "main" { print $1 }')
id=$(readelf -n whole.kept | sed -n 's/.*Build ID: //p')
ours whole.kept arcs before
printf 'branch\t0123456789abcdef0123456789abcdef01234567\t0x1234\t%s:0x%s\t5000000\t0\t0\temu\n' "$id" \
	"${main##+(0)}" | sed 's/0x0*/0x/g' >extra
{ head -1 arcs; { tail -n +2 arcs; cat extra; } | LC_ALL=C sort; } >arcs2
ours whole.kept arcs2 after
head_of() { sed -n 's/^main:[0-9]*:\([0-9]*\)$/\1/p' "$1"; }
is "a call from another binary counts as a call" "$(($(head_of after) - $(head_of before)))" 5000000

# Real programs.
for version in 5 4; do
	"$root/scripts/workloads.sh" --variant "debug$version" --cflags "-gdwarf-$version -fdebug-info-for-profiling -Wl,--build-id" \
		lua sqlite3 zstd >log 2>&1 || { tail -5 log; fail "workloads"; continue; }
	for name in lua sqlite3 zstd; do
		compare "$name, DWARF $version" "$WORKLOADS/debug$version/$name"
		llvm-profdata-19 overlap --sample theirs ours >overlap 2>&1
		is "$name, DWARF $version: overlap" \
			"$(sed -n 's/.*Whole program sample overlap: *//p' overlap)" "100.000%"
	done
done
exit $status
