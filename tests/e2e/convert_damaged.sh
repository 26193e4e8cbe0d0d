#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Damaged input costs what is damaged and no more; what cannot be used is refused with one line that
# names the file, exit status 1, and no output.
. "$(dirname "$0")/convert/lib.sh"

n= tool=
for n in 19 22 16 15 14; do
	command -v "clang-$n" >/dev/null && tool=$(profdata_of "$n") && [ -n "$tool" ] && break
done
if [ -z "$tool" ]; then
	echo "skip convert_damaged no clang here"
	exit 0
fi
build "$n" -fprofile-generate -Wl,--build-id || { echo "FAIL convert_damaged cannot build"; exit 1; }
LLVM_PROFILE_FILE=$PWD/good.profraw ./loops 5000 >/dev/null
LLVM_PROFILE_FILE=$PWD/calls.profraw ./calls 5000 >/dev/null

# refused TEXT ARGUMENT…: convert fails with one line that has TEXT, and writes nothing.
refused()
{
	local text=$1 status
	shift
	rm -f out
	"$asan" convert -f llvm-profdata -o out "$@" >refused.out 2>refused.err
	status=$?
	cat refused.err
	[ $status = 1 ] && [ ! -e out ] && [ ! -s refused.out ] && [ "$(wc -l <refused.err)" = 1 ] &&
		grep -qF -e "$text" refused.err && grep -q '^perf swlbr: ' refused.err
}

: >empty.profraw
head -c 3000 /dev/urandom >garbage.profraw
printf '\201rforpl\377' >short.profraw
mkdir folder
"$tool" merge good.profraw -o good.profdata
check "an empty file" refused "empty.profraw: empty" -i empty.profraw
check "an empty file among others" refused "empty.profraw: empty" -i good.profraw,empty.profraw
check "garbage" refused "garbage.profraw: neither a perf.data nor a raw profile" -i garbage.profraw
check "a profile of only a magic" refused "short.profraw: header cut off" -i short.profraw
check "a file that is not there" refused "none.profraw: No such file" -i none.profraw
check "a folder" refused "folder: Is a directory" -i folder
check "an indexed profile" refused "good.profdata: neither" -i good.profdata
check "no perf.data" refused "perf.data: No such file"
check "a binary that is not there" refused "nowhere: No such file" -i good.profraw nowhere
check "a binary that is none" refused "empty.profraw: " -i good.profraw empty.profraw

# All counters 0: the program was built to be profiled and its profile reset.
cat >reset.c <<'EOF'
void __llvm_profile_reset_counters(void);
int main(void) { __llvm_profile_reset_counters(); return 0; }
EOF
"clang-$n" -O2 -fprofile-generate reset.c -o reset && LLVM_PROFILE_FILE=$PWD/zero.profraw ./reset
check "all counters are 0" refused "zero.profraw: all counters are 0" -i zero.profraw

not_readable()
{
	cp good.profraw secret.profraw && chmod 0 secret.profraw && chmod 755 . || return 1
	setpriv --reuid 65534 --clear-groups --bounding-set -all "$asan" convert -i secret.profraw \
		-f llvm-profdata -o /dev/null 2>refused.err
	[ $? = 1 ] && grep -q 'secret.profraw: Permission denied' refused.err
}
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --clear-groups test -x "$asan" 2>/dev/null; then
	check "a file that may not be read" not_readable
else
	echo "skip a file that may not be read: cannot be another user here"
fi

# full FORMAT: a full disk is an error.
full()
{
	"$asan" convert -q -i good.profraw -f "$1" -o /dev/full 2>full.err
	[ $? = 1 ] && [ "$(wc -l <full.err)" = 1 ] && grep -q '/dev/full: .*No space left' full.err
}
check "a full disk, .profdata" full llvm-profdata
check "a full disk, .profraw" full llvm-profraw

untouched()
{
	echo old >out.profdata
	! "$asan" convert -i garbage.profraw -f llvm-profdata -o out.profdata 2>/dev/null &&
		[ "$(cat out.profdata)" = old ] &&
		! "$asan" convert -i good.profraw -f llvm-profdata -o nowhere/out 2>untouched.err &&
		grep -q 'nowhere/out: ' untouched.err
}
check "an older output stays if there is no new one" untouched

# Every cut of the file: repaired, so that llvm-profdata reads the result, or refused.
cuts()
{
	local size status repaired=0 refused=0 total
	total=$(stat -c %s good.profraw)
	for ((size = 0; size < total; size += 13)); do
		head -c $size good.profraw >cut.profraw
		rm -f cut.profdata
		"$asan" convert -q -i cut.profraw -f llvm-profdata -o cut.profdata ./loops 2>cut.err
		status=$?
		grep -q '^perf swlbr: .*cut.profraw' cut.err || { echo "nothing said at $size"; return 1; }
		if [ $status = 0 ]; then
			"$tool" show cut.profdata >/dev/null || return 1
			repaired=$((repaired + 1))
		elif [ $status = 1 ]; then
			[ ! -e cut.profdata ] || return 1
			refused=$((refused + 1))
		else
			cat cut.err
			return 1
		fi
	done
	echo "$repaired repaired, $refused refused"
	[ $repaired -gt 10 ] && [ $refused -gt 3 ]
}
check "a file cut off anywhere" cuts

# patch FILE OFFSET HEX: bytes over others.
patch()
{
	printf "$(sed 's/../\\x&/g' <<<"$3")" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# Words of the header: data records and counters; the first record stands after the ids.
word()
{
	od -An -t u8 -j "$2" -N 8 "$1" | tr -d ' '
}
header=$((n < 18 ? 88 : 128))
record=$((n < 18 ? 48 : 64))
data=$((header + $(word good.profraw 16)))
counters=$((data + record * $(word good.profraw 24)))

wrapped()
{
	cp good.profraw bad.profraw
	patch bad.profraw $counters f0ffffffffffffff
	"$asan" convert -i bad.profraw -f llvm-profdata -o repaired.profdata 2>repaired.err || return 1
	cat repaired.err
	[ "$(grep -c 'warning: bad.profraw: function .*over 2^56.*left out' repaired.err)" = 1 ] &&
		grep -q '1 damaged functions left out' repaired.err || return 1
	"$tool" merge -text good.profraw -o good.text && "$tool" merge -text repaired.profdata \
		-o repaired.text || return 1
	# What is missing is one function: nothing is changed, nothing is new.
	! diff good.text repaired.text | grep '^>' && ! cmp -s good.text repaired.text
}
check "a wrapped counter costs its function" wrapped

astray()
{
	cp good.profraw bad.profraw
	patch bad.profraw $((data + record + 16)) 0000000000000040
	! "$tool" merge bad.profraw -o theirs.profdata 2>/dev/null || echo "llvm-profdata reads it"
	"$asan" convert -i bad.profraw -f llvm-profraw -o repaired.profraw 2>repaired.err || return 1
	cat repaired.err
	[ "$(grep -c 'outside the counters section; left out' repaired.err)" = 1 ] || return 1
	"$tool" merge repaired.profraw -o repaired.profdata &&
		"$tool" merge -text good.profraw -o good.text &&
		"$tool" merge -text repaired.profdata -o repaired.text || return 1
	! diff good.text repaired.text | grep '^>' && ! cmp -s good.text repaired.text
}
check "counters astray cost their function" astray

many()
{
	local i
	cp calls.profraw bad.profraw
	for ((i = 0; i < 12; i++)); do
		patch bad.profraw $((header + $(word calls.profraw 16) + record * i + 16)) \
			0000000000000040
	done
	"$asan" convert -i bad.profraw -f llvm-profdata -o out.profdata 2>many.err || { cat many.err; return 1; }
	cat many.err
	[ "$(grep -c 'left out$' many.err)" = 10 ] && grep -q 'and 2 more (-v tells all)' many.err &&
		"$asan" convert -v -i bad.profraw -f llvm-profdata -o out.profdata 2>many.err &&
		[ "$(grep -c 'left out$' many.err)" = 12 ]
}
check "much damage is told briefly" many

mixed()
{
	"clang-$n" -O2 -fprofile-instr-generate "$sources/loops.c" "$sources/other.c" -o front &&
		LLVM_PROFILE_FILE=$PWD/front.profraw ./front 10 >/dev/null || return 1
	refused "do not mix" -i good.profraw,front.profraw
}
check "instrumentation of two kinds" mixed

usage()
{
	"$asan" convert -i good.profraw -f nonsense -o out 2>usage.err
	[ $? = 129 ] && grep -q "unknown format 'nonsense'" usage.err || return 1
	"$asan" convert -i good.profraw -f llvm-profdata 2>usage.err
	[ $? = 129 ] && grep -q 'no output file given (-o)' usage.err || return 1
	"$asan" convert --list-formats | grep -q '^llvm-profdata ' &&
		"$asan" convert --help | grep -q 'Examples:'
}
check "misuse is told" usage

streams()
{
	"$asan" convert -q -i <(cat good.profraw) -f llvm-profdata -o - >piped.profdata &&
		cmp piped.profdata <("$asan" convert -q -i good.profraw -f llvm-profdata -o -) &&
		"$asan" convert -i good.profraw -f llvm-profdata -o out.profdata 2>summary.err &&
		grep -q 'wrote out.profdata: [1-9][0-9]* functions' summary.err &&
		"$asan" convert -q -i good.profraw -f llvm-profdata -o out.profdata 2>quiet.err &&
		[ ! -s quiet.err ]
}
check "pipes, the summary, silence" streams
exit $failed
