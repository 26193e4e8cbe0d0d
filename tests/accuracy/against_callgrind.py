# SPDX-License-Identifier: GPL-2.0-only
"""Exact counts of an arcs file against those of valgrind's callgrind: an oracle of its own.

usage: against_callgrind.py ARCS CALLGRIND.OUT BINARY
Callgrind must have run a copy of BINARY with --dump-instr=yes --collect-jumps=yes
--skip-plt=no --compress-pos=no --compress-strings=no. Compares, inside BINARY, the executions of each
instruction that callgrind saw, the count of each jump, and of each call. Callgrind does not count
returns, and it takes each repetition of a rep string instruction for an execution and a jump: those
are left out. Prints one line a difference, then "N instructions, N jumps, N calls compared, N differ".
"""
import bisect
import collections
import os
import re
import subprocess
import sys


def build_id(binary):
    notes = subprocess.run(["readelf", "-n", binary], capture_output=True, text=True, check=True)
    return re.search(r"Build ID: (\S+)", notes.stdout)[1]


def find_instructions(binary, pattern):
    """Addresses of the instructions whose text, as objdump has it, starts with the pattern."""
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", binary], capture_output=True,
                          text=True, check=True)
    return {int(row[1], 16)
            for row in re.finditer(r"^ +([0-9a-f]+):\s+" + pattern, code.stdout, re.M)}


def read_arcs(path, wanted):
    """Branches {(from, to): nr}; ranges [(first, last, nr)]."""
    branches, ranges = collections.Counter(), []
    with open(path) as file:
        next(file)
        for line in file:
            kind, binary, start, end, nr = line.split("\t")[:5]
            if binary != wanted:
                continue
            if kind == "branch" and ":" in end:
                continue
            if kind == "branch":
                branches[int(start, 16), int(end, 16)] += int(nr)
            else:
                ranges.append((int(start, 16), int(end, 16), int(nr)))
    return branches, ranges


def executions(ranges, addresses):
    """How often the instruction at each of the sorted addresses ran."""
    change = [0] * (len(addresses) + 1)
    for first, last, nr in ranges:
        change[bisect.bisect_left(addresses, first)] += nr
        change[bisect.bisect_right(addresses, last)] -= nr
    total, result = 0, {}
    for address, step in zip(addresses, change):
        total += step
        result[address] = total
    return result


def code_range(binary):
    """First address of the binary's executable segment, and the one after it."""
    segments = subprocess.run(["readelf", "-lW", binary], capture_output=True, text=True, check=True)
    row = re.search(r"LOAD +\S+ (0x\S+) \S+ \S+ (0x\S+) R E", segments.stdout)
    return int(row[1], 16), int(row[1], 16) + int(row[2], 16)


def read_callgrind(path, binary):
    """Instructions {address: nr}, jumps and calls {(from, to): nr} inside the binary."""
    instructions, jumps, calls = (collections.Counter() for _ in range(3))
    name, (first, end) = os.path.basename(binary), code_range(binary)
    # The PLT has no object for callgrind: there addresses tell, of a program at a fixed address.
    known = {name: lambda address: True, "???": lambda address: first <= address < end}
    ours = target_ours = nobody = lambda address: False
    pending = None  # a jump or a call whose next line has the source
    with open(path, errors="replace") as file:
        for line in file:
            line = line.rstrip("\n")
            if line.startswith("ob="):
                ours = target_ours = known.get(os.path.basename(line[3:]), nobody)
            elif line.startswith("cob="):
                target_ours = known.get(os.path.basename(line[4:]), nobody)
            elif line.startswith(("jump=", "jcnd=", "calls=")):
                kind, rest = line.split("=", 1)
                words = rest.split()
                pending = kind, int(words[0].split("/")[0]), int(words[1], 16)
            elif line.startswith("0x"):
                words = line.split()
                address = int(words[0], 16)
                if pending is None:
                    if ours(address) and len(words) > 2:
                        instructions[address] += int(words[2])
                    continue
                kind, nr, target = pending
                pending = None
                if ours(address) and target_ours(target):
                    (calls if kind == "calls" else jumps)[address, target] += nr
                target_ours = ours
    return instructions, jumps, calls


def main():
    arcs, callgrind, binary = sys.argv[1:]
    branches, ranges = read_arcs(arcs, build_id(binary))
    instructions, jumps, calls = read_callgrind(callgrind, binary)
    skipped = find_instructions(binary, "rep[a-z]* [a-z]")
    returns = find_instructions(binary, "(repz |bnd )?ret")
    instructions = {address: nr for address, nr in instructions.items() if address not in skipped}
    jumps = {pair: nr for pair, nr in jumps.items() if pair[0] not in skipped}
    ran = executions(ranges, sorted(instructions))
    differ = 0
    for address, nr in sorted(instructions.items()):
        if ran[address] != nr:
            differ += 1
            print(f"instruction {address:#x}: {ran[address]}, callgrind {nr}")
    for kind, counts in (("jump", jumps), ("call", calls)):
        for (start, end), nr in sorted(counts.items()):
            if nr and branches[start, end] != nr:
                differ += 1
                print(f"{kind} {start:#x} -> {end:#x}: {branches[start, end]}, callgrind {nr}")
    for address in sorted({end for one in ranges for end in one[:2]}):
        if address not in instructions and address not in skipped:
            differ += 1
            print(f"instruction {address:#x}: it ran, but not for callgrind")
    for (start, end), nr in sorted(branches.items()):
        if start not in returns and (start, end) not in jumps and (start, end) not in calls:
            differ += 1
            print(f"branch {start:#x} -> {end:#x}: {nr}, callgrind 0")
    print(f"{len(instructions)} instructions, {len(jumps)} jumps, {len(calls)} calls compared, "
          f"{differ} differ")


main()
