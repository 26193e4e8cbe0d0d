#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Of one run of each workload: the profile made from the recording, from its .profraw form, and from
# the program's own .profraw are the same to llvm-profdata, and to clang.
. "$(dirname "$0")/lib/common.sh"
root=$(cd "$here/../.." && pwd)
flags=$("$swlbr" cflags --cc clang-19) || { fail "cflags"; exit 1; }
names="lua bzip2 zstd sqlite3"
cd "$scratch" || exit 1
# shellcheck disable=SC2086
"$root/scripts/workloads.sh" --cc clang-19 --cflags "$flags" --variant inplace $names >log 2>&1 || {
	tail -5 log
	fail "workloads"
	exit 1
}
(cd "$WORKLOADS/src" && LC_ALL=C cat bzip2/*.c lua/src/*.c) | head -c 700000 >in.txt
"$here/lib/sql.sh" 8000 >in.sql
script=$root/../shared/workloads/bench.lua
[ -f "$script" ] || script=$here/lib/bench.lua

run()
{
	local program=$1

	shift
	case ${program##*/} in
	lua) "$@" "$program" "$script" 22 ;;
	bzip2) "$@" "$program" -9 -k -c in.txt ;;
	zstd) "$@" "$program" -9 --single-thread -c in.txt ;;
	sqlite3) "$@" "$program" :memory: <in.sql ;;
	esac
}

show() { llvm-profdata-19 show --all-functions --counts --ic-targets --memop-sizes "$1"; }

# text FILE: the contents of its .text
text() { objcopy -O binary --only-section=.text "$1" "$scratch/text" && sha256sum <"$scratch/text"; }

for name in $names; do
	run "$WORKLOADS/inplace/$name" env LLVM_PROFILE_FILE=/dev/null >"$name.expected" 2>&1
	LLVM_PROFILE_FILE=$name.own.profraw run "$WORKLOADS/inplace/$name" \
		"$swlbr" record -q -o "$name.data" -- >"$name.out" 2>&1
	is "$name: its output is unchanged" "$(cmp "$name.out" "$name.expected" 2>&1)" ""
	llvm-profdata-19 merge -o "$name.own.profdata" "$name.own.profraw" || fail "$name: own profile"
	"$swlbr" convert -q -i "$name.data" -f llvm-profdata -o "$name.ours.profdata" ||
		fail "$name: convert to .profdata"
	"$swlbr" convert -q -i "$name.data" -f llvm-profraw -o "$name.ours.profraw" ||
		fail "$name: convert to .profraw"
	"$swlbr" convert -q -i "$name.own.profraw" -f llvm-profdata -o "$name.raw.profdata" ||
		fail "$name: convert its own .profraw"
	llvm-profdata-19 merge -o "$name.remade.profdata" "$name.ours.profraw" ||
		fail "$name: llvm-profdata merge of our .profraw"
	show "$name.own.profdata" >"$name.own"
	is "$name: the profile is not empty" \
		"$([ "$(grep -c 'Block counts: \[.*[1-9]' "$name.own")" -gt 20 ] && echo yes)" yes
	for kind in ours raw remade; do
		show "$name.$kind.profdata" >"$name.$kind"
		is "$name: $kind equals its own" \
			"$(diff "$name.own" "$name.$kind" | head -5)" ""
	done
	for kind in own ours; do
		cp "$name.$kind.profdata" use.profdata
		rm -rf "$WORKLOADS/use-$kind/$name" "$WORKLOADS/use-$kind/$name.recipe"
		"$root/scripts/workloads.sh" --cc clang-19 --variant "use-$kind" \
			--cflags "-fprofile-use=$PWD/use.profdata -Wno-everything -Wl,--build-id=none" \
			"$name" >log 2>&1 || fail "$name: build with the $kind profile: $(tail -1 log)"
	done
	is "$name: clang makes the same .text of both" \
		"$(text "$WORKLOADS/use-ours/$name")" "$(text "$WORKLOADS/use-own/$name")"
done
exit $status
