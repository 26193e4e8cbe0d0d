#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What clang makes of an emulated LBR's profile: instructions executed and branches taken by the
# program as built with the profile, relative to the plain build. Both are counted exactly, in the
# program's own code, on the input that the profile is from (which flatters it) and on another one.
#   PERIODS ("1009 100003")
set -u
cd "$(dirname "$0")/../.." || exit 1
root=$PWD
BUILD=${BUILD:-$PWD/build}
export WORKLOADS=${WORKLOADS:-$BUILD/workloads}
swlbr=$BUILD/perf-swlbr
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
flags="-g1 -fdebug-info-for-profiling"
scripts/workloads.sh --cflags "$flags" --variant profiling lua bzip2 >/dev/null || exit 1
cd "$scratch" || exit 1
(cd "$WORKLOADS/src" && LC_ALL=C cat bzip2/*.c lua/src/*.c) >all.txt
head -c 700000 all.txt >train.txt
tail -c 700000 all.txt | tr 'a-y' 'b-z' >measure.txt
cp "$root/tests/e2e/lib/bench.lua" train.lua
# Other work: string building, closures, table removal, float arithmetic.
cat >measure.lua <<'LUA'
local words, seed = {}, 42
local function random(n) seed = (seed * 1103515245 + 12345) % 2147483648; return seed % n end
for i = 1, 20000 do words[i] = string.char(97 + random(26), 97 + random(26), 97 + random(26)) end
local count = {}
for _, word in ipairs(words) do count[word] = (count[word] or 0) + 1 end
local keys = {}
for word in pairs(count) do keys[#keys + 1] = word end
table.sort(keys, function(a, b)
	if count[a] == count[b] then return a < b end
	return count[a] > count[b]
end)
local queens, solutions = {}, 0
local function place(row, n)
	if row > n then solutions = solutions + 1 return end
	for column = 1, n do
		local free = true
		for other = 1, row - 1 do
			local distance = queens[other] - column
			if distance == 0 or distance == row - other or distance == other - row then
				free = false
				break
			end
		end
		if free then queens[row] = column place(row + 1, n) end
	end
end
place(1, 8)
local x = 0.5
for _ = 1, 300000 do x = 3.7 * x * (1 - x) end
local matrix = {}
for i = 1, 60 do matrix[i] = {} for j = 1, 60 do matrix[i][j] = i * j % 7 end end
local trace = 0
for i = 1, 60 do
	for j = 1, 60 do
		local sum = 0
		for k = 1, 60 do sum = sum + matrix[i][k] * matrix[k][j] end
		if i == j then trace = trace + sum end
	end
end
while #keys > 1 do table.remove(keys, #keys // 2) end
print(keys[1], solutions, x, trace, (table.concat(words):gsub("(%a)%1", "%1")):len())
LUA

train()
{
	case $1 in
	lua) echo "$2/lua train.lua 26" ;;
	bzip2) echo "$2/bzip2 -9 -k -c train.txt" ;;
	esac
}

measure()
{
	case $1 in
	lua) echo "$2/lua measure.lua" ;;
	bzip2) echo "$2/bzip2 -9 -k -c measure.txt" ;;
	esac
}

# totals train|measure NAME DIR: of that run
totals()
{
	local input=$1 name=$2 dir=$3

	# shellcheck disable=SC2046
	"$swlbr" record -q --emulate=counts -o totals.arcs -- $($input "$name" "$dir") \
		>"$name.$input.new" || exit 1
	[ ! -f "$name.$input.out" ] || cmp "$name.$input.out" "$name.$input.new" >&2 || exit 1
	mv "$name.$input.new" "$name.$input.out"
	/usr/bin/python3 "$root/tests/accuracy/totals.py" totals.arcs "$dir/$name"
}

mkdir -p used/src
for name in lua bzip2; do
	ln -sfn "$WORKLOADS/src/$name" "used/src/$name"
	for period in ${PERIODS:-1009 100003}; do
		# shellcheck disable=SC2046
		"$swlbr" record -q --emulate -c "$period" -o perf.data -- \
			$(train $name "$WORKLOADS/profiling") >/dev/null || exit 1
		llvm-profgen-19 --perfdata=perf.data --binary="$WORKLOADS/profiling/$name" \
			--output="$name.$period.prof" 2>log || { cat log; exit 1; }
		"$root/scripts/workloads.sh" --dir "$scratch/used" --variant "$period" \
			--cflags "$flags -fprofile-sample-use=$PWD/$name.$period.prof" "$name" >log 2>&1 ||
			{ tail -5 log; exit 1; }
		for input in train measure; do
			plain=$(totals $input $name "$WORKLOADS/profiling") || exit 1
			used=$(totals $input $name "$scratch/used/$period") || exit 1
			echo "$plain $used" | awk -v what="$name, -c $period, $input" '
				{ printf "%s: instructions %.1f M, %.1f M plain (%.3f); taken branches %.1f M, %.1f M plain (%.3f)\n",
				  what, $6 / 1e6, $1 / 1e6, $6 / $1, $8 / 1e6, $3 / 1e6, $8 / $3 }'
		done
	done
done
echo "ok emulate_profile"
