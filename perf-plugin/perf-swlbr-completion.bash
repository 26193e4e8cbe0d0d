# SPDX-License-Identifier: GPL-2.0-only
#
# Completion of perf-swlbr, and of `perf swlbr` where perf's own completion is not loaded or does
# not know the command.

_perf_swlbr_files()
{
	compopt -o filenames 2>/dev/null
	COMPREPLY=($(compgen -f -- "$1"))
}

# Completes the last of @words, whose first is perf-swlbr's command.
_perf_swlbr_words()
{
	local words=("$@") current=${!#} previous= command

	[ ${#words[@]} -lt 2 ] || previous=${words[-2]}
	if [ ${#words[@]} = 1 ]; then
		COMPREPLY=($(compgen -W "$(perf-swlbr --list-cmds 2>/dev/null) --help --version" \
			-- "$current"))
		return
	fi
	command=${words[0]}
	case $command:$previous in
	help:*)
		COMPREPLY=($(compgen -W "$(perf-swlbr --list-cmds 2>/dev/null)" -- "$current"))
		return ;;
	cflags:--cc)
		COMPREPLY=($(compgen -c -- "${current:-clang}"))
		return ;;
	convert:-f | convert:--format)
		COMPREPLY=($(compgen -W "$(perf-swlbr convert --list-formats 2>/dev/null |
			awk '{ print $1 }')" -- "$current"))
		return ;;
	convert:--prefer)
		COMPREPLY=($(compgen -W "sw hw sum" -- "$current"))
		return ;;
	convert:--from)
		COMPREPLY=($(compgen -W "arcs stacks" -- "$current"))
		return ;;
	record:-p | record:--pid)
		COMPREPLY=($(compgen -W "$(ps -eo pid= 2>/dev/null)" -- "$current"))
		return ;;
	record:-e | record:--event)
		COMPREPLY=($(compgen -W "cycles cycles:u instructions:u branches:u branch-misses:u
			cpu-clock task-clock page-faults minor-faults major-faults context-switches
			cpu-migrations" -- "$current"))
		return ;;
	record:-F | record:--freq | record:-c | record:--count | record:--depth)
		return ;;
	convert:--from)
		COMPREPLY=($(compgen -W "arcs stacks" -- "$current"))
		return ;;
	map:--function)
		return ;;
	record:-j | record:--branch-filter)
		COMPREPLY=($(compgen -W "any any_call any_ret ind_call cond u" -- "$current"))
		return ;;
	record:--kernel)
		_perf_swlbr_files "$current"
		return ;;
	record:--sysroot)
		compopt -o dirnames 2>/dev/null
		COMPREPLY=($(compgen -d -- "$current"))
		return ;;
	esac
	case $command:$current in
	cflags:*) COMPREPLY=($(compgen -W "--cc --explain --help" -- "$current")) ;;
	record:-*)
		COMPREPLY=($(compgen -W "-o --output -p --pid -e --event -F --freq -q --quiet -v --verbose
			--emulate -c --count -j --branch-filter --depth --sysroot --kernel --help --" \
			-- "$current")) ;;
	convert:-*)
		COMPREPLY=($(compgen -W "-i --input -f --format -o --output --list-formats --compress
			--md5 --symbol-list --symbol-order --gcov-version --normalize --prefer --weight --pid --tid --comm --event
			--time --dso --from --json -q --quiet -v --verbose --help" -- "$current")) ;;
	map:-*)
		COMPREPLY=($(compgen -W "--stat --dump --function --kernel-table --no-cache -v --verbose --help" \
			-- "$current")) ;;
	inject:-*)
		COMPREPLY=($(compgen -W "-i --input -o --output --interval -c --count -q --quiet -h --help" \
			-- "$current")) ;;
	merge:-*)
		COMPREPLY=($(compgen -W "-o --output --weight -q --quiet --help" -- "$current")) ;;
	record:*)
		COMPREPLY=($(compgen -c -- "$current"))
		[ ${#COMPREPLY[@]} != 0 ] || _perf_swlbr_files "$current" ;;
	*) _perf_swlbr_files "$current" ;;
	esac
}

_perf_swlbr()
{
	COMPREPLY=()
	_perf_swlbr_words "${COMP_WORDS[@]:1:COMP_CWORD}"
}

complete -F _perf_swlbr perf-swlbr

# `perf swlbr`: whatever else perf completes is left to its own completion.
_perf_swlbr_under_perf()
{
	if [ "${COMP_WORDS[1]}" = swlbr ] && [ "$COMP_CWORD" -ge 2 ]; then
		COMPREPLY=()
		_perf_swlbr_words "${COMP_WORDS[@]:2:COMP_CWORD-1}"
	elif [ -n "$_perf_swlbr_other" ]; then
		"$_perf_swlbr_other" "$@"
	elif [ "$COMP_CWORD" = 1 ]; then
		COMPREPLY=($(compgen -W "$(perf --list-cmds 2>/dev/null) swlbr" -- \
			"${COMP_WORDS[1]}"))
	fi
}

if ! [[ $(complete -p perf 2>/dev/null) =~ _perf_swlbr_under_perf ]]; then
	_perf_swlbr_other=$(complete -p perf 2>/dev/null | sed -n 's/.*-F \([^ ]*\).*/\1/p')
	complete -o bashdefault -o default -F _perf_swlbr_under_perf perf
fi
