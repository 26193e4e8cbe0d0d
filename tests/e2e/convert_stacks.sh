#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Branch stacks into edges: what is told when something is wrong, where binaries are looked for,
# filters, JSON, and more inputs than a process may have files open.
. "$(dirname "$0")/lib/common.sh"
cd "$scratch" || exit 1
cat >program.c <<'C'
#include <stdlib.h>
__attribute__((noinline)) static int odd(int n) { return n & 1 ? n * 3 : n / 2; }
int main(int argc, char **argv)
{
	volatile int sum = 0;
	for (int i = argc > 1 ? atoi(argv[1]) : 1000; i; i--)
		sum += odd(i);
	return 0;
}
C
$cc -O1 -g -Wl,--build-id -o program program.c || fail "build"
"$swlbr" record -q --emulate -c 101 -o perf.data -- ./program 5000 2>err || fail "record: $(cat err)"
rows() { awk -F'\t' -v id="$2" '$2 == id' "$1" | wc -l; }
id_of() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }
then_id=$(id_of program)

"$swlbr" convert -i perf.data -f arcs -o good.arcs 2>err
is "a recording of this program: status" $? 0
is "all agrees: no warning" "$(grep -c warning err)" 0
is "all agrees: that is told" "$(grep -c 'program (build-id agrees)' err)" 1
is "its addresses are the ELF file's" "$(awk -F'\t' -v id="$then_id" \
	'$2 == id && $3 ~ /^\+/' good.arcs | wc -l) $([ "$(rows good.arcs "$then_id")" -gt 3 ] && echo some)" \
	"0 some"

# Rebuilt since.
cp program then
sed -i 's/n \* 3/n * 5/' program.c
$cc -O2 -g -Wl,--build-id -o program program.c || fail "build"
"$swlbr" convert -i perf.data -f arcs -o changed.arcs 2>err
is "rebuilt since: status" $? 0
is "rebuilt since: cause and remedy" "$(grep -c "program has changed since the recording (build-id $then_id then, $(id_of program) now).*give the binary of then" err)" 1
is "rebuilt since: addresses stay file offsets" "$(awk -F'\t' -v id="$then_id" \
	'$2 == id && $3 !~ /^\+/' changed.arcs | wc -l)" 0
"$swlbr" convert -q -i perf.data -f arcs -o given.arcs program then 2>err || fail "given: $(cat err)"
is "the binary of then as an argument" "$(cmp good.arcs given.arcs 2>&1)" ""
rm program
"$swlbr" convert -i perf.data -f arcs -o gone.arcs 2>err
is "gone: told" "$(grep -c 'program is not on this machine' err)" 1
mkdir -p "cache/.build-id/${then_id:0:2}/${then_id:2}"
cp then "cache/.build-id/${then_id:0:2}/${then_id:2}/elf"
PERF_BUILDID_DIR=$PWD/cache "$swlbr" convert -q -i perf.data -f arcs -o cached.arcs 2>err ||
	fail "cache: $(cat err)"
is "found in perf's cache" "$(cmp good.arcs cached.arcs 2>&1)" ""

# Nothing to convert: exit 1, why, and what to do.
perf record -q -e cpu-clock -o plain.data ./then 3000000 >/dev/null 2>&1
"$swlbr" convert -i plain.data -f arcs -o none.arcs 2>err
is "without -b: status" $? 1
is "without -b: the remedy" "$(grep -c "none with a branch stack: record with 'perf record -b'" err)" 1
perf record -q -g -e cpu-clock -o calls.data ./then 3000000 >/dev/null 2>&1
"$swlbr" convert -i calls.data -f arcs -o none.arcs 2>err
is "call chains only: told" "$(grep -c 'samples with call chains, none with a branch stack' err)" 1
"$swlbr" convert -i perf.data --comm nobody -f arcs -o none.arcs 2>err
is "filters that let nothing pass: told" "$? $(grep -c 'no sample passes the filters' err)" "1 1"
is "an empty result leaves no file" "$([ -e none.arcs ] && echo there)" ""

# Filters.
"$swlbr" convert -q -i perf.data -f arcs -o dso.arcs --dso then,program then 2>err
is "--dso: only edges with an end in it" "$? $(awk -F'\t' -v id="$then_id" \
	'NR > 1 && $2 != id && index($4, id) != 1' dso.arcs | wc -l) $([ "$(rows dso.arcs "$then_id")" -gt 3 ] &&
	echo some)" "0 0 some"
"$swlbr" convert --json -i perf.data -f arcs -o comm.arcs --comm program then >json 2>err
is "--comm: the program's name" "$? $(cmp good.arcs comm.arcs 2>&1)" "0 "
"$swlbr" convert --json -i perf.data -f arcs -o x.arcs --event cycles then >json 2>err
is "--event: of another event there is nothing" \
	"$(/usr/bin/python3 -c 'import json; j = json.load(open("json")); print(j["samples"], j["filtered_samples"] > 10, j["error"] is not None)')" \
	"0 True True"
"$swlbr" convert -q -i perf.data -f arcs -o x.arcs --time 1,0.5 2>err
is "--time: an end before the begin" "$? $(grep -c "'1,0.5' is not a time" err)" "129 1"
for wrong in "--pid x" "--tid 1,-2" "--time x,y"; do
	# shellcheck disable=SC2086
	"$swlbr" convert -q -i perf.data -f arcs -o x.arcs $wrong 2>err
	is "$wrong: a misuse" "$? $(grep -c "^perf swlbr: '.*' is not a" err)" "129 1"
done
# Where they would choose nothing they are refused.
for option in "--pid 1" "--tid 1" "--comm program" "--event cycles" "--dso program" "--time 1," \
	"--from arcs" "--from stacks"; do
	# shellcheck disable=SC2086
	"$swlbr" convert -q -i perf.data -f llvm-profdata -o x.profdata $option then 2>err
	is "$option: not for what is made from counters" \
		"$? $(grep -c -- "${option% *}.*not for llvm-profdata" err)" "129 1"
	[ "$option" = "--from arcs" ] && continue
	# shellcheck disable=SC2086
	"$swlbr" convert -q -i good.arcs,dso.arcs -f arcs -o x.arcs $option 2>err
	is "$option: an arcs file has no samples: status" $? 1
	says "$option: an arcs file has no samples" err \
		"good.arcs and the other inputs: no branch stacks.*${option% *}"
done
is "nothing was written" "$(ls x.arcs x.profdata 2>/dev/null)" ""
"$swlbr" convert -q -i good.arcs,perf.data -f arcs -o with.arcs --comm program then 2>err ||
	fail "arcs and stacks: $(cat err)"

# JSON: also where an input cannot be read.
error_of() { /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["error"])'; }
"$swlbr" convert --json -i perf.data,nowhere -f arcs -o x.arcs then >json 2>err
is "--json: an input that is not there" "$? $(error_of <json)" "1 $(sed 's/^perf swlbr: //' err)"
says "--json: and the line for people" err "^perf swlbr: nowhere: No such file"
"$swlbr" convert --json -i perf.data -f llvm-profdata -o x.profdata then >json 2>err
is "--json: not for what is made from counters" "$? $(wc -c <json) $(grep -c -- --json err)" "129 0 1"

# Ten thousand inputs, forty open files.
mkdir many
"$swlbr" convert -q -i perf.data -f arcs -o one.arcs then 2>/dev/null
(cd many && for i in $(seq 10000); do echo "$i"; done | xargs -n 1000 sh -c 'for f; do ln ../perf.data $f; done' -)
(
	cd many || exit 1
	ulimit -n 40
	"$swlbr" convert -q -i "$(echo * | tr ' ' ,)" -f arcs -o ../many.arcs ../then 2>../err
)
is "ten thousand inputs: status" $? 0
is "ten thousand inputs: ten thousand times one" "$(diff \
	<(awk -F'\t' -v OFS='\t' 'NR > 1 { $5 *= 10000; $6 *= 10000; $7 *= 10000 } 1' one.arcs) \
	many.arcs | head -3)" ""
exit $status
