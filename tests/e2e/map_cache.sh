#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The cache of branch maps: the same map with and without it, whatever happens to its files.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib/common.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
swlbr=$BUILD_ASAN/perf-swlbr
export XDG_CACHE_HOME=$scratch/cache

cat >"$scratch/p.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
static int f(int x) { return x % 3 ? x + 1 : x * 2; }
int main(int argc, char **argv)
{
	int sum = 0;
	for (int i = 0; i < argc * 1000; i++)
		sum += f(i ^ atoi(argv[0]));
	printf("%d\n", sum);
}
C
clang-19 -O2 $("$swlbr" cflags --cc clang-19) -o "$scratch/p" "$scratch/p.c" || exit 1
dump() { "$swlbr" map --dump "$@" "$scratch/p"; }
dump --no-cache >"$scratch/fresh"
[ -s "$scratch/fresh" ] && grep -q 'counter' "$scratch/fresh" || { echo "FAIL no map to compare with"; exit 1; }
same() { cmp -s "$scratch/fresh" "$scratch/got" && echo "ok $1" || echo "FAIL $1"; }

[ ! -e "$XDG_CACHE_HOME" ] && echo "ok --no-cache leaves no file" || echo "FAIL --no-cache leaves no file"
dump >"$scratch/got"; same "the map that goes into the cache"
file=$(find "$XDG_CACHE_HOME/swlbr/map" -type f)
[ "$(wc -l <<<"$file")" = 1 ] && [ -s "$file" ] && echo "ok one file for one binary" || echo "FAIL one file for one binary: $file"
inode=$(stat -c %i "$file")
dump >"$scratch/got"; same "the map out of the cache"
[ "$(stat -c %i "$file")" = "$inode" ] && echo "ok a sound file is not written again" || echo "FAIL a sound file is not written again"

# Every way to damage it: cut off, a byte changed anywhere, longer, empty, a folder.
size=$(stat -c %s "$file") good=$scratch/good
cp "$file" "$good"
bad=0
for at in 0 8 12 16 20 24 48 56 64 $((size / 3)) $((size / 2)) $((size - 1)); do
	cp "$good" "$file"
	printf '\x5a' | dd of="$file" bs=1 seek="$at" conv=notrunc status=none
	cmp -s "$good" "$file" && printf '\xa5' | dd of="$file" bs=1 seek="$at" conv=notrunc status=none
	dump >"$scratch/got" 2>"$scratch/err" && cmp -s "$scratch/fresh" "$scratch/got" &&
		[ ! -s "$scratch/err" ] || { bad=1; echo "# byte $at: $(head -1 "$scratch/err")"; }
	cmp -s "$good" "$file" || { bad=1; echo "# byte $at: not written anew"; }
done
[ $bad = 0 ] && echo "ok a changed byte: made anew, and written" || echo "FAIL a changed byte"
head -c $((size / 2)) "$good" >"$file"
dump >"$scratch/got"; same "a file cut off"
cat "$good" "$good" >"$file"
dump >"$scratch/got"; same "a file too long"
: >"$file"
dump >"$scratch/got"; same "an empty file"
rm "$file" && mkdir "$file"
dump >"$scratch/got" 2>"$scratch/err"; same "a folder in its place"
rmdir "$file"

# Others write at the same time.
for i in 1 2 3 4 5 6 7 8; do
	(for k in 1 2 3; do rm -f "$file"; dump >"$scratch/got.$i" 2>&1; cmp -s "$scratch/fresh" "$scratch/got.$i" || echo bad >>"$scratch/bad"; done) &
done
wait
[ ! -e "$scratch/bad" ] && echo "ok eight writers at once" || echo "FAIL eight writers at once"
find "$XDG_CACHE_HOME" -type f | grep -qv "^$file\$" && echo "FAIL temporary files stay" || echo "ok no temporary files stay"

# Nowhere to write.
XDG_CACHE_HOME=/proc/nowhere dump >"$scratch/got" 2>"$scratch/err"; same "a cache folder that cannot be made"
[ ! -s "$scratch/err" ] && echo "ok and nothing is said of it" || echo "FAIL and nothing is said of it: $(cat "$scratch/err")"
env -u XDG_CACHE_HOME -u HOME "$swlbr" map --dump "$scratch/p" >"$scratch/got"; same "no home"

# A stripped copy has the same build-id and another map.
cp "$scratch/p" "$scratch/s" && strip "$scratch/s"
"$swlbr" map --dump --no-cache "$scratch/s" >"$scratch/stripped"
"$swlbr" map --dump "$scratch/s" >/dev/null
"$swlbr" map --dump "$scratch/s" >"$scratch/got"
cmp -s "$scratch/stripped" "$scratch/got" && ! cmp -s "$scratch/fresh" "$scratch/got" &&
	echo "ok a stripped copy has a map of its own" || echo "FAIL a stripped copy has a map of its own"
