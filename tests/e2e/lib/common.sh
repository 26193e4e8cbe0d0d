# SPDX-License-Identifier: GPL-2.0-only
# Sourced by the scripts of tests/e2e.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
swlbr=$BUILD/perf-swlbr
scratch=${TMPDIR:-/tmp}
cc=${CC_WORKLOAD:-clang-19}
. "$here/../lib/say.sh"

# says NAME FILE REGEX: one line of FILE matches, and no other line is there
says()
{
	if [ "$(wc -l <"$2")" = 1 ] && grep -qE "$3" "$2"; then
		ok "$1"
	else
		fail "$1: expected one line like '$3', got: $(head -c 400 "$2")"
	fi
}

# build_endings: endings and libendings.so in $scratch, instrumented as `perf swlbr cflags` tells
build_endings()
{
	local flags

	flags=$("$swlbr" cflags --cc "$cc") || return 1
	# shellcheck disable=SC2086
	$cc -O1 $flags -o "$scratch/endings" "$here/endings.c" -lpthread &&
		$cc -O1 $flags -shared -fPIC -o "$scratch/libendings.so" "$here/endings_library.c"
}

marked_count()
{
	/usr/bin/python3 "$here/lib/marked_count.py" "$1" "$scratch/endings" "$scratch/libendings.so"
}
