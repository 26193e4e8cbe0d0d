#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# perf swlbr cflags: its flags are taken by each compiler, warn of nothing, and do what they are for.
. "$(dirname "$0")/lib/common.sh"
root=$(cd "$here/../.." && pwd)
cd "$scratch" || exit 1

cat >loop.c <<'C'
#include <setjmp.h>
#include <stdlib.h>
static jmp_buf out;
static long long start = 5;
/* Begins with a load; a loop whose sum is only stored at its end would lose what ran before. */
__attribute__((noinline)) static long long leaps(void)
{
	long long first = start;

	for (int i = 0;; i++)
		if (i == 1000 * first)
			longjmp(out, 1);
}
int main(void)
{
	return setjmp(out) ? 0 : (int)leaps();
}
C

# dispatches FILE: indirect jumps in luaV_execute
dispatches()
{
	objdump -d --no-show-raw-insn "$1" | awk '
		/<luaV_execute>:$/ { inside = 1 } /^$/ { inside = 0 }
		inside && /jmp +\*/ { nr++ } END { print nr + 0 }'
}

tried=0
for compiler in clang-14 clang-15 clang-16 clang-17 clang-18 clang-19 clang-20 clang-21 clang-22; do
	command -v "$compiler" >/dev/null || continue
	flags=$("$swlbr" cflags --cc "$compiler") || { fail "$compiler: no flags"; continue; }
	tried=$((tried + 1))
	is "$compiler: one line" "$(wc -l <<<"$flags")" 1
	is "$compiler: compiles without a warning" \
		"$($compiler -Werror -Wall -Wextra -O2 $flags -c loop.c 2>&1)" ""
	$compiler $flags loop.o -o loop >err 2>&1 || { # the runtime is a package of its own
		echo "skip $compiler: linking: $(grep -m1 -o 'libclang_rt[^ ]*' err) is not installed"
		continue
	}
	is "$compiler: links without a warning" "$($compiler -Werror $flags loop.o -o loop 2>&1)" ""
	is "$compiler: the binary has a build-id" \
		"$(readelf -n loop | grep -c 'Build ID: [0-9a-f]\{40\}')" 1
	is "$compiler: debug information is DWARF 4" \
		"$(readelf --debug-dump=info loop 2>/dev/null | grep -m1 -A3 'Compilation Unit' |
			sed -n 's/ *Version: *//p')" 4
	LLVM_PROFILE_FILE=loop.profraw ./loop || fail "$compiler: the program runs"
	"llvm-profdata-${compiler#clang-}" merge -o loop.profdata loop.profraw 2>err &&
		is "$compiler: a loop left by longjmp is counted" \
			"$("llvm-profdata-${compiler#clang-}" show --counts --function=leaps \
				loop.profdata | grep -cE 'Block counts: .*\b500[01]\b')" 1
	[ -f "$WORKLOADS/src/lua/src/lvm.c" ] || "$root/scripts/workloads.sh" --source lua >log 2>&1
	[ -f "$WORKLOADS/src/lua/src/lvm.c" ] || { echo "skip $compiler: dispatch: no lua"; continue; }
	$compiler -O2 -w $flags -c "$WORKLOADS/src/lua/src/lvm.c" -o lvm.o
	is "$compiler: lua's interpreter has one dispatch" "$(dispatches lvm.o)" 1
done
is "two or more compilers were tried" "$([ $tried -ge 2 ] && echo yes)" yes

is "--explain has a line for each flag" \
	"$("$swlbr" cflags --explain | sed 's/  .*//' | tr '\n' ' ' | sed 's/ $//')" \
	"$("$swlbr" cflags)"
is "words before the compiler" "$("$swlbr" cflags --cc "env A=b clang-19")" "$("$swlbr" cflags)"

# A compiler of a version that is not installed.
pretend()
{
	cat >pretended <<-SH
	#!/bin/sh
	sed 's/__clang_major__/$1/; s/__GNUC__/4/'
	SH
	chmod +x pretended
}
pretend 13
"$swlbr" cflags --cc ./pretended >out 2>err
is "an old clang: status 1, no flags" "$? $(wc -c <out)" "1 0"
says "an old clang is refused" err "clang 13 is too old"
pretend 23
is "a new clang gets the newest flags" "$("$swlbr" cflags --cc ./pretended 2>err)" \
	"$("$swlbr" cflags --cc clang-19)"
says "a new clang is warned about" err "warning: .*clang 23 is newer"
for refused in "gcc:gcc's counters are not read yet" "nosuchcc:No such file" "false:not a C compiler" \
	"$scratch:Permission denied" "cat:neither clang nor gcc"; do
	"$swlbr" cflags --cc "${refused%%:*}" >out 2>err </dev/null
	is "--cc ${refused%%:*}: status 1, no flags" "$? $(wc -c <out)" "1 0"
	says "--cc ${refused%%:*}: why" err "${refused#*:}"
done
exit $status
