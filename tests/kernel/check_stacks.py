#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Branch stacks of the kernel against the code of its vmlinux.

check_stacks.py VMLINUX OFFSET SCRIPT...: a SCRIPT is what perf script -F brstack printed, OFFSET the
kernel's addresses less those of vmlinux. Prints for each how many stacks there are, and how many are
no two branches around a straight line. With --walks stacks may be longer, and have ends elsewhere.
With --table a SCRIPT is a table of perf swlbr map, whose lines are to be such stacks, and OFFSET the
address of _text.
"""
import re
import struct
import subprocess
import sys

walks, table = sys.argv[1] == "--walks", sys.argv[1] == "--table"
if walks or table:
    del sys.argv[1]
vmlinux, offset = sys.argv[1], int(sys.argv[2]) % 2**64
code = {}
order = []
disassembly = subprocess.run(["llvm-objdump-19", "-d", "--no-show-raw-insn", vmlinux],
                             capture_output=True, text=True, check=True).stdout
for line in disassembly.splitlines():
    found = re.match(r"([0-9a-f]{16}):\s+(?:lock\s+|rep\s+|repz\s+)?(\S+)\s*(.*)", line)
    if found:
        address = int(found[1], 16)
        target = re.match(r"0x([0-9a-f]+)", found[3])
        code[address] = (len(order), found[2], int(target[1], 16) if target else None)
        order.append(address)

ELSEWHERE = 0x1000 - offset  # SWLBR_NO_COUNTERS_ADDRESS
STOPS = ("jmp", "ret", "call", "iret", "sysret", "ud2", "hlt", "int3")


def sections_named(wanted):
    for line in subprocess.run(["llvm-readelf-19", "-SW", vmlinux], capture_output=True, text=True,
                               check=True).stdout.splitlines():
        found = re.match(r"\s*\[ *\d+\] (\S+)\s+\S+\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", line)
        if found and found[1] == wanted:
            return int(found[2], 16), int(found[2], 16) + int(found[3], 16)
    return 0, 0


# A jump there is overwritten at boot by what goes where the code there does.
feature_start, feature_end = sections_named(".altinstr_aux")


def ways_from(address):
    """The targets of the branches from there on to the first jump."""
    ways = set()
    for place in order[code[address][0]:]:
        _, mnemonic, target = code[place]
        if target is not None:
            ways.add(target)
        if mnemonic == "jmp":
            return ways
    return ways


def is_branch(mnemonic):
    return mnemonic.startswith(("j", "ret", "call", "loop", "iret"))


def goes(entry):
    """Is there a branch at its from that can go to its to?"""
    if walks and (entry[0] == ELSEWHERE or entry[1] == ELSEWHERE):
        return None
    if entry[0] not in code or entry[1] not in code:
        return "not an instruction"
    _, mnemonic, target = code[entry[0]]
    if not is_branch(mnemonic):
        return f"{mnemonic} is no branch"
    if target is not None and feature_start <= target < feature_end:
        return None if entry[1] in ways_from(target) else "not where .altinstr_aux goes"
    if target is not None and target != entry[1]:
        return f"{mnemonic} goes to {target:#x}"
    return None


def straight(start, end):
    if walks and (start == ELSEWHERE or end == ELSEWHERE):
        return None
    first, last = code[start][0], code[end][0]
    if last < first:
        return "it runs backwards"
    for address in order[first:last]:
        if code[address][1].startswith(STOPS):
            return f"{code[address][1]} at {address:#x} is in between"
    return None


def stacks_of_script(name):
    for line in open(name):
        entries = [(int(a, 16) - offset, int(b, 16) - offset)
                   for a, b in re.findall(r"0x([0-9a-f]+)/0x([0-9a-f]+)/", line)]
        if entries:
            yield entries


def stacks_of_table(name):
    """struct swlbr_header, and an array of struct swlbr_line."""
    data = open(name, "rb").read()
    header_size, record_size = struct.unpack_from("<II", data, 12)
    for at in range(struct.unpack_from("<Q", data, 24)[0]):
        *into, out_from, out_to = struct.unpack_from("<4I", data, header_size + at * record_size + 8)
        yield [(out_from + offset, out_to + offset), (into[0] + offset, into[1] + offset)]


def check(name):
    stacks = bad = 0
    for entries in (stacks_of_table if table else stacks_of_script)(name):
        stacks += 1
        why = next(filter(None, map(goes, entries)), None)
        for newer, older in zip(entries, entries[1:]):
            why = why or straight(older[1], newer[0])
        if not why and len(entries) > 2 and not walks:
            why = f"{len(entries)} entries"
        if why:
            bad += 1
            if bad <= 5:
                print(f"{' '.join(f'{a:#x}/{b:#x}' for a, b in entries)}: {why}",
                      file=sys.stderr)
    print(f"{name} {stacks} {bad}")


for script in sys.argv[3:]:
    check(script)
