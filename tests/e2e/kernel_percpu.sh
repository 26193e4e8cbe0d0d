#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The tool that makes a kernel's counters per CPU: rewrites just the updates, and refuses what it
# does not know. Its files are made here, with the symbols that a vmlinux has.
. "$(dirname "$0")/lib/common.sh"
cd "$scratch" || exit 1
gcc -O2 -Wall -Wextra -fsanitize=address,undefined -fno-sanitize-recover=undefined -o percpu \
	"$here/../../pmu/kernel/scripts/swlbr_percpu.c" || { fail "build"; exit 1; }

# link NAME OPTION...: the code on standard input, between the symbols of the ranges
link()
{
	local name=$1

	shift
	{
		cat <<-'S'
		.data
		.globl __swlbr_counters_start, __swlbr_counters_end
		.p2align 3
		__swlbr_counters_start:
		first: .quad 0
		second: .quad 0
		__swlbr_counters_end:
		neighbour: .quad 0
		.text
		.globl _start, __noinstr_text_start, __noinstr_text_end, __entry_text_start, __entry_text_end
		_start:
		S
		cat
	} >"$name.s"
	clang-19 -nostdlib -static -fuse-ld=lld "$@" -o "$name" "$name.s"
}

ranges='__noinstr_text_start: __noinstr_text_end: __entry_text_start: __entry_text_end:'
link plain -Wl,--emit-relocs <<S || fail "link"
lock incq first(%rip)
lock addq \$3, second(%rip)
lock addq \$1000, second(%rip)
lock addq %rax, first(%rip)
lock addq %r9, second(%rip)
lock incq neighbour(%rip)
lea __swlbr_counters_start(%rip), %rcx
incq neighbour(%rip)
ret
__noinstr_text_start:
lock incq first(%rip)
lock addq \$3, second(%rip)
lock addq \$1000, second(%rip)
lock addq %rax, first(%rip)
ret
__noinstr_text_end:
__entry_text_start:
lock incq second(%rip)
ret
__entry_text_end:
S
cp plain before
./percpu --check plain 2>err
is "not rewritten yet: --check says so" "$? $(grep -c '10 updates with LOCK are left' err)" "1 1"
./percpu plain 2>err
is "rewritten" "$?$(cat err)" 0
is "--check agrees" "$(./percpu --check plain)" "2 counters, 5 updates"
disassemble() { llvm-objdump-19 -d --no-show-raw-insn "$1" | sed -n 's/^ *[0-9a-f]*: *//p' | tr -s '\t ' ' ' | sed 's/^ //'; }
is "updates of counters are per CPU" "$(disassemble plain | head -n 5 | grep -c '%gs:')" 5
is "what is none keeps its LOCK" "$(disassemble plain | grep -c '^lock')" 1
displacements() { sed -n 's/.*[ :]\(0x[0-9a-f]*\)(%rip).*/\1/p' | head -n 5 | tr '\n' ' '; }
is "and all have the targets they had" "$(disassemble plain | displacements)" \
	"$(disassemble before | displacements)"
is "where nothing may count there are nops" \
	"$(disassemble plain | sed -n '/^retq/,$p' | grep -vcE '^(nop|retq)')" 0
cp plain again
./percpu again 2>err
is "again: refused" "$?" 1

# refused NAME WHY: the code on standard input is, and the file stays as it was
refused()
{
	local name=$1 why=$2

	link "$name" -Wl,--emit-relocs || fail "link of $name"
	./percpu "$name" 2>err
	is "$name: refused" "$? $(grep -c "$why" err)" "1 1"
}
refused address 'refers to a counter in a way that is not known' <<S
lock incq first(%rip)
lea second(%rip), %rax
$(tr ' ' '\n' <<<"$ranges")
S
refused unlocked 'refers to a counter in a way that is not known' <<S
lock incq first(%rip)
incq second(%rip)
$(tr ' ' '\n' <<<"$ranges")
S
refused half 'updates half a counter' <<S
lock incq first(%rip)
lock incq first+4(%rip)
$(tr ' ' '\n' <<<"$ranges")
S
refused stored 'holds the address of a counter' <<S
lock incq first(%rip)
$(tr ' ' '\n' <<<"$ranges")
.data
.quad second
S
refused none 'no update of a counter' <<S
lock incq neighbour(%rip)
$(tr ' ' '\n' <<<"$ranges")
S
link unkept <<S || fail "link"
lock incq first(%rip)
$(tr ' ' '\n' <<<"$ranges")
S
./percpu unkept 2>err
is "without relocations: refused" "$? $(grep -c 'kept no relocations' err)" "1 1"
refused symbols 'no symbol __noinstr_text_start' <<S
lock incq first(%rip)
S

# Damaged files do no harm.
cat >damage.py <<'P'
import random, subprocess, sys
data = open("before", "rb").read()
for seed in range(300):
    random.seed(seed)
    copy = bytearray(data[:random.choice([len(data), random.randrange(len(data))])])
    for _ in range(random.randrange(1, 5)):
        if copy:
            copy[random.randrange(len(copy))] ^= 1 << random.randrange(8)
    for _ in range(2):
        at = len(data) - 64 * random.randrange(1, 16) + random.randrange(64)
        if at < len(copy):
            copy[at] = random.randrange(256)
    open("damaged", "wb").write(copy)
    run = subprocess.run(["./percpu", "damaged"], capture_output=True, text=True)
    if run.returncode not in (0, 1) or "Sanitizer" in run.stderr or "runtime error" in run.stderr:
        print(seed, run.returncode, run.stderr[:300])
        sys.exit(1)
P
out=$(/usr/bin/python3 damage.py)
is "300 damaged copies" "$out" ""
exit $status
