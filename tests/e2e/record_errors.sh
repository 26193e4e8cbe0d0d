#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Bad input: one line, exit 1, and nothing half-written.
. "$(dirname "$0")/lib/common.sh"
cd "$scratch" || exit 1
build_endings || { fail "build"; exit 1; }

# there: all files here, and at the other places that outputs are sent to
there()
{
	find . ! -path ./out ! -path ./both ! -path ./err | sort
	stat -c '%n %F' /nonexistent /dev/full /dev/.full* 2>/dev/null
}

# refuses NAME REGEX COMMAND…
refuses()
{
	local name=$1 regex=$2 before

	shift 2
	before=$(there)
	timeout 60 "$@" >out 2>both
	is "$name: status" $? 1
	grep -v '^LLVM Profile' both >err # the program's own
	says "$name: says why" err "^perf swlbr: $regex"
	is "$name: no output" "$(diff <(echo "$before") <(there))" ""
}

refuses "no such program" '/nonexistent: No such file or directory$' \
	"$swlbr" record -o x.data -- /nonexistent
refuses "not instrumented" '.*/true: .*built without -fprofile-generate; see perf swlbr cflags$' \
	"$swlbr" record -o x.data -- /bin/true
head -c 20000 endings >truncated
chmod +x truncated
refuses "truncated ELF" './truncated: ended by signal .* before it began: is the file whole[?]$' \
	"$swlbr" record -o x.data -- ./truncated
refuses "unwritable output" '/nonexistent/x.data: .*No such file or directory$' \
	"$swlbr" record -o /nonexistent/x.data -- ./endings exit
refuses "full device" '/dev/full: .*No space left on device$' \
	"$swlbr" record -o /dev/full -- ./endings exit
refuses "output is a directory" '\.: .*[Ii]s a directory' "$swlbr" record -o . -- ./endings exit

# A version that nobody knows yet: the version word is patched.
/usr/bin/python3 - <<'P'
data = bytearray(open("endings", "rb").read())
word = (0x0100000000000000 | 10).to_bytes(8, "little")
at = -1
while (at := data.find(word, at + 1)) >= 0:
    data[at] = 99
open("future", "wb").write(data)
P
chmod +x future
refuses "unknown raw version" '.*future: raw profile version 99 is not known' \
	"$swlbr" record -o x.data -- ./future exit

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 . && cp "$swlbr" . && mkdir -m 777 free
	refuses "no permission to trace" 'process 1: no permission to trace it' \
		setpriv --reuid=65534 --clear-groups ./perf-swlbr record -o free/x.data -p 1
	setpriv --reuid=65534 --clear-groups ./perf-swlbr record -q -o free/u.data -- \
		"$PWD/endings" exec 2>err
	is "works without privileges" "$(marked_count free/u.data)" 208
else
	echo "skip without privileges: cannot be another user here"
fi
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=8k none small 2>/dev/null; then
	timeout 60 "$swlbr" record -o small/x.data -- ./endings fork_many >out 2>err
	is "full disk: status" $? 1
	says "full disk: says so" err 'small/x.data: .*No space left on device$'
	is "full disk: nothing is left" "$(ls -A small)" ""
	umount small
else
	echo "skip a full disk: cannot mount one here"
fi

echo old >x.data
timeout 60 "$swlbr" record -o x.data -- /bin/true >out 2>err
is "an older file survives a failure" "$(cat x.data)" old
"$swlbr" record -q -o x.data -- ./endings exit 2>err
is "an older file is kept as .old" "$(cat x.data.old)" old
for arguments in "record" "record -p abc" "record -F 0 -- ./endings exit" "record --nonsense"; do
	# shellcheck disable=SC2086
	timeout 60 "$swlbr" $arguments >out 2>err
	is "usage error: $arguments" $? 129
done
exit $status
