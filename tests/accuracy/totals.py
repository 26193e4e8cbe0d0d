# SPDX-License-Identifier: GPL-2.0-only
"""Instructions executed and branches taken in a binary, by the exact counts of an arcs file.

usage: totals.py ARCS BINARY
Prints "N instructions, N taken branches".
"""
import sys

import arcs


def main():
    path, binary = sys.argv[1:]
    name = arcs.build_id(binary)
    taken = 0
    with open(path) as file:
        next(file)
        for line in file:
            # Branches out of the binary are its own, too.
            kind, owner, _, _, nr = line.split("\t")[:5]
            if kind == "branch" and owner == name:
                taken += int(nr)
    _, ranges = arcs.read(path, name)
    addresses, _ = arcs.instructions(binary)
    print(f"{sum(arcs.executions(ranges, addresses).values())} instructions, {taken} taken branches")


main()
