#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Calls that do not return, since what they call throws or calls longjmp: each branch is as often as in
# the same program emulated, and known by counters alone.
. "$(dirname "$0")/lib/common.sh"
cd "$scratch" || exit 1
export XDG_CACHE_HOME=$scratch/cache
flags="-O2 $("$swlbr" cflags --cc "$cc")"

# own BINARY ARCS: branches from one place of the binary to another, "FROM TO COUNT"
own()
{
	awk -F'\t' -v id="$(readelf -n "$1" | sed -n 's/.*Build ID: //p')" \
		'$1 == "branch" && $2 == id && $4 !~ /:/ && $4 != "[outside]" { print $3, $4, $5 }' "$2" |
		sort
}

# as_emulated NAME BINARY BRANCHES: there are at least so many that are compared
as_emulated()
{
	"$swlbr" record -q --emulate=counts -o "$2.truth" -- ./"$2" >/dev/null 2>err ||
		fail "$1: emulated: $(cat err)"
	"$swlbr" record -v -o "$2.data" -- ./"$2" >out 2>err || fail "$1: record: $(cat err)"
	is "$1: all decided by counters alone" "$(grep -o '[0-9.]* % decided' err)" "100.0 % decided"
	"$swlbr" convert -q -i "$2.data" -f arcs -o "$2.arcs" 2>err || fail "$1: convert: $(cat err)"
	own "$2" "$2.arcs" >got
	own "$2" "$2.truth" >wanted
	is "$1: at least $3 branches" "$(awk -v n="$3" 'END { print (NR >= n) }' got)" 1
	is "$1: each as often as emulated" "$(comm -23 got wanted)" ""
}

# shellcheck disable=SC2086
$cc $flags -o longjmp "$here/unreturned/longjmp.c" || fail "build of longjmp.c"
# shellcheck disable=SC2086
$cc $flags -static -o longjmp-static "$here/unreturned/longjmp.c" || fail "static build of longjmp.c"
# shellcheck disable=SC2086
${cc/clang/clang++} $flags -o throw "$here/unreturned/throw.cc" || fail "build of throw.cc"
# shellcheck disable=SC2086
$cc $flags -o namesake "$here/unreturned/namesake.c" || fail "build of namesake.c"
as_emulated longjmp longjmp 10
as_emulated "longjmp in a static program" longjmp-static 10
as_emulated throw throw 10
as_emulated "a namesake of err()" namesake 3
