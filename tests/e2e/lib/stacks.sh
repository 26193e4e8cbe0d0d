# SPDX-License-Identifier: GPL-2.0-only
# Sourced after common.sh by tests of branch stacks that are made of counters. Nothing of an earlier
# recording is there when one is looked at.

# record OUTPUT ARGUMENTS…: the program's own output is of no interest
record() { rm -f "$1"; "$swlbr" record -q -o "$@" >/dev/null || fail "record -o $*"; }

# arcs_of OUTPUT DATA [OPTION…]
arcs_of()
{
	local output=$1

	shift
	rm -f "$output"
	"$swlbr" convert -q -i "$1" -f arcs -o "$output" "${@:2}" || fail "convert -i $*"
}

# calls_of ARCS BINARY FUNCTION: the sum of branches to its begin, of the same binary and of outside
calls_of()
{
	local to id

	to=0x$(nm "$2" | awk -v name="$3" '$3 == name { print $1 }' | sed 's/^0*//')
	id=$(readelf -n "$2" | sed -n 's/.*Build ID: //p')
	awk -F'\t' -v to="$to" -v id="$id" '
		$1 == "branch" && ($2 == id && $4 == to || $4 == id ":" to) { sum += $5 }
		END { print sum + 0 }' "$1"
}

# coherent NAME DATA: perf finds straight-line code between all entries
coherent()
{
	local name=$1 data=$2

	perf script -i "$data" -F +brstackinsn >insn.out 2>/dev/null
	is "$name: perf finds the code of all stacks" \
		"$? $(grep -ciE 'mismatch|no text' insn.out) $([ "$(wc -l <insn.out)" -gt 1000 ] && echo some)" \
		"0 0 some"
}

# profiled NAME DATA BINARY…: llvm-profgen is content
profiled()
{
	local name=$1 data=$2 binary

	for binary in "${@:3}"; do
		rm -f profgen.prof
		llvm-profgen-19 --perfdata="$data" --binary="$binary" --output=profgen.prof >profgen.out 2>&1
		is "$name: llvm-profgen is content with $binary" \
			"$? $(grep -ciE 'warning|error' profgen.out) $(test -s profgen.prof && echo some)" "0 0 some"
	done
}

# bolted NAME DATA BINARY…: perf2bolt finds no trace that the code does not have
bolted()
{
	local name=$1 data=$2 binary

	for binary in "${@:3}"; do
		rm -f bolt.fdata
		/usr/lib/llvm-19/bin/perf2bolt -p "$data" -o bolt.fdata "$binary" >bolt.out 2>&1
		is "$name: perf2bolt is content with $binary" \
			"$? $(grep -oE 'traces mismatching disassembled function contents: [0-9]+' bolt.out |
				grep -o '[0-9]*$') $(test -s bolt.fdata && echo some)" "0 0 some"
	done
}

# overlaps NAME DATA ARCS: stacks and totals of one recording tell the same branches
overlaps()
{
	arcs_of stacks.arcs "$2" --from stacks
	is "$1: stacks overlap with totals by over 98 %" \
		"$(/usr/bin/python3 "$here/../accuracy/overlap_arcs.py" "$3" stacks.arcs |
			awk '{ print ($1 > 98) }')" 1
}
