#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Puts swlbr on a Linux source tree: the files of pmu/kernel and pmu/include, and a few lines into
# files of the tree. Does nothing where it is done; refuses a tree that it does not know.
set -euo pipefail

usage()
{
	cat <<-USAGE
	usage: scripts/kernel-graft.sh TREE            put swlbr on the Linux source tree TREE
	       scripts/kernel-graft.sh TREE --revert   take it off again
	       scripts/kernel-graft.sh TREE --stat     tell how many files and lines it is

	Trees of Linux 6.1 and 6.12 are known. Then: CONFIG_SWLBR=y, make LLVM=1.
	USAGE
}

fail()
{
	echo "scripts/kernel-graft.sh: $*" >&2
	exit 1
}

repository=$(realpath "$(dirname "$0")/..")
tab=$'\t'

# Each edit puts TEXT before or after the only line of FILE that is ANCHOR:
#   edit FILE before|after ANCHOR TEXT [SKIP]
# SKIP lines further on. TEXT is what tells that an edit is done, and what reverting takes away.
edits()
{
	edit arch/Kconfig after 'source "kernel/gcov/Kconfig"' \
'
source "kernel/swlbr/Kconfig"'
	edit kernel/Makefile after 'obj-$(CONFIG_GCOV_KERNEL) += gcov/' \
'obj-$(CONFIG_SWLBR) += swlbr/'
	edit Makefile after "include-\$(CONFIG_KCOV)$tab$tab+= scripts/Makefile.kcov" \
"include-\$(CONFIG_SWLBR_CLANG)$tab+= scripts/Makefile.swlbr"
	edit scripts/Makefile after \
"hostprogs-always-\$(CONFIG_BUILDTIME_TABLE_SORT)$tab$tab+= sorttable" \
"hostprogs-always-\$(CONFIG_SWLBR_CLANG)$tab$tab$tab+= swlbr_percpu"
	edit scripts/Makefile.lib after "$tab$tab\$(CFLAGS_GCOV))" \
'
#
# Let built-in objects count for swlbr, except those with SWLBR_PROFILE_obj.o, SWLBR_PROFILE,
# GCOV_PROFILE_obj.o or GCOV_PROFILE := n, and those that scripts/Makefile.swlbr lists
#
ifeq ($(CONFIG_SWLBR_CLANG),y)
swlbr-object = $(filter-out $(SWLBR_SKIP), \
		$(filter $(basename $@).o, $(real-obj-y) $(lib-y)))
_c_flags += $(if $(swlbr-object),$(if $(patsubst n%,, \
		$(SWLBR_PROFILE_$(basetarget).o)$(SWLBR_PROFILE)$(GCOV_PROFILE_$(basetarget).o)$(GCOV_PROFILE)y), \
		$(CFLAGS_SWLBR)))
endif' 1
	edit scripts/Makefile.lib after \
"objtool-args-\$(or \$(CONFIG_GCOV_KERNEL),\$(CONFIG_KCOV))$tab+= --no-unreachable" \
"objtool-args-\$(CONFIG_SWLBR_CLANG)$tab$tab$tab$tab+= --no-unreachable"
	edit scripts/mod/modpost.c after "$tab\".gnu.lto*\"," \
"$tab\"__llvm_cov*\",$tab$tab/* CONFIG_SWLBR_CLANG */"
	edit scripts/link-vmlinux.sh before 'mksysmap vmlinux System.map' \
'# make the counters of swlbr per CPU
if is_enabled CONFIG_SWLBR_CLANG; then
	info SWLBR vmlinux
	scripts/swlbr_percpu vmlinux
fi
'
	edit include/asm-generic/vmlinux.lds.h before \
' * PERCPU_INPUT - the percpu input sections' \
"/*
 * Counters of clang -fprofile-generate, one copy for each CPU, and what describes them, which is
 * not loaded.
 */
#ifdef CONFIG_SWLBR_CLANG
#define SWLBR_COUNTERS							\\
	. = ALIGN(8);							\\
	__swlbr_counters_start = .;					\\
	KEEP(*(__llvm_prf_cnts))					\\
	__swlbr_counters_end = .;
#define SWLBR_RECORDS							\\
		__llvm_covdata 0 : { KEEP(*(__llvm_covdata)) }		\\
		__llvm_covnames 0 : { KEEP(*(__llvm_covnames)) }
#else
#define SWLBR_COUNTERS
#define SWLBR_RECORDS
#endif
" -1
	edit include/asm-generic/vmlinux.lds.h before \
"${tab}PERCPU_DECRYPTED_SECTION$tab$tab$tab$tab$tab\\" \
"${tab}SWLBR_COUNTERS$tab$tab$tab$tab$tab$tab$tab\\"
	edit arch/x86/kernel/vmlinux.lds.S after "${tab}ELF_DETAILS" \
"${tab}SWLBR_RECORDS"
	edit arch/x86/kernel/setup_percpu.c after '#include <linux/smp.h>' \
'#include <linux/swlbr.h>'
	edit arch/x86/kernel/setup_percpu.c after \
"$tab${tab}per_cpu_offset(cpu) = delta + pcpu_unit_offsets[cpu];" \
"$tab${tab}swlbr_setup_cpu(cpu);"
	edit kernel/module/main.c before '#include <uapi/linux/module.h>' \
'#include <linux/swlbr.h>'
	edit kernel/module/main.c after "${tab}err = simplify_symbols(mod, info);" \
"$tab/* Not a branch of its own: load_module()'s profile is for kernels that do not count. */
${tab}err |= swlbr_check_module(info->name, info->hdr, info->sechdrs, info->secstrings);"
	edit include/linux/compiler_types.h before \
"/* Section for code which can't be instrumented at all */" \
'/*
 * The attribute would keep functions that may be instrumented from being inlined into those that
 * may not. scripts/swlbr_percpu removes what was instrumented there.
 */
#ifdef CONFIG_SWLBR_CLANG
# undef __no_profile
# define __no_profile
#endif
'
}

# Our files, as "ours theirs".
files()
{
	(cd "$repository/pmu/kernel" && find . -type f | sed 's|^\./||' | LC_ALL=C sort) |
		while read -r file; do
			echo "pmu/kernel/$file $file"
		done
	echo "pmu/include/uapi/linux/swlbr.h include/uapi/linux/swlbr.h"
}

# Number of the line that TEXT begins at in FILE, nothing if it is not there.
find_text()
{
	FILE_TEXT=$2 awk '
		BEGIN { nr = split(ENVIRON["FILE_TEXT"], text, "\n") }
		{ line[NR] = $0 }
		END {
			for (at = 1; at + nr - 1 <= NR; at++) {
				for (i = 1; i <= nr && line[at + i - 1] == text[i]; i++)
					;
				if (i > nr) {
					print at
					exit
				}
			}
		}' "$1"
}

# Number of the line after which TEXT is to go.
find_place()
{
	local file=$1 where=$2 anchor=$3 skip=$4 at

	at=$(grep -nxF -- "$anchor" "$file" | cut -d: -f1) || true
	[[ $at =~ ^[0-9]+$ ]] || fail "$file: there is not just one line '$anchor'"
	[ "$where" = after ] || at=$((at - 1))
	echo $((at + skip))
}

check_edit()
{
	local file=$tree/$1

	[ -f "$file" ] || fail "$file is not there"
	[ -n "$(find_text "$file" "$4")" ] || find_place "$file" "$2" "$3" "${5:-0}" >/dev/null
}

apply_edit()
{
	local file=$tree/$1 at new

	[ -z "$(find_text "$file" "$4")" ] || return 0
	at=$(find_place "$file" "$2" "$3" "${5:-0}")
	new=$(mktemp "$file.XXXXXX")
	{ head -n "$at" "$file"; printf '%s\n' "$4"; tail -n "+$((at + 1))" "$file"; } >"$new"
	replace "$file" "$new"
}

revert_edit()
{
	local file=$tree/$1 at new nr

	at=$(find_text "$file" "$4")
	[ -n "$at" ] || return 0
	nr=$(printf '%s\n' "$4" | wc -l)
	new=$(mktemp "$file.XXXXXX")
	{ head -n "$((at - 1))" "$file"; tail -n "+$((at + nr))" "$file"; } >"$new"
	replace "$file" "$new"
}

count_edit()
{
	edited="$edited$1"$'\n'
	lines=$((lines + $(printf '%s\n' "$4" | wc -l)))
}

replace()
{
	chmod --reference="$1" "$2"
	mv "$2" "$1"
}

# For each edit: $action FILE BEFORE|AFTER ANCHOR TEXT SKIP
edit()
{
	"$action" "$@"
}

check_tree()
{
	local version

	[ -f "$tree/Makefile" ] && [ -f "$tree/kernel/Makefile" ] ||
		fail "$tree is not a Linux source tree"
	version=$(sed -n 's/^VERSION = //p; s/^PATCHLEVEL = //p' "$tree/Makefile" | paste -sd.)
	case $version in
	6.1) ;;
	6.12)
		# Early ones gave it the event's attributes.
		grep -q '^int perf_allow_kernel(void);' "$tree/include/linux/perf_event.h" ||
			fail "$tree is an early Linux 6.12; later ones with 'int perf_allow_kernel(void)' are known"
		;;
	*) fail "$tree is Linux $version; 6.1 and 6.12 are known" ;;
	esac
}

apply()
{
	local ours theirs

	# All is checked before anything is changed.
	action=check_edit
	edits
	action=apply_edit
	edits
	files | while read -r ours theirs; do
		mkdir -p "$(dirname "$tree/$theirs")"
		cmp -s "$repository/$ours" "$tree/$theirs" ||
			cp "$repository/$ours" "$tree/$theirs"
	done
}

revert()
{
	local ours theirs

	action=revert_edit
	edits
	files | while read -r ours theirs; do
		rm -f "$tree/$theirs"
	done
	rm -rf "$tree/kernel/swlbr"
}

stat()
{
	local ours

	edited= lines=0
	action=count_edit
	edits
	ours=$(files | cut -d' ' -f1)
	echo "new: $(wc -w <<<"$ours") files, $(cd "$repository" && cat $ours | wc -l) lines"
	echo "edited: $(printf %s "$edited" | sort -u | wc -l) files, $lines lines"
}

[ $# -ge 1 ] && [ $# -le 2 ] || { usage >&2; exit 129; }
case $1 in
--help | -h) usage; exit 0 ;;
esac
tree=$1
check_tree
case ${2-} in
'') apply ;;
--revert) revert ;;
--stat) stat ;;
*) usage >&2; exit 129 ;;
esac
