#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Two builds in one profile: counters of the instrumented one and an LBR emulated on the plain one,
# each alone, and combined by each policy. How alike the profiles are (llvm-profdata's similarity,
# which does not depend on how long each was recorded), and what clang makes of each: instructions
# and taken branches, counted exactly, on another input than the profiles are from, and .text. One
# program wobbles by a per cent or two: the means say more.
#   PROGRAMS ("lua sqlite3"; there are bzip2 and zstd too)
. "$(dirname "$0")/lib/start.sh"
. tests/bench/lib/programs.sh
. tests/bench/lib/builds.sh
cd "$scratch" || exit 1
programs=${PROGRAMS:-lua sqlite3}

# combine NAME POLICY [OPTION…]: NAME.POLICY.prof, of both recordings
combine()
{
	local name=$1 policy=$2

	shift 2
	"$swlbr" convert -i "$name.data,$name.emulated.data" -f llvm-sample "$@" \
		-o "$name.$policy.prof" 2>log || { cat log >&2; return 1; }
	grep -q 'two builds, combined by source place' log ||
		{ echo "$name: not combined by source place" >&2; return 1; }
}

# profiles_of NAME: those to compare, as VARIANT LABEL PROFILE, separated by tabs
profiles_of()
{
	cat <<-PROFILES
	sample	counters	$1.prof
	emulated	emulated LBR	$1.emulated.prof
	sw	both, --prefer sw	$1.sw.prof
	hw	both, --prefer hw	$1.hw.prof
	sum	both, --prefer sum	$1.sum.prof
	default	both, the default	$1.default.prof
	PROFILES
}

# similarity PROFILE PROFILE: in per cent
similarity()
{
	llvm-profdata-19 overlap --sample "$1" "$2" |
		sed -n 's/.*Whole program profile similarity: *\([0-9.]*\)%.*/\1/p' | grep .
}

print_similarities()
{
	local variant label profile counters emulated

	printf '%-32s %19s %19s\n' "$1: profile, overlap with" counters "emulated LBR"
	while IFS='	' read -r variant label profile; do
		counters=$(similarity "$1.prof" "$profile") &&
			emulated=$(similarity "$1.emulated.prof" "$profile") ||
			{ echo "$variant: no overlap told" >&2; return 1; }
		printf '%-32s %17.1f %% %17.1f %%\n' "$label" "$counters" "$emulated"
	done < <(profiles_of "$1")
}

# measure_profiles NAME: a line for each build, as measure_builds has it
measure_profiles()
{
	{
		printf 'plain\tplain -O2\t\n'
		profiles_of "$1" | sed "s|\(.*	\)|\1-fprofile-sample-use=$PWD/|"
	} | measure_builds "$1"
}

# judge: of the lines of means, whether the default is as good as the better of the two sides, to a
# thousandth
judge()
{
	awk -F'\t' '
		{ instructions[$1] = sprintf("%.3f", $2) + 0; branches[$1] = sprintf("%.3f", $3) + 0 }
		function better(of) {
			return of["counters"] < of["emulated LBR"] ? of["counters"] : of["emulated LBR"]
		}
		function verdict(what, of) {
			return sprintf("%s %.3f, %s than %.3f", what, of["both, the default"],
				       of["both, the default"] <= better(of) ? "no worse" : "worse", better(of))
		}
		END {
			if (!("both, the default" in instructions)) exit 1
			printf "the default policy and the better side, on average: %s; %s\n",
			       verdict("instructions", instructions), verdict("taken branches", branches)
		}'
}

# shellcheck disable=SC2086
make_inputs $programs
for name in $programs; do
	profile_counters "$name" && profile_emulated "$name" && combine "$name" default &&
		combine "$name" sw --prefer sw && combine "$name" hw --prefer hw &&
		combine "$name" sum --prefer sum && measure_profiles "$name" >"$name.builds" &&
		print_similarities "$name" || { echo "FAIL policies: $name"; exit 1; }
	print_builds "$name" <"$name.builds"
	echo
done
# shellcheck disable=SC2086
means $programs >all
print_means <all
judge <all || { echo "FAIL policies: no means"; exit 1; }
echo "ok policies"
