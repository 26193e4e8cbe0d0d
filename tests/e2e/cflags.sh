#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# perf swlbr cflags: its flags are taken by each compiler, warn of nothing, and do what they are for.
. "$(dirname "$0")/lib/common.sh"
root=$(cd "$here/../.." && pwd)
cd "$scratch" || exit 1

cat >loop.c <<'C'
#include <stddef.h>
#include <stdio.h>
static int numbers[4000];
static int *begin = numbers;
/* Begins with a load of 64 bits that is not the bias; its counts end up in registers by default. */
__attribute__((noinline)) static size_t odd(size_t nr)
{
	size_t count = 0;

	for (int *number = begin; number < numbers + nr; number++)
		if (*number % 3 == 1)
			count += printf("%d", *number) > 1;
	return count;
}
__attribute__((noinline)) static int sum(size_t nr)
{
	int total = 0;

	for (size_t i = 0; i < nr; i++)
		total ^= numbers[i] & 4 ? numbers[i] / 7 : numbers[i] * 3;
	return total;
}
int main(void)
{
	for (int i = 0; i < 4000; i++)
		numbers[i] = i;
	return (int)odd(4000) + sum(4000) == 0;
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
	rm -f loop.profraw
	LLVM_PROFILE_FILE=loop.profraw ./loop >/dev/null || fail "$compiler: the program runs"
	is "$compiler: a loop counts in memory, each of its blocks" \
		"$(objdump -d --no-show-raw-insn loop | sed -n '/<sum>:$/,/^$/p' |
			grep -cE '\b(inc|add)q .*\(%')" 3
	profdata=llvm-profdata-${compiler#clang-}
	if ! command -v "$profdata" >/dev/null; then
		echo "skip $compiler: the counts: $profdata is not installed"
	elif "$profdata" merge -o loop.profdata loop.profraw 2>err; then
		is "$compiler: the counts are right" \
			"$("$profdata" show --counts --function=odd loop.profdata |
				grep -cE 'Block counts: .*\b1333\b')" 1
	else
		fail "$compiler: no profile of the counts: $(cat err)"
	fi
	[ -f "$WORKLOADS/src/lua/src/lvm.c" ] || "$root/scripts/workloads.sh" --source lua >log 2>&1
	[ -f "$WORKLOADS/src/lua/src/lvm.c" ] || { echo "skip $compiler: dispatch: no lua"; continue; }
	$compiler -O2 -w $flags -c "$WORKLOADS/src/lua/src/lvm.c" -o lvm.o || fail "$compiler: lvm.c"
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
printf '#!/bin/sh\nexec cat\n' >echoing
chmod +x echoing
for refused in "gcc:gcc's counters are not read yet" "nosuchcc:No such file" "false:not a C compiler" \
	"$scratch:Permission denied" "./echoing:neither clang nor gcc"; do
	"$swlbr" cflags --cc "${refused%%:*}" >out 2>err </dev/null
	is "--cc ${refused%%:*}: status 1, no flags" "$? $(wc -c <out)" "1 0"
	says "--cc ${refused%%:*}: why" err "${refused#*:}"
done
exit $status
