#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What we write, unpatched perf and the tools that call it read without complaint.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-$PWD/build}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME=$dir # perf keeps a cache of binaries there
unset TRACEEVENT_PLUGIN_DIR
failed=0

# check NAME COMMAND…: what COMMAND prints is shown if it fails.
check()
{
	local name=$1
	shift
	if "$@" >"$dir/check.out" 2>&1; then
		echo "ok $name"
	else
		echo "FAIL $name"
		sed 's/^/# /' "$dir/check.out" | cut -c1-200 | head -20
		failed=1
	fi
}

# run NAME COMMAND…: COMMAND succeeds and says nothing on stderr; its output is kept in $dir/NAME.
run()
{
	local name=$1
	shift
	"$@" >"$dir/$name" 2>"$dir/$name.err" </dev/null && ! grep . "$dir/$name.err"
}

# has NAME TEXT…: all of these are in the output of run NAME.
has()
{
	local name=$1 text
	shift
	for text; do
		if ! grep -qF -e "$text" "$dir/$name"; then
			echo "not there: $text"
			cat "$dir/$name"
			return 1
		fi
	done
}

if ! command -v perf >/dev/null; then
	echo "skip perfdata_perf no perf here"
	exit 0
fi
cc=${CC:-gcc}
if ! "$cc" -std=gnu11 -D_GNU_SOURCE -O1 -Ilib/include tests/e2e/perfdata_sample.c \
	"$build/libswlbr.a" -o "$dir/sample"; then
	echo "FAIL perfdata_perf cannot build the program that writes a sample"
	exit 1
fi
cat >"$dir/program.c" <<'END'
int main(int argc, char **argv)
{
	volatile int x = 0;

	for (int i = 0; i < 1000 + argc; i++)
		x += i;
	return argv[0][0] == 0;
}
END
"$cc" -O1 -g -gdwarf-4 -no-pie -Wl,--build-id=sha1,-q,-z,separate-code "$dir/program.c" \
	-o "$dir/program" || exit 1
id=$(readelf -n "$dir/program" | awk '/Build ID/ { print $3 }')
# Its text: where, how long, from where in the file; and the loop's backward branch.
read -r offset start length <<<"$(readelf -lW "$dir/program" |
	awk '$1 == "LOAD" && / R E / { print $2, $3, $6 }')"
read -r from to <<<"$(objdump -d --no-show-raw-insn "$dir/program" --disassemble=main |
	awk '$2 ~ /^j/ { sub(":", "", $1); if ("0x" $3 < "0x" $1) { print "0x" $1, "0x" $3; exit } }')"
sample()
{
	"$dir/sample" "$dir/$1" "$dir/program" "$id" "$start" "$length" "$offset" "${@:2}"
}
check "a file without branch stacks is written" sample empty.data
check "a file with branch stacks is written" sample full.data \
	"$from" "$to" "$from" "$to" "$from" "$to"

cat >"$dir/script.py" <<'END'
import struct

def swlbr__counters(name, context, cpu, s, ns, pid, comm, callchain, build_id, engine, first, nr, value):
    values = struct.unpack("=%dQ" % nr, value)
    print("counters", bytes(build_id).hex(), engine, first, nr, values[0], values[-1])

def swlbr__value(name, context, cpu, s, ns, pid, comm, callchain, build_id, engine, function, kind,
                 site, value, nr):
    print("value", bytes(build_id).hex(), engine, function, kind, site, hex(value), nr)

def swlbr__lost(name, context, cpu, s, ns, pid, comm, callchain, build_id, since, why):
    print("lost", bytes(build_id).hex(), since, why)
END

for file in empty full; do
	data=$dir/$file.data
	check "perf report --header-only ($file)" run header perf report --header-only -i "$data"
	check "the header tells machine, command and events ($file)" has header "# hostname : " \
		"# os release : " "# perf version : swlbr 0.1" "# arch : " "# nrcpus online : " \
		"# total memory : " "# cmdline : perf swlbr record -- ./program" \
		"name = swlbr/branches/" "name = swlbr:counters" "swlbr = 1000" \
		"# contains samples with branch stack" "# clockid: monotonic (1)" \
		"# time of first sample : 5.0"
	check "perf evlist -v ($file)" run evlist perf evlist -v -i "$data"
	check "it tells what the branch stacks are ($file)" has evlist \
		"branch_sample_type: USER|ANY" "sample_period, sample_freq }: 1009"
	check "perf evlist --trace-fields ($file)" run fields perf evlist -v --trace-fields -i "$data"
	check "it knows the tracepoints' fields ($file)" has fields \
		"trace_fields: build_id,engine,first,nr,value" \
		"trace_fields: build_id,engine,function,kind,site,value,nr" \
		"trace_fields: build_id,since,why"
	check "perf script ($file)" run script perf script -i "$data"
	check "it prints the tracepoints by name ($file)" has script \
		"swlbr:counters: build_id=$id engine=1 first=0 nr=10 value=10 11 12 " \
		"swlbr:counters: build_id=$id engine=1 first=19000 nr=1000 value=19000 19001 " \
		"swlbr:value: build_id=$id engine=1 function=7 kind=0 site=2 value=0x1234 nr=99" \
		"since=4999999999 why=killed: counters could not be read"
	check "perf script -s X.py ($file)" run python perf script -s "$dir/script.py" -i "$data"
	check "a Python script gets all fields ($file)" has python \
		"counters $id 1 0 10 10 19" "counters $id 1 5000 7000 5000 11999" \
		"value $id 1 7 0 2 0x1234 99" \
		"lost d19e030000000000000000000000000000000000 4999999999 killed: counters"
	check "perf script --show-task-events ($file)" run tasks perf script --show-task-events \
		--show-mmap-events -i "$data"
	check "it shows tasks and mappings ($file)" has tasks "PERF_RECORD_COMM exec: program" \
		"<$id>]: r-xp $dir/program" "PERF_RECORD_MMAP2 1000/1000: [0x7f0000000000(0x1000)" \
		"PERF_RECORD_FORK(1000:1001):(1000:1000)" "PERF_RECORD_EXIT(1000:1001)"
	check "perf buildid-list ($file)" run buildids perf buildid-list -i "$data"
	check "it has the binary's build-id and no digest ($file)" \
		test "$(cat "$dir/buildids")" = "$id $dir/program"
	check "perf inject -b ($file)" run inject perf inject -b -i "$data" -o "$dir/injected"
	check "its result is as before ($file)" run script2 perf script -i "$dir/injected"
	check "its result has the same rows ($file)" diff "$dir/script" "$dir/script2"
done

check "perf report of branch stacks" run report perf report --stdio -i "$dir/full.data"
check "it counts the branches" has report "Samples: 300  of event 'swlbr/branches/'" "[.] main"
check "perf script -F ip,brstack" run brstack perf script -F ip,brstack -i "$dir/full.data"
check "it prints the stacks" has brstack "$from/$to/-/-/-/0"
perf report --stdio -i "$dir/empty.data" >"$dir/none" 2>&1
check "perf report says that there are no branch stacks" has none "has no samples"
check "perf report -v" \
	bash -c 'perf report -v --stdio -i "$1/full.data" >"$1/verbose" 2>&1' - "$dir"
check "it comes to the end" has verbose "Samples: 300  of event"
check "no record is out of order, unknown or lost" \
	bash -c '! grep -iE "out of order|unknown|lost [0-9]|invalid" "$1"' - "$dir/verbose"

if [ -f "$build/plugin_swlbr.so" ]; then
	mkdir "$dir/plugins"
	cp "$build/plugin_swlbr.so" "$dir/plugins"
	check "perf script with the plugin" run plugin \
		env TRACEEVENT_PLUGIN_DIR="$dir/plugins" perf script -i "$dir/full.data"
	check "it prints rows for people" has plugin \
		"swlbr:counters: ${id:0:12} counters 0-9: 10 11 12 13 14 15 16 17 ... (sum 145, max 19)" \
		"swlbr:value: ${id:0:12} function 7, kind 0, site 2: value 0x1234 seen 99 times" \
		"swlbr:lost: d19e03000000 may lack executions after 4.999999: killed: counters"
else
	echo "skip perfdata_perf no plugin_swlbr.so in $build"
fi

profgen=$(command -v llvm-profgen-19)
if [ -n "$profgen" ]; then
	check "llvm-profgen --perfdata" run profgen "$profgen" --perfdata="$dir/full.data" \
		--binary="$dir/program" --format=text -o "$dir/profile"
	check "it makes a profile" grep -q '^main:' "$dir/profile"
else
	echo "skip perfdata_perf no llvm-profgen-19"
fi
perf2bolt=/usr/lib/llvm-19/bin/perf2bolt
if [ -x $perf2bolt ]; then
	check "perf2bolt" bash -c "'$perf2bolt' -p '$dir/full.data' -o '$dir/fdata' \
		'$dir/program' >'$dir/bolt' 2>&1"
	check "it reads every entry and knows the binary" has bolt \
		"matched build-id and file name" "300 LBR entries" "0 samples (0.0%) were ignored"
else
	echo "skip perfdata_perf no perf2bolt"
fi
if command -v create_gcov >/dev/null; then
	check "create_gcov" run gcov create_gcov --binary="$dir/program" \
		--profile="$dir/full.data" --gcov="$dir/gcov" -gcov_version=2
	check "it makes a profile with main in it" grep -q main "$dir/gcov"
else
	echo "skip perfdata_perf no create_gcov"
fi
exit $failed
