# SPDX-License-Identifier: GPL-2.0-only
# Sourced by benchmarks and the demonstration: programs, the input that their profiles are from
# ("train"), another one to measure with ("measure"), and exact counts of a run. Works in the current
# folder, on programs of scripts/workloads.sh; wants $swlbr and $root.

# make_inputs NAME…
make_inputs()
{
	local name

	for name in "$@"; do
		case $name in
		lua)
			cp "$root/tests/e2e/lib/bench.lua" train.lua
			cp "$root/tests/bench/lib/measure.lua" measure.lua
			;;
		bzip2 | zstd)
			[ ! -f measure.txt ] || continue
			"$root/scripts/workloads.sh" --source bzip2 lua
			(cd "$WORKLOADS/src" && LC_ALL=C cat bzip2/*.c lua/src/*.c) >all.txt
			head -c 700000 all.txt >train.txt
			tail -c 700000 all.txt | tr 'a-y' 'b-z' >measure.txt
			;;
		sqlite3)
			"$root/tests/e2e/lib/sql.sh" 8000 >train.sql
			"$root/tests/bench/lib/measure_sql.sh" 6000 >measure.sql
			;;
		esac
	done
}

# run_program train|measure NAME PROGRAM [WRAPPER…]
run_program()
{
	local input=$1 name=$2 program=$3

	shift 3
	case $name.$input in
	lua.train) "$@" "$program" train.lua 26 ;;
	lua.measure) "$@" "$program" measure.lua ;;
	bzip2.*) "$@" "$program" -9 -k -c "$input.txt" ;;
	zstd.*) "$@" "$program" -q -9 --single-thread -c "$input.txt" ;;
	sqlite3.*) "$@" "$program" :memory: <"$input.sql" ;;
	esac
}

# totals train|measure NAME PROGRAM: "N instructions, N taken branches" in the program's own code. What
# it prints must be what the builds before it have printed.
totals()
{
	local input=$1 name=$2 program=$3

	run_program "$@" "$swlbr" record -q --emulate=counts -o totals.arcs -- >"$name.$input.new" ||
		return 1
	[ ! -f "$name.$input.out" ] || cmp "$name.$input.out" "$name.$input.new" >&2 || return 1
	mv "$name.$input.new" "$name.$input.out"
	/usr/bin/python3 "$root/tests/accuracy/totals.py" totals.arcs "$program"
}
