#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A library whose munmap is let go on, while its thread does not get a processor for so long that the
# recorder looks at the mappings: what it ran is counted once, and nothing is said to be missing.
. "$(dirname "$0")/lib/common.sh"
cd "$scratch" || exit 1
build_endings || { fail "build"; exit 1; }
export ENDINGS_LIBRARY=$scratch/libendings.so

if [ "$(nproc)" -lt 2 ] || ! chrt -f 1 true 2>/dev/null; then
	echo "skip a program kept from its processor: that needs two, and leave to have real-time priority"
	exit 0
fi
read -r first last < <(taskset -pc $$ | sed 's/.*: //; s/[-,].*[-,]/ /; s/[-,]/ /')

kept=0
for attempt in 1 2 3; do
	rm -f pid
	timeout 50 /usr/bin/python3 "$here/lib/keep_back.py" "$last" pid libendings.so 0.25 >times &
	keeper=$!
	taskset -c "$first" timeout 50 "$swlbr" record -q -o e.data -- taskset -c "$last" \
		sh -c 'echo $$ >pid; sleep 0.3; exec ./endings dlclose_slowly' 2>err
	is "run $attempt: status, nothing said" "$? $(cat err)" "0 "
	wait $keeper || fail "run $attempt: keep_back.py"
	is "run $attempt: count" "$(marked_count e.data)" 125
	kept=$((kept + $(cat times)))
done
if [ "$kept" -gt 0 ]; then
	ok "kept from its processor in munmap: $kept times"
else
	fail "the program was never kept from its processor: nothing was tested"
fi
exit $status
