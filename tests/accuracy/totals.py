# SPDX-License-Identifier: GPL-2.0-only
"""Instructions executed and branches taken in a binary, by the exact counts of an arcs file.

usage: totals.py ARCS BINARY
Instruction boundaries come from objdump. Prints "N instructions, N taken branches".
"""
import bisect
import re
import subprocess
import sys


def main():
    arcs, binary = sys.argv[1:]
    notes = subprocess.run(["readelf", "-n", binary], capture_output=True, text=True, check=True)
    build_id = re.search(r"Build ID: (\S+)", notes.stdout)[1]
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", binary], capture_output=True,
                          text=True, check=True)
    addresses = [int(row[1], 16) for row in re.finditer(r"^ +([0-9a-f]+):", code.stdout, re.M)]
    instructions = taken = 0
    with open(arcs) as file:
        next(file)
        for line in file:
            kind, name, start, end, nr = line.split("\t")[:5]
            if name != build_id:
                continue
            if kind == "branch":
                taken += int(nr)
            else:
                instructions += int(nr) * (bisect.bisect_right(addresses, int(end, 16)) -
                                           bisect.bisect_left(addresses, int(start, 16)))
    print(f"{instructions} instructions, {taken} taken branches")


main()
