#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Making a sample profile of an edge profile that meets all code of a binary: wall time and peak
# memory, ours and llvm-profgen's, in turns.
#   SYMBOLIZE_BINARY: a binary with debug information and a build-id (sqlite3 built with -g3)
#   ROUNDS (5)
. "$(dirname "$0")/lib/start.sh"
rounds=${ROUNDS:-5}
if [ -z "${SYMBOLIZE_BINARY-}" ]; then
	scripts/workloads.sh --variant debug3 --cflags "-g3 -fdebug-macro -Wl,--build-id" sqlite3 \
		>/dev/null || exit 1
	SYMBOLIZE_BINARY=$WORKLOADS/debug3/sqlite3
fi

# median FILE: of the times in its lines, and the greatest memory
median() { sort -n -k1 "$1" | awk '{ s[NR] = $1; if ($3 > m) m = $3 } END { print s[int((NR + 1) / 2)], m }'; }

/usr/bin/python3 tests/e2e/lib/synthetic_arcs.py "$SYMBOLIZE_BINARY" 0.6 >"$scratch/arcs" || exit 1
"$swlbr" convert -q -i "$scratch/arcs" -f llvm-unsymbolized -o "$scratch/unsymbolized" \
	"$SYMBOLIZE_BINARY" || exit 1
for _ in $(seq "$rounds"); do
	measure "$swlbr" convert -q -i "$scratch/arcs" -f llvm-sample -o "$scratch/ours.text" \
		"$SYMBOLIZE_BINARY" >>"$scratch/ours" || exit 1
	measure llvm-profgen-19 --unsymbolized-profile="$scratch/unsymbolized" \
		--binary="$SYMBOLIZE_BINARY" --format=text -o "$scratch/theirs.text" \
		>>"$scratch/theirs" 2>"$scratch/err" || { cat "$scratch/err"; exit 1; }
done
addresses=$(llvm-objdump-19 -d --no-show-raw-insn "$SYMBOLIZE_BINARY" | grep -cE '^ *[0-9a-f]+:')
debug=$(readelf -SW "$SYMBOLIZE_BINARY" | awk '/ \.debug_/ { sub(/.*PROGBITS */, ""); n += strtonum_hex($3) }
	function strtonum_hex(h,   i, v) {
		for (i = 1; i <= length(h); i++) v = v * 16 + index("0123456789abcdef", substr(h, i, 1)) - 1
		return v
	} END { printf "%.1f", n / 1e6 }')
echo "$(basename "$SYMBOLIZE_BINARY"): $debug MB of DWARF, $addresses instructions, $(wc -l <"$scratch/arcs") edges"
read -r our_time our_memory < <(median "$scratch/ours")
read -r their_time their_memory < <(median "$scratch/theirs")
echo "llvm-profgen-19: $their_time s, $((their_memory / 1024)) MB; ours: $our_time s, $((our_memory / 1024)) MB"
awk -v a="$our_time" -v b="$their_time" -v c="$our_memory" -v d="$their_memory" \
	'BEGIN { printf "time %.2f x (goal 0.33), memory %.2f x (goal 0.5)\n", a / b, c / d }'
cmp -s "$scratch/ours.text" "$scratch/theirs.text" && echo "ok symbolize: the same to the byte" ||
	{ echo "FAIL symbolize: the profiles differ"; exit 1; }
