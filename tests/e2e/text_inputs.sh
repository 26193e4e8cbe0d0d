#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Edge profiles in other tools' text are read back as what they were made from.
. "$(dirname "$0")/lib/common.sh"
root=$(cd "$here/../.." && pwd)
hw=$root/../shared/hw
asan=$BUILD_ASAN/perf-swlbr
cd "$scratch" || exit 1
cp "$(command -v gzip)" program
"$swlbr" record -q --emulate -c 1009 -o perf.data -- ./program -9 -c "$root/README.md" >/dev/null 2>err ||
	fail "record --emulate: $(cat err)"
"$swlbr" convert -q -i perf.data -f arcs -o all.arcs 2>err || fail "convert: $(cat err)"
id=$(readelf -n program | sed -n 's/.*Build ID: //p')

# rows FILE KINDS: what of it is inside the program
rows() { awk -F'\t' -v id="$id" -v kinds="$2" '$2 == id && $4 !~ /:/ && $1 ~ kinds {
	print $1, $3, $4, $5 }' "$1"; }

is "the recording has edges" "$([ "$(rows all.arcs . | wc -l)" -gt 50 ] && echo many)" many
for format in autofdo-text llvm-unsymbolized bolt-preagg; do
	"$swlbr" convert -q -i perf.data -f $format -o $format.txt program 2>err || fail "$format: $(cat err)"
	"$asan" convert -q -i $format.txt -f arcs -o $format.arcs program 2>err || fail "$format: $(cat err)"
	# What runs in stubs of the procedure linkage table is no code to BOLT.
	[ $format = bolt-preagg ] && kinds=branch || kinds=.
	is "$format comes back" "$(diff <(rows all.arcs $kinds) <(rows $format.arcs $kinds) | head -3)" ""
	"$asan" convert -q -i $format.txt -f arcs -o x.arcs 2>err
	is "$format without its binary: status" $? 1
	says "$format without its binary: which is to be given" err "give that one as the argument"
done
printf 'B X:0 %x 3 1\nB 1000 1010 7 2\nF 1000 1008 9\n' 4096 >mini.txt
"$asan" convert -i mini.txt -f arcs -o mini.arcs program 2>err
is "bolt: mispredictions" "$(awk '$1 == "branch" { print $5, $6 }' mini.arcs)" "7 2"
is "bolt: an end that is not known is told" "$(grep -c '1 rows are at no place' err)" 1

# Standard input, from a pipe and from a file, tells by its beginning what it is.
perf script -i perf.data -F ip,brstack --show-mmap-events >perf.txt 2>/dev/null
"$asan" convert -q -i perf.txt -f arcs -o perf.arcs program 2>err || fail "perf script: $(cat err)"
for input in perf.txt perf.data all.arcs autofdo-text.txt; do
	"$asan" convert -q -i $input -f arcs -o file.arcs program 2>err || fail "$input: $(cat err)"
	for way in "cat $input |" "<$input"; do
		rm -f got.arcs
		eval "$way"' "$asan" convert -q -i - -f arcs -o got.arcs program 2>err'
		is "$way convert -i -" "$(cmp got.arcs file.arcs 2>&1)" ""
	done
done
rm -f got.arcs
while IFS= read -r line; do echo "$line"; done <autofdo-text.txt | "$asan" convert -q -i - -f arcs -o got.arcs program 2>err
is "line by line through a pipe" "$(cmp got.arcs file.arcs 2>&1)" ""
echo hello | "$asan" convert -q -i - -f arcs -o bad.arcs program 2>err
is "other text from a pipe: status" $? 1
says "other text from a pipe" err "standard input: not a perf.data"

# Damage is told with its line.
while IFS='|' read -r name text line; do
	printf "$text" >bad.txt
	"$asan" convert -q -i bad.txt -f arcs -o bad.arcs program 2>err
	is "$name: status" $? 1
	says "$name: the line" err "bad.txt: .*\(line $line\)$"
done <<'BAD'
rows that end too soon|2\n10-20:3\n|2
a row that is none|2\n10-20:3\nnonsense\n|3
a range that is negative|1\n20-10:3\n|2
a count that is none|1\n10-20:x\n|2
an unknown kind of row|B 10 20 1 0\nT 10 20 30 1\n|2
a wrong number of columns|B 10 20 1 0\nF 10 20\n|2
BAD

if [ -d "$hw" ]; then
	zstd -dqf -o test.lbr "$hw/test.lbr.zst"
	"$swlbr" convert -q -i test.lbr -f arcs -o lbr.arcs 2>/dev/null
	perf script -i test.lbr -F ip,brstack --show-mmap-events >lbr.txt 2>/dev/null
	"$asan" convert -q -i lbr.txt -f arcs -o script.arcs 2>err || fail "perf script: $(cat err)"
	is "perf script's text gives what the perf.data gives" "$(cmp lbr.arcs script.arcs 2>&1)" ""
	{
		grep -m1 'test.binary' lbr.txt
		echo 3
		printf '\t404e80\n 0x404e8e/0x404e80/M/-/-/7 0x404e90/0x404e80/P/-/-/0\n'
	} >repeat.txt
	"$asan" convert -q -i repeat.txt -f arcs -o repeat.arcs 2>err || fail "repeat: $(cat err)"
	is "a sample with a count before it" "$(awk '{ print $1, $3, $4, $5, $6, $7 }' repeat.arcs |
		tail -n +2 | tr '\n' ';')" \
		"branch +0x4e8e +0x4e80 3 3 21;branch +0x4e90 +0x4e80 3 0 0;range +0x4e80 +0x4e8e 3 0 0;"
else
	echo "skip text_inputs: ../shared/hw is not there"
fi
exit $status
