# SPDX-License-Identifier: GPL-2.0-only
# Sourced by tests that count the taken branches of programs: after common.sh, in a folder that has
# in.txt for bzip2 and zstd and in.sql for sqlite3.

# run NAME PROGRAM [COMMAND…]: the program of that name, by a command if there is one
run()
{
	local name=$1 program=$2

	shift 2
	case $name in
	lua) "$@" "$program" "$here/lib/bench.lua" 16 ;;
	bzip2) "$@" "$program" -9 -k -c in.txt ;;
	zstd) "$@" "$program" -9 --single-thread -c in.txt ;;
	sqlite3) "$@" "$program" :memory: <in.sql ;;
	*) "$@" "$program" ;;
	esac
}

# count NAME PROGRAM ARCS
count() { run "$1" "$2" "$swlbr" record -q --emulate=counts -o "$3" --; }

# taken ARCS BINARY: taken branches in it
taken()
{
	local id

	id=$(readelf -n "$2" | sed -n 's/.*Build ID: //p')
	awk -v id="$id" '$1 == "branch" && $2 == id { n += $5 } END { printf "%d\n", n }' "$1"
}
