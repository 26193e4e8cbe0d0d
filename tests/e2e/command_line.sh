#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# perf swlbr itself: help, version, misspelt commands, completion.
. "$(dirname "$0")/lib/common.sh"
root=$(cd "$here/../.." && pwd)
cd "$scratch" || exit 1
PATH=$BUILD:$PATH
plugin=perf-swlbr
unset PERF_EXEC_PATH

is "perf runs it as a command of its own" "$(perf swlbr --version)" "$($plugin --version)"
is "the version is told" "$($plugin --version | grep -cE '^perf swlbr version [0-9]+\.[0-9]')" 1
$plugin >out 2>err
is "without a command: usage, status 1" "$? $(wc -c <out) $(grep -c usage: err)" "1 0 1"
for command in $($plugin --list-cmds); do
	$plugin --help | grep -q "^   $command " || fail "--help names $command"
	$plugin help "$command" >out 2>err || fail "help $command"
	is "help $command: a usage with an example, on stdout" \
		"$(grep -ciE '^ *usage:' out) $(grep -ciE '^ *example' out) $(wc -c <err)" "1 1 0"
	[ "$command" = help ] || {
		$plugin "$command" --no-such-option >out 2>err
		is "$command --no-such-option: status 129" "$?" 129
	}
	[ "$command" = help ] || [ -f "$root/Documentation/perf-swlbr-$command.txt" ] ||
		fail "$command has no manual page"
done
for typed in recrod:record reocrd:record covert:convert clags:cflags cflag:cflags; do
	$plugin "${typed%:*}" >out 2>err
	is "${typed%:*} is misspelt: status" $? 1
	says "${typed%:*} is misspelt: a suggestion" err "did you mean '${typed#*:}'\?$"
done
$plugin frobnicate 2>err
says "a word like nothing gets no suggestion" err "'frobnicate' is not a command; see"
$plugin --bogus 2>err
is "an unknown option: status 129" $? 129
says "an unknown option: what tells more" err "see 'perf swlbr help'"
is "and perf lets it through" "$(perf swlbr help)" "$($plugin --help)"
$plugin --help >/dev/full 2>err
is "output that cannot be written: status 1" $? 1
says "output that cannot be written is said" err "No space left"

# Every option that a command's help names is in its manual page and in the completion.
for command in record convert merge cflags map; do
	missing=
	for option in $($plugin "$command" --help | grep -oE '(^|[ ,])--[a-z0-9-]+' | tr -d ' ,' | sort -u); do
		[ "$option" = --help ] || grep -qE -- "^$option\b" \
			"$root/Documentation/perf-swlbr-$command.txt" || missing+=" manual:$option"
		grep -qF -- "$option" "$root/perf-plugin/perf-swlbr-completion.bash" ||
			missing+=" completion:$option"
	done
	is "$command: options are documented and completed" "$missing" ""
done

# complete WORDS…: what bash would offer for the last one
complete_words()
{
	bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
		f=_perf_swlbr; [ "$1" = perf ] && f=_perf_swlbr_under_perf
		$f; echo "${COMPREPLY[*]}"' - "$root/perf-plugin/perf-swlbr-completion.bash" "$@"
}
is "completion of a command" "$(complete_words perf-swlbr rec)" record
is "completion under perf" "$(complete_words perf swlbr conv)" convert
is "completion of an option" "$(complete_words perf swlbr record --fr)" --freq
is "completion of a format" "$(complete_words perf-swlbr convert -f llvm-profr)" llvm-profraw
exit $status
