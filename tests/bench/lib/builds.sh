# SPDX-License-Identifier: GPL-2.0-only
# Sourced after programs.sh: profiles of each kind of a program's training run, the builds that clang-19
# makes of them, and what those execute. All in the current folder.

# What every build has, so that they differ by the profile alone.
build_flags="-g1 -fdebug-info-for-profiling -Wl,--build-id"

# workload NAME VARIANT FLAGS: builds used/VARIANT/NAME
workload()
{
	mkdir -p used/src
	[ -e "used/src/$1" ] || "$root/scripts/workloads.sh" --source "$1" || return 1
	ln -sfn "$WORKLOADS/src/$1" "used/src/$1"
	rm -f "used/$2/$1.recipe" # a profile of the same name may have changed
	"$root/scripts/workloads.sh" --dir "$PWD/used" --variant "$2" --cflags "$build_flags $3" "$1" \
		>log 2>&1 || { tail -5 log >&2; return 1; }
}

# profile_counters NAME: NAME.prof and NAME.profdata, of one recording of the program's counters
profile_counters()
{
	"$root/scripts/workloads.sh" --variant inplace --cflags "$("$swlbr" cflags)" "$1" >log 2>&1 ||
		{ tail -5 log >&2; return 1; }
	run_program train "$1" "$WORKLOADS/inplace/$1" "$swlbr" record -q -o "$1.data" -- >/dev/null &&
		"$swlbr" convert -q -i "$1.data" -f llvm-sample -o "$1.prof" &&
		"$swlbr" convert -q -i "$1.data" -f llvm-profdata -o "$1.profdata"
}

# profile_emulated NAME: NAME.emulated.prof, of an LBR emulated on the plain build
profile_emulated()
{
	workload "$1" plain "" || return 1
	run_program train "$1" "used/plain/$1" "$swlbr" record -q --emulate -c 1009 \
		-o "$1.emulated.data" -- >/dev/null &&
		"$swlbr" convert -q -i "$1.emulated.data" -f llvm-sample -o "$1.emulated.prof"
}

text_size() { size -A "$1" | awk '$1 == ".text" { print $2 }'; }

# measure_builds NAME: makes builds of one program, listed on standard input as VARIANT LABEL FLAGS,
# and prints a line for each of them: LABEL instructions taken-branches .text-bytes; separated by tabs
measure_builds()
{
	local name=$1 variant label flags

	while IFS='	' read -r variant label flags; do
		workload "$name" "$variant" "$flags" || return 1
		totals measure "$name" "used/$variant/$name" >total || return 1
		awk -v label="$label" -v text="$(text_size "used/$variant/$name")" \
			'{ printf "%s\t%d\t%d\t%d\n", label, $1, $3, text }' total
	done
}

# builds_of NAME: those of the profiles of each kind, which are there
builds_of()
{
	local name=$1

	measure_builds "$name" <<-BUILDS
	plain	plain -O2
	sample	sample profile of counters	-fprofile-sample-use=$PWD/$name.prof
	profi	the same, with profi	-fprofile-sample-use=$PWD/$name.prof -mllvm -sample-profile-use-profi
	instr	.profdata of counters	-fprofile-use=$PWD/$name.profdata
	emulated	sample profile of emulated LBR	-fprofile-sample-use=$PWD/$name.emulated.prof
	BUILDS
}

# print_builds TITLE: the lines of builds_of as a table, relative to the first
print_builds()
{
	awk -F'\t' -v title="$1" '
		NR == 1 {
			printf "%-32s %19s %19s %17s\n", title, "instructions", "taken branches", ".text"
			for (i = 2; i <= 4; i++) plain[i] = $i
		}
		{ printf "%-32s %9.1f M %7.3f %9.2f M %7.3f %6.0f KB %7.3f\n", $1, $2 / 1e6, $2 / plain[2],
		  $3 / 1e6, $3 / plain[3], $4 / 1e3, $4 / plain[4] }'
}

# means NAMES…: of the lines in each NAME.builds relative to its first, the geometric means as lines
means()
{
	awk -F'\t' '
		FNR == 1 { for (i = 2; i <= 4; i++) plain[i] = $i }
		!($1 in nr) { order[++builds] = $1 }
		{ nr[$1]++; for (i = 2; i <= 4; i++) sum[$1, i] += log($i / plain[i]) }
		END {
			for (b = 1; b <= builds; b++) {
				what = order[b]
				printf "%s", what
				for (i = 2; i <= 4; i++) printf "\t%.9f", exp(sum[what, i] / nr[what])
				print ""
			}
		}' "${@/%/.builds}"
}

# print_means: the lines of means as a table
print_means()
{
	awk -F'\t' '
		NR == 1 { printf "%-32s %14s %16s %8s\n", "geometric mean, to plain", "instructions",
			  "taken branches", ".text" }
		{ printf "%-32s %14.3f %16.3f %8.3f\n", $1, $2, $3, $4 }'
}
