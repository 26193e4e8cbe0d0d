# SPDX-License-Identifier: GPL-2.0-only
"""Arcs files and binaries, for the scripts beside it: reading, counting instructions."""
import re
import subprocess
from bisect import bisect_left, bisect_right
from collections import defaultdict


# An address and a mnemonic, without prefixes.
INSTRUCTION = re.compile(r" *([0-9a-f]+):\s+(?:(?:bnd|notrack|lock|repn?z?|data16|[c-gs]s) )*(\S+)")


def build_id(binary):
    """As readelf tells it; what names the binary in an arcs file."""
    notes = subprocess.run(["readelf", "-n", binary], capture_output=True, text=True, check=True)
    match = re.search(r"Build ID: ([0-9a-f]+)", notes.stdout)
    if not match:
        raise SystemExit(f"{binary}: no build-id")
    return match[1]


def read(path, name):
    """-> taken branches {(from, to): nr} and ranges [(first, last, nr)] inside the binary NAME."""
    branches, ranges = defaultdict(int), []
    with open(path) as file:
        next(file)
        for line in file:
            kind, binary, start, end, count = line.split("\t")[:5]
            if binary != name or ":" in end:
                continue
            if kind == "branch":
                branches[int(start, 16), int(end, 16)] += int(count)
            else:
                ranges.append((int(start, 16), int(end, 16), int(count)))
    return branches, ranges


def instructions(binary):
    """-> sorted addresses, and {address: mnemonic}."""
    code = {}
    with subprocess.Popen(["objdump", "-d", "--no-show-raw-insn", binary],
                          stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            match = INSTRUCTION.match(line)
            if match:
                code[int(match[1], 16)] = match[2]
    return sorted(code), code


def executions(ranges, addresses):
    """-> {address: executions} of the instructions that ran."""
    change = [0] * (len(addresses) + 1)
    for first, last, count in ranges:
        change[bisect_left(addresses, first)] += count
        change[bisect_right(addresses, last)] -= count
    runs, now = {}, 0
    for address, step in zip(addresses, change):
        now += step
        if now:
            runs[address] = now
    return runs
