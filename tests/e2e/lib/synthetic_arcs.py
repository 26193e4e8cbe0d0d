#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""An arcs file of made-up counts that covers all code of a binary (x86-64).

    synthetic_arcs.py BINARY [SHARE [SEED]] >FILE

Straight-line stretches are ranges, direct branches and calls are branches; each is taken with
probability SHARE (default 0.6) and gets a count of its own, from a generator that is seeded with
SEED. So every function, inlined call and line of the binary is met, which no run of it does.
"""
import random
import re
import subprocess
import sys

# Control goes elsewhere after these, or may.
BRANCH = re.compile(r"^(bnd |notrack |rep |repz )*(j[a-z]+|call[a-z]*|ret[a-z]*|loop[a-z]*|syscall)\b")


def instructions(binary):
    """(address, text, target or None) of each instruction, and None between functions."""
    text = subprocess.run(
        ["llvm-objdump-19", "-d", "--no-show-raw-insn", binary], check=True,
        stdout=subprocess.PIPE, text=True).stdout
    section = ""
    for line in text.splitlines():
        if line.startswith("Disassembly of section"):
            section = line.split()[-1].rstrip(":")
        match = re.match(r"^\s*([0-9a-f]+):\s+(.*)$", line)
        if not match or section.startswith(".plt"):
            yield None
            continue
        target = re.search(r"0x([0-9a-f]+) <", match.group(2))
        yield (int(match.group(1), 16), match.group(2).strip(),
               int(target.group(1), 16) if target else None)


def build_id(binary):
    notes = subprocess.run(["readelf", "-n", binary], check=True, stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True).stdout
    return re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)


def count(generator):
    """Many small counts, a few large ones."""
    return int(10 ** generator.uniform(0, 7))


def main():
    binary = sys.argv[1]
    share = float(sys.argv[2]) if len(sys.argv) > 2 else 0.6
    generator = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    name = build_id(binary)
    code = list(instructions(binary))
    leaders = {one[2] for one in code if one and one[2]}
    rows, begins = [], []
    for one in code:
        if one is None:
            begins = []
            continue
        address, text, target = one
        # Ranges overlap: some begin at a leader inside of others.
        if not begins or address in leaders:
            begins.append(address)
        if not BRANCH.match(text):
            continue
        for begin in begins[-3:]:
            if generator.random() < share:
                rows.append(("range", begin, address, count(generator)))
        if target is not None and not text.startswith("ret") and generator.random() < share:
            rows.append(("branch", address, target, count(generator)))
        begins = []
    print("kind\tbinary\tfrom\tto\tnr\tmispredicted\tcycles\tsource")
    for kind, begin, end, nr in sorted(rows):
        print(f"{kind}\t{name}\t{begin:#x}\t{end:#x}\t{nr}\t0\t0\temu")


main()
